"""Numbers and names as a reader sees them, in SI units.

The digits of intervals and ratios are decided here. Everything is formatted with plain Python
floats, so no library's version changes a byte.
"""

from __future__ import annotations

import math

from recheck_report.record.case import Seconds
from recheck_report.record.regimes import REGIMES
from recheck_report.statistics.ratio import Ratio

SMALL = 1.1  # smaller ratios are printed in percent
NBSP = "\N{NO-BREAK SPACE}"
NONE = "–"  # an empty cell of a table
# what follows a row's name; the other regimes need no word
SCOPES = {name: regime.scope for name, regime in REGIMES.items() if regime.scope}


def count(number: int, one: str) -> str:
    """ "1 case", "2,345 cases"."""
    return f"{number:,} {one}{'' if number == 1 else 's'}"


def significant(value: float, digits: int = 3) -> str:
    """Fixed-point text with `digits` significant digits: 8.914 -> "8.91", 388.2 -> "388"."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "∞" if value > 0 else NONE
    exponent = math.floor(math.log10(abs(value)))
    return f"{value:.{max(0, digits - 1 - exponent)}f}"


def short(size: float, largest: float = 2**20) -> str:
    """ "4096"; where some are of a million or more, "4 Ki"."""
    for unit, name in ((2**20, "Mi"), (2**10, "Ki")):
        if largest >= 2**20 and size >= unit and round(size) % unit == 0:
            return f"{round(size) // unit} {name}"
    return f"{size:.0f}"


def margin(value: float) -> str:
    """ "2.4 %", "a factor of 58.9": by how much one may be more than the other."""
    if value == math.inf:
        return "not known"
    return f"{significant(100 * value, 2)} %" if value < 1 else f"a factor of {1 + value:.3g}"


def resolution_text(value: float) -> str:
    """ "0.15 %"."""
    return f"{100 * value:.2f}".rstrip("0").rstrip(".") + " %"


def p_value(p: float) -> str:
    """ "p = 0.031", "p > 0.5": corrected for many comparisons, it may reach 1."""
    return "p > 0.5" if p > 0.5 else f"p = {significant(p, 2)}"


def plain(value: float) -> str:
    """ "2048", "0.0625": a number as short as it can be, to six significant digits."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.6g}"


def rate_scale(value: float, unit: str) -> tuple[float, str]:
    """The scale in which a rate is printed, and its unit: (1e9, "GFLOP/s")."""
    name = unit.replace("flop", "FLOP")
    scales = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1.0, ""))
    # bandwidths are never in TB/s
    scale, prefix = next((s for s in scales[unit == "B/s" :] if abs(value) >= s[0]), scales[-1])
    return scale, prefix + name


def rate(value: float, unit: str) -> str:
    """ "12.5 GFLOP/s"."""
    scale, name = rate_scale(value, unit)
    return f"{significant(value / scale)} {name}"


def rates(value: float, low: float, high: float, unit: str) -> str:
    """ "477.2 [476.1, 478.2] GFLOP/s"."""
    scale, name = rate_scale(value, unit)
    middle, *ends = (significant(bound / scale, 4) for bound in (value, low, high))
    return f"{middle} [{', '.join(ends)}] {name}"


def duration(seconds: float, digits: int = 3) -> str:
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= 0.9995 * scale:
            return f"{significant(seconds / scale, digits)} {unit}"
    return f"{significant(seconds / 1e-9, digits)} ns"


def durations(*seconds: float) -> list[str]:
    """Times with three to five digits, enough that different times read differently."""
    digits = 3
    while digits < 5 and len({duration(second, digits) for second in seconds}) < len({*seconds}):
        digits += 1
    return [duration(second, digits) for second in seconds]


def spread(seconds: Seconds) -> str:
    """The larger half of the interval, relative to the median: "±0.23 %"."""
    half = max(seconds.high - seconds.median, seconds.median - seconds.low)
    percent = 100 * half / seconds.median
    return "±<0.01 %" if percent < 0.01 else f"±{significant(percent, 2)} %"


def regime_label(regime: str) -> str:
    return regime.replace("_", " ")


def shape_label(shape: str) -> str:
    """ "4096x4096x4096" -> "4096³", "80x48x64" -> "80×48×64"."""
    extents = shape.split("x")
    if len(extents) in (2, 3) and len(set(extents)) == 1:
        return extents[0] + "²³"[len(extents) - 2]
    return "×".join(extents)


def digits(ratio: Ratio, scale: float, *marks: float, less: float = 0.0) -> tuple[str, str]:
    """("1.284", "[1.280, 1.289]"): `scale` times the ratio, less a number, and its interval.

    The decimals show the interval: one digit of its half, and two of the value. More where an end
    would read as a mark (1, 100 % or a threshold) that it is not. The page's formatting.js agrees.
    """
    value, low, high = (scale * end - less for end in (ratio.value, ratio.low, ratio.high))
    half = (high - low) / 2 or abs(high) * 1e-3
    sizes = [half, *[value / 10] * (not less)]
    exponents = (math.floor(math.log10(s)) if 0 < s < math.inf else 0 for s in sizes)
    decimals = min(6, max(0, -min(exponents)))
    while decimals < 6 and any(round(e, decimals) == m != e for e in (low, high) for m in marks):
        decimals += 1
    middle, low_end, high_end = (f"{end:.{decimals}f}" for end in (value, low, high))
    return middle, f"[{low_end}, {high_end}]{ratio.mark}".replace("-", "−")


def times(ratio: Ratio) -> str:
    """ "1.284× [1.280, 1.289]", for a column of ratios."""
    return "× ".join(digits(ratio, 1, 1))


def percent(ratio: Ratio) -> str:
    """ "92.3 % [92.1, 92.5]", for a share of something."""
    return " % ".join(digits(ratio, 100, 100))


def factor(value: float) -> str:
    """ "10.4", with as many digits as it takes not to read as 1."""
    figures = 3
    while figures < 6 and value != 1 and float(significant(value, figures)) == 1:
        figures += 1
    return significant(value, figures)


def speeds(low: float, high: float) -> str:
    """ "from 1.5× slower to 2.1× faster", "from 1.2× to 2.1× faster"."""
    least, most = speed(low), speed(high)
    if least == most:
        return most
    (amount, how), (other, same) = (end.rsplit(" ", 1) for end in (least, most))
    alike = how == same and amount[-1] == other[-1]  # both in per cent, or neither
    return f"from {amount if alike else least} to {most}"


def speed(value: float) -> str:
    """ "1.81× faster", "2.2 % slower": a ratio without its interval."""
    how, shown = ("slower", 1 / value) if value < 1 else ("faster", value)
    if shown < SMALL:
        return f"{significant(100 * (shown - 1), 2)} % {how}"
    return f"{factor(shown)}× {how}"
