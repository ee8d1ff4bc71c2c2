"""The family of comparisons behind the verdicts on a record, which are corrected together.

They follow from claims, errata, stories and listings. The record's times matter only where a check
is about the slowest and the fastest of several cases.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise

from recheck_report.claims.checks import SERIES, Check
from recheck_report.claims.collection import Collection
from recheck_report.claims.outcome import Missing
from recheck_report.queries import COMPUTE, MEMORY
from recheck_report.record.record import Record
from recheck_report.statistics.family import Comparisons, Limit, Member, Pair, Step

LIMITS = {"dram": MEMORY, "fp32": COMPUTE}  # ceilings of the machine


def comparisons(record: Record, claims: Collection) -> Comparisons:
    """All comparisons of a record, with the family of a collection's claims and pages."""
    return Comparisons(record, members(record, claims))


def members(record: Record, claims: Collection) -> Iterator[Member]:
    """The comparisons of claims, errata, stories and listings, some of them repeatedly."""
    for _, check in claims.asked:
        yield from of_check(record, check)
    for listing in claims.listings:
        if experiment := record.experiment(listing.experiment):
            at = f"{listing.shape or experiment.headline}/{record.ranked_by(experiment)}"
            yield Pair(f"{listing.row}/{at}", f"{listing.general}/{at}")
    for name, story in claims.stories.items():
        if experiment := record.experiment(name):
            for step in story.steps:
                if step.base:
                    at = f"{experiment.headline}/{record.ranked_by(experiment)}"
                    yield Pair(f"{name}/{step.base}/{at}", f"{name}/{step.row}/{at}")


def of_check(record: Record, check: Check) -> Iterator[Member]:
    if check.form in ("ratio", "equivalent"):
        yield Pair(check.base, check.other, check.bound)
    elif check.form == "order":
        yield from (Pair(slow, fast) for fast, slow in pairwise(check.cases))
    elif check.form == "extremes":
        with suppress(LookupError):
            yield extremes(record, check)
    elif check.form == "fraction_of_roof":
        with suppress(LookupError):
            yield share(record, check)[0]
    elif check.form in SERIES:
        pairs = [Pair(*check.at(shape)) for shape in check.shapes]
        yield from pairs
        if check.form == "monotone":
            yield from map(Step, pairs, pairs[1:])


def extremes(record: Record, check: Check) -> Pair:
    """The slowest and the fastest of a check's cases, chosen from all their pairs. Raises
    LookupError if a case has no time."""
    cases = [record.by_id[name] for name in check.cases]
    if not all(case.seconds for case in cases):
        raise LookupError("a case has no time")
    ordered = sorted(cases, key=lambda case: case.time.median)
    return Pair(ordered[-1].id, ordered[0].id, check.bound, math.comb(len(cases), 2))


def share(record: Record, check: Check) -> tuple[Pair | Limit, float]:
    """The comparison behind a share of a ceiling's rate, and the share at which its ratio is 1.
    Raises LookupError for a missing case, and Missing for other missing values."""
    case, bound = record.by_id[check.of], check.at_least or check.at_most or 1.0
    if metric := LIMITS.get(check.roof):
        ceiling, work = record.ceilings.get(metric.ceiling), getattr(case, metric.work)
        if ceiling is None:
            raise Missing("ceiling", metric.ceiling_label)
        if not work:
            raise Missing("work", check.of)
        return Limit(case.id, work / bound / ceiling.value), bound
    ceiling_case = record.by_id[check.roof]
    kind = "bytes" if case.bytes and ceiling_case.bytes else "flops"
    part, whole = getattr(case, kind), getattr(ceiling_case, kind)
    if not part or not whole:
        raise Missing("work", f"{check.of} or {check.roof}")
    return Pair(ceiling_case.id, case.id, bound * whole / part), part / whole
