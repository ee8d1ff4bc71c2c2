"""Outer loop, inner loop and cold cache: three ways to time the same kernels."""

from __future__ import annotations

from recheck_report.charts.canvas import (
    BLUE,
    CARD,
    GREEN,
    MUTED,
    VERMILLION,
    Look,
    card,
    dots,
    note,
)
from recheck_report.charts.drawing import Drawing, nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label, significant
from recheck_report.model.record import Experiment
from recheck_report.queries import metric_of
from recheck_report.statistics.family import comparisons

TITLE = "Outer and inner loop"
REGIMES = (
    ("cold", "cold: L2 flushed", GREEN, "^"),
    ("hot", "outer (hot): launches back to back", BLUE, "o"),
    ("inner", "inner: one launch repeats its work", VERMILLION, "s"),
)


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record, known = own.record, own.known.figures_of(experiment.name)
    metric, shape = metric_of(record, experiment), experiment.headline
    told = {figure.strategy for figure in known.figure}
    rows = [
        row
        for row in record.strategies(experiment)
        if row.strategy in told and record.find(experiment, row.strategy, shape, "inner")
    ]
    cases = {
        (row.strategy, regime): record.find(experiment, row.strategy, shape, regime)
        for row in rows
        for regime, *_ in REGIMES
    }
    timed = {key: case for key, case in cases.items() if case and case.seconds}
    if not timed:
        raise nothing(record)
    at = shape_label(shape)
    subtitle = f"throughput at {at} by way of timing · whiskers are 95 % intervals of the median"
    height = 2.1 + 0.33 * len(rows)
    figure = card(height, f"{experiment.title}: outer and inner timing loop", subtitle)
    axes = figure.add_axes((0.165, 1.15 / height, 0.55, 1 - 2.1 / height))
    top = max(metric.rate(case, case.time.low) for case in timed.values())
    axes.set(xlim=(0, top * 1.06), ylim=(len(rows) - 0.45, -0.55))
    axes.set_yticks(range(len(rows)), [row.strategy + row.marks for row in rows])
    axes.grid(True, axis="x")
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"throughput ({metric.unit})")
    beside: Look = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 8}
    columns = {"inner over outer here": 1.03, "then": 1.4}
    for text, x in columns.items():
        axes.text(x, -0.95, text, color=MUTED, **beside)
    for y in range(len(rows) - 1):
        axes.axhline(y + 0.5, color=MUTED, linewidth=0.3, alpha=0.6)
    then = {(f.strategy, f.regime): f.seconds for f in known.figure if f.seconds}
    for y, row in enumerate(rows):
        outer, inner = (timed.get((row.strategy, regime)) for regime in ("hot", "inner"))
        text = str(comparisons(record).ratio(outer, inner)) if outer and inner else "–"
        axes.text(columns["inner over outer here"], y, text, **beside)
        outer_then, inner_then = (then.get((row.strategy, regime)) for regime in ("hot", "inner"))
        text = f"{significant(outer_then / inner_then)}×" if outer_then and inner_then else "–"
        axes.text(columns["then"], y, text, **beside)
    for lane, (regime, label, color, marker) in enumerate(REGIMES):
        points = [
            (y + 0.24 * (lane - 1), *metric.rates(case))
            for y, row in enumerate(rows)
            if (case := timed.get((row.strategy, regime)))
        ]
        dots(axes, points, color=color, marker=marker, markersize=6.5, mec=CARD, mew=0.5)
        axes.plot([], [], linestyle="none", marker=marker, color=color, markersize=6, label=label)
    axes.legend(
        loc="upper left", bbox_to_anchor=(-0.27, -0.42 / (height - 2.1)), ncols=3, frameon=False,
        fontsize=8, handletextpad=0.1, columnspacing=1.4,
    )  # fmt: skip
    note(figure, 24, "‡ solves another problem: no transposition", fontsize=8, color=MUTED)
    caption = "A repeated load may come from a cache, so the inner loop can show more than memory."
    return Drawing(figure, subtitle, caption)
