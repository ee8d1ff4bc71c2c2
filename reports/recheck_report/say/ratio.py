"""Ratios of two times as texts, with the digits that tell them from what they are held against."""

from __future__ import annotations

import math

from recheck_report.say.nodes import Text, text
from recheck_report.statistics.ratio import Ratio


def _digits(ratio: Ratio, scale: float, *marks: float) -> list[str]:
    """The value and its two ends: three digits, and more where an end that is not a mark (1, 100 %
    or what a check requires) would read as it."""
    value, low, high = (scale * each for each in (ratio.value, ratio.low, ratio.high))
    decimals = max(0, 2 - (math.floor(math.log10(value)) if 0 < value < math.inf else 0))
    ends = (low, high)
    while decimals < 6 and any(
        round(end, decimals) == mark != end for end in ends for mark in marks
    ):
        decimals += 1
    return [f"{each:.{decimals}f}" for each in (value, low, high)]


def times(ratio: Ratio) -> str:
    """ "1.07× [1.06, 1.08]"."""
    value, low, high = _digits(ratio, 1, 1)
    return f"{value}× [{low}, {high}]{ratio.mark}"


def percent(ratio: Ratio) -> str:
    """ "92.3 % [92.1, 92.5]", for a share of something."""
    value, low, high = _digits(ratio, 100, 100)
    return f"{value} % [{low}, {high}]{ratio.mark}"


def parts(ratio: Ratio, against: float = 1.0) -> tuple[str, str, str]:
    """("1.07", "fast", "[1.06, 1.08]"); below 1 ("46.1", "long", "[45.9, 46.3]"). An end that is
    not `against` does not read as it."""
    long = ratio.value < 1
    shown = ratio.inverse if long else ratio
    value, low, high = _digits(shown, 1, 1, 1 / against if long else against)
    return value, "long" if long else "fast", f"[{low}, {high}]{ratio.mark}"


def speedup(ratio: Ratio, than: Text | str = "", against: float = 1.0) -> Text:
    """ "1.07 times as fast as `cublas` [1.06, 1.08]"; below 1 "46.1 times as long as"."""
    value, how, interval = parts(ratio, against)
    return text(f"{value} times as {how}", " as " if than else "", than, f" {interval}")
