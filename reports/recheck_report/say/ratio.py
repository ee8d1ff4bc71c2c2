"""Ratios of two times as texts: one place decides their digits and their direction."""

from __future__ import annotations

import math

from recheck_report.formatting import significant
from recheck_report.say.nodes import Text, text
from recheck_report.statistics.ratio import Ratio

SMALL = 1.1  # smaller ratios are printed in percent


def digits(ratio: Ratio, scale: float, *marks: float, less: float = 0.0) -> tuple[str, str]:
    """("1.284", "[1.280, 1.289]"): `scale` times the ratio, less a number, and its interval.

    The decimals show the interval: one digit of its half, and two of the value. More where an end
    would read as a mark (1, 100 % or a threshold) that it is not. write/page/js/format.js agrees.
    """
    value, low, high = (scale * end - less for end in (ratio.value, ratio.low, ratio.high))
    half = (high - low) / 2 or abs(high) * 1e-3
    sizes = [half, *[value / 10] * (not less)]
    decimals = max(-_exponent(size) for size in sizes)
    decimals = min(6, max(0, decimals))
    while decimals < 6 and any(round(e, decimals) == m != e for e in (low, high) for m in marks):
        decimals += 1
    middle, low_end, high_end = (f"{end:.{decimals}f}" for end in (value, low, high))
    return middle, f"[{low_end}, {high_end}]{ratio.mark}".replace("-", "−")


def _exponent(size: float) -> int:
    return math.floor(math.log10(size)) if 0 < size < math.inf else 0


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


def factor(value: float) -> str:
    """ "10.4", with as many digits as it takes not to read as 1."""
    figures = 3
    while figures < 6 and value != 1 and float(significant(value, figures)) == 1:
        figures += 1
    return significant(value, figures)


def speed(value: float) -> str:
    """ "1.81× faster", "2.2 % slower": a ratio without its interval."""
    how, shown = ("slower", 1 / value) if value < 1 else ("faster", value)
    if shown < SMALL:
        return f"{significant(100 * (shown - 1), 2)} % {how}"
    return f"{factor(shown)}× {how}"
