"""Errors of split products against how often tensor cores' sums are promoted, beside a simulation.

Never promoting is drawn at K itself, for then the tensor core sums all of K.
"""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from recheck_report.charts.canvas import (
    CARD,
    INK,
    SERIES,
    Label,
    Look,
    card,
    end_labels,
    log_axes,
    trend,
)
from recheck_report.charts.drawing import Drawing, NotDrawn
from recheck_report.charts.error import power
from recheck_report.claims.predictions import Predictions
from recheck_report.model.accuracy import LIBRARY, Accuracy, Distribution

SHOWN = ("uniform", "normal")  # on others nothing has a bias, or guards have another row compute
Points = list[tuple[int, float]]


def promotion(accuracy: Accuracy, known: Predictions | None) -> Drawing:
    if known is None:
        raise NotDrawn("no `predictions.toml` says what to expect")
    shown = [each for each in accuracy.ordinary if each.name in SHOWN]
    measured = {each.name: _measured(accuracy, each, known.k) for each in shown}
    families = list(dict.fromkeys(name for found in measured.values() for name in found))
    if not families:
        raise NotDrawn(_why_not(accuracy, known.k))
    subtitle = f"relative Frobenius error at K = {known.k} · filled: measured · hollow, dotted: "
    subtitle += "predicted by a simulation before anything was measured"
    height = 4.9
    figure = card(height, "Matrix multiplication: errors against promotion", subtitle)
    grid = figure.add_gridspec(1, len(shown), wspace=0.6)
    right = 0.87 if len(shown) > 1 else 0.7
    grid.update(left=0.08, right=right, bottom=0.62 / height, top=1 - 1.05 / height)
    for at, each in enumerate(shown):
        axes = figure.add_subplot(grid[0, at], title=each.says)
        _panel(axes, accuracy, each, measured[each.name], families, known)
    rows = [f"{name}: {known.rows[name]}" for name in families if name in known.rows]
    caption = f"Simulated: {known.source}."
    if rows:
        caption += f" The scheme that each row follows: {'; '.join(rows)}."
    wrong = [
        f"{each.strategy} ({each.why_not})"
        for each in accuracy.results
        if each.k == known.k and each.reason and each.distribution == shown[0].name
        if any(row.strategy == each.strategy and row.split for row in accuracy.rows)
    ]
    caption += f" Not passed on {shown[0].says}: {'; '.join(wrong)}." if wrong else ""
    return Drawing(figure, subtitle, caption)


def _panel(
    axes: Axes, accuracy: Accuracy, each: Distribution, measured: dict[str, Points],
    families: list[str], known: Predictions,
) -> None:  # fmt: skip
    predicted = {name: _placed(known.of(name, each.name), known.k) for name in families}
    lines = [*measured.values(), *predicted.values()]
    base = accuracy.errors(LIBRARY, each.name, known.k)
    values = [value for points in lines for _, value in points]
    values += [base.frobenius] if base and base.frobenius else []
    intervals = sorted({x for points in lines for x, _ in points} | {known.k})
    log_axes(axes, intervals, min(values) / 2, max(values) * 2)
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: "never" if round(x) == known.k else f"{x:.0f}")
    )
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: power(y)))
    axes.set_xlabel("promoted after (elements of K, log)")
    axes.set_ylabel("relative Frobenius error (1, log)")
    labels = []
    if base and base.frobenius:
        axes.axhline(base.frobenius, color=INK, linewidth=1.4)
        labels.append(Label(axes.get_xlim()[1], base.frobenius, LIBRARY, INK))
    for name, (color, marker) in zip(families, SERIES * len(families), strict=False):
        look: Look = {"color": color, "marker": marker}
        points = measured.get(name, [])
        if ahead := predicted[name]:
            dots: Look = {"linestyle": (0, (1, 1.6)), "linewidth": 1.0, "markerfacecolor": "none"}
            axes.plot(*zip(*ahead, strict=True), gid=trend(axes), markersize=7, **look, **dots)
        if points:
            edge: Look = {"markeredgecolor": CARD, "mew": 0.6}
            axes.plot(*zip(*points, strict=True), gid=trend(axes), **look, **edge)
            # one point of a row without a sweep is no place for a name
            end = max(points[-1], *ahead[-1:], key=lambda point: point[0])
            labels.append(Label(*end, name, color, bold=True))
    end_labels(axes, labels)


def _placed(points: Points, k: int) -> Points:
    """By interval; 0, which is never, at K."""
    return sorted((interval or k, value) for interval, value in points)


def _measured(accuracy: Accuracy, each: Distribution, k: int) -> dict[str, Points]:
    """(promotion interval, error) by family; the first row of a family wins an interval."""
    found: dict[str, dict[int, float]] = {}
    for row in accuracy.rows:
        result = accuracy.errors(row.strategy, each.name, k)
        if row.split and result and result.frobenius:
            found.setdefault(row.family, {}).setdefault(row.promotion, result.frobenius)
    return {name: _placed(list(points.items()), k) for name, points in found.items()}


def _why_not(accuracy: Accuracy, k: int) -> str:
    splits = [row.strategy for row in accuracy.rows if row.split]
    if not splits:
        return "no row splits its inputs"
    reasons = [r.why_not for r in accuracy.results if r.strategy in splits and r.reason]
    return reasons[0] if reasons else f"no row that splits its inputs was measured at K = {k}"
