"""Errors of products against the length of their sums: by norm, and the largest of an element."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator

from recheck_report.charts.canvas import (
    BLUE,
    DASHED,
    FAINT,
    GREEN,
    INK,
    MUTED,
    OCHRE,
    PURPLE,
    VERMILLION,
    Card,
    Label,
    Look,
    log_sizes,
    log_values,
)
from recheck_report.charts.drawing import Drawing, NotDrawn
from recheck_report.charts.message import factor, listed
from recheck_report.model.accuracy import LIBRARY, TOLERANCE, Accuracy, Distribution, Row

TITLE = "Errors against the length of the sums"
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
    note = "Against float64, on the same inputs. Above: by norm. Below: the worst element, and the "
    note += (
        f"documents' tolerance of {power(TOLERANCE)}. Band: the other rows, in fp32 on CUDA cores."
    )
    card = Card(_message(accuracy, shown, there), note, 500)
    panels = iter(card.grid(2, len(shown), 84))
    looks = _looks(rows)
    for kind, text in _KINDS.items():
        values = [
            value
            for row in there
            for each in shown
            for _, value in _points(accuracy, row, each, kind)
        ]
        values += [TOLERANCE] if kind == "absolute" else []
        for at, each in enumerate(shown):
            axes = next(panels)
            axes.set_title(each.says)
            log_values(axes.yaxis, min(values) / 2.5, max(values) * 2.5, power)
            log_sizes(axes, accuracy.ks)
            axes.xaxis.set_major_locator(FixedLocator(_ticks(accuracy.ks)))
            axes.set(xlabel="K (products in a sum, log)", ylabel="" if at else text)
            _panel(card, axes, accuracy, there, each, kind, looks)
    gone = [row.strategy for row in rows if row not in there and row.strategy in looks]
    return Drawing(card, f"Without an error here: {', '.join(gone)}." if gone else "")


def _panel(
    card: Card, axes: Axes, accuracy: Accuracy, rows: Sequence[Row], each: Distribution, kind: str,
    looks: dict[str, Look],
) -> None:  # fmt: skip
    labels = []
    if kind == "absolute":
        axes.axhline(TOLERANCE, color=MUTED, linestyle=DASHED, linewidth=1)
        edge = axes.get_xlim()[1]
        labels.append(Label(edge, TOLERANCE, f"tolerance {power(TOLERANCE)}", MUTED, bold=False))
    others: dict[int, list[float]] = {}
    for row in rows:
        points = _points(accuracy, row, each, kind)
        if points and row.strategy in looks:
            look = looks[row.strategy]
            # every second point has a mark
            titles = [f"{row.strategy}, K = {k}: {value:.3g}" for k, value in points[::2]]
            gid = card.says(titles, "trend")
            axes.plot(*zip(*points, strict=True), gid=gid, markevery=2, **look)
            labels.append(Label(*points[-1], row.strategy, look["color"], row.split))
        else:
            for k, value in points:
                others.setdefault(k, []).append(value)
    if others:
        ks = sorted(others)
        band = [min(others[k]) for k in ks], [max(others[k]) for k in ks]
        axes.fill_between(ks, *band, color=FAINT, alpha=0.35, linewidth=0)
    card.ends(axes, labels)


def _ticks(ks: list[int]) -> list[int]:
    """Some of the lengths, the longest among them: each at most a sixteenth of the next."""
    kept = ks[-1:]
    for k in reversed(ks):
        kept += [k] if 16 * k <= kept[-1] else []
    return kept


def _looks(rows: Sequence[Row]) -> dict[str, Look]:
    """How the rows with a name are drawn: those that split, the libraries, and the CPU's."""
    found: dict[str, Look] = {}
    splits = iter([(PURPLE, "^"), (GREEN, "s"), (BLUE, "o")])
    others = iter([(OCHRE, "v"), (INK, "P")])
    for row in rows:
        if row.split:
            look = next(splits, None)
        elif row.role == "baseline" and row.target == "gpu":
            look = (VERMILLION, "D") if row.strategy == LIBRARY else (MUTED, "X")
        elif row.target == "cpu":
            look = next(others, None)
        else:
            look = None
        if look:
            found[row.strategy] = {"color": look[0], "marker": look[1], "markersize": 4.5}
    return found


def _points(accuracy: Accuracy, row: Row, each: Distribution, kind: str) -> list[tuple[int, float]]:
    """(K, error); an error of 0 has no place on a logarithmic axis."""
    results = (accuracy.errors(row.strategy, each.name, k) for k in accuracy.ks)
    return [(r.k, getattr(r, kind)) for r in results if r and getattr(r, kind) > 0]


def _message(accuracy: Accuracy, shown: Sequence[Distribution], rows: Sequence[Row]) -> str:
    """The largest and the least error of rows that are accurate, at the longest sums, against the
    library's."""
    each = shown[0]
    last = {row.strategy: _points(accuracy, row, each, "frobenius")[-1:] for row in rows}
    k = max(points[0][0] for points in last.values() if points)
    at = {name: points[0][1] for name, points in last.items() if points and points[0][0] == k}
    base = at.pop(LIBRARY, None)
    splits = {row.strategy: at[row.strategy] for row in rows if row.split and row.strategy in at}
    cpu = {
        row.strategy: at[row.strategy] for row in rows if row.target == "cpu" and row.strategy in at
    }
    if base is None or not (splits or cpu):
        name = min(at, key=at.__getitem__) if at else LIBRARY
        return f"At K = {k} {name} has the smallest error on {each.says} inputs"
    parts = []
    for some, pick in ((cpu, max), (splits, min)):
        if some:
            name = pick(some, key=some.__getitem__)
            parts.append(f"{name} {factor(some[name] / base)}")
    return (
        f"Errors of sums of {k} on {each.says} inputs, as multiples of {LIBRARY}'s: {listed(parts)}"
    )
