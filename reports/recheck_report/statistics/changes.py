"""Which cases became slower or faster between two records, by more than two runs can tell.

A change is claimed only where the whole interval of its ratio lies beyond the noise: what two runs
of the same code stay within in 999 of 1000 cases, by class of regime and duration (variation.py). A
comparison asks about some 2500 cases at once: a limit that one case in 40 exceeds would name 60 of
them with nothing changed.
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
    ratio: Ratio  # how many times as fast the new one is, by the far ends of the medians' intervals
    kind: str  # its class
    # of the class: 0.06 where two runs of the same code cannot be told apart within 1/1.06 and 1.06
    noise: float

    @property
    def unsure(self) -> str:
        """Why one of the two times decides nothing; empty if both may."""
        return self.new.unsure or self.old.unsure or ""

    @property
    def outcome(self) -> str:
        """As `looks`; disturbed where one of the two times decides nothing."""
        return "disturbed" if self.unsure else self.looks

    @property
    def looks(self) -> str:
        """slower | faster: the whole interval lies beyond the noise; else no difference."""
        if self.ratio.low > 1 + self.noise:
            return "faster"
        return "slower" if self.ratio.high < 1 / (1 + self.noise) else "no difference"

    @property
    def size(self) -> float:
        """Of the effect, either way."""
        return abs(math.log(self.ratio.value))


def changes(old: Record, new: Record) -> list[Change]:
    """Every case that has a time in both records, in the order of the new one."""
    found = []
    for case in new.cases:
        base = old.by_id.get(case.id)
        if base and base.seconds and case.seconds:
            kind = class_of(base, case)
            ratio = Ratio.from_medians(base.seconds, case.seconds)
            found.append(Change(base, case, ratio, kind, variation.for_gpu().noise(kind)))
    return found


def lost(old: Record, new: Record) -> list[tuple[Case, Case | None]]:
    """The cases with a time in the old record that have none in the new one, and what they are
    there: None if they are not in it."""
    there = ((case, new.by_id.get(case.id)) for case in old.cases if case.seconds)
    return [(case, own) for case, own in there if own is None or own.seconds is None]
