"""Block policies: a line for each tile, over how many of them are staged at once."""

from __future__ import annotations

from recheck_report.charts.drawing import NotDrawn, nothing, timed
from recheck_report.claims.measured import Measured
from recheck_report.queries import is_block_policy, metric_of
from recheck_report.record.record import Case, Experiment
from recheck_report.say import charts as say
from recheck_report.write.svg import SERIES, Card, Interval, linear, sizes

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
    note = f"{say.where(experiment, 'cold')} {say.INTERVALS}{say.without_time(rows, cases)}"
    card = Card(say.block_policy(own, cases), note, 230)
    lines: dict[int, dict[int, Case]] = {}
    for case in cases:
        lines.setdefault(case.parameters["tile"], {})[case.parameters["depth"]] = case
    x = sizes(sorted({case.parameters["depth"] for case in cases}))
    y = linear(0, 1.08 * max(metric.rates(case)[2] for case in cases))
    panel = card.panel(x, y, 46, 100, top=20)
    panel.frame("depth (tiles staged at once, count)", f"rate, cold ({metric.unit})")
    labels = []
    for (tile, of), (color, marker) in zip(sorted(lines.items()), SERIES * 9, strict=False):
        points: list[Interval] = [(depth, *metric.rates(c)) for depth, c in sorted(of.items())]
        panel.line(points, color, marker)
        labels.append((*points[-1][:2], f"{tile} × {tile}", color, True))
    panel.name_ends(labels)
    return card
