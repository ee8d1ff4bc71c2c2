"""Block policies: a line for each tile, over how many of them are staged at once."""

from __future__ import annotations

from collections.abc import Sequence

from recheck_report.charts import drawing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import speed
from recheck_report.queries import metric_of
from recheck_report.record.record import Case, Experiment
from recheck_report.write.svg import SERIES, Card, linear, sizes

KIND = "Block policies"


def title(report: Measured, cases: Sequence[Case]) -> str:
    """`cases`: the fastest first."""
    best, *others = cases
    found = f"{_policy(best)}: the fastest of {len(cases)} block policies (cold)"
    level = [case for case in others if drawing.outcome(report, case, best) != "faster"]
    if level:
        return f"{found}, not significantly faster than {len(level)} more"
    if not others:
        return f"{_policy(best)}: the only block policy with a time (cold)"
    gained = speed(report.comparisons.ratio(others[-1], best).value)
    return f"{found}, {gained} than {_policy(others[-1])}"


def _policy(case: Case) -> str:
    tile, depth = case.parameters["tile"], case.parameters["depth"]
    return f"{tile} × {tile}, {drawing.COUNTS.get(depth, depth)} deep"


def draw(report: Measured, experiment: Experiment) -> Card:
    record, shape = report.record, experiment.headline
    # kernels beyond the documents have tiles too, but their depth is in elements of k
    documented = (row for row in record.strategies(experiment) if row.documented)
    rows = [row for row in documented if {"tile", "depth"} <= {*row.parameters}]
    if not rows:
        raise drawing.NotDrawn("the record holds no strategy with a tile and a depth")
    cases = drawing.timed(record, experiment, (row.strategy for row in rows), shape)
    if not cases:
        raise drawing.nothing(record)
    gone = {row.strategy for row in rows} - {case.strategy for case in cases}
    note = f"{drawing.where(experiment, 'cold')} {drawing.INTERVALS}"
    if gone:  # why, the page's last table says
        note += f" No time: {', '.join(sorted(gone))}."
    metric = metric_of(record, experiment)
    tiles: dict[int, dict[int, Case]] = {}
    for case in cases:
        tiles.setdefault(case.parameters["tile"], {})[case.parameters["depth"]] = case
    series = [
        drawing.Series(
            f"{tile} × {tile}", [(n, *metric.rates(c)) for n, c in sorted(of.items())], look
        )
        for (tile, of), look in zip(sorted(tiles.items()), SERIES * 9, strict=False)
    ]
    x = sizes(sorted({case.parameters["depth"] for case in cases}))
    y = linear(0, 1.08 * max(metric.rates(case)[2] for case in cases))
    labels = "depth (tiles staged at once, count)", f"rate, cold ({metric.unit})"
    return drawing.lines((title(report, cases), note), series, x, y, labels)[0]
