"""Errors of products against the length of their sums: by norm, and the largest of an element."""

from __future__ import annotations

from typing import Any

from matplotlib.ticker import FixedLocator, FuncFormatter

from recheck_report.charts.canvas import (
    CARD,
    FAINT,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    SERIES,
    Label,
    card,
    end_labels,
    lines,
    log_axes,
    trend,
)
from recheck_report.charts.drawing import Drawing, NotDrawn
from recheck_report.model.accuracy import LIBRARY, TOLERANCE, Accuracy, Distribution, Row

SHOWN = ("uniform", "normal")  # those that have the longest sums
_KINDS = {
    "frobenius": "relative Frobenius error (1, log)",
    "absolute": "largest absolute error (elements' unit, log)",
}


def power(value: float) -> str:
    """ "1e-6", of a power of ten."""
    return f"{value:.0e}".replace("e-0", "e-").replace("e+0", "e")


def error(accuracy: Accuracy) -> Drawing:
    shown = [each for each in accuracy.ordinary if each.name in SHOWN]
    rows = [row for row in accuracy.rows if not row.sweep]
    there = [row for row in rows if any(_points(accuracy, row, at, "frobenius") for at in shown)]
    if not there:
        raise NotDrawn("no row has an error on the inputs that it shows")
    subtitle = "against float64, on the same inputs · above: by norm · below: the worst element, "
    subtitle += f"and the documents' tolerance of {power(TOLERANCE)}"
    height = 8.2
    figure = card(height, "Matrix multiplication: errors against the length of the sums", subtitle)
    grid = figure.add_gridspec(2, len(shown), wspace=0.6, hspace=0.3)
    right = 0.87 if len(shown) > 1 else 0.7
    grid.update(left=0.08, right=right, bottom=0.6 / height, top=1 - 1.05 / height)
    looks = _looks(rows)
    for down, kind in enumerate(_KINDS):
        values = [
            value
            for row in there
            for each in shown
            for _, value in _points(accuracy, row, each, kind)
        ]
        values += [TOLERANCE] if kind == "absolute" else []
        for across, each in enumerate(shown):
            axes = figure.add_subplot(grid[down, across], title=each.says)
            log_axes(axes, accuracy.ks, min(values) / 2.5, max(values) * 2.5)
            axes.xaxis.set_major_locator(FixedLocator(_ticks(accuracy.ks)))
            axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: power(y)))
            axes.set(xlabel="K (products in a sum, log)", ylabel=_KINDS[kind])
            _panel(axes, accuracy, there, each, kind, looks)
    grey = any(row.strategy not in looks for row in there)
    caption = "Grey: the other rows, in fp32 on CUDA cores." if grey else ""
    gone = [row.strategy for row in rows if row not in there and row.strategy in looks]
    if gone:
        caption = f"{caption} Without an error here: {', '.join(gone)}.".strip()
    return Drawing(figure, subtitle, caption)


def _panel(
    axes: Any, accuracy: Accuracy, rows: list[Row], each: Distribution, kind: str,
    looks: dict[str, dict[str, Any]],
) -> None:  # fmt: skip
    labels = []
    if kind == "absolute":
        axes.axhline(TOLERANCE, color=MUTED, linestyle=(0, (5, 3)), linewidth=1.1)
        edge = axes.get_xlim()[1]
        labels.append(Label(edge, TOLERANCE, f"tolerance {power(TOLERANCE)}", MUTED))
    others = []
    for row in rows:
        points = _points(accuracy, row, each, kind)
        if points and row.strategy in looks:
            look = looks[row.strategy]
            axes.plot(*zip(*points, strict=True), gid=trend(axes), **look)
            labels.append(Label(*points[-1], row.strategy, look["color"], row.split))
        elif points:
            others.append(points)
    lines(axes, others, colors=FAINT, linewidths=0.8)
    end_labels(axes, labels)


def _ticks(ks: list[int]) -> list[int]:
    """Some of the lengths, the longest among them: each at most a quarter of the next."""
    kept = ks[-1:]
    for k in reversed(ks):
        kept += [k] if 4 * k <= kept[-1] else []
    return kept


def _looks(rows: list[Row]) -> dict[str, dict[str, Any]]:
    """How the rows with a name are drawn: those that split, the libraries, and the CPU's."""
    found: dict[str, dict[str, Any]] = {}
    base = {"markeredgecolor": CARD, "mew": 0.6}
    splits = iter(SERIES[:3])
    others = iter([(ORANGE, "v"), (PURPLE, "D")] * len(rows))
    for row in rows:
        if row.split:
            color, marker = next(splits, (INK, "P"))
            found[row.strategy] = {"color": color, "marker": marker, **base}
        elif row.strategy == LIBRARY:
            found[row.strategy] = {"color": INK, "marker": ".", "linewidth": 1.4}
        elif row.role == "baseline" and row.target == "gpu":
            dots = {"linestyle": (0, (1, 1.2)), "linewidth": 1.4}
            found[row.strategy] = {"color": INK, "marker": ".", **dots}
        elif row.target == "cpu":
            color, marker = next(others)
            found[row.strategy] = {"color": color, "marker": marker, **base}
    return found


def _points(accuracy: Accuracy, row: Row, each: Distribution, kind: str) -> list[tuple[int, float]]:
    """(K, error); an error of 0 has no place on a logarithmic axis."""
    results = (accuracy.errors(row.strategy, each.name, k) for k in accuracy.ks)
    return [(r.k, getattr(r, kind)) for r in results if r and getattr(r, kind) > 0]
