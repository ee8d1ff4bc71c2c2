"""Errors of split products against how often tensor cores' sums are promoted, beside a simulation.

Never promoting is drawn at K itself, for then the tensor core sums all of K.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter

from recheck_report.charts.canvas import SERIES, Card, Label, Look, folded, log_sizes, log_values
from recheck_report.charts.drawing import Drawing, NotDrawn
from recheck_report.charts.error import power
from recheck_report.charts.message import factor
from recheck_report.claims.predictions import Predictions
from recheck_report.model.accuracy import LIBRARY, Accuracy, Distribution

TITLE = "Errors against promotion"
SHOWN = ("uniform", "normal")  # on others nothing has a bias, or guards have another row compute
*SPLITS, VENDOR = SERIES
NAMES = 88.0  # points to the right of a panel
Points = list[tuple[int, float]]


def promotion(accuracy: Accuracy, known: Predictions | None) -> Drawing:
    if known is None:
        raise NotDrawn("no `predictions.toml` says what to expect")
    shown = [each for each in accuracy.ordinary if each.name in SHOWN]
    measured = {each.name: _measured(accuracy, each, known.k) for each in shown}
    families = list(dict.fromkeys(name for found in measured.values() for name in found))
    if not families:
        raise NotDrawn(_why_not(accuracy, known.k))
    note = (
        f"Relative Frobenius error at K = {known.k}. Filled: measured. Hollow, dotted: predicted "
    )
    note += "by a simulation before anything was measured."
    card = Card(_message(accuracy, shown, measured, known.k), note, 250)
    for axes, each in zip(card.grid(1, len(shown), NAMES), shown, strict=True):
        axes.set_title(each.says)
        _panel(card, axes, accuracy, each, measured[each.name], families, known)
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
    return Drawing(card, caption)


def _panel(
    card: Card, axes: Axes, accuracy: Accuracy, each: Distribution, measured: dict[str, Points],
    families: Sequence[str], known: Predictions,
) -> None:  # fmt: skip
    predicted = {name: _placed(known.of(name, each.name), known.k) for name in families}
    lines = [*measured.values(), *predicted.values()]
    base = accuracy.errors(LIBRARY, each.name, known.k)
    values = [value for points in lines for _, value in points]
    values += [base.frobenius] if base and base.frobenius else []
    intervals = sorted({x for points in lines for x, _ in points} | {known.k})
    log_values(axes.yaxis, min(values) / 2, max(values) * 2, power)
    log_sizes(axes, intervals)
    named = [x for x in intervals if x == known.k or x * 4 <= known.k]
    axes.xaxis.set_major_locator(FixedLocator([*named[:-1:2], known.k]))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda x, _: "never" if round(x) == known.k else f"{x:.0f}")
    )
    axes.set_xlabel("promoted after (elements of K, log)")
    if axes is card.figure.axes[0]:
        axes.set_ylabel("relative Frobenius error (1, log)")
    labels = []
    if base and base.frobenius:
        axes.axhline(base.frobenius, color=VENDOR[0], linewidth=1.4)
        labels.append(Label(axes.get_xlim()[1], base.frobenius, LIBRARY, VENDOR[0], bold=False))
    for name, (color, marker) in zip(families, SPLITS * len(families), strict=False):
        look: Look = {"color": color, "marker": marker}
        points = measured.get(name, [])
        for kind, some in (("predicted", predicted[name]), ("measured", points)):
            if some:
                dots: Look = {"linestyle": (0, (1, 1.6)), "linewidth": 1.0, "markersize": 8}
                dots |= {"markerfacecolor": "none", "mec": color}
                titles = [f"{name}, {x}, {kind}: {value:.3g}" for x, value in some]
                gid = card.says(titles, "trend")
                axes.plot(
                    *zip(*some, strict=True),
                    gid=gid,
                    **look,
                    **(dots if kind == "predicted" else {}),
                )
        if points:
            # one point of a row without a sweep is no place for a name
            end = max([points[-1], *predicted[name][-1:]], key=lambda point: point[0])
            labels.append(Label(*end, folded(name, NAMES - 9), color))
    card.ends(axes, labels)


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


def _message(
    accuracy: Accuracy,
    shown: Sequence[Distribution],
    measured: dict[str, dict[str, Points]],
    k: int,
) -> str:
    """What the row with the widest sweep gains by promoting as often as it may."""
    for each in shown:
        of = {name: points for name, points in measured[each.name].items() if len(points) > 1}
        if not of:
            continue
        name = max(of, key=lambda name: max(v for _, v in of[name]) / min(v for _, v in of[name]))
        (often, value), (seldom, worse) = of[name][0], of[name][-1]
        last = "never" if seldom == k else f"every {seldom} elements"
        text = f"Promoting every {often} elements instead of {last} makes {name}'s error "
        gain = worse / value
        text += f"{factor(gain)} times smaller" if gain > 1 else f"{factor(1 / gain)} times larger"
        base = accuracy.errors(LIBRARY, each.name, k)
        if base and base.frobenius:
            text += f": {factor(value / base.frobenius)} times {LIBRARY}'s"
        return f"On {each.says} inputs p{text[1:]}"
    return "No row was measured at more than one interval of promotion"
