"""All comparisons of one record, and Holm's correction of those that verdicts rest on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from recheck_report.model.record import Case, Record
from recheck_report.statistics import variation
from recheck_report.statistics.audit import audit
from recheck_report.statistics.paired import LEVEL, compare
from recheck_report.statistics.ratio import COARSEST, Ratio


@dataclass(frozen=True)
class Pair:
    """Whether time(base) / time(other) differs from `against`. Both are ids of cases."""

    base: str
    other: str
    against: float = 1.0

    @property
    def key(self) -> object:
        """The same whichever of the two is the base."""
        return frozenset((self.base, self.other, self.against))

    @property
    def ids(self) -> tuple[str, ...]:
        return self.base, self.other


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


def holm(values: dict[object, float]) -> dict[object, float]:
    """The p-values of a family, adjusted so that all of its verdicts together err at one level."""
    adjusted, worst = {}, 0.0
    for at, key in enumerate(sorted(values, key=lambda key: (values[key], str(key)))):
        worst = max(worst, min(1.0, (len(values) - at) * values[key]))
        adjusted[key] = worst
    return adjusted


class Comparisons:
    """All comparisons of one record; `family`: those that its verdicts rest on. A member of the
    family without two times is none."""

    def __init__(self, record: Record, family: Iterable[Pair | Step] = ()) -> None:
        self.audit = audit(record)
        self.resolution = self.audit.resolution
        gpu = record.environment.gpu
        self.variation = variation.known(gpu.name if gpu else "")
        model = self.variation.gpu
        # whether differences have to exceed what two processes on one GPU differ by
        self.processes = gpu is not None and record.gpu_measured
        # the GPU model of which that is known, if it is not this one
        self.borrowed = model if gpu and self.processes and gpu.name != model else ""
        self._known: dict[tuple[str, str, float], Ratio] = {}
        timed = {name: case for name, case in record.by_id.items() if case.seconds}
        # p-values before and behind the correction, by key
        self.family = {
            each.key: self._uncorrected(each, timed).p
            for each in family
            if timed.keys() >= {*each.ids}
        }
        self._adjusted = holm(self.family)

    def _uncorrected(self, asked: Pair | Step, timed: dict[str, Case]) -> Ratio:
        if isinstance(asked, Pair):
            return self.ratio(timed[asked.base], timed[asked.other], asked.against)
        return Ratio.step(*(self._uncorrected(each, timed) for each in (asked.first, asked.second)))

    def ratio(self, base: Case, other: Case, against: float = 1.0) -> Ratio:
        """time(base) / time(other) with its interval, for a table or a chart, which give no
        verdict; its p-value, of being `against`, is not corrected."""
        key = base.id, other.id, against
        if key not in self._known:
            self._known[key] = self._resolved(compare(base, other, against), (base, other))
        return self._known[key]

    def _resolved(self, found: Ratio, *pairs: Sequence[Case]) -> Ratio:
        """With the smallest difference that may be claimed of it: what the self-audit needs, which
        is of one process, or what two processes differ by in such ratios, if that is more."""
        least = self.resolution
        if self.processes:
            least = max(least, math.expm1(math.fsum(map(self.variation.differs_by, pairs))))
        # what was disturbed tells no two kernels apart
        sure = not any(case.unsure for cases in pairs for case in cases)
        told = sure and self.resolution <= COARSEST
        return replace(found, resolution=least, alike=self.resolution, told=told)

    def verdict(self, base: Case, other: Case, against: float = 1.0) -> Ratio:
        """As ratio(), for a sentence: its outcome and p-value hold among all of the family."""
        return self._corrected(Pair(base.id, other.id, against), self.ratio(base, other, against))

    def step(self, one: tuple[Case, Case], other: tuple[Case, Case]) -> Ratio:
        """By what factor the ratio of the two cases `other` is larger than that of the cases `one`:
        for a sentence."""
        found = self._resolved(Ratio.step(self.ratio(*one), self.ratio(*other)), one, other)
        first, second = (Pair(base.id, compared.id) for base, compared in (one, other))
        return self._corrected(Step(first, second), found)

    def _corrected(self, asked: Pair | Step, found: Ratio) -> Ratio:
        """What is no member of the family is corrected as one more."""
        alone = min(1.0, found.p * (len(self.family) + 1))
        p = self._adjusted.get(asked.key, alone)
        return replace(found, p=p, significant=p <= LEVEL)
