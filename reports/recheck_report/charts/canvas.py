"""What all charts share: the card they stand on, their inks, log axes, and labels at line ends.

The card is opaque and light: no single ink has a contrast of 4.5 on both a white page and a dark
one (4.35 at best beside #0d1117), so a transparent chart would be poor on one of them. Colours are
Okabe and Ito's, which colour-blind readers can tell apart, and markers repeat the difference. Text
is <text>, which takes a third of the bytes of its outlines and can be searched and read aloud. A
code host shows it in the reader's fonts: places are reckoned with DejaVu Sans, Verdana is as wide,
and most others are narrower, so that labels, each held at the end that faces its mark, stay apart.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from matplotlib.transforms import Affine2D

from recheck_report.charts.compact import compact

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

INK, MUTED, FAINT, CARD, EDGE = "#1b1f24", "#57606a", "#c4cad1", "#fbfcfd", "#d0d7de"
BLUE, VERMILLION, GREEN, PURPLE, ORANGE = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00"
SKY = "#56b4e9"
SERIES = ((BLUE, "o"), (VERMILLION, "s"), (GREEN, "^"), (PURPLE, "D"), (ORANGE, "v"), (INK, "P"))
FONTS = "'DejaVu Sans',Verdana,sans-serif"
WIDTH = 10.0  # inches of 72 points; a code host scales it to its column

Point = tuple[float, float]
Interval = tuple[float, float, float, float]  # a place, a value, and its low and high end
Look = dict[str, Any]  # keywords of matplotlib's, each of a type of its own

_STYLE: dict[RcKeyType, Any] = {
    "svg.hashsalt": "recheck",
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans"],
    "text.parse_math": False,  # a "$" in a reason is a "$"
    "font.size": 9.0,
    "text.color": INK,
    "axes.edgecolor": EDGE,
    "axes.labelcolor": MUTED,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # nothing stands above a panel that a title had to make way for
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "grid.color": "#e6eaee",
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "hatch.linewidth": 0.6,
    "hatch.color": FAINT,
}


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's own defaults and the settings above; no matplotlibrc reaches into a chart."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        yield


def card(height: float, title: str, subtitle: str) -> Figure:
    """A figure of WIDTH x height inches: a rounded card with a title and what it shows."""
    figure = Figure(figsize=(WIDTH, height))
    FigureCanvasSVG(figure)
    figure.patch.set_visible(False)
    points = Affine2D().scale(1 / 72) + figure.dpi_scale_trans
    look: Look = {"facecolor": CARD, "edgecolor": EDGE, "zorder": -10, "transform": points}
    box = FancyBboxPatch(
        (12, 12), 72 * WIDTH - 24, 72 * height - 24, boxstyle="round,pad=10", **look
    )
    figure.add_artist(box)
    note(figure, 72 * height - 18, title, fontsize=12.5, fontweight="bold")
    note(figure, 72 * height - 37, subtitle, color=MUTED)
    return figure


def note(figure: Figure, y: float, text: str, **look: Any) -> None:
    """A line of text at the card's left margin, its top `y` points above the lower edge."""
    width, height = figure.get_size_inches() * 72
    figure.text(20 / width, y / height, text, va="top", **look)


def svg(figure: Figure) -> bytes:
    """The figure as SVG without date; its first text is the title."""
    out = io.BytesIO()
    about = {"Date": None, "Title": figure.texts[0].get_text(), "Publisher": "Recheck"}
    figure.savefig(out, format="svg", metadata=about)
    return compact(out.getvalue(), FONTS)


def luminance(color: Any) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def ink_on_card(color: str) -> str:
    """The colour, darkened until text in it reads on the card (contrast above 4.5)."""
    while 1.05 / (luminance(color) + 0.05) < 4.7:
        red, green, blue = to_rgb(color)
        color = to_hex((0.95 * red, 0.95 * green, 0.95 * blue))
    return color


def ink_on_fill(color: Any) -> str:
    """Black or white, whichever has the larger contrast on the fill."""
    return "#000000" if (luminance(color) + 0.05) ** 2 > 0.05 * 1.05 else "#ffffff"


def log_axes(axes: Any, sizes: list[int], low: float, high: float) -> None:
    """Log2 sizes across, powers of ten up; the limits are fixed so that labels can be placed."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlim(sizes[0] / 2**0.35, sizes[-1] * 2**0.2)
    axes.set_ylim(low, high)
    axes.xaxis.set_major_locator(FixedLocator(sizes))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    axes.grid(True)


def line(axes: Any, points: Sequence[Interval], **look: Any) -> None:
    """One series with its intervals over an ordered axis; points are (size, value, low, high)."""
    x, y, low, high = zip(*points, strict=True)
    down = [a - b for a, b in zip(y, low, strict=True)]
    up = [b - a for a, b in zip(y, high, strict=True)]
    axes.errorbar(x, y, yerr=[down, up], elinewidth=1, gid=trend(axes), **look)


def lines(axes: Any, series: Sequence[Sequence[Point]], **look: Any) -> None:
    """Many series without marks or names over an ordered axis, below those that have them."""
    found = LineCollection(series, gid=trend(axes), zorder=1.5, **look)
    axes.add_collection(found, autolim=False)


def dots(axes: Any, points: Sequence[Interval], **look: Any) -> None:
    """Marks with their intervals from left to right; points are (y, value, low, high)."""
    if not points:
        return
    y, x, low, high = zip(*points, strict=True)
    # a value may be its interval's end, and rounding must not put it beyond
    down = [max(0.0, a - b) for a, b in zip(x, low, strict=True)]
    up = [max(0.0, b - a) for a, b in zip(x, high, strict=True)]
    axes.errorbar(x, y, xerr=[down, up], linestyle="none", **look)


def trend(axes: Any) -> str:
    """The name of a line that joins its points because the axis below them is ordered.

    `lint` lets no other line join points.
    """
    return f"trend_{axes.figure.axes.index(axes)}_{len(axes.get_children())}"


@dataclass(frozen=True)
class Label:
    x: float  # where its line ends
    y: float
    text: str
    color: str
    bold: bool = False


def end_labels(axes: Any, labels: list[Label], size: float = 8.0) -> None:
    """Names lines at the right edge of a log-log panel, moved apart so that none overlap."""
    box, figure = axes.get_position(), axes.figure
    points = box.height * figure.get_size_inches()[1] * 72
    low, high = (math.log(y) for y in axes.get_ylim())
    last = axes.get_xlim()[1]
    # a line that ends early is named where it ends: to the right if the panel has room for the name
    # there, whose letters are 0.7 of their size wide, below if it is not the topmost; else above
    first = math.log(axes.get_xlim()[0])
    wide = box.width * figure.get_size_inches()[0] * 72 / (math.log(last) - first)
    for early in [label for label in labels if label.x < last / 1.5]:
        others = max((other.y for other in labels if other is not early), default=0)
        room = (math.log(last) - math.log(early.x)) * wide - 5
        right = room >= 0.7 * size * len(early.text)
        up = not right or early.y > others / 2
        look: Look = {"color": ink_on_card(early.color), "fontsize": size, "fontweight": "bold"}
        look |= {"textcoords": "offset points", "va": "bottom" if up else "top"}
        look |= {"ha": "left" if right else "right"}
        at = (5 if right else -5, 4 if up else -4)
        axes.annotate(early.text, (early.x, early.y), at, **look)
    labels = [label for label in labels if label.x >= last / 1.5]
    wanted = [(math.log(label.y) - low) / (high - low) * points for label in labels]
    heights = [1.32 * size * len(label.text.splitlines()) for label in labels]
    inks = [ink_on_card(label.color) for label in labels]
    leads, width = [], box.width * figure.get_size_inches()[0] * 72
    places = place(wanted, heights, points)
    for label, ink, y, end in zip(labels, inks, places, wanted, strict=True):
        look = {"va": "center", "fontsize": size, "color": ink, "transform": axes.transAxes}
        look |= {"fontweight": "bold" if label.bold else "normal"}
        axes.text(1.045, y / points, label.text, **look)
        leads.append(_lead(((math.log(label.x) - first) * wide, end), (1.045 * width, y)))
    look = {"colors": inks, "linewidths": 0.5, "alpha": 0.6, "zorder": 3, "clip_on": False}
    look |= {"transform": Affine2D().scale(1 / width, 1 / points) + axes.transAxes}
    axes.add_collection(LineCollection(leads, **look), autolim=False)


def _lead(start: Point, stop: Point) -> list[Point]:
    """From 3 points beside the end of a line to a point before its name."""
    (x0, y0), (x1, y1), length = start, stop, math.dist(start, stop)
    return [(x0 + at * (x1 - x0), y0 + at * (y1 - y0)) for at in (3 / length, 1 - 1 / length)]


def place(wanted: list[float], heights: list[float], top: float) -> list[float]:
    """Centres nearest to the wanted ones for labels of these heights that must not overlap.

    In order, and less the room that the labels below need, centres may not decrease: isotonic
    regression, whose answer is the mean of each pool of violators. All stay inside 0..top.
    """
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    room, below = {}, 0.0
    for i in order:
        room[i] = below + heights[i] / 2
        below += heights[i]
    pools: list[list[float]] = []
    for i in order:
        pools.append([wanted[i] - room[i]])
        while len(pools) > 1 and _mean(pools[-2]) > _mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    flat = [_mean(pool) for pool in pools for _ in pool]
    placed = {i: max(0.0, min(x, top - below)) + room[i] for i, x in zip(order, flat, strict=True)}
    return [placed[i] for i in range(len(wanted))]


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
