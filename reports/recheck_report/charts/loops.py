"""Outer loop, inner loop and cold cache: three ways to time the same kernels."""

from __future__ import annotations

from recheck_report.charts.drawing import nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import significant
from recheck_report.queries import metric_of
from recheck_report.record.record import Case, Experiment
from recheck_report.say import charts as say
from recheck_report.write.svg import (
    INK,
    MUTED,
    OCHRE,
    THEIRS,
    Card,
    Interval,
    linear,
    names_width,
    rows_axis,
)

TITLE = "Outer and inner loop"
REGIMES = (
    ("cold", "cold: L2 flushed", THEIRS, "o"),
    ("hot", "outer loop (hot)", INK, "P"),
    ("inner", "inner loop", OCHRE, "s"),
)


def draw(own: Measured, experiment: Experiment) -> Card:
    record, known = own.record, own.collection.figures_of(experiment.name)
    metric, shape = metric_of(record, experiment), experiment.headline
    told = {figure.strategy for figure in known.figure}
    rows = [
        row
        for row in record.strategies(experiment)
        if row.strategy in told and record.find(experiment, row.strategy, shape, "inner")
    ]
    timed: dict[tuple[str, str], Case] = {}
    for row in rows:
        for regime, *_ in REGIMES:
            if case := record.timed(experiment, row.strategy, shape, regime):
                timed[row.strategy, regime] = case
    if not timed:
        raise nothing(record)
    pairs = {
        row.strategy: own.comparisons.ratio(outer, inner)
        for row in rows
        if (outer := timed.get((row.strategy, "hot")))
        and (inner := timed.get((row.strategy, "inner")))
    }
    limit = metric.limit(record)
    inner_rates = [
        metric.rates(case)[1] for (_, regime), case in timed.items() if regime == "inner"
    ]
    beyond = limit is not None and max(inner_rates, default=0.0) > limit
    message = say.loops(pairs.values(), metric.ceiling_label if beyond else "")
    card = Card(message, say.loops_note(experiment), 80 + 26 * len(rows))
    names = [say.plain_name(own, row) + row.marks for row in rows]
    top = max(metric.rates(case)[2] for case in timed.values())
    x = linear(0, top * 1.06)
    panel = card.panel(x, rows_axis(len(rows)), names_width(names), 100, top=38)
    panel.frame(f"rate ({metric.unit})")
    panel.rows(names)
    if limit and limit < top * 1.06:
        panel.vertical(limit, MUTED, dash="5 3")
        text = f"{metric.ceiling_label} {significant(limit)}"
        card.text(panel.px(limit), panel.top - 6, text, MUTED, anchor="middle")
    for text, at in (("here", 8.0), ("then", 60.0)):
        panel.beside(-0.9, text, at, MUTED)
    then = {(f.strategy, f.regime): f.seconds for f in known.figure if f.seconds}
    for y, row in enumerate(rows):
        found = pairs.get(row.strategy)
        panel.beside(y, f"{significant(found.value)}×" if found else "–", 8)
        outer_then, inner_then = (then.get((row.strategy, regime)) for regime in ("hot", "inner"))
        text = f"{significant(outer_then / inner_then)}×" if outer_then and inner_then else "–"
        panel.beside(y, text, 60)
    for lane, (regime, _, color, marker) in enumerate(REGIMES):
        points: list[Interval] = []
        for y, row in enumerate(rows):
            if case := timed.get((row.strategy, regime)):
                points.append((y + 0.24 * (lane - 1), *metric.rates(case)))
        panel.dots(points, color, marker)
    card.legend(panel.top - 26, [(color, marker, label) for _, label, color, marker in REGIMES])
    return card
