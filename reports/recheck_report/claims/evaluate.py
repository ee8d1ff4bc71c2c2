"""Does a check hold? Answered from a record and its probes by one pure function for each form.

An interval decides as far as it can: a bound that it straddles leaves the check undecided. So
more noise can only move a verdict towards "undecided", and a common factor on both sides moves
no ratio's verdict. What is missing makes a check "not measured", and is named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cached_property, partial
from itertools import pairwise, starmap
from operator import ne
from typing import Literal

from recheck_report.claims import expression
from recheck_report.claims.checks import COMPILED, Check, Choice
from recheck_report.claims.toml import BYTES
from recheck_report.fallback import or_placeholder
from recheck_report.queries import CEILINGS
from recheck_report.record.probes import Probes, Trial
from recheck_report.record.record import Case, Record
from recheck_report.statistics.comparisons import Comparisons, Limit, Member, Pair, Step
from recheck_report.statistics.ratio import Ratio

HOLDS, FAILS, UNDECIDED, NOT_MEASURED = "holds", "fails", "undecided", "not measured"


@dataclass(frozen=True, eq=False)
class Compared:
    """T(base) / T(other)."""

    base: Case
    other: Case
    ratio: Ratio


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
Fact = Compared | tuple[Compared, ...] | Share | Case | Counted | bool | Trial


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
    # the run-to-run variation, if only that leaves it undecided, or would with any interval
    run_to_run: float | None = None
    larger_may_decide: bool = True  # no larger shape of the two is in the record, or one decides
    insignificant: bool = False  # whether only p leaves it undecided
    unsure: Case | None = None  # a case whose unreliable time leaves it undecided
    # by values of the unspecified parameters, the usual ones first
    over: tuple[tuple[Choice, Outcome], ...] = ()

    @property
    def ratio(self) -> Ratio | None:
        """The ratio behind the value, if any."""
        match self.fact:
            case Compared(ratio=ratio) | Share(ratio=ratio):
                return ratio
        return None

    @property
    def p(self) -> float | None:
        """The p-value of its ratio, adjusted for all comparisons of the report."""
        return self.ratio.p if self.ratio else None

    @property
    def margin(self) -> float | None:
        """By which its ratio's interval is widened."""
        return self.ratio.resolution if self.ratio else None

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


TIMELESS = ("count", "attribute", "arithmetic", "test")  # forms that no time decides


def _unjudged(why: str) -> Outcome:
    raise Missing("sense", "", why)


def _given(value: float | None) -> float:
    """A number that must be set: a field that FORMS requires, or a measured ratio."""
    assert value is not None
    return value


def _bounded(check: Check, low: float, high: float) -> str:
    """A value with an interval against a check's at_least or at_most."""
    if check.at_least is not None:
        return above(low, high, check.at_least)
    return below(low, high, _given(check.at_most))


def exact(value: float, check: Check) -> str:
    """A number without an interval against a check's equals, at_least or at_most."""
    if check.equals is not None:
        allowed = (check.relative or 0) * abs(check.equals)
        return HOLDS if abs(value - check.equals) <= allowed + 1e-9 * abs(check.equals) else FAILS
    if check.at_least is not None:
        return HOLDS if value >= check.at_least else FAILS
    return HOLDS if value <= _given(check.at_most) else FAILS


def _masked(ratio: Ratio, asks: Callable[[float, float], str]) -> bool:
    """Whether run-to-run variation leaves a check undecided, however narrow the interval gets."""
    varies = ratio.is_resolvable and ratio.resolution > ratio.in_one_process.resolution
    narrow = replace(ratio, low=ratio.value, high=ratio.value)
    return varies and asks(*narrow.with_margin) == UNDECIDED


@dataclass(frozen=True)
class Questions:
    """The forms, asked of one record; a formula that makes no sense raises BadExpression."""

    record: Record
    probes: Probes | None
    comparisons: Comparisons

    @cached_property
    def _split(self) -> list[tuple[str, list[str]]]:
        """The ids of the record's cases, with their parts."""
        return [(name, name.split("/")) for name in self.record.by_id]

    def ask(self, check: Check) -> Outcome:
        if not check.over:
            return self._ask(check)
        over = tuple((choice, self._ask(varied)) for choice, varied in check.over)
        outcomes = [outcome for _, outcome in over]
        verdict, absence = over_all(outcome.verdict for outcome in outcomes), None
        if verdict == NOT_MEASURED:
            absence = outcomes[0].absence
            if not all(outcome.absence for outcome in outcomes):
                lacking = ((choice, o.absence) for choice, o in over if o.absence)
                absence = next(replace(why, choice=choice) for choice, why in lacking)
        return replace(
            outcomes[0],
            check=check,
            verdict=verdict,
            evidence=check.ids,
            absence=absence,
            run_to_run=None,
            unsure=next((outcome.unsure for outcome in outcomes if outcome.unsure), None),
            over=over,
        )

    def _ask(self, check: Check) -> Outcome:
        # each form has a method of its name
        answer: Callable[[Check], Outcome] = getattr(self, check.form)
        expected = Missing, expression.BadExpression
        try:
            outcome = or_placeholder(lambda: answer(check), _unjudged, *expected)
        except Missing as missing:
            return Outcome(check, NOT_MEASURED, evidence=check.ids, absence=missing.absence)
        # disturbed times do not affect counts and tests
        cases = map(self.record.by_id.get, () if check.form in TIMELESS else check.ids)
        unsure = next((case for case in cases if case and case.unsure), None)
        return replace(outcome, verdict=UNDECIDED, unsure=unsure) if unsure else outcome

    def timed(self, name: str) -> Case:
        case = self.case(name)
        if case.seconds is None:
            raise Missing("time", name, case.why_not)
        return case

    def case(self, name: str) -> Case:
        case = self.record.by_id.get(name)
        if case is None:
            experiment, row, _, regime = name.split("/")
            rows = (self.record.by_id[n] for n, at in self._split if at[:2] == [experiment, row])
            # CPU programs are always hot
            if regime != "hot" or any(case.target == "gpu" for case in rows):
                self._needs_gpu("time", name, "not run: ")
            raise Missing("case", name, self._nearest(name))
        return case

    def _needs_gpu(self, what: str, about: str, status: str = "") -> None:
        """Raises Missing if there was no GPU."""
        if self.record.environment.gpu is None and not self.record.gpu_measured:
            raise Missing(what, about, status + self.record.no_gpu_because)

    def _nearest(self, name: str) -> str:
        """The case that a name with a typing error in one part may mean, else an empty text."""
        parts = name.split("/")
        near = (n for n, split in self._split if sum(map(ne, split, parts)) == 1)
        return next(iter(get_close_matches(name, near, 1, 0.95)), "")

    def _compared(self, pair: Pair) -> Compared:
        base, other = map(self.timed, pair.ids)
        return Compared(base, other, self.comparisons.corrected(pair))

    def _tested(
        self, check: Check, fact: Compared | Share, asks: Callable[[float, float], str]
    ) -> Outcome:
        """The outcome of a ratio whose widened interval answers what the check asks."""
        ratio, unit = fact.ratio, "" if isinstance(fact, Share) else "×"
        verdict, alone = (asks(*r.with_margin) for r in (ratio, ratio.in_one_process))
        run_to_run, larger = None, list[str]()
        # that two are equal is no difference that chance could make
        insignificant = verdict != UNDECIDED and not ratio.significant and check.within is None
        if insignificant:
            verdict = UNDECIDED
        elif verdict == UNDECIDED and (alone != UNDECIDED or _masked(ratio, asks)):
            run_to_run = ratio.resolution
            larger = [asks(*each.with_margin) for each in self._larger(fact, check.bound)]
        may = not larger or any(each != UNDECIDED for each in larger)
        ends = ratio.value, ratio.low, ratio.high
        outcome = Outcome(check, verdict, *ends, unit, check.ids, fact, run_to_run=run_to_run)
        return replace(outcome, larger_may_decide=may, insignificant=insignificant)

    def _larger(self, fact: Compared | Share, against: float) -> Iterator[Ratio]:
        """The ratios of the same two rows at the larger shapes of the record."""
        if not isinstance(fact, Compared) or fact.base.shape_name != fact.other.shape_name:
            return
        for shape in self.record.shapes(self.record.experiment_of(fact.base)):
            base, other = (
                self.record.by_id.get(f"{case.experiment}/{case.strategy}/{shape}/{case.regime}")
                for case in (fact.base, fact.other)
            )
            if not base or not other or not base.seconds or not other.seconds:
                continue
            if math.prod(base.shape.values()) > math.prod(fact.base.shape.values()):
                yield self.comparisons.ratio(base, other, against)

    def ratio(self, check: Check) -> Outcome:
        asks = partial(above if check.above is not None else below, bound=check.bound)
        return self._tested(check, self._compared(ratio_of(check)), asks)

    def equivalent(self, check: Check) -> Outcome:
        share = 1 + _given(check.within)
        asks = partial(within, bounds=(1 / share, share))
        return self._tested(check, self._compared(ratio_of(check)), asks)

    def extremes(self, check: Check) -> Outcome:
        """The fastest of several cases against the slowest."""
        for name in check.cases:
            self.timed(name)
        asks = partial(above, bound=check.bound)
        return self._tested(check, self._compared(extremes(self.record, check)), asks)

    def monotone(self, check: Check) -> Outcome:
        pairs = series(check)
        compared = tuple(map(self._compared, pairs))
        sure = [self.comparisons.corrected(Step(*step)).significant for step in pairwise(pairs)]
        verdict = steps([pair.ratio.with_margin for pair in compared], sure)
        return Outcome(check, verdict, evidence=check.ids, fact=compared)

    def fraction_of_roof(self, check: Check) -> Outcome:
        case = self.timed(check.of)
        whole = self.timed(check.roof) if "/" in check.roof else None
        asked, at_one = share(self.record, check)
        ratio = self.comparisons.corrected(asked).times(at_one)
        return self._tested(check, Share(case, ratio, whole), partial(_bounded, check))

    def rate(self, check: Check) -> Outcome:
        case, time = self.timed(check.of), self.timed(check.of).time
        work = case.bytes if check.unit == BYTES else case.flops
        if not work:
            raise Missing("work", check.of)
        value, low, high = (work / seconds for seconds in (time.median, time.high, time.low))
        verdict = _bounded(check, low, high)
        return Outcome(check, verdict, value, low, high, check.unit, check.ids, case)

    def _probed(self, machine: bool = True) -> Probes:
        """`machine`: whether the answer depends on the machine, or only on the code."""
        if self.probes is None:
            raise Missing("probes")
        if foreign := self.probes.foreign(self.record, machine):
            raise Missing("matching probes", "", foreign)
        return self.probes

    def _counter(self, check: Check, name: str) -> float:
        shape, probes = self.case(name).shape, self._probed()
        counters = probes.counters.get(name)
        if counters is None or counters.reason:
            raise Missing("counters", name, (counters and counters.reason) or "")
        try:
            return float(expression.evaluate(check.expression, {**counters.values, **shape}))
        except expression.Unknown as error:
            raise Missing("counter", name, error.name) from error

    def count(self, check: Check) -> Outcome:
        count = self._counter(check, check.of)
        value, fact = count, Counted(count)
        if check.per:
            base = self._counter(check, check.per)
            if base == 0:
                raise Missing("base count", check.per)
            value, fact = count / base, Counted(count, self.case(check.per), base)
        return Outcome(check, exact(value, check), value, evidence=check.ids, fact=fact)

    def _attributes(self) -> dict[str, float]:
        """The known attributes of the device, by name."""
        gpu = self.record.environment.gpu
        values: dict[str, float] = {}
        if self.probes and not self.probes.foreign(self.record):
            values |= {k: v for k, v in self.probes.attributes.items() if v}  # 0: not known
        if gpu:
            values |= {k: v for k, v in vars(gpu).items() if type(v) in (int, float)}
        return values

    def _attribute_missing(self, name: str) -> Missing:
        if self.record.environment.gpu is None:
            return Missing("GPU", "", self.record.environment.gpu_reason or "")
        self._probed()  # may raise a better reason
        return Missing("attribute", name)

    def attribute(self, check: Check) -> Outcome:
        value = self._attributes().get(check.name)
        if value is None:
            raise self._attribute_missing(check.name)
        return Outcome(check, exact(value, check), value)

    def arithmetic(self, check: Check) -> Outcome:
        try:
            value = expression.evaluate(check.expression, self._attributes())
        except expression.Unknown as error:
            raise self._attribute_missing(error.name) from error
        if check.equals is not None:
            return Outcome(check, exact(value, check), float(value))
        if type(value) is not bool:
            raise expression.BadExpression(f"{check.expression!r} must evaluate to true or false")
        return Outcome(check, HOLDS if value else FAILS, fact=value)

    def test(self, check: Check) -> Outcome:
        compiled = check.finds in COMPILED
        trial = self._probed(machine=not compiled).tests.get(check.test)
        if trial is None or trial.reason or trial.outcome is None:
            if check.test.partition(":")[2].startswith("gpu"):
                self._needs_gpu("test", check.test)
            raise Missing("test", check.test, (trial and trial.reason) or "")
        verdict = HOLDS if trial.outcome == check.finds else FAILS
        return Outcome(check, verdict, evidence=(check.test,), fact=trial)


# the comparisons behind checks, which are corrected together


def comparisons_of(record: Record, check: Check) -> Iterator[Member]:
    with suppress(LookupError):
        match check.form:
            case "ratio" | "equivalent":
                yield ratio_of(check)
            case "extremes":
                yield extremes(record, check)
            case "fraction_of_roof":
                yield share(record, check)[0]
            case "monotone":
                yield from series(check)
                yield from starmap(Step, pairwise(series(check)))


def ratio_of(check: Check) -> Pair:
    return Pair(check.base, check.other, check.bound)


def series(check: Check) -> list[Pair]:
    """The two cases of a series, at each of its shapes."""
    return [Pair(*check.at(shape)) for shape in check.shapes]


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
    if metric := CEILINGS.get(check.roof):
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
