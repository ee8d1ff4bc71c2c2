"""Numbers and names as a reader sees them: SI units, and never a ratio without its interval.

Everything is formatted here with plain Python floats, so no library's version changes a byte.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from record import Seconds


def significant(value: float, digits: int = 3) -> str:
    """Fixed-point text with `digits` significant digits: 8.914 -> "8.91", 388.2 -> "388"."""
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    return f"{value:.{max(0, digits - 1 - exponent)}f}"


def duration(seconds: float, digits: int = 3) -> str:
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.9995 * scale:
            return f"{significant(seconds / scale, digits)} {unit}"
    return f"{significant(seconds / 1e-9, digits)} ns"


def spread(seconds: Seconds) -> str:
    """The larger half of the interval, relative to the median: "±0.23 %"."""
    half = max(seconds.high - seconds.median, seconds.median - seconds.low)
    percent = 100 * half / seconds.median
    return "±<0.01 %" if percent < 0.01 else f"±{significant(percent, 2)} %"


def shape_label(shape: str) -> str:
    """ "4096x4096x4096" -> "4096³", "80x48x64" -> "80×48×64"."""
    extents = shape.split("x")
    if len(extents) in (2, 3) and len(set(extents)) == 1:
        return extents[0] + "²³"[len(extents) - 2]
    return "×".join(extents)


def cell(text: str) -> str:
    """Text of the record made safe in Markdown: no pipe and no tag of it survives."""
    for char, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "\\|")):
        text = text.replace(char, entity)
    return text


@dataclass(frozen=True)
class Ratio:
    """How many times as fast `other` is as `base`, with a conservative 95% interval.

    The bounds pair the far ends of the two medians' intervals, so they hold whatever the two
    have in common; a ratio whose interval holds 1 is "no difference".
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, base: Seconds, other: Seconds) -> Ratio:
        return cls(base.median / other.median, base.low / other.high, base.high / other.low)

    @classmethod
    def over(cls, exact: float, other: Seconds) -> Ratio:
        """Against a time without an interval, as old documents give it."""
        return cls(exact / other.median, exact / other.high, exact / other.low)

    @property
    def outcome(self) -> str:
        return "faster" if self.low > 1 else "slower" if self.high < 1 else "no difference"

    def times(self, factor: float) -> Ratio:
        return Ratio(self.value * factor, self.low * factor, self.high * factor)

    @property
    def percent(self) -> str:
        """ "92.3 % [92.1, 92.5]", for a share of something."""
        value, low, high = self.times(100)._texts(100)
        return f"{value} % [{low}, {high}]"

    def __str__(self) -> str:
        value, low, high = self._texts(1)
        return f"{value}× [{low}, {high}]"

    def _texts(self, one: float) -> list[str]:
        # as many decimals as the interval's width deserves, and enough that a bound which is not
        # 1 (or 100 %) does not read as it
        width = self.high - self.low or self.value * 1e-3
        decimals = max(0, -math.floor(math.log10(width)), 2 - math.floor(math.log10(self.value)))
        bounds = (self.low, self.high)
        while decimals < 6 and any(round(b, decimals) == one != b for b in bounds):
            decimals += 1
        return [f"{x:.{decimals}f}" for x in (self.value, *bounds)]
