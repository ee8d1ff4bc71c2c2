"""The levels of memory: how long a load takes, and how much comes at once."""

from __future__ import annotations

from typing import Any

from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from recheck_report.charts.canvas import BLUE, CARD, GREEN, MUTED, card, dots
from recheck_report.charts.drawing import Drawing, nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, significant, spread
from recheck_report.model.record import Case, Experiment
from recheck_report.sections.memory import levels

TITLE = "Latency and bandwidth"


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record = own.record
    rows = levels(record)
    if not any(c and c.seconds for row in rows for c in (row.latency, row.bandwidth)):
        raise nothing(record)
    subtitle = "left: latency of one load in a chain · right: bandwidth of the whole GPU · "
    subtitle += "whiskers: 95 % intervals"
    height = 1.7 + 0.34 * len(rows)
    figure = card(height, f"{experiment.title}: latency and bandwidth", subtitle)
    for at, (name, color, marker) in enumerate((("latency", BLUE, "o"), ("bandwidth", GREEN, "s"))):
        box = (0.13 + 0.44 * at, 0.75 / height, 0.28, 1 - 1.5 / height)
        axes = figure.add_axes(box)
        axes.set(xscale="log", ylim=(len(rows) - 0.45, -0.55))
        axes.xaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.grid(True, axis="x")
        axes.spines["left"].set_visible(False)
        shown = [row.title for row in rows]
        axes.set_yticks(range(len(rows)), shown if at == 0 else [""] * len(rows))
        if name == "latency":
            axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: duration(x, 1)))
            axes.set_xlabel("time of a load (ns or µs as at each tick, log)")
        else:
            axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
            axes.set_xlabel("bandwidth (GB/s, log)")
        ends: list[float] = []
        for y, row in enumerate(rows):
            case = row.latency if name == "latency" else row.bandwidth
            scale = 1 / row.steps if name == "latency" else None
            ends += _point(axes, y, case, scale, color, marker)
        if ends:
            axes.set_xlim(min(ends) / 1.8, max(ends) * 1.8)
    return Drawing(figure, subtitle)


def _point(
    axes: Any, y: int, case: Case | None, scale: float | None, color: str, marker: str
) -> tuple[float, ...]:
    """One dot and its number beside the panel; `scale`: of a time; None: a rate. Its positions."""
    beside = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 8}
    if case is None or case.seconds is None:
        text = case.status.replace("_", " ") if case else "–"
        axes.text(1.03, y, text, color=MUTED, **beside)
        return ()
    s = case.seconds
    if scale is None:
        low, value, high = (case.bytes / 1e9 / t for t in (s.high, s.median, s.low))
        text = f"{significant(value)} GB/s"
    else:
        low, value, high = (t * scale for t in (s.low, s.median, s.high))
        text = duration(value)
    look = {"marker": marker, "markersize": 6.5, "mec": CARD, "mew": 0.5}
    dots(axes, [(y, value, low, high)], color=color, **look)
    axes.text(1.03, y, f"{text} {spread(s)}", **beside)
    return low, high
