"""All comparisons of one record: the self-audit, which gives the smallest difference that the
record resolves, and Holm's correction over the comparisons behind verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from recheck_report.record.record import AUDIT, Case, Record
from recheck_report.statistics import variation
from recheck_report.statistics.ratio import COARSEST, LEVEL, Ratio, compare, freedom, grain

# the self-audit: a kernel compared with itself under several names, and with slightly slower copies

CONVENTION = 0.005  # the resolution of a record without an audit
# 0.1 %, 0.15 %, ... 20 %; a timer resolves nothing finer
STEPS = tuple(step / 2000 for step in range(2, 401))
UNRESOLVED = 1.0  # if none of the steps suffices


@dataclass(frozen=True)
class AuditPair:
    """One comparison of the audit."""

    base: Case
    other: Case
    extra: float  # work that `other` does in addition: 0.01 for 1 %
    ratio: Ratio

    def called(self, resolution: float) -> str:
        resolves = resolution <= COARSEST
        ratio = replace(self.ratio, resolution=resolution, is_resolvable=resolves)
        return replace(ratio, same_within=resolution).outcome


@dataclass(frozen=True)
class Audit:
    """The audit's comparisons, and the resolution that follows from them."""

    alike: tuple[AuditPair, ...]
    slowed: tuple[AuditPair, ...]
    resolution: float

    @property
    def audited(self) -> bool:
        return bool(self.alike)

    def false(self, resolution: float) -> int:
        """How many pairs of one kernel that resolution would tell apart."""
        ratios = (replace(pair.ratio, resolution=resolution) for pair in self.alike)
        return sum(ratio.differs for ratio in ratios)

    @property
    def extras(self) -> list[float]:
        return sorted({pair.extra for pair in self.slowed})

    def slowed_by(self, extra: float) -> list[AuditPair]:
        return [pair for pair in self.slowed if pair.extra == extra]


def audit(record: Record) -> Audit:
    experiment = record.experiment(AUDIT)
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in record.cases_of(experiment) if experiment else []:
        if case.seconds and not case.unsure and "extra_permille" in case.parameters:
            groups.setdefault((case.shape_name, case.regime), []).append(case)
    alike, slowed = [], []
    for cases in groups.values():
        same = [case for case in cases if not case.parameters["extra_permille"]]
        alike += [AuditPair(a, b, 0.0, compare(a, b)) for a, b in combinations(same, 2)]
        for other in cases:
            extra = other.parameters["extra_permille"] / 1000
            slowed += [AuditPair(a, other, extra, compare(a, other)) for a in same if extra]
    result = Audit(tuple(alike), tuple(slowed), CONVENTION)
    if not alike:
        return result
    allowed = LEVEL * len(alike)
    fine = (step for step in STEPS if result.false(step) <= allowed)
    return replace(result, resolution=next(fine, UNRESOLVED))


# the family of comparisons


@dataclass(frozen=True)
class Pair:
    """Whether time(base) / time(other) differs from `against`. Both are ids of cases."""

    base: str
    other: str
    against: float = 1.0
    picked: int = 1  # number of pairs from which these two were chosen by their times

    @property
    def key(self) -> object:
        """Equal for both orders of the two."""
        return frozenset((self.base, self.other, ("against", self.against, self.picked)))

    @property
    def ids(self) -> tuple[str, ...]:
        return self.base, self.other


@dataclass(frozen=True)
class Limit:
    """Whether the time of a case differs from a number of seconds that has no interval."""

    case: str
    seconds: float

    @property
    def key(self) -> object:
        return frozenset(("limit", self.case, self.seconds))

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.case,)


@dataclass(frozen=True)
class Step:
    """Whether the ratios of two pairs differ."""

    first: Pair
    second: Pair

    @property
    def key(self) -> object:
        return frozenset(("step", *self.ids))

    @property
    def ids(self) -> tuple[str, ...]:
        return *self.first.ids, *self.second.ids


Member = Pair | Limit | Step


def holm(values: dict[object, float]) -> dict[object, float]:
    """The p-values of a family after Holm's correction: together, its verdicts err at one level."""
    adjusted, worst = {}, 0.0
    for at, key in enumerate(sorted(values, key=lambda key: (values[key], str(key)))):
        worst = max(worst, min(1.0, (len(values) - at) * values[key]))
        adjusted[key] = worst
    return adjusted


class Comparisons:
    """All comparisons of one record. `family`: the comparisons behind verdicts; those with an
    untimed case do not count."""

    def __init__(self, record: Record, family: Iterable[Member] = ()) -> None:
        self.audit = audit(record)
        self.resolution = self.audit.resolution
        # differences must exceed the variation between processes
        self.variation = variation.for_gpu(record.gpu)
        model = self.variation.gpu
        # the model whose variation is used if this model has none
        self.borrowed = model if record.gpu_measured and record.gpu not in ("", model) else ""
        self._known: dict[tuple[str, str, float], Ratio] = {}
        self._timed = {name: case for name, case in record.by_id.items() if case.seconds}
        # p-values before the correction, by key
        self.family = {
            member.key: self._uncorrected(member).p
            for member in family
            if self._timed.keys() >= {*member.ids}
        }
        self._adjusted = holm(self.family)

    def ratio(self, base: Case, other: Case, against: float = 1.0) -> Ratio:
        """time(base) / time(other) with its interval, for tables and charts. The p-value, of the
        ratio being `against`, is uncorrected."""
        key = base.id, other.id, against
        if key not in self._known:
            self._known[key] = self._resolved(compare(base, other, against), (base, other))
        return self._known[key]

    def verdict(self, base: Case, other: Case, picked: int = 1) -> Ratio:
        """time(base) / time(other) for a sentence: its outcome and p-value are corrected for the
        family. `picked`: see Pair."""
        return self.corrected(Pair(base.id, other.id, picked=picked))

    def corrected(self, asked: Member) -> Ratio:
        """A comparison for a sentence, all of whose cases have times. One from outside the family
        is corrected as if it were one more member."""
        ratio = self._uncorrected(asked)
        alone = min(1.0, ratio.p * (len(self.family) + 1))
        p = self._adjusted.get(asked.key, alone)
        return replace(ratio, p=p, significant=p <= LEVEL)

    def _uncorrected(self, asked: Member) -> Ratio:
        case, *others = cases = [self._timed[name] for name in asked.ids]
        if isinstance(asked, Pair):
            ratio = self.ratio(case, others[0], asked.against)
            chosen = asked.picked > 1
            return replace(ratio, p=min(1.0, asked.picked * ratio.p)) if chosen else ratio
        if isinstance(asked, Limit):
            ratio = Ratio.over(asked.seconds, case.time, freedom(case), grain(case))
            return self._resolved(ratio, cases)
        pairs = cases[:2], cases[2:]
        first, second = (self.ratio(base, other) for base, other in pairs)
        return self._resolved(Ratio.step(first, second), *pairs)

    def _resolved(self, ratio: Ratio, *parts: Sequence[Case]) -> Ratio:
        """The ratio with its resolution: the self-audit's, which is within one process, or the
        run-to-run variation of such ratios, if that is larger."""
        processes = math.expm1(math.fsum(map(self.variation.differs_by, parts)))
        least = max(self.resolution, processes)
        # disturbed times distinguish no kernels
        unsure = any(case.unsure for cases in parts for case in cases)
        resolves = self.resolution <= COARSEST and not unsure
        return replace(ratio, resolution=least, same_within=self.resolution, is_resolvable=resolves)
