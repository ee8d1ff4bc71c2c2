"""Which comparisons the verdicts on a record rest on: one family, corrected together.

They follow from the claims, errata, stories and listings, and from the record's times only where a
check is about the slowest and the fastest of several cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from recheck_report.claims.checks import SERIES, Check
from recheck_report.claims.collection import Collection
from recheck_report.model.record import Record
from recheck_report.statistics.family import Comparisons, Pair, Step


def comparisons(record: Record, known: Collection) -> Comparisons:
    """All comparisons of a record; their family is that of a collection's claims and pages."""
    return Comparisons(record, members(record, known))


def members(record: Record, known: Collection) -> Iterator[Pair | Step]:
    """The comparisons that claims, errata, stories and listings make, some of them repeatedly."""
    for _, check in known.asked:
        yield from of_check(record, check)
    for listing in known.listings:
        if experiment := record.experiment(listing.experiment):
            at = f"{listing.shape or experiment.headline}/{record.ranked_by(experiment)}"
            yield Pair(f"{listing.row}/{at}", f"{listing.general}/{at}")
    for name, story in known.stories.items():
        if experiment := record.experiment(name):
            for step in story.steps:
                if step.base:
                    at = f"{experiment.headline}/{record.ranked_by(experiment)}"
                    yield Pair(f"{name}/{step.base}/{at}", f"{name}/{step.row}/{at}")


def of_check(record: Record, check: Check) -> Iterator[Pair | Step]:
    if check.form in ("ratio", "equivalent"):
        yield Pair(check.base, check.other, check.bound)
    elif check.form == "order":
        yield from (Pair(slow, fast) for fast, slow in pairwise(check.cases))
    elif check.form == "extremes":
        if ends := extremes(record, check.cases):
            yield Pair(*ends, check.bound)
    elif check.form in SERIES:
        pairs = [Pair(*check.at(shape)) for shape in check.shapes]
        yield from pairs
        if check.form == "monotone":
            yield from map(Step, pairs, pairs[1:])


def extremes(record: Record, names: tuple[str, ...]) -> tuple[str, str] | None:
    """The slowest and the fastest of these cases, by their medians; None if one has no time."""
    cases = [record.by_id.get(name) for name in names]
    timed = [case for case in cases if case and case.seconds]
    if len(timed) < len(cases):
        return None
    ordered = sorted(timed, key=lambda case: case.time.median)
    return ordered[-1].id, ordered[0].id
