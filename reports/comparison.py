"""Which of two is faster, and what a difference must exceed before this report speaks of one.

Two cases of one shape and regime take their samples in blocks, round by round in random order, so
what drifts from round to round (clock, temperature, neighbours) hits both alike. Each common round
gives one ratio of block medians; the estimate is the median of these, its interval the percentile
interval of the exact bootstrap: the distribution of the median over all resamples of the rounds,
summed in closed form (Maritz and Jarrett, 1978). Nothing is drawn, so no seed and no library
reaches into a byte. What cannot be paired keeps the far ends of the two medians' intervals.

How small a difference such an interval can be trusted with is measured, not assumed: the record's
self-audit compares one kernel with itself under several names, and with slightly slower ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import combinations
from statistics import median

from quantities import Ratio
from record import AUDIT, Case, Record

ENOUGH = 6  # rounds: of fewer, not even all on one side would be improbable enough
CONVENTION = 0.005  # the resolution of a record without an audit
# 0.1 %, 0.15 %, ... 20 %: nothing finer, for a timer has a grain too
STEPS = tuple(step / 2000 for step in range(2, 401))
UNRESOLVED = 1.0  # where none of these will do
LEVEL = 0.05  # of false verdicts, and of the whole family of comparisons


def _at_least(half: int, n: int, share: float) -> float:
    """The chance that at least `half` of n draws land in a part of this share."""
    return math.fsum(
        math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(half, n + 1)
    )


@cache
def _weights(n: int) -> list[tuple[int, int, float]]:
    """Of a resample of n from n, the chance that its middle two are the i-th and j-th smallest.

    One for an odd n, whose middle is one value; chances too small to matter are left out.
    """
    half = n // 2 + n % 2
    below = [_at_least(half, n, i / n) for i in range(n + 1)]
    found = []
    for i in range(n):
        if n % 2:
            found.append((i, i, below[i + 1] - below[i]))
            continue
        ways = math.comb(n, half)
        lower = ((i + 1) / n) ** half - (i / n) ** half
        for j in range(i + 1, n):
            upper = ((n - j) / n) ** half - ((n - j - 1) / n) ** half
            found.append((i, j, ways * lower * upper))
        # both are the i-th: neither half lies below it, nor above it
        split = ways * (i / n) ** half * ((n - 1 - i) / n) ** half
        found.append((i, i, 1 - below[i] - below[n - 1 - i] + split))
    return [each for each in found if each[2] > 1e-15]


def bootstrap_of_median(values: Iterable[float]) -> list[tuple[float, float]]:
    """The medians of all resamples with their chances, from small to large."""
    ordered = sorted(values)
    found = ((ordered[i] + ordered[j], weight) for i, j, weight in _weights(len(ordered)))
    return sorted((total / 2, weight) for total, weight in found)


def _quantile(distribution: Iterable[tuple[float, float]], share: float) -> float:
    total, reached = 0.0, math.nan
    for value, weight in distribution:
        reached, total = value, total + weight
        if total >= share:
            break
    return reached


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
    # of very many rounds neighbours are pooled, as the chances of so many would underflow
    pool = -(-len(logs) // 400)
    logs = [median(logs[at : at + pool]) for at in range(0, len(logs), pool)]
    distribution = bootstrap_of_median(logs)
    low = _quantile(distribution, LEVEL / 2)
    high = -_quantile(((-v, w) for v, w in reversed(distribution)), LEVEL / 2)
    middle = median(logs)
    centre = math.fsum(v * w for v, w in distribution)
    error = math.sqrt(math.fsum((v - centre) ** 2 * w for v, w in distribution))
    sides = (math.fsum(w for v, w in distribution if s * v <= 0) for s in (1, -1))
    # all rounds on one side leave the bootstrap no doubt at all, however few they are, so its
    # p-value may not go below that of Student's t with the bootstrap's own standard error
    t = student(abs(middle) / error, len(logs) - 1) if error else float(middle == 0)
    p = min(1.0, max(2 * min(sides), t))
    found = Ratio(math.exp(middle), math.exp(low), math.exp(high), rounds=len(rounds), p=p)
    return found.times(against) if against != 1 else found


def compare(base: Case, other: Case, against: float = 1.0) -> Ratio:
    """How many times as fast `other` is as `base`: paired, else by the far ends."""
    found = paired(base, other, against)
    return found or Ratio.of(base.time, other.time, against)


def holm(values: dict[object, float]) -> dict[object, float]:
    """The p-values of a family, adjusted so that all of its verdicts together err at one level."""
    adjusted, worst = {}, 0.0
    for at, key in enumerate(sorted(values, key=lambda key: (values[key], str(key)))):
        worst = max(worst, min(1.0, (len(values) - at) * values[key]))
        adjusted[key] = worst
    return adjusted


@dataclass(frozen=True)
class Pair:
    """One comparison of the audit, and by how much the second does more work."""

    base: Case
    other: Case
    extra: float  # 0.01 for one per cent
    ratio: Ratio

    def called(self, resolution: float) -> str:
        return replace(self.ratio, resolution=resolution).outcome

    def different(self, resolution: float) -> bool:
        limit = 1 + resolution
        return self.ratio.low > limit or self.ratio.high < 1 / limit


@dataclass(frozen=True)
class Audit:
    """What comparisons of a kernel with itself and with slower ones say about comparisons."""

    alike: tuple[Pair, ...]
    slowed: tuple[Pair, ...]
    resolution: float

    @property
    def audited(self) -> bool:
        return bool(self.alike)

    def false(self, resolution: float) -> int:
        return sum(pair.different(resolution) for pair in self.alike)

    @property
    def extras(self) -> list[float]:
        return sorted({pair.extra for pair in self.slowed})

    def of(self, extra: float) -> list[Pair]:
        return [pair for pair in self.slowed if pair.extra == extra]

    def found(self, extra: float) -> int:
        """How many of these slowdowns are called slower."""
        return sum(pair.called(self.resolution) == "slower" for pair in self.of(extra))


def audit(record: Record) -> Audit:
    experiment = record.experiment(AUDIT)
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in record.of(experiment) if experiment else []:
        if case.seconds and "extra_permille" in case.parameters:
            groups.setdefault((case.shape_name, case.regime), []).append(case)
    alike, slowed = [], []
    for cases in groups.values():
        same = [case for case in cases if not case.parameters["extra_permille"]]
        alike += [Pair(a, b, 0.0, compare(a, b)) for a, b in combinations(same, 2)]
        for other in cases:
            extra = other.parameters["extra_permille"] / 1000
            slowed += [Pair(a, other, extra, compare(a, other)) for a in same if extra]
    found = Audit(tuple(alike), tuple(slowed), CONVENTION)
    if not alike:
        return found
    allowed = LEVEL * len(alike)
    fine = (step for step in STEPS if found.false(step) <= allowed)
    return replace(found, resolution=next(fine, UNRESOLVED))


class Comparisons:
    """All comparisons of one record. Those that its claims and findings make are one family."""

    def __init__(self, record: Record) -> None:
        self.audit = audit(record)
        self.resolution = self.audit.resolution
        self.family: dict[object, float] = {}  # p-values, by the ids of the two cases
        self.closed = False
        self._adjusted: dict[object, float] = {}
        self._known: dict[tuple[str, str, float], Ratio] = {}

    def ratio(self, base: Case, other: Case, against: float = 1.0) -> Ratio:
        """For a table or a chart, which show an interval and give no verdict."""
        key = base.id, other.id, against
        if key not in self._known:
            found = compare(base, other, against)
            self._known[key] = replace(found, resolution=self.resolution)
        return self._known[key]

    def verdict(self, base: Case, other: Case, against: float = 1.0) -> Ratio:
        """For a sentence: its outcome, and its p-value, hold among all of the family."""
        found = self.ratio(base, other, against)
        key = frozenset((base.id, other.id, against))
        if not self.closed:
            self.family[key] = found.p
            return found
        alone = min(1.0, found.p * (len(self.family) + 1))
        p = self._adjusted.get(key, alone)
        return replace(found, p=p, significant=p <= LEVEL)

    def close(self) -> None:
        """From here on the family is complete and verdicts are corrected for its size."""
        self._adjusted = holm(self.family)
        self.closed = True


@lru_cache(maxsize=16)
def comparisons(record: Record) -> Comparisons:
    return Comparisons(record)
