"""All comparisons of one record, and Holm's correction of those that verdicts rest on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from weakref import WeakKeyDictionary

from recheck_report.model.record import Case, Record
from recheck_report.statistics import variation
from recheck_report.statistics.audit import audit
from recheck_report.statistics.paired import LEVEL, compare
from recheck_report.statistics.ratio import COARSEST, Ratio


def holm(values: dict[object, float]) -> dict[object, float]:
    """The p-values of a family, adjusted so that all of its verdicts together err at one level."""
    adjusted, worst = {}, 0.0
    for at, key in enumerate(sorted(values, key=lambda key: (values[key], str(key)))):
        worst = max(worst, min(1.0, (len(values) - at) * values[key]))
        adjusted[key] = worst
    return adjusted


class Comparisons:
    """All comparisons of one record. Those of its claims, stories and listings are one family."""

    def __init__(self, record: Record) -> None:
        self.audit = audit(record)
        self.resolution = self.audit.resolution
        gpu, model = record.environment.gpu, variation.known().gpu
        # whether differences have to exceed what two processes on one GPU differ by
        self.processes = gpu is not None and record.gpu_measured
        # the GPU model of which that is known, if it is not this one
        self.borrowed = model if gpu and self.processes and gpu.name != model else ""
        self.family: dict[object, float] = {}  # p-values, by the ids of the two cases
        self.closed = False
        self._adjusted: dict[object, float] = {}
        self._known: dict[tuple[str, str, float], Ratio] = {}

    def ratio(self, base: Case, other: Case, against: float = 1.0) -> Ratio:
        """For a table or a chart, which show an interval and give no verdict."""
        key = base.id, other.id, against
        if key not in self._known:
            self._known[key] = self._resolved(compare(base, other, against), (base, other))
        return self._known[key]

    def _resolved(self, found: Ratio, *pairs: Sequence[Case]) -> Ratio:
        """With the smallest difference that may be claimed of it: what the self-audit needs, which
        is of one process, or what two processes differ by in such ratios, if that is more."""
        least = self.resolution
        if self.processes:
            least = max(least, math.expm1(math.fsum(map(variation.known().differs_by, pairs))))
        # what was disturbed tells no two kernels apart
        sure = not any(case.unsure for cases in pairs for case in cases)
        told = sure and self.resolution <= COARSEST
        return replace(found, resolution=least, alike=self.resolution, told=told)

    def verdict(self, base: Case, other: Case, against: float = 1.0) -> Ratio:
        """For a sentence: its outcome, and its p-value, hold among all of the family."""
        found = self.ratio(base, other, against)
        return self._of_family(frozenset((base.id, other.id, against)), found)

    def step(self, one: Sequence[Case], other: Sequence[Case], a: Ratio, b: Ratio) -> Ratio:
        """By what factor the ratio `b`, of the cases `other`, is larger than `a`, of the cases
        `one`: for a sentence."""
        found = self._resolved(Ratio.step(a, b), one, other)
        return self._of_family(frozenset(("step", *(case.id for case in (*one, *other)))), found)

    def _of_family(self, key: object, found: Ratio) -> Ratio:
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


_known: WeakKeyDictionary[Record, Comparisons] = WeakKeyDictionary()


def comparisons(record: Record) -> Comparisons:
    """Those of a record: the same each time, for as long as the record is there."""
    if record not in _known:
        _known[record] = Comparisons(record)
    return _known[record]
