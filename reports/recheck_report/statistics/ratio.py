"""A ratio of two times with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

from recheck_report.record.case import Seconds

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

    `paired.py` makes ratios from rounds. A ratio without common rounds takes the far ends of the
    two medians' intervals as bounds, and has the mark ᵉ.
    """

    value: float
    low: float
    high: float
    rounds: int = 0  # number of paired rounds; 0: far ends
    freedom: int = 1  # degrees of freedom of the interval
    p: float = 0.0  # two-sided p-value against the threshold: 1, unless a check has another
    resolution: float = 0.0  # the smallest difference that counts: 0.005 for 0.5 %
    same_within: float | None = None  # the self-audit's resolution; None: as `resolution`
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
    def outcome(self) -> str:
        """faster | slower: significant after Holm's correction, and beyond the resolution. same:
        within the self-audit's resolution; run-to-run variation does not prove sameness. no
        difference: anything else."""
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
        """The ratio with the self-audit's resolution, without run-to-run variation."""
        return self if self.same_within is None else replace(self, resolution=self.same_within)

    @property
    def masked_by_run_to_run(self) -> bool:
        """Whether only run-to-run variation keeps it from being faster or slower."""
        clear = ("faster", "slower")
        return self.outcome not in clear and self.in_one_process.outcome in clear

    def times(self, factor: float) -> Ratio:
        scaled = {name: getattr(self, name) * factor for name in ("value", "low", "high")}
        return replace(self, **scaled)

    @property
    def inverse(self) -> Ratio:
        return replace(self, value=1 / self.value, low=1 / self.high, high=1 / self.low)
