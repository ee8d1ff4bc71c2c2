"""The speed-up of one case over another, with an interval.

Two cases of one shape and regime take their samples in blocks, round by round in random order, so
drift of clock, temperature or load affects both equally. Each common round gives one ratio of the
blocks' middles, and the estimate is their median. Its interval lies between order statistics,
interpolated for 95 % (Hettmansperger and Sheather, 1986). It needs no random numbers, so the result
is reproducible. Cases without common rounds get the far ends of the medians' intervals.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from statistics import median

from recheck_report.record.case import Case
from recheck_report.statistics.ratio import LEVEL, Ratio, p_from_interval

ENOUGH = 6  # rounds; with fewer, even all on one side is too probable
MANY = 400  # rounds; above, neighbours are pooled, as binomial probabilities would underflow
APART = 0.05  # the quotient of medians and the ratio may differ by this share without a note


@cache
def _outside(n: int) -> list[float]:
    """By k, the probability that the true median is not between the k-th smallest and the k-th
    largest of n values; 1 from the middle on."""
    chances, total = [1.0], 0.0
    for below in range(n // 2):
        total += math.comb(n, below) / 2**n
        chances.append(2 * total)
    return [*chances, 1.0]


def interval(ordered: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the median of six or more sorted values: a weighted mean of two order
    statistics at either end."""
    n, outside = len(ordered), _outside(len(ordered))
    k = max(k for k in range(1, n // 2 + 1) if outside[k] <= LEVEL)
    part = (LEVEL - outside[k]) / (outside[k + 1] - outside[k])
    weight = (n - k) * part / (k + (n - 2 * k) * part)
    low, high = ordered[k - 1 : k + 1], ordered[n - k - 1 : n - k + 1]
    return ((1 - weight) * low[0] + weight * low[1], (1 - weight) * high[1] + weight * high[0])


def p_value(ordered: Sequence[float], grain: float = 0.0) -> float:
    """The two-sided p-value of the median of sorted values being 0: one minus the confidence of the
    widest interval that excludes 0, or 1 if the estimate is within `grain` of 0.

    If all values lie on one side, it is Student's p-value from the wider half of the 95 % interval,
    because a family of many comparisons needs smaller p-values than n signs can give.
    """
    n, middle = len(ordered), median(ordered)
    if abs(middle) <= grain:
        return 1.0
    values = ordered if middle > 0 else [-value for value in reversed(ordered)]
    k, outside = bisect_right(values, 0.0), _outside(n)
    if k == 0:
        low, high = interval(values)
        wider = max(abs(middle) - low, high - abs(middle), grain)
        freedom = n - 1
        return min(outside[1], p_from_interval(abs(middle), 0.0, wider, freedom))
    if 2 * k >= n:
        return 1.0
    weight = -values[k - 1] / (values[k] - values[k - 1])
    part = weight * k / (n - k - weight * (n - 2 * k))
    return outside[k] + part * (outside[k + 1] - outside[k])


def grain(*cases: Case) -> float:
    """The error that the clock's steps may cause in a ratio of these medians, as a difference of
    logarithms: half a step for each median."""
    return math.fsum(case.step / 2 / case.time.median for case in cases)


def paired(base: Case, other: Case, against: float = 1.0) -> Ratio | None:
    """The ratio from common rounds, with the p-value of it being `against`; None if the cases were
    not measured in turns, or in too few rounds."""
    conditions = [(c.experiment, c.target, c.regime, c.shape_name) for c in (base, other)]
    if conditions[0] != conditions[1]:
        return None
    rounds = sorted(base.rounds.keys() & other.rounds.keys())
    if len(rounds) < ENOUGH:
        return None
    logs = [math.log(base.rounds[r] / other.rounds[r] / against) for r in rounds]
    pool = -(-len(logs) // MANY)
    logs = sorted(median(logs[at : at + pool]) for at in range(0, len(logs), pool))
    least, middle = grain(base, other), median(logs)
    low, high = interval(logs)
    value, low, high = map(math.exp, (middle, min(low, middle - least), max(high, middle + least)))
    p, degrees = p_value(logs, least), len(logs) - 1
    ratio = Ratio(value, low, high, rounds=len(rounds), freedom=degrees, p=p)
    return ratio.times(against) if against != 1 else ratio


def median_of_rounds(ratio: float, base: float, other: float) -> str:
    """A note for a ratio that is far from the quotient of the printed medians, else nothing."""
    apart = abs(base / other / ratio - 1) > APART or (base / other - 1) * (ratio - 1) < 0
    return " (median of rounds)" if apart else ""


def freedom(*cases: Case) -> int:
    """The degrees of freedom of the intervals of these medians. Samples of one round resemble each
    other, so rounds count if the record has them, else samples."""
    counts = (min(case.time.samples, len(case.rounds) or case.time.samples) for case in cases)
    return max(1, min(MANY, *counts) - 1)


def compare(base: Case, other: Case, against: float = 1.0) -> Ratio:
    """The speed-up of `other` over `base`: paired if possible, else from the far ends."""
    return paired(base, other, against) or Ratio.from_medians(
        base.time, other.time, against, freedom(base, other), grain(base, other)
    )
