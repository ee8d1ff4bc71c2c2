"""What all charts share: the card with its message, the inks of light and dark, series and names.

Matplotlib draws them, not a JavaScript library: a report is rendered on the machine with the GPU,
which often has no network, and matplotlib is all that it needs there. A card is as wide as a
column of text (6.5 inches), and no type is smaller than 9 points: a code host shows a point as 1.8
pixels on a desktop, as 0.8 on a phone.

Colours are Okabe and Ito's, darkened until each has a contrast of 4.5 on the card; markers repeat
the difference. A reader who prefers dark gets DARK's. Text is <text>: it can be searched and takes
a third of the bytes of its outlines. Places are reckoned with DejaVu Sans; Verdana is as wide, and
most other fonts are narrower.
"""

from __future__ import annotations

import io
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from recheck_report.charts.compact import compact

if TYPE_CHECKING:
    from matplotlib.typing import RcKeyType

INK, MUTED, FAINT, GRID, CARD = "#1b1f24", "#57606a", "#8a939c", "#e4e8ec", "#fbfcfd"
BLUE, VERMILLION, GREEN, PURPLE, OCHRE = "#0063a6", "#bb4400", "#00734f", "#94407f", "#806000"
DARK = {
    INK: "#e6edf3",
    MUTED: "#a5afb9",
    FAINT: "#6a737d",
    GRID: "#2a3138",
    CARD: "#12171d",
    BLUE: "#62b0f0",
    VERMILLION: "#ff8c52",
    GREEN: "#2fc08d",
    PURPLE: "#e08fcb",
    OCHRE: "#e3b341",
}
# the same thing has the same colour in every chart
THEIRS, OURS, LIBRARY, SPLIT, OTHER_PROBLEM = BLUE, GREEN, VERMILLION, PURPLE, OCHRE
SERIES = ((BLUE, "o"), (VERMILLION, "s"), (GREEN, "^"), (PURPLE, "D"), (OCHRE, "v"), (INK, "P"))
FONTS = "'DejaVu Sans',Verdana,sans-serif"
WIDTH, MARGIN = 468.0, 12.0  # points
LETTER = 5.6  # points: the width of a letter of the type that names things
DASHED = (0, (5, 3))
BACKED = {"facecolor": CARD, "edgecolor": "none", "pad": 1}

Interval = tuple[float, float, float, float]  # a place, a value, and its low and high end
Look = dict[str, Any]  # keywords of matplotlib's, each of a type of its own

_STYLE: dict[RcKeyType, Any] = {
    "figure.dpi": 72,  # so that a pixel is a point
    "svg.fonttype": "none",
    "font.family": ["DejaVu Sans"],
    "text.parse_math": False,  # a "$" in a reason is a "$"
    "font.size": 9.0,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": MUTED,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titley": 1.0,  # nothing stands above a panel that a title had to make way for
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.facecolor": "none",
    "figure.facecolor": CARD,
    "savefig.facecolor": CARD,
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "xtick.major.size": 0.0,
    "ytick.major.size": 0.0,
    "lines.linewidth": 1.6,
    "lines.markersize": 5.5,
    "lines.markeredgecolor": CARD,
    "lines.markeredgewidth": 0.6,
    "legend.frameon": False,
    "legend.handletextpad": 0.2,
    "legend.columnspacing": 1.2,
}


@contextmanager
def style(salt: str) -> Iterator[None]:
    """Matplotlib's own defaults and the settings above; no matplotlibrc reaches into a chart. What
    marks an SVG's parts comes from `salt`, so that two charts in one page have none in common."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_STYLE, "svg.hashsalt": salt})
        yield


class NotDrawn(Exception):
    """The record has nothing to draw; str() is the reason that the report gives."""


@dataclass(frozen=True)
class Label:
    x: float  # where its line ends
    y: float
    text: str
    color: str
    bold: bool = True


class Card:
    """An opaque card: its message above, `body` points of panels, and below how to read them."""

    def __init__(self, message: str, note: str, body: float, size: float = 9) -> None:
        title = textwrap.wrap(message.replace(" %", "\N{NO-BREAK SPACE}%"), 56)
        notes = textwrap.wrap(note, int(90 * 9 / size))
        self.message, self.body = message, body
        self.bottom = MARGIN + size * 4 / 3 * len(notes)
        self.height = self.bottom + body + 18 + 17 * len(title)
        self.figure = Figure(figsize=(WIDTH / 72, self.height / 72))
        FigureCanvasSVG(self.figure)
        self._text(self.height - MARGIN, title, fontsize=13, fontweight="bold")
        self._text(self.bottom - 6, notes, color=MUTED, fontsize=size)

    def _text(self, y: float, lines: Sequence[str], **look: Any) -> None:
        place = MARGIN / WIDTH, y / self.height
        self.figure.text(*place, "\n".join(lines), va="top", **look)

    def axes(
        self, left: float, right: float, top: float = 4, bottom: float = 34, **look: Any
    ) -> Axes:
        """A panel; left and right are points from the card's edges, the others from the body's."""
        low, high = self.bottom + bottom, self.bottom + self.body - top
        width, height = WIDTH - left - right, high - low
        box = left / WIDTH, low / self.height, width / WIDTH, height / self.height
        return self.figure.add_axes(box, **look)

    def line(self, axes: Axes, points: Sequence[Interval], **look: Any) -> None:
        """One series with its intervals over an ordered axis; points: size, value, low, high."""
        x, y, low, high = zip(*points, strict=True)
        axes.errorbar(x, y, yerr=_beyond(y, low, high), elinewidth=1, **look)

    def dots(self, axes: Axes, points: Sequence[Interval], **look: Any) -> None:
        """Marks with their intervals from left to right; points are (y, value, low, high)."""
        if points:
            y, x, low, high = zip(*points, strict=True)
            look = {"linestyle": "none", "elinewidth": 1.2, **look}
            found = axes.errorbar(x, y, xerr=_beyond(x, low, high), **look)
            # a legend shows the mark alone
            found[0].set_label(found.get_label())
            found.set_label("_")

    def ends(self, axes: Axes, labels: Sequence[Label]) -> None:
        """Names lines to the right of their panel, moved apart so that none overlap."""
        box = axes.get_window_extent()
        places = [axes.transData.transform((label.x, label.y)) for label in labels]
        wanted = [float(y - box.y0) for _, y in places]
        heights = [11.5 * (1 + label.text.count("\n")) for label in labels]
        for label, y in zip(labels, place(wanted, heights, box.height), strict=True):
            lead = {"arrowstyle": "-", "color": label.color, "linewidth": 0.6, "relpos": (0, 0.5)}
            axes.annotate(
                label.text, (label.x, label.y), (box.x1 + 9, box.y0 + y), va="center",
                textcoords="figure points", color=label.color, arrowprops=lead | _LEAD,
                fontweight="bold" if label.bold else "normal", annotation_clip=False,
            )  # fmt: skip

    def svg(self, about: str) -> bytes:
        """The card without date; `about` is what it says to those who do not see it."""
        out = io.BytesIO()
        known = {"Date": None, "Title": self.message, "Publisher": "Recheck"}
        self.figure.savefig(out, format="svg", metadata=known)
        return compact(out.getvalue(), FONTS, DARK, about)


_LEAD: Look = {"shrinkA": 1, "shrinkB": 4}


def _beyond(
    values: Sequence[float], low: Sequence[float], high: Sequence[float]
) -> list[list[float]]:
    """How far the intervals reach; rounding must not put a value beyond its interval's end."""
    ends = zip(values, low, high, strict=True)
    down, up = zip(*((max(0.0, v - a), max(0.0, b - v)) for v, a, b in ends), strict=True)
    return [list(down), list(up)]


def log_sizes(axes: Axes, sizes: list[int]) -> None:
    """Sizes across, log2; of more than eight every second one is named."""
    axes.set_xscale("log", base=2)
    axes.set_xlim(sizes[0] / 2**0.35, sizes[-1] * 2**0.2)
    named = sizes[:: -(-len(sizes) // 8)] if len(sizes) > 8 else sizes
    axes.xaxis.set_major_locator(FixedLocator(named))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: short(x, sizes[-1])))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.grid(True)


def short(size: float, largest: float = 2**20) -> str:
    """ "4096"; where some are of a million or more, "4 Ki"."""
    for unit, name in ((2**20, "Mi"), (2**10, "Ki")):
        if largest >= 2**20 and size >= unit and round(size) % unit == 0:
            return f"{round(size) // unit} {name}"
    return f"{size:.0f}"


def log_values(axis: Any, low: float, high: float, text: Callable[[float], str]) -> None:
    """A log axis with as many ticks a decade as there is room for; raises NotDrawn for values that
    it has no place for."""
    if not 0 < low < high < math.inf:
        raise NotDrawn("a rate of what it shows is 0 or not known")
    name, axes = axis.axis_name, axis.axes
    axes.set(**{f"{name}scale": "log", f"{name}lim": (low, high)})
    box, least = axes.get_window_extent(), 40 if name == "x" else 22  # points from tick to tick
    room = (box.width if name == "x" else box.height) / math.log10(high / low)
    many = next(n for n in (3, 2, 1) if room / n >= least or n == 1)
    if math.floor(math.log10(high)) == math.ceil(math.log10(low)):
        many = 2 if high / low > 10 else 3  # or there would be one tick
    axis.set_major_locator(
        LogLocator(10, subs={3: (1, 2, 5), 2: (1, 3), 1: (1,)}[many], numticks=40)
    )
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_locator(NullLocator())


def down(axes: Axes, names: Sequence[str], heights: Sequence[float] | None = None) -> None:
    """Rows from top to bottom, each with its name to the left."""
    heights = heights or range(len(names))
    axes.set_ylim(max(heights) + 0.7, -0.7)
    axes.set_yticks(heights, names)
    axes.grid(True, axis="x")
    axes.spines["left"].set_visible(False)


def beside(axes: Axes, y: float, text: str, x: float = 6, **look: Any) -> None:
    """A text in a row, x points to the right of the panel."""
    place: Look = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    place["va"] = "center_baseline"
    axes.annotate(text, (1, y), (x, 0), annotation_clip=False, **place, **look)


def room(names: Sequence[str]) -> float:
    """Points that the longest of these names needs at the left of a panel."""
    return MARGIN + 6 + LETTER * max(map(len, names), default=0)


def place(wanted: list[float], heights: list[float], top: float) -> list[float]:
    """Centres for labels of these heights, in the order of the wanted ones: moved up until none
    overlap, and down again until all are inside 0..top."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed, low, high = [*wanted], 0.0, top
    for i in order:
        placed[i] = max(wanted[i], low + heights[i] / 2)
        low = placed[i] + heights[i] / 2
    for i in reversed(order):
        placed[i] = min(placed[i], high - heights[i] / 2)
        high = placed[i] - heights[i] / 2
    return placed
