"""Ratios of two times as texts: one place decides their digits and their direction."""

from __future__ import annotations

import math

from recheck_report.say.nodes import Text, text
from recheck_report.statistics.ratio import Ratio

SMALL = 1.1  # smaller ratios are told in percent


def _decimals(low: float, high: float, *marks: float) -> int:
    """As many as show the interval: a digit of its half, and two digits of its lower end. More
    where an end would read as a mark (1, 100 % or a threshold) that it is not."""
    half = (high - low) / 2 or abs(high) * 1e-3
    sizes = [size for size in (half, abs(low) / 10) if 0 < size < math.inf]
    decimals = max([0, *(-math.floor(math.log10(size)) for size in sizes[:1])])
    if low > 0:
        decimals = max(decimals, 1 - math.floor(math.log10(low)))
    decimals = min(decimals, 6)
    while decimals < 6 and any(round(e, decimals) == m != e for e in (low, high) for m in marks):
        decimals += 1
    return decimals


def digits(ratio: Ratio, scale: float, *marks: float, less: float = 0.0) -> tuple[str, str]:
    """("1.284", "[1.280, 1.289]"): `scale` times the ratio, less a number, and its interval."""
    value, low, high = (scale * end - less for end in (ratio.value, ratio.low, ratio.high))
    decimals = _decimals(low, high, *marks)
    middle, low_end, high_end = (f"{end:.{decimals}f}" for end in (value, low, high))
    return middle, f"[{low_end}, {high_end}]{ratio.mark}".replace("-", "−")


def times(ratio: Ratio) -> str:
    """ "1.284× [1.280, 1.289]", for a column of ratios."""
    return "× ".join(digits(ratio, 1, 1))


def percent(ratio: Ratio) -> str:
    """ "92.3 % [92.1, 92.5]", for a share of something."""
    return " % ".join(digits(ratio, 100, 100))


def speedup(ratio: Ratio, than: Text | str = "", against: float = 1.0) -> Text:
    """ "1.284× faster than `cublas` [1.280, 1.289]", "2.2 % faster than `cublas` [2.1, 2.4]";
    below 1 "1.30× slower". An end that is not the threshold `against` does not read as it."""
    how, shown, mark = (
        ("slower", ratio.inverse, 1 / against) if ratio.value < 1 else ("faster", ratio, against)
    )
    if shown.value < SMALL:
        value, interval = digits(shown, 100, 0, 100 * (mark - 1), less=100)
        value += " %"
    else:
        value, interval = digits(shown, 1, 1, mark)
        value += "×"
    return text(f"{value} {how}", " than " if than else "", than, f" {interval}")
