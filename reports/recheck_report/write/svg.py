"""Charts as SVG text: a card with a title, panels with axes, marks with their intervals, names.

A card is as wide as a phone's column of text, so no type is smaller than 11 pixels there. Places
are in points, from the top left.

Colours are Okabe and Ito's, darkened until each has a contrast of 4.5 on the card; markers repeat
the difference. A reader who prefers dark gets DARK's. Text is <text>: it can be searched, and its
font is the reader's. So widths are estimates: those of DejaVu Sans, which is a wide font.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape

from recheck_report.formatting import short

INK, MUTED, FAINT, GRID, CARD = "#1b1f24", "#57606a", "#8a939c", "#e4e8ec", "#fbfcfd"
BLUE, VERMILION, GREEN, PURPLE, OCHRE = "#0063a6", "#bb4400", "#00734f", "#94407f", "#806000"
DARK = {
    INK: "#e6edf3", MUTED: "#a5afb9", FAINT: "#6a737d", GRID: "#2a3138", CARD: "#12171d",
    BLUE: "#62b0f0", VERMILION: "#ff8c52", GREEN: "#2fc08d", PURPLE: "#e08fcb", OCHRE: "#e3b341",
}  # fmt: skip
# the same thing has the same colour in every chart
THEIRS, OURS, LIBRARY = BLUE, GREEN, VERMILION
SERIES = ((BLUE, "o"), (VERMILION, "s"), (GREEN, "^"), (PURPLE, "D"), (OCHRE, "v"), (INK, "P"))
WIDTH, MARGIN, TYPE = 356.0, 8.0, 11.2
LINE = 14.0  # from one line of text to the next
SHOWN = 560  # pixels that a card is wide where there is room
# widths of letters, in sizes of their type
_WIDTHS = {**dict.fromkeys("ijlI", 0.29), **dict.fromkeys(" .,:;'|!/", 0.33)}
_WIDTHS |= {**dict.fromkeys("tfr()[]-", 0.4), **dict.fromkeys("mMwW@%×", 0.92)}

Interval = tuple[float, float, float, float]  # a place, a value, and its low and high end
# by name: the outline of a marker around 0, in halves of its size
_MARKERS = {
    "s": "M-1-1H1V1H-1z",
    "D": "M0-1.3L1.3 0 0 1.3-1.3 0z",
    "^": "M0-1.2L1.1 .9H-1.1z",
    "v": "M0 1.2L1.1-.9H-1.1z",
    "X": "M-1.1-.6L-.6-1.1 0-.5 .6-1.1 1.1-.6 .5 0 1.1 .6 .6 1.1 0 .5-.6 1.1-1.1 .6-.5 0z",
    "P": "M-.4-1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4z",
}


class NotDrawn(Exception):
    """The record has nothing to draw; str() is the reason that the report gives."""


def _n(value: float) -> str:
    """A coordinate: to a hundredth of a point."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def width_of(text: str, size: float = TYPE, *, bold: bool = False) -> float:
    letters = math.fsum(_WIDTHS.get(each, 0.7 if each.isupper() else 0.62) for each in text)
    return letters * size * (1.13 if bold else 1)


def wrapped(text: str, room: float, size: float = TYPE, *, bold: bool = False) -> list[str]:
    """The text in lines that are at most `room` points wide, unless a word is wider."""
    lines = [""]
    for word in re.sub("(?<=[<>]) | (?=[%§†‡])", "\N{NO-BREAK SPACE}", text).split(" "):
        line = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and width_of(line, size, bold=bold) > room:
            lines.append(word)
        else:
            lines[-1] = line
    return lines


@dataclass(frozen=True)
class Axis:
    """A scale: its two ends, and the values with a tick."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...] = ()
    log: bool = False

    def share(self, value: float) -> float:
        """0 at the low end, 1 at the high end."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def linear(low: float, high: float) -> Axis:
    """At most five steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 5
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(each * scale for each in (1, 2, 5, 10) if each * scale >= rough * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    values = (round(at * step, 12) for at in range(first, last + 1))
    return Axis(low, high, tuple((value, f"{value:g}".replace("-", "−")) for value in values))


def logarithmic(
    low: float, high: float, room: float, text: Callable[[float], str], least: float = 40
) -> Axis:
    """As many ticks per decade as fit into `room` points, at least `least` points apart. Raises
    NotDrawn for values that a logarithmic axis cannot show."""
    if not 0 < low < high < math.inf:
        raise NotDrawn("a rate in it is 0 or not known")
    decade = room / math.log10(high / low)
    many = next(n for n in (3, 2, 1) if decade / n >= least or n == 1)
    if math.floor(math.log10(high)) == math.ceil(math.log10(low)):
        many = 2 if high / low > 10 else 3  # or there would be one tick
    digits = {3: (1, 2, 5), 2: (1, 3), 1: (1,)}[many]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    values = (digit * 10.0**power for power in powers for digit in digits)
    ticks = tuple((value, text(value)) for value in values if low <= value <= high)
    return Axis(low, high, ticks, log=True)


def sizes(values: Sequence[int]) -> Axis:
    """Sizes in ascending order, log2."""
    ticks = tuple((float(each), short(each, values[-1])) for each in values)
    return Axis(values[0] / 2**0.35, values[-1] * 2**0.35, ticks, log=True)


class Card:
    """An opaque card: its title above, what is drawn from `y` on, and below how to read it."""

    def __init__(self, title: str, note: str) -> None:
        self.title, self.note = title, note
        self._marks: list[str] = []
        self.y = MARGIN
        for line in wrapped(title, WIDTH - 2 * MARGIN, 13, bold=True):
            self.text(MARGIN, self.y + 8, line, size=13, bold=True)
            self.y += 17
        self.y += 6

    def text(
        self,
        x: float,
        y: float,
        text: str,
        color: str = INK,
        size: float = TYPE,
        *,
        bold: bool = False,
        anchor: str = "start",
        backed: bool = False,
    ) -> float:
        """A line whose middle is at y; returns where it ends. `backed`: on a piece of the card, so
        that lines do not cross it."""
        width = width_of(text, size, bold=bold)
        start = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        if backed:
            box = f'x="{_n(start - 1)}" y="{_n(y - 0.6 * size)}" width="{_n(width + 2)}"'
            self._marks.append(f'<rect {box} height="{_n(1.2 * size)}" fill="{CARD}"/>')
        look = f' font-size="{_n(size)}"' * (size != TYPE) + ' font-weight="bold"' * bold
        look += f' text-anchor="{anchor}"' * (anchor != "start")
        place = f'x="{_n(x)}" y="{_n(y + 0.36 * size)}"'
        self._marks.append(f'<text {place} fill="{color}"{look}>{escape(text)}</text>')
        return start + width

    def path(
        self, points: Iterable[tuple[float, float]], color: str, width: float = 1.0, dash: str = ""
    ) -> None:
        """A line from point to point."""
        course = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        look = f'fill="none" stroke="{color}" stroke-width="{_n(width)}"{dashed}'
        self._marks.append(f'<path d="M{course}" {look}/>')

    def area(self, points: Iterable[tuple[float, float]], color: str) -> None:
        course = "L".join(f"{_n(x)} {_n(y)}" for x, y in points)
        self._marks.append(f'<path d="M{course}z" fill="{color}" fill-opacity=".13"/>')

    def mark(
        self, x: float, y: float, color: str, marker: str, size: float = 6, *, hollow: bool = False
    ) -> None:
        """One of the markers of SERIES, or "." for a small dot, filled or hollow."""
        half = size / 2
        fill, edge = (CARD, color) if hollow else (color, CARD)
        look = f'fill="{fill}" stroke="{edge}"'
        thick = 1.2 if hollow else 0.6
        if marker in ("o", "."):
            radius = half if marker == "o" else half / 2
            place = f'cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"'
            self._marks.append(f'<circle {place} {look} stroke-width="{_n(thick)}"/>')
            return
        place = f'transform="translate({_n(x)} {_n(y)})scale({_n(half)})"'
        width = f'stroke-width="{_n(thick / half)}"'
        self._marks.append(f'<path d="{_MARKERS[marker]}" {place} {look} {width}/>')

    def key(self, entries: Sequence[tuple[str, str, str, bool]]) -> None:
        """Markers with their names, as many in a line as fit: (colour, marker, name, hollow)."""
        if not entries:
            return
        x = MARGIN
        self.y += LINE / 2
        for color, marker, name, hollow in entries:
            if x > MARGIN and x + 12 + width_of(name) > WIDTH - MARGIN:
                x, self.y = MARGIN, self.y + LINE
            self.mark(x + 4, self.y, color, marker, hollow=hollow)
            x = self.text(x + 12, self.y, name) + 14
        self.y += LINE

    def panel(self, x: Axis, y: Axis, height: float, left: float = MARGIN) -> Panel:
        """A panel of this height from the left place to the right margin; room for an axis and its
        label is below."""
        top, self.y = self.y, self.y + height + 3 * LINE
        return Panel(self, x, y, left, WIDTH - MARGIN, top, top + height)

    def svg(self, about: str) -> bytes:
        """The card as SVG; `about` is its text for screen readers."""
        for line in wrapped(self.note, WIDTH - 2 * MARGIN):
            self.text(MARGIN, self.y + 6, line, MUTED)
            self.y += LINE
        marks, bottom = "\n".join(self._marks), self.y + MARGIN
        pairs = ((name, color) for name in ("fill", "stroke") for color in DARK)
        used = sorted({(n, c) for n, c in pairs if f'{n}="{c}"' in marks} | {("fill", CARD)})
        dark = "".join(f'[{name}="{color}"]{{{name}:{DARK[color]}}}' for name, color in used)
        height = f"{SHOWN * bottom / WIDTH:.0f}"
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:dc="http://purl.org/dc/elements/1.1/" '
            f'viewBox="0 0 {_n(WIDTH)} {_n(bottom)}" width="{SHOWN}" height="{height}" role="img" '
            f'aria-label="{escape(about)}" font-family="\'DejaVu Sans\',Verdana,sans-serif" '
            f'font-size="{_n(TYPE)}" stroke-linejoin="round">'
        )
        lines = (
            head,
            f"<style>@media(prefers-color-scheme:dark){{{dark}}}</style>",
            f"<title>{escape(self.title)}</title>",
            "<metadata><dc:title>Recheck</dc:title></metadata>",
            f'<rect width="100%" height="100%" fill="{CARD}"/>',
            marks,
            "</svg>\n",
        )
        return "\n".join(lines).encode()


@dataclass
class Panel:
    """An area of a card with two axes; its edges are in points."""

    card: Card
    x: Axis
    y: Axis
    left: float
    right: float
    top: float
    bottom: float

    def px(self, value: float) -> float:
        return self.left + self.x.share(value) * (self.right - self.left)

    def py(self, value: float) -> float:
        return self.bottom - self.y.share(value) * (self.bottom - self.top)

    def frame(self, x_label: str, y_label: str = "") -> None:
        """Grid, ticks with their names, and what the axes count."""
        for value, text in self.y.ticks:
            self.card.path([(self.left, self.py(value)), (self.right, self.py(value))], GRID, 0.7)
            self.card.text(self.left - 4, self.py(value), text, MUTED, anchor="end")
        free = -math.inf
        for value, text in self.x.ticks:
            at, half = self.px(value), width_of(text) / 2
            self.card.path([(at, self.top), (at, self.bottom)], GRID, 0.7)
            place = min(max(at, half + 1), WIDTH - half - 1)
            if place - half >= free:  # or it would touch its neighbour
                self.card.text(place, self.bottom + 10, text, MUTED, anchor="middle")
                free = place + half + 3
        self.card.path([(self.left, self.bottom), (self.right, self.bottom)], MUTED, 0.8)
        self.card.text(self.right, self.bottom + 10 + LINE, x_label, MUTED, anchor="end")
        if y_label:
            self.card.text(MARGIN, self.top - 11, y_label, MUTED)

    def interval(
        self, y: float, value: float, low: float, high: float, color: str, marker: str
    ) -> None:
        """A mark with its interval from left to right; y is in points."""
        if abs(self.px(high) - self.px(low)) > 0.5:
            ends = [(self.px(min(low, value)), y), (self.px(max(high, value)), y)]
            self.card.path(ends, color, 1.4)
        self.card.mark(self.px(value), y, color, marker, 7)

    def line(
        self, points: Sequence[Interval], color: str, marker: str, dash: str, *, hollow: bool
    ) -> None:
        """One series with its intervals over an ordered axis; points: place, value, low, high."""
        if len(points) > 1:
            self.card.path([(self.px(x), self.py(y)) for x, y, *_ in points], color, 1.6, dash)
        for x, value, low, high in points:
            ends = self.py(min(low, value)), self.py(max(high, value))
            if abs(ends[0] - ends[1]) > 0.5:
                self.card.path([(self.px(x), end) for end in ends], color)
            self.card.mark(self.px(x), self.py(value), color, marker, hollow=hollow)

    def band(self, points: Sequence[tuple[float, float, float]], color: str) -> None:
        """An area between two values at each place: (place, low, high)."""
        up = [(self.px(x), self.py(low)) for x, low, _ in points]
        down = [(self.px(x), self.py(high)) for x, _, high in reversed(points)]
        self.card.area(up + down, color)
