"""Outer loop, inner loop and cold cache: three ways to time the same kernels."""

from __future__ import annotations

from recheck_report.charts.canvas import (
    DASHED,
    INK,
    MUTED,
    OCHRE,
    THEIRS,
    Card,
    Interval,
    beside,
    down,
    room,
)
from recheck_report.charts.drawing import nothing
from recheck_report.charts.message import factor
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label, significant
from recheck_report.queries import metric_of
from recheck_report.record.record import Case, Experiment
from recheck_report.statistics.ratio import Ratio

TITLE = "Outer and inner loop"
_NOTE = (
    "Outer loop: launches back to back; inner: one launch repeats its work. Right: inner over "
    "outer. ‡: solves another problem. Bars: 95 % intervals."
)
REGIMES = (
    ("cold", "cold: L2 flushed", THEIRS, "o"),
    ("hot", "outer loop (hot)", INK, "P"),
    ("inner", "inner loop", OCHRE, "s"),
)


def draw(own: Measured, experiment: Experiment) -> Card:
    record, known = own.record, own.known.figures_of(experiment.name)
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
    note = f"{experiment.title} at {shape_label(shape)}. {_NOTE}"
    message = _message(pairs, metric.ceiling_label if beyond else "")
    card = Card(message, note, 80 + 26 * len(rows))
    axes = card.axes(room([row.strategy + row.marks for row in rows]), 100, top=38)
    top = max(metric.rates(case)[2] for case in timed.values())
    axes.set_xlim(0, top * 1.06)
    down(axes, [row.strategy + row.marks for row in rows])
    axes.set_xlabel(f"throughput ({metric.unit})")
    if limit and limit < top * 1.06:
        axes.axvline(limit, color=MUTED, linestyle=DASHED, linewidth=1)
        text = f"{metric.ceiling_label} {significant(limit)}"
        axes.text(limit, -0.75, text, color=MUTED, ha="center", va="bottom")
    for text, x in (("here", 8.0), ("then", 60.0)):
        beside(axes, -0.9, text, x, color=MUTED)
    then = {(f.strategy, f.regime): f.seconds for f in known.figure if f.seconds}
    for y, row in enumerate(rows):
        found = pairs.get(row.strategy)
        beside(axes, y, f"{significant(found.value)}×" if found else "–", 8)
        outer_then, inner_then = (then.get((row.strategy, regime)) for regime in ("hot", "inner"))
        text = f"{significant(outer_then / inner_then)}×" if outer_then and inner_then else "–"
        beside(axes, y, text, 60)
    for lane, (regime, label, color, marker) in enumerate(REGIMES):
        points: list[Interval] = []
        for y, row in enumerate(rows):
            if case := timed.get((row.strategy, regime)):
                points.append((y + 0.24 * (lane - 1), *metric.rates(case)))
        card.dots(axes, points, color=color, marker=marker, label=label)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.35, 1.01), ncols=3, borderaxespad=1.8)
    return card


def _message(pairs: dict[str, Ratio], beyond: str) -> str:
    """What the inner loop shows against the outer, and whether memory can give so much."""
    if not pairs:
        return "No kernel has a time in both loops"
    values = sorted(found.value for found in pairs.values())
    span = f"{factor(values[0])} to {factor(values[-1])}" if len(values) > 1 else factor(values[0])
    text = f"Inner loops show {span} times the outer loops' rate"
    return f"{text}, some beyond the {beyond}: they time a cache" if beyond else text
