"""Which cases became slower or faster between two records, by more than two runs can tell.

A change is claimed only where the whole interval of its ratio lies beyond a margin: what two runs
of the same code stay within in 999 of 1000 cases, by class of regime and duration. A comparison
asks about some 2500 cases at once: a margin that one case in 40 exceeds would name 60 of them with
nothing changed. Two records of one GPU are held to what another process differs by, if that is
known; any others to what another GPU does (variation.py). Who knows more of a case than its class
may hold it to less.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from recheck_report.model.record import Case, Record
from recheck_report.statistics.ratio import Ratio
from recheck_report.statistics.variation import GPU, class_of, level_between, level_of, margin


@dataclass(frozen=True)
class Change:
    """One case in two records."""

    old: Case
    new: Case
    ratio: Ratio  # how many times as fast the new one is, by the far ends of the medians' intervals
    kind: str  # its class
    # of the class, or the case's own: 0.06 where two runs of the same code cannot be told apart
    # within 1/1.06 and 1.06
    margin: float

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
        """slower | faster: the whole interval lies beyond the margin; else no difference."""
        if self.ratio.low > 1 + self.margin:
            return "faster"
        return "slower" if self.ratio.high < 1 / (1 + self.margin) else "no difference"

    @property
    def size(self) -> float:
        """Of the effect, either way."""
        return abs(math.log(self.ratio.value))


def held_to(old: Record, new: Record) -> str:
    """The level of the margins: what another process differs by, if both are of one GPU and full
    runs of its model on one GPU are known; else what another GPU does. What was seen in some of the
    cases says nothing of outliers in all."""
    gpu = new.environment.gpu
    level = level_between(old, new)
    found = level_of(gpu.name, level) if gpu else None
    return level if found and found.full else GPU


def changes(old: Record, new: Record, own: Mapping[str, float] | None = None) -> list[Change]:
    """Every case that has a time in both records, in the order of the new one; `own` margins, by
    the case, count where they are less than the class's."""
    models = {each.environment.gpu.name for each in (old, new) if each.environment.gpu}
    level = held_to(old, new)
    found = []
    for case in new.cases:
        base = old.by_id.get(case.id)
        if base and base.seconds and case.seconds:
            kind = class_of(base, case)
            ratio = Ratio.of(base.seconds, case.seconds)
            most = min(margin(kind, models, level), (own or {}).get(case.id, math.inf))
            found.append(Change(base, case, ratio, kind, most))
    return found


def lost(old: Record, new: Record) -> list[tuple[Case, Case | None]]:
    """The cases with a time in the old record that have none in the new one, and what they are
    there: None if they are not in it."""
    there = ((case, new.by_id.get(case.id)) for case in old.cases if case.seconds)
    return [(case, own) for case, own in there if own is None or own.seconds is None]
