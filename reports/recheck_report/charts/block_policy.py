"""Block policies: a line for each tile, over how many of them are staged at once."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter

from recheck_report.charts.canvas import SERIES, Card, Interval, Label, log_sizes
from recheck_report.charts.drawing import NotDrawn, nothing, without_time
from recheck_report.charts.message import FASTER, factor, ratio, than, timed
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label
from recheck_report.queries import is_block_policy, metric_of
from recheck_report.record.record import Case, Experiment

TITLE = "Block policies"


def draw(own: Measured, experiment: Experiment) -> Card:
    record, shape = own.record, experiment.headline
    rows = [row for row in record.strategies(experiment) if is_block_policy(row)]
    if not rows:
        raise NotDrawn("the record holds no strategy with a tile and a depth")
    cases = timed(record, experiment, rows, shape)
    if not cases:
        raise nothing(record)
    metric = metric_of(record, experiment)
    note = f"{experiment.title} at {shape_label(shape)}, cold: policies of the documents. "
    note += "Bars: 95 % intervals."
    note += without_time([row.strategy for row in rows], cases)
    card = Card(_message(own, cases), note, 230)
    axes = card.axes(52, 100, ylabel=f"throughput ({metric.unit})")
    axes.set_xlabel("depth (tiles staged at once, count)")
    lines: dict[int, dict[int, Case]] = {}
    for case in cases:
        lines.setdefault(case.parameters["tile"], {})[case.parameters["depth"]] = case
    log_sizes(axes, sorted({case.parameters["depth"] for case in cases}))
    axes.set_ylim(0, 1.08 * max(metric.rates(case)[2] for case in cases))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:g}"))
    labels = []
    for (tile, of), (color, marker) in zip(sorted(lines.items()), SERIES * 9, strict=False):
        points: list[Interval] = [(depth, *metric.rates(c)) for depth, c in sorted(of.items())]
        card.line(axes, points, color=color, marker=marker)
        labels.append(Label(*points[-1][:2], f"{tile} × {tile}", color))
    card.ends(axes, labels)
    return card


def _policy(case: Case) -> str:
    tile, depth = case.parameters["tile"], case.parameters["depth"]
    return f"{tile} × {tile} tiles, {depth} at once,"


def _message(own: Measured, cases: list[Case]) -> str:
    best, *others = cases
    level = [case for case in others if ratio(own, case, best).outcome != FASTER]
    if level:
        found = f"Of {len(cases)} block policies {best.strategy} is the fastest"
        return f"{found}, not significantly faster than {len(level)} more"
    if not others:
        return f"{_policy(best)} are the only block policy with a time"
    least = ratio(own, others[-1], best)
    found = f"{_policy(best)} are the fastest of {len(cases)} block policies"
    return f"{found}, {factor(least.value)} times as fast as {than(others[-1])}"
