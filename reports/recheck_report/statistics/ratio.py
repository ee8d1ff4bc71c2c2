"""A ratio of two times, which never stands without its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

from recheck_report.record.case import Seconds

NO_WIDTH = 1e-12  # of an interval, as a difference of logarithms: only rounding made it
LEVEL = 0.05  # of false verdicts, and of the whole family of comparisons

# the worst resolution of a self-audit at which ratios still say something: beyond it none is judged
COARSEST = 0.05


def student(t: float, freedom: int) -> float:
    """The two-sided p-value of Student's t; the finite series for whole degrees of freedom."""
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
    """The t whose two-sided p-value is LEVEL: an interval's half in standard errors."""
    low, high = 1.9, 13.0  # of infinitely many degrees of freedom, and of one
    while high - low > 1e-12:
        middle = (low + high) / 2
        low, high = (low, middle) if student(middle, freedom) < LEVEL else (middle, high)
    return high


def p_from_interval(gap: float, facing: float, wider: float, freedom: int) -> float:
    """The two-sided p-value of an estimate that lies `gap` from a bound, from the two halves of
    its 95 % interval, all logarithms; it is below LEVEL only if the interval excludes the bound.

    In just the samples that lie far from the bound, the half that faces it is too short by chance.
    It would make small p-values up to nine times too small, so the wider half counts there. An
    interval without a width shows no noise at all, and p is 1.
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
    """How many times as fast `other` is as `base`, with a 95 % interval.

    `paired.py` makes those of two cases: by rounds where it can. Otherwise the bounds pair the far
    ends of the two medians' intervals, and the ratio is marked ᵉ wherever it stands.
    """

    value: float
    low: float
    high: float
    rounds: int = 0  # that were paired; 0: far ends
    freedom: int = 1  # degrees of it that the interval has
    p: float = 0.0  # two-sided p-value against the threshold, which is 1 unless a check has another
    resolution: float = 0.0  # smaller differences are not told apart: 0.005 for half a per cent
    same_within: float | None = (
        None  # within what two times are the same; None: within the resolution
    )
    is_resolvable: bool = True  # whether the measurement is fine enough to tell ratios at all
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
        """The far ends of the two medians' intervals, as the two need have nothing in common.

        Its p-value is that of the ratio being `against`. `freedom`: of the interval that rests on
        fewer samples. `grain`: what the clock's steps leave open, as a difference of logarithms.
        """
        value, least = base.median / other.median, math.exp(grain)
        low = min(base.low / other.high, value / least)
        high = max(base.high / other.low, value * least)
        p = _p_value(value, low, high, against, freedom)
        return cls(value, low, high, freedom=freedom, p=p, mark="ᵉ")

    @classmethod
    def step(cls, first: Ratio, second: Ratio) -> Ratio:
        """By what factor a ratio is larger than another, by the far ends of their intervals."""
        ends = second.value / first.value, second.low / first.high, second.high / first.low
        freedom = min(first.freedom, second.freedom)
        return cls(*ends, freedom=freedom, p=_p_value(*ends, 1.0, freedom), mark="ᵉ")

    @classmethod
    def over(cls, exact: float, other: Seconds, freedom: int = 1, grain: float = 0.0) -> Ratio:
        """Against a time without an interval, as old documents and ceilings give it; `grain` as
        above."""
        time = Seconds(exact, exact, exact, 0, 0)
        return replace(cls.from_medians(time, other, 1.0, freedom, grain), mark="")

    @property
    def with_margin(self) -> tuple[float, float]:
        """Where it may truly lie: its interval, and the resolution on both sides; anywhere, if
        nothing can be told."""
        if not self.is_resolvable:
            return 0.0, math.inf
        return self.low / (1 + self.resolution), self.high * (1 + self.resolution)

    @property
    def outcome(self) -> str:
        """faster | slower: beyond the resolution; same: within what the self-audit resolves, for
        that processes differ is no sign that two rows do not; else no difference: the interval
        contains an edge, the difference is not significant after Holm's correction, or the record
        resolves nothing."""
        if not self.is_resolvable:
            return "no difference"
        limit = 1 + self.resolution
        if self.significant and (self.low > limit or self.high < 1 / limit):
            return "faster" if self.low > limit else "slower"
        limit = 1 + self.in_one_process.resolution
        within = limit > 1 and 1 / limit <= self.low and self.high <= limit
        return "same" if within else "no difference"

    @property
    def in_one_process(self) -> Ratio:
        """The same by what the self-audit resolves alone, whatever two processes differ by."""
        return self if self.same_within is None else replace(self, resolution=self.same_within)

    @property
    def masked_by_run_to_run(self) -> bool:
        """Whether it would be faster or slower, did two processes not differ by as much."""
        own = ("faster", "slower")
        return self.outcome not in own and self.in_one_process.outcome in own

    def times(self, factor: float) -> Ratio:
        scaled = {name: getattr(self, name) * factor for name in ("value", "low", "high")}
        return replace(self, **scaled)

    @property
    def inverse(self) -> Ratio:
        return replace(self, value=1 / self.value, low=1 / self.high, high=1 / self.low)
