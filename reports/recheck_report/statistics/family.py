"""All comparisons of one record, and Holm's correction of those that verdicts rest on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from recheck_report.record.record import Case, Record
from recheck_report.statistics import variation
from recheck_report.statistics.audit import audit
from recheck_report.statistics.paired import compare, freedom, grain
from recheck_report.statistics.ratio import COARSEST, LEVEL, Ratio


@dataclass(frozen=True)
class Pair:
    """Whether time(base) / time(other) differs from `against`. Both are ids of cases."""

    base: str
    other: str
    against: float = 1.0
    # how many pairs the two were picked from by their times
    picked: int = 1

    @property
    def key(self) -> object:
        """The same whichever of the two is the base."""
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
    """Whether the ratio of one pair differs from that of another, each against 1."""

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
    """The p-values of a family, adjusted so that all of its verdicts together err at one level."""
    adjusted, worst = {}, 0.0
    for at, key in enumerate(sorted(values, key=lambda key: (values[key], str(key)))):
        worst = max(worst, min(1.0, (len(values) - at) * values[key]))
        adjusted[key] = worst
    return adjusted


class Comparisons:
    """All comparisons of one record; `family`: those that its verdicts rest on. A member of the
    family counts only if all of its cases have times."""

    def __init__(self, record: Record, family: Iterable[Member] = ()) -> None:
        self.audit = audit(record)
        self.resolution = self.audit.resolution
        gpu = record.environment.gpu
        # differences have to exceed what two processes on one GPU, or its host, differ by
        self.variation = variation.for_gpu(gpu.name if gpu else "")
        model = self.variation.gpu
        # the GPU model of which that is known, if it is not this one
        self.borrowed = model if gpu and record.gpu_measured and gpu.name != model else ""
        self._known: dict[tuple[str, str, float], Ratio] = {}
        self._timed = {name: case for name, case in record.by_id.items() if case.seconds}
        # p-values before and behind the correction, by key
        self.family = {
            each.key: self._uncorrected(each).p
            for each in family
            if self._timed.keys() >= {*each.ids}
        }
        self._adjusted = holm(self.family)

    def ratio(self, base: Case, other: Case, against: float = 1.0) -> Ratio:
        """time(base) / time(other) with its interval, for a table or a chart, which give no
        verdict; its p-value, of being `against`, is not corrected."""
        key = base.id, other.id, against
        if key not in self._known:
            self._known[key] = self._resolved(compare(base, other, against), (base, other))
        return self._known[key]

    def verdict(self, base: Case, other: Case, against: float = 1.0, picked: int = 1) -> Ratio:
        """As ratio(), for a sentence: its outcome and p-value hold among all of the family.
        `picked`: how many pairs the two were picked from by their times."""
        return self.corrected(Pair(base.id, other.id, against, picked))

    def corrected(self, asked: Member) -> Ratio:
        """A comparison for a sentence; all of its cases have times. One outside the family is
        corrected as one more member."""
        found = self._uncorrected(asked)
        alone = min(1.0, found.p * (len(self.family) + 1))
        p = self._adjusted.get(asked.key, alone)
        return replace(found, p=p, significant=p <= LEVEL)

    def _uncorrected(self, asked: Member) -> Ratio:
        case, *others = cases = [self._timed[name] for name in asked.ids]
        if isinstance(asked, Pair):
            found = self.ratio(case, others[0], asked.against)
            return replace(found, p=min(1.0, asked.picked * found.p))
        if isinstance(asked, Limit):
            found = Ratio.over(asked.seconds, case.time, freedom(case), grain(case))
            return self._resolved(found, cases)
        pairs = cases[:2], cases[2:]
        first, second = (self.ratio(base, other) for base, other in pairs)
        return self._resolved(Ratio.step(first, second), *pairs)

    def _resolved(self, found: Ratio, *parts: Sequence[Case]) -> Ratio:
        """With the smallest difference that may be claimed of it: what the self-audit needs, which
        is of one process, or what two processes differ by in such ratios, if that is more."""
        processes = math.expm1(math.fsum(map(self.variation.differs_by, parts)))
        # what was disturbed tells no two kernels apart
        sure = not any(case.unsure for cases in parts for case in cases)
        is_resolvable = sure and self.resolution <= COARSEST
        least = max(self.resolution, processes)
        return replace(
            found, resolution=least, same_within=self.resolution, is_resolvable=is_resolvable
        )
