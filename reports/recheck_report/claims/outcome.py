"""The outcome of one check: the verdict, what was measured, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from recheck_report.claims.checks import Check, Choice
from recheck_report.record.probes import Trial
from recheck_report.record.record import Case
from recheck_report.statistics.ratio import Ratio

HOLDS, FAILS, UNDECIDED, NOT_MEASURED = "holds", "fails", "undecided", "not measured"


@dataclass(frozen=True, eq=False)
class Compared:
    """T(base) / T(other)."""

    base: Case
    other: Case
    ratio: Ratio


@dataclass(frozen=True, eq=False)
class Ordered:
    """Cases from the fastest to the slowest, as the check names them, and the closest two."""

    cases: tuple[Case, ...]
    closest: Compared


@dataclass(frozen=True, eq=False)
class Share:
    """A rate as a share of a ceiling or of another case's rate: 0.92."""

    case: Case
    ratio: Ratio
    whole: Case | None  # None: a ceiling of the machine


@dataclass(frozen=True, eq=False)
class Counted:
    """A count, and the count of the case that it is compared with."""

    count: float
    base: Case | None = None
    base_count: float = 0.0


# Case: a rate; bool: arithmetic without a bound
Fact = Compared | Ordered | tuple[Compared, ...] | Share | Case | Counted | bool | Trial


@dataclass(frozen=True)
class Absence:
    """A thing that a check lacks.

    `about` names it: the id of a case, a counter, a test. `why` is the reason from the record or
    its probes, or the nearest valid name.
    """

    what: Literal[
        "case", "time", "work", "ceiling", "probes", "matching probes", "counters", "counter",
        "base count", "GPU", "attribute", "test", "sense",
    ]  # fmt: skip
    about: str = ""
    why: str = ""
    choice: Choice | None = None  # the only choice for which it is missing


class Missing(LookupError):
    """Something is missing in the record or its probes."""

    def __init__(self, *absence: str) -> None:
        super().__init__(*absence)
        self.absence = Absence(*absence)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Outcome:
    """The outcome of one check."""

    check: Check
    verdict: str
    value: float | None = None  # with its 95 % interval, where it has one
    low: float | None = None
    high: float | None = None
    unit: str = ""  # "×" for ratios
    evidence: tuple[str, ...] = ()  # ids of cases, or names of probes
    fact: Fact | None = None  # what was measured; a value alone needs none
    absence: Absence | None = None  # why it is not measured
    p: float | None = None  # adjusted for all comparisons of the report
    # the run-to-run variation, if only that leaves it undecided
    run_to_run: float | None = None
    margin: float | None = None  # by which a ratio's interval is widened
    unsure: Case | None = None  # a case whose unreliable time leaves it undecided
    # by values of the unspecified parameters, the usual ones first
    over: tuple[tuple[Choice, Outcome], ...] = ()

    @property
    def ratio(self) -> Ratio | None:
        """The ratio behind the value, if any: the closest of several."""
        match self.fact:
            case Compared(ratio=ratio) | Share(ratio=ratio):
                return ratio
            case Ordered(closest=closest):
                return closest.ratio
        return None

    @property
    def seconds(self) -> tuple[float, float] | None:
        """The medians that a ratio compares: base, other."""
        if isinstance(self.fact, Compared):
            return self.fact.base.time.median, self.fact.other.time.median
        return None

    @property
    def usual(self) -> Outcome:
        """The outcome with the usual values of the unspecified parameters."""
        return self.over[0][1] if self.over else self


def above(low: float, high: float, bound: float) -> str:
    """Whether a value in [low, high] is above a bound."""
    return HOLDS if low > bound else FAILS if high <= bound else UNDECIDED


def below(low: float, high: float, bound: float) -> str:
    return HOLDS if high < bound else FAILS if low >= bound else UNDECIDED


def within(low: float, high: float, bounds: tuple[float, float]) -> str:
    """Whether it lies between two bounds. It fails only if it lies wholly on one side."""
    if bounds[0] <= low and high <= bounds[1]:
        return HOLDS
    return FAILS if high < bounds[0] or low > bounds[1] else UNDECIDED


def all_of(verdicts: Iterable[str]) -> str:
    """The verdict of several checks that must all hold."""
    present = set(verdicts)
    return next((v for v in (FAILS, NOT_MEASURED, UNDECIDED) if v in present), HOLDS)


def over_all(verdicts: Iterable[str]) -> str:
    """The verdict of one check at several values of unspecified parameters."""
    present = set(verdicts)
    if {HOLDS, FAILS} <= present:
        return UNDECIDED  # the value decides, and the document does not say it
    return next(v for v in (NOT_MEASURED, UNDECIDED, HOLDS, FAILS) if v in present)


def steps(intervals: list[tuple[float, float]], significant: Sequence[bool] = ()) -> str:
    """Whether values rise from each to the next; a step that is not significant decides neither
    way."""
    pairs = list(pairwise(intervals))
    clear = significant or [True] * len(pairs)
    if any(b[1] < a[0] and sure for (a, b), sure in zip(pairs, clear, strict=True)):
        return FAILS
    holds = all(a[1] < b[0] and sure for (a, b), sure in zip(pairs, clear, strict=True))
    return HOLDS if holds else UNDECIDED


def overtakes(intervals: list[tuple[float, float]]) -> str:
    """Whether a series of ratios goes from below 1 to above it."""
    clear, possible = False, False
    for at, (low, high) in enumerate(intervals):
        later = intervals[at + 1 :]
        clear |= high < 1 and any(start > 1 for start, _ in later)
        possible |= low <= 1 and any(end >= 1 for _, end in later)
    return HOLDS if clear else UNDECIDED if possible else FAILS
