"""The self-audit: a kernel against itself, and against slower ones, a line for each pair."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter, MaxNLocator

from recheck_report.charts.canvas import (
    BLUE,
    CARD,
    INK,
    MUTED,
    ORANGE,
    VERMILLION,
    Look,
    card,
    dots,
)
from recheck_report.charts.drawing import Drawing, NotDrawn
from recheck_report.claims.measured import Measured
from recheck_report.formatting import significant
from recheck_report.model.record import Experiment
from recheck_report.sections.self_audit import resolution_text
from recheck_report.statistics.audit import Audit, Pair
from recheck_report.statistics.family import comparisons

TITLE = "What comparisons can tell here"


# the verdict at the report's resolution -> colour and marker
LOOKS = {
    "slower": (VERMILLION, "s"),
    "faster": (ORANGE, "^"),
    "same": (BLUE, "o"),
    "no difference": (MUTED, "D"),
}


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record = own.record
    found: Audit = comparisons(record).audit
    if not found.audited:
        raise NotDrawn("no two rows of the same kernel were measured")
    panels = {0.0: list(found.alike)} | {extra: found.of(extra) for extra in found.extras}
    rho = found.resolution
    subtitle = "each line a pair with the 95 % interval of its ratio, in order · grey band: the "
    subtitle += f"resolution, ±{resolution_text(rho)} · dashed: as much more time as work"
    figure = card(4.1, f"{experiment.title}: what comparisons can tell here", subtitle)
    grid = figure.add_gridspec(1, len(panels), wspace=0.12)
    grid.update(left=0.04, right=0.975, bottom=0.225, top=0.78)
    # one scale for all panels, each around what its pairs show
    reach = {
        extra: [100 * extra, *(x for pair in pairs for x in _ends(pair))]
        for extra, pairs in panels.items()
    }
    reach[0.0] += [-150 * rho, 150 * rho]
    span = 0.54 * max(max(known) - min(known) for known in reach.values())
    for at, (extra, pairs) in enumerate(panels.items()):
        name = f"{significant(100 * extra, 1)} % more work" if extra else "the same kernel"
        axes = figure.add_subplot(grid[0, at], title=f"{name}, {len(pairs)} pairs")
        centre = (min(reach[extra]) + max(reach[extra])) / 2
        axes.set(xlim=(centre - span, centre + span), ylim=(len(pairs) - 0.2, -0.8))
        axes.axvspan(100 / (1 + rho) - 100, 100 * rho, color=MUTED, alpha=0.18, linewidth=0)
        axes.axvline(0, color=INK, linewidth=0.9)
        axes.axvline(100 * extra, color=INK, linewidth=0.9, linestyle=(0, (2, 2)))
        axes.grid(True, axis="x")
        axes.spines["left"].set_visible(False)
        axes.set_yticks([])
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:+.3g}" if x else "0"))
        axes.set_xlabel("more time (%, right is slower)")
        ordered = sorted(pairs, key=lambda pair: (-pair.ratio.value, pair.base.id, pair.other.id))
        rank = {id(pair): y for y, pair in enumerate(ordered)}
        for verdict, (color, marker) in LOOKS.items():
            points = [
                (rank[id(p)], 100 / p.ratio.value - 100, *_ends(p))
                for p in ordered
                if p.called(rho) == verdict
            ]
            look: Look = {"marker": marker, "markersize": 2.6, "mec": CARD, "mew": 0.3}
            dots(axes, points, color=color, elinewidth=0.7, **look)
    for verdict, (color, marker) in LOOKS.items():
        look = {"linestyle": "none", "marker": marker, "color": color, "markersize": 5}
        axes.plot([], [], label=f"called {verdict}", **look)
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="lower left", bbox_to_anchor=(0.02, 0.02), ncols=4, frameon=False,
        fontsize=8, handletextpad=0.1, columnspacing=1.4,
    )  # fmt: skip
    return Drawing(figure, subtitle)


def _ends(pair: Pair) -> tuple[float, float]:
    """The interval as more time, in per cent."""
    return 100 / pair.ratio.high - 100, 100 / pair.ratio.low - 100
