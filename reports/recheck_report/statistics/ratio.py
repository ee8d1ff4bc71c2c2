"""The speed-up of one case over another, with an interval and a p-value.

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
from dataclasses import dataclass, replace
from functools import cache
from statistics import median

from recheck_report.record.case import Case, Seconds

NO_WIDTH = 1e-12  # difference of logarithms; a narrower interval has only rounding errors
LEVEL = 0.05  # probability of any false verdict in the family of comparisons

# the coarsest resolution of a self-audit at which ratios are judged
COARSEST = 0.05


def student(t: float, freedom: int) -> float:
    """The two-sided p-value of Student's t, by the finite series for integer degrees of freedom."""
    angle = math.atan(t / math.sqrt(freedom))
    cosine, sine = math.cos(angle), math.sin(angle)
    odd = freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= cosine**2 * k / (k + 1)
    inside = (angle + sine * total) * 2 / math.pi if odd else sine * total
    return min(1.0, max(0.0, 1 - inside))


@cache
def critical(freedom: int) -> float:
    """The t with the two-sided p-value LEVEL: half an interval in standard errors."""
    low, high = 1.9, 13.0  # of infinitely many degrees of freedom, and of one
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if student(middle, freedom) < LEVEL else (middle, high)
    return high


def p_from_interval(gap: float, facing: float, wider: float, freedom: int) -> float:
    """The two-sided p-value of an estimate at distance `gap` from a bound, from the halves of its
    95 % interval, all logarithms. It is below LEVEL only if the interval excludes the bound.

    Beyond the facing half, the wider half counts: the facing one is too short by chance in exactly
    those samples, and would make small p-values up to nine times too small. An interval without
    width has no information on noise, so p is 1.
    """
    if wider < NO_WIDTH:
        return 1.0
    if gap > facing:
        return min(0.999 * LEVEL, student(critical(freedom) * gap / wider, freedom))
    return student(critical(freedom) * gap / facing, freedom) if facing else 1.0


def _p_value(value: float, low: float, high: float, against: float, freedom: int) -> float:
    """The p-value of a ratio being `against`."""
    below, above = math.log(value / low), math.log(high / value)
    facing = below if value > against else above
    return p_from_interval(abs(math.log(value / against)), facing, max(below, above), freedom)


@dataclass(frozen=True)
class Ratio:
    """The speed-up of `other` over `base`, with a 95 % interval.

    A ratio without common rounds takes the far ends of the two medians' intervals as bounds, and
    has the mark ᵉ.
    """

    value: float
    low: float
    high: float
    rounds: int = 0  # number of paired rounds; 0: far ends
    freedom: int = 1  # degrees of freedom of the interval
    p: float = 0.0  # two-sided p-value against the threshold: 1, unless a check has another
    resolution: float = 0.0  # the smallest difference that counts: 0.005 for 0.5 %
    same_within: float = 0.0  # the self-audit's resolution
    is_resolvable: bool = True  # whether the record resolves ratios at all
    significant: bool = True  # after Holm's correction for all comparisons of the report
    mark: str = ""

    @classmethod
    def from_medians(
        cls,
        base: Seconds,
        other: Seconds,
        against: float = 1.0,
        freedom: int = 1,
        grain: float = 0.0,
    ) -> Ratio:
        """The ratio of two independent medians, with the far ends of their intervals, and the
        p-value of it being `against`.

        `freedom`: degrees of freedom of the interval with fewer samples. `grain`: the error from
        the clock's steps, as a difference of logarithms.
        """
        value, least = base.median / other.median, math.exp(grain)
        low = min(base.low / other.high, value / least)
        high = max(base.high / other.low, value * least)
        p = _p_value(value, low, high, against, freedom)
        return cls(value, low, high, freedom=freedom, p=p, mark="ᵉ")

    @classmethod
    def step(cls, first: Ratio, second: Ratio) -> Ratio:
        """The quotient second / first, with the far ends of their intervals."""
        ends = second.value / first.value, second.low / first.high, second.high / first.low
        freedom = min(first.freedom, second.freedom)
        return cls(*ends, freedom=freedom, p=_p_value(*ends, 1.0, freedom), mark="ᵉ")

    @classmethod
    def over(cls, exact: float, other: Seconds, freedom: int = 1, grain: float = 0.0) -> Ratio:
        """The ratio of an exact time, such as a ceiling's, to a measured one."""
        time = Seconds(exact, exact, exact, 0, 0)
        return replace(cls.from_medians(time, other, 1.0, freedom, grain), mark="")

    @property
    def with_margin(self) -> tuple[float, float]:
        """The interval, widened by the resolution on both sides; (0, inf) if unresolvable."""
        if not self.is_resolvable:
            return 0.0, math.inf
        return self.low / (1 + self.resolution), self.high * (1 + self.resolution)

    @property
    def differs(self) -> bool:
        """Whether the widened interval lies on one side of 1."""
        low, high = self.with_margin
        return low > 1 or high < 1

    @property
    def outcome(self) -> str:
        """faster | slower: significant after Holm's correction, and beyond the resolution. same:
        within the self-audit's resolution; run-to-run variation does not prove sameness. no
        difference: anything else."""
        if self.significant and self.differs:
            return "faster" if self.low > 1 else "slower"
        limit = 1 + self.same_within
        within = limit > 1 and 1 / limit <= self.low and self.high <= limit
        return "same" if within and self.is_resolvable else "no difference"

    @property
    def in_one_process(self) -> Ratio:
        """The ratio with the self-audit's resolution, without run-to-run variation."""
        return replace(self, resolution=self.same_within)

    @property
    def masked_by_run_to_run(self) -> bool:
        """Whether only run-to-run variation keeps it from being faster or slower."""
        return self.significant and self.in_one_process.differs and not self.differs

    def times(self, factor: float) -> Ratio:
        scaled = {name: getattr(self, name) * factor for name in ("value", "low", "high")}
        return replace(self, **scaled)

    @property
    def inverse(self) -> Ratio:
        return replace(self, value=1 / self.value, low=1 / self.high, high=1 / self.low)


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
