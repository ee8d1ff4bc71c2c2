"""Which cases became slower or faster between two records, beyond run-to-run noise.

A change counts only if the whole interval of its ratio lies beyond the noise: the limit that two
runs of the same code keep in 999 of 1000 cases, by regime and duration (variation.py). A comparison
covers about 2500 cases, so a limit that one case in 40 exceeds would name 60 with nothing changed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from recheck_report.record.record import Case, Record
from recheck_report.statistics import variation
from recheck_report.statistics.ratio import Ratio
from recheck_report.statistics.variation import class_of


@dataclass(frozen=True)
class Change:
    """One case in two records."""

    old: Case
    new: Case
    ratio: Ratio  # speed-up of the new one, from the far ends of the medians' intervals
    kind: str  # its class of run-to-run variation
    noise: float  # of that class; 0.06: ratios from 1/1.06 to 1.06 are no change

    @property
    def unsure(self) -> str:
        """Why one of the two times is unreliable; empty if both are fine."""
        return self.new.unsure or self.old.unsure or ""

    @property
    def outcome(self) -> str:
        """slower | faster | no difference; disturbed if one of the two times is unreliable."""
        return "disturbed" if self.unsure else self.looks

    @property
    def looks(self) -> str:
        """slower | faster if the whole interval lies beyond the noise, else no difference."""
        if self.ratio.low > 1 + self.noise:
            return "faster"
        return "slower" if self.ratio.high < 1 / (1 + self.noise) else "no difference"

    @property
    def size(self) -> float:
        """The size of the effect: the absolute logarithm of the ratio."""
        return abs(math.log(self.ratio.value))


def changes(old: Record, new: Record) -> list[Change]:
    """Every case that has a time in both records, in the order of the new one."""
    result = []
    for case in new.cases:
        base = old.by_id.get(case.id)
        if base and base.seconds and case.seconds:
            kind = class_of(base, case)
            ratio = Ratio.from_medians(base.seconds, case.seconds)
            result.append(Change(base, case, ratio, kind, variation.noise(kind)))
    return result


def lost(old: Record, new: Record) -> list[tuple[Case, Case | None]]:
    """The cases with a time only in the old record, each with the new record's case or None."""
    pairs = ((case, new.by_id.get(case.id)) for case in old.cases if case.seconds)
    return [(case, other) for case, other in pairs if other is None or other.seconds is None]
