"""The self-audit: a kernel against itself, and with more work; a row for each amount of it."""

from __future__ import annotations

from statistics import median, quantiles

from matplotlib.ticker import FuncFormatter, MaxNLocator

from recheck_report.charts.canvas import BLUE, CARD, GRID, INK, VERMILLION, Card, beside, down, room
from recheck_report.charts.drawing import Drawing, NotDrawn
from recheck_report.charts.message import listed
from recheck_report.claims.measured import Measured
from recheck_report.formatting import significant
from recheck_report.model.record import Experiment
from recheck_report.sections.self_audit import resolution_text
from recheck_report.statistics.audit import Audit
from recheck_report.statistics.family import comparisons

TITLE = "What comparisons can tell here"


def draw(own: Measured, experiment: Experiment) -> Drawing:
    found: Audit = comparisons(own.record).audit
    if not found.audited:
        raise NotDrawn("no two rows of the same kernel were measured")
    rho = found.resolution
    groups = {0.0: list(found.alike)} | {extra: found.of(extra) for extra in found.extras}
    names = {extra: f"{significant(100 * extra, 1)} % more work" for extra in groups}
    names[0.0] = "the same kernel"
    note = (
        "Bars: from the lowest end of any pair's 95 % interval to the highest; boxes: the middle "
    )
    note += "half of the ratios; crosses: as much time as work. Band: the resolution, "
    note += f"±{resolution_text(rho)}."
    card = Card(_message(found), note, 60 + 26 * len(groups))
    axes = card.axes(room(list(names.values())), 128, top=22)
    down(axes, list(names.values()))
    axes.axvspan(100 / (1 + rho) - 100, 100 * rho, color=GRID, linewidth=0)
    axes.axvline(0, color=INK, linewidth=0.9)
    beside(axes, -0.95, "called so")
    for y, (extra, pairs) in enumerate(groups.items()):
        more = sorted(100 / pair.ratio.value - 100 for pair in pairs)
        low = min(100 / pair.ratio.high - 100 for pair in pairs)
        high = max(100 / pair.ratio.low - 100 for pair in pairs)
        first, _, third = quantiles(more, n=4) if len(more) > 1 else more * 3
        color = VERMILLION if extra else BLUE
        card.dots(
            axes, [(y, median(more), low, high)],
            [f"{names[extra]}: {significant(median(more))} % more time, {len(pairs)} pairs"],
            color=color, marker="o", zorder=3,
        )  # fmt: skip
        axes.barh(y, third - first, left=first, height=0.42, facecolor=CARD, edgecolor=color)
        axes.plot(
            [100 * extra], [y], linestyle="none", marker="x", color=INK, mec=INK, mew=1.2, zorder=4
        )
        said = len(pairs) - found.false(rho) if not extra else found.found(extra)
        word = "no different" if not extra else "slower"
        beside(axes, y, f"{said} of {len(pairs)} {word}", color=color)
    axes.xaxis.set_major_locator(MaxNLocator(7))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:+.3g}" if x else "0"))
    axes.set_xlabel("more time than the first of the pair (%, right is slower)")
    return Drawing(card)


def _message(found: Audit) -> str:
    """How often comparisons err, and which slowdowns they find."""
    rho, total = found.resolution, len(found.alike)
    false = found.false(rho)
    none = "none" if not false else f"{false}"
    same = f"Of {total} pairs of one kernel {none} {'is' if false < 2 else 'are'} called different"
    if not found.extras:
        return same
    by: dict[str, list[str]] = {}
    for extra in found.extras:
        part = significant(100 * found.found(extra) / len(found.of(extra)))
        by.setdefault(f"{part} %", []).append(f"{significant(100 * extra, 1)} %")
    seen = [f"{part} of those by {listed(extras)}" for part, extras in by.items()]
    return f"{same}; slowdowns are found: {listed(seen)}"
