"""How many times as fast one case is as another, with an interval.

Two cases of one shape and regime take their samples in blocks, round by round in random order, so
what drifts from round to round (clock, temperature, neighbours) hits both alike. Each common round
gives one ratio of the blocks' middles; the estimate is the median of these. Its interval lies
between their order statistics, interpolated for 95 % (Hettmansperger and Sheather, 1986). Nothing
is drawn, so no seed and no library reaches into a byte. What cannot be paired keeps the far ends
of the two medians' intervals.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from statistics import median

from recheck_report.record.case import Case
from recheck_report.statistics.ratio import LEVEL, Ratio, p_from_interval

ENOUGH = 6  # rounds: of fewer, not even all on one side would be improbable enough
MANY = 400  # rounds; of more, neighbours are pooled, as the chances of so many would underflow
APART = 0.05  # by which the quotient of two medians may differ from the ratio beside it


@cache
def _outside(n: int) -> list[float]:
    """By k, the chance that the true median is not between the k-th smallest and the k-th largest
    of n values; 1 from the middle on."""
    chances, total = [1.0], 0.0
    for below in range(n // 2):
        total += math.comb(n, below) / 2**n
        chances.append(2 * total)
    return [*chances, 1.0]


def interval(ordered: Sequence[float]) -> tuple[float, float]:
    """Of the median of six sorted values or more, 95 %: weights between two order statistics and
    their mirror images."""
    n, outside = len(ordered), _outside(len(ordered))
    k = max(k for k in range(1, n // 2 + 1) if outside[k] <= LEVEL)
    part = (LEVEL - outside[k]) / (outside[k + 1] - outside[k])
    weight = (n - k) * part / (k + (n - 2 * k) * part)
    low, high = ordered[k - 1 : k + 1], ordered[n - k - 1 : n - k + 1]
    return ((1 - weight) * low[0] + weight * low[1], (1 - weight) * high[1] + weight * high[0])


def p_value(ordered: Sequence[float], grain: float = 0.0) -> float:
    """The two-sided p-value of the median of sorted values being 0: one less the confidence of the
    widest interval that excludes it, or 1 within `grain` of the estimate.

    No such interval ends beyond all values. There the p-value is Student's, from the wider half of
    the 95 % interval: one of many comparisons needs a smaller p-value than n signs can give.
    """
    n, middle = len(ordered), median(ordered)
    if abs(middle) <= grain:
        return 1.0
    values = ordered if middle > 0 else [-each for each in reversed(ordered)]
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
    """How far the clock's steps alone may move a ratio of these medians, as a difference of
    logarithms: half a step of each either way."""
    return math.fsum(case.step / 2 / case.time.median for case in cases)


def paired(base: Case, other: Case, against: float = 1.0) -> Ratio | None:
    """The ratio from the rounds that both have; None if they share no conditions or too few.

    Its p-value is that of the ratio being `against`.
    """
    # only what was measured in turns: rounds of another experiment have nothing in common
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
    p, own = p_value(logs, least), len(logs) - 1
    found = Ratio(value, low, high, rounds=len(rounds), freedom=own, p=p)
    return found.times(against) if against != 1 else found


def median_of_rounds(ratio: float, base: float, other: float) -> str:
    """What a ratio is, where the quotient of the two medians beside it reads as another one."""
    apart = abs(base / other / ratio - 1) > APART or (base / other - 1) * (ratio - 1) < 0
    return " (median of rounds)" if apart else ""


def freedom(*cases: Case) -> int:
    """The degrees of freedom that the intervals of these medians have: samples of one round are
    alike, so rounds count where they are known."""
    counts = (min(case.time.samples, len(case.rounds) or case.time.samples) for case in cases)
    return max(1, min(MANY, *counts) - 1)


def compare(base: Case, other: Case, against: float = 1.0) -> Ratio:
    """How many times as fast `other` is as `base`: paired, else by the far ends."""
    found = paired(base, other, against)
    if found:
        return found
    own = freedom(base, other), grain(base, other)
    return Ratio.from_medians(base.time, other.time, against, *own)
