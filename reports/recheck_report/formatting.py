"""Numbers and names as a reader sees them, in SI units.

Everything is formatted here with plain Python floats, so no library's version changes a byte.
"""

from __future__ import annotations

import math

from recheck_report.model.record import Seconds

NBSP = "\N{NO-BREAK SPACE}"
NONE = "–"  # in a cell of a table


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
