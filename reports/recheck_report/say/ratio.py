"""Ratios of two times as texts, with the digits that tell them from what they are held against."""

from __future__ import annotations

import math

from recheck_report.say.nodes import Text, text
from recheck_report.statistics.ratio import Ratio


def digits(ratio: Ratio, scale: float, *marks: float) -> tuple[str, str]:
    """("1.07", "[1.06, 1.08]"): a value and its interval with three digits, and more where an end
    that is not a mark (1, 100 % or what a check requires) would read as it."""
    value, *ends = (scale * number for number in (ratio.value, ratio.low, ratio.high))
    decimals = max(0, 2 - (math.floor(math.log10(value)) if 0 < value < math.inf else 0))
    while decimals < 6 and any(round(e, decimals) == mark != e for e in ends for mark in marks):
        decimals += 1
    middle, low, high = (f"{number:.{decimals}f}" for number in (value, *ends))
    return middle, f"[{low}, {high}]{ratio.mark}"


def times(ratio: Ratio) -> str:
    """ "1.07× [1.06, 1.08]"."""
    return "× ".join(digits(ratio, 1, 1))


def percent(ratio: Ratio) -> str:
    """ "92.3 % [92.1, 92.5]", for a share of something."""
    return " % ".join(digits(ratio, 100, 100))


def parts(ratio: Ratio, against: float = 1.0) -> tuple[str, str, str]:
    """("1.07", "fast", "[1.06, 1.08]"); below 1 ("46.1", "long", "[45.9, 46.3]"). An end that is
    not `against` does not read as it."""
    long = ratio.value < 1
    mark = 1 / against if long else against
    value, interval = digits(ratio.inverse if long else ratio, 1, 1, mark)
    return value, "long" if long else "fast", interval


def speedup(ratio: Ratio, than: Text | str = "", against: float = 1.0) -> Text:
    """ "1.07 times as fast as `cublas` [1.06, 1.08]"; below 1 "46.1 times as long as"."""
    value, how, interval = parts(ratio, against)
    return text(f"{value} times as {how}", " as " if than else "", than, f" {interval}")
