"""What a check asks of a record and its probes: one pure function for each form.

An interval decides as far as it can: a bound that it straddles leaves the check undecided. So
more noise can only move a verdict towards "undecided", and a common factor on both sides moves
no ratio's verdict. What is missing makes a check "not measured", and says what.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from itertools import pairwise
from operator import ne

from recheck_report.claims import expression
from recheck_report.claims.asked import many, roof_name
from recheck_report.claims.checks import COMPILED, Check, with_choices
from recheck_report.claims.family import extremes, share
from recheck_report.claims.quantity import BYTES
from recheck_report.fallback import caught
from recheck_report.formatting import NBSP, SCOPES, durations, plain, rates, shape_label
from recheck_report.record.probes import Probes
from recheck_report.record.record import Case, Record
from recheck_report.statistics.family import Comparisons, Pair, Step
from recheck_report.statistics.paired import of_rounds
from recheck_report.statistics.ratio import Ratio

TIMELESS = ("count", "attribute", "arithmetic", "test")  # forms that no time decides
HOLDS, FAILS, UNDECIDED, NOT_MEASURED = "holds", "fails", "undecided", "not measured"


@dataclass(frozen=True)
class Outcome:
    """What became of one check."""

    check: Check
    verdict: str
    text: str  # what was measured, in plain text with names between backticks
    value: float | None = None  # with its 95 % interval, where it has one
    low: float | None = None
    high: float | None = None
    unit: str = ""  # "×" for ratios
    evidence: tuple[str, ...] = ()  # ids of cases, or names of probes
    reason: str | None = None  # why it is not measured
    p: float | None = None  # adjusted for all comparisons of the report
    # what two processes may differ by, where that alone leaves it open
    differs: float | None = None
    margin: float | None = None  # by which a ratio's interval is widened
    # by values of what the document leaves open, the usual one first
    over: tuple[tuple[str, Outcome], ...] = ()
    seconds: tuple[float, float] | None = None  # of a ratio's base and other, medians
    compared: str = ""  # a ratio in words, with the names of both
    unsure: str = ""  # which time decides nothing, and why, where that alone leaves it open


class Missing(Exception):
    """The record or the probes lack something; str() is the reason."""


def _unjudged(why: str) -> Outcome:
    raise Missing(f"it could not be judged: {why}")


def above(low: float, high: float, bound: float) -> str:
    """Whether a value known to lie in [low, high] is above a bound."""
    return HOLDS if low > bound else FAILS if high <= bound else UNDECIDED


def below(low: float, high: float, bound: float) -> str:
    return HOLDS if high < bound else FAILS if low >= bound else UNDECIDED


def within(low: float, high: float, bounds: tuple[float, float]) -> str:
    """Whether it lies between two bounds; outside, only if it does so on one side as a whole."""
    if bounds[0] <= low and high <= bounds[1]:
        return HOLDS
    return FAILS if high < bounds[0] or low > bounds[1] else UNDECIDED


def all_of(verdicts: Iterable[str]) -> str:
    """Of several that must all hold."""
    found = set(verdicts)
    order = (FAILS, NOT_MEASURED, UNDECIDED)
    return next((verdict for verdict in order if verdict in found), HOLDS)


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
        clear |= high < 1 and any(each[0] > 1 for each in later)
        possible |= low <= 1 and any(each[1] >= 1 for each in later)
    return HOLDS if clear else UNDECIDED if possible else FAILS


def over_all(verdicts: Iterable[str]) -> str:
    """Of one question at several values of what a document leaves open."""
    found = set(verdicts)
    if {HOLDS, FAILS} <= found:
        return UNDECIDED  # the value decides, and the document does not say it
    return next(v for v in (NOT_MEASURED, UNDECIDED, HOLDS, FAILS) if v in found)


def _given(value: float | None) -> float:
    """A number that is there: a field that FORMS asks a check for, or what a ratio came to."""
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
        allowed = check.absolute or (check.relative or 0) * abs(check.equals)
        return HOLDS if abs(value - check.equals) <= allowed + 1e-9 * abs(check.equals) else FAILS
    if check.at_least is not None:
        return HOLDS if value >= check.at_least else FAILS
    return HOLDS if value <= _given(check.at_most) else FAILS


@dataclass(frozen=True)
class Questions:
    """The forms, asked of one record; a formula that makes no sense raises BadExpression."""

    record: Record
    probes: Probes | None
    known: Comparisons

    def ask(self, check: Check) -> Outcome:
        if not check.over:
            return self._ask(check)
        over = tuple((label, self._ask(each)) for label, each in check.over)
        reasons = (f"{with_choices([label])}: {each.reason}" for label, each in over if each.reason)
        verdict = over_all(each.verdict for _, each in over)
        same = over[0][1].reason if all(each.reason for _, each in over) else None
        reason = (same or next(reasons, None)) if verdict == NOT_MEASURED else None
        return replace(
            over[0][1],
            check=check,
            verdict=verdict,
            evidence=check.ids,
            reason=reason,
            differs=None,
            unsure=next((each.unsure for _, each in over if each.unsure), ""),
            over=over,
        )

    def _ask(self, check: Check) -> Outcome:
        answer: Callable[[Check], Outcome] = getattr(self, f"_{check.form}")
        try:
            found = caught(lambda: answer(check), _unjudged, Missing, expression.BadExpression)
            unsure = self._unsure(check)
            # a count or a test says the same whatever disturbed the times
            if unsure and check.form not in TIMELESS:
                return replace(found, verdict=UNDECIDED, unsure=unsure)
            return found
        except Missing as error:
            return Outcome(check, NOT_MEASURED, "", evidence=check.ids, reason=str(error))

    def _unsure(self, check: Check) -> str:
        """Which of the times that a check asks for decides nothing, and why; empty if all may."""
        cases = (self.record.by_id.get(name) for name in check.ids)
        return next((f"{each.id}: {each.unsure}" for each in cases if each and each.unsure), "")

    def timed(self, name: str) -> Case:
        case = self.case(name)
        if case.seconds is None:
            raise Missing(f"{name}: {case.why_not}")
        return case

    def case(self, name: str) -> Case:
        case = self.record.by_id.get(name)
        if case is None:
            raise Missing(f"the record holds no case {name}{self._nearest(name)}")
        return case

    def _nearest(self, name: str) -> str:
        """The case that a slip of the pen in one part of a name may have meant."""
        parts = name.split("/")
        near = (n for n in self.record.by_id if sum(map(ne, n.split("/"), parts)) == 1)
        found = get_close_matches(name, near, 1, 0.95)
        return f"; nearest is {found[0]}" if found else ""

    def _pair(
        self, base: str, other: str, against: float = 1.0, picked: int = 1
    ) -> tuple[Ratio, str]:
        first, second = self.timed(base), self.timed(other)
        ratio = self.known.verdict(first, second, against, picked)
        times = durations(second.time.median, first.time.median)
        names = _names((first, second))
        words = ratio.as_fast_as(names[0], against)
        words += of_rounds(ratio.value, first.time.median, second.time.median)
        return ratio, f"{names[1]} {words}: {times[0]} against {times[1]}"

    def _of(
        self,
        check: Check,
        asks: Callable[[float, float], str],
        ratio: Ratio,
        text: str,
        significant: bool = True,
        unit: str = "×",
    ) -> Outcome:
        verdict, alone = (asks(*each.widest) for each in (ratio, ratio.in_one_process))
        differs = None
        if not significant:
            verdict = UNDECIDED
        elif verdict == UNDECIDED != alone:
            differs = ratio.resolution
        ends = ratio.value, ratio.low, ratio.high
        found = Outcome(check, verdict, text, *ends, unit=unit, evidence=check.ids, p=ratio.p)
        return replace(found, differs=differs, margin=ratio.resolution)

    def _compared(self, check: Check, ratio: Ratio) -> str:
        base, other = _names([self.case(check.base), self.case(check.other)])
        return f"{other} {ratio.as_fast_as(base, check.bound)}"

    def _ratio(self, check: Check, picked: int = 1) -> Outcome:
        ratio, text = self._pair(check.base, check.other, check.bound, picked)
        if not check.says:
            text = f"at {shape_label(self.case(check.other).shape_name)} {text}"
        side = above if check.above is not None else below
        asks = partial(side, bound=check.bound)
        found = self._of(check, asks, ratio, text, ratio.significant)
        times = self.timed(check.base).time.median, self.timed(check.other).time.median
        return replace(found, seconds=times, compared=self._compared(check, ratio))

    def _equivalent(self, check: Check) -> Outcome:
        ratio, text = self._pair(check.base, check.other)
        share = 1 + _given(check.within)
        asks = partial(within, bounds=(1 / share, share))
        found = self._of(check, asks, ratio, text)
        return replace(found, compared=self._compared(check, ratio))

    def _order(self, check: Check) -> Outcome:
        """From the fastest to the slowest: each ahead of the next."""
        found = []
        for fast, slow in zip(check.cases, check.cases[1:], strict=False):
            one = self._ratio(Check("ratio", base=slow, other=fast, above=1.0))
            found.append((one, self.timed(fast), self.timed(slow)))
        least, *ends = min(found, key=lambda each: _given(each[0].value))
        cases = [found[0][1], *(slow for _, _, slow in found)]
        pairs = zip(_names(cases), durations(*(c.time.median for c in cases)), strict=True)
        text = ", ".join(f"{name} {time}" for name, time in pairs)
        # the step that decides
        ratio = self._pair(ends[1].id, ends[0].id)[0].as_fast_as()
        text += f"; {' against '.join(_names(ends))}: {ratio}"
        verdict = all_of(one.verdict for one, _, _ in found)
        return Outcome(
            check, verdict, text, least.value, least.low, least.high, "×", check.ids, p=least.p
        )

    def _extremes(self, check: Check) -> Outcome:
        """How many times as fast as the slowest the fastest is."""
        for name in check.cases:
            self.timed(name)
        ends = extremes(self.record, check)
        pair = Check("ratio", check.says, base=ends.base, other=ends.other, above=check.above)
        return replace(self._ratio(pair, ends.picked), check=check, evidence=check.ids)

    def _series(self, check: Check) -> tuple[list[Ratio], str]:
        ratios, texts = [], []
        for shape in check.shapes:
            ratio, text = self._pair(*check.at(shape))
            ratios.append(ratio)
            texts.append(f"at {shape_label(shape)} {text}")
        return ratios, "; ".join(texts)

    def _monotone(self, check: Check) -> Outcome:
        ratios, text = self._series(check)
        pairs = [Pair(*check.at(shape)) for shape in check.shapes]
        sure = [self.known.of(Step(*each)).significant for each in pairwise(pairs)]
        verdict = steps([r.widest for r in ratios], sure)
        return Outcome(check, verdict, text, evidence=check.ids)

    def _crossover(self, check: Check) -> Outcome:
        ratios, text = self._series(check)
        # one that is not significantly off 1 may lie on either side of it
        ends = [
            r.widest if r.significant else (min(r.widest[0], 1), max(r.widest[1], 1))
            for r in ratios
        ]
        return Outcome(check, overtakes(ends), text, evidence=check.ids)

    def _fraction_of_roof(self, check: Check) -> Outcome:
        case = self.timed(check.of)
        if "/" in check.roof:
            self.timed(check.roof)
        try:
            asked, at_one = share(self.record, check)
        except LookupError as error:
            raise Missing(str(error)) from error
        ratio = self.known.of(asked).times(at_one)
        side, bound = above, check.at_least
        if bound is None:
            side, bound = below, _given(check.at_most)
        text = f"{_names([case])[0]} {ratio.percent} of {roof_name(check.roof)}"
        asks = partial(side, bound=bound)
        found = self._of(check, asks, ratio, text, ratio.significant, unit="")
        return replace(found, compared=text)

    def _rate(self, check: Check) -> Outcome:
        case, time = self.timed(check.of), self.timed(check.of).time
        work = case.bytes if check.unit == BYTES else case.flops
        if not work:
            raise Missing(f"{check.of} has no work of that kind")
        value, low, high = (work / each for each in (time.median, time.high, time.low))
        ends = value, low, high
        text = f"{_names([case])[0]} {rates(*ends, check.unit)}"
        verdict = _bounded(check, low, high)
        return Outcome(check, verdict, text, *ends, check.unit, check.ids, compared=text)

    def _probed(self, machine: bool = True) -> Probes:
        """`machine`: whether what is asked for depends on the machine, or on the code alone."""
        if self.probes is None:
            raise Missing("there is no probes.json beside the record")
        if foreign := self.probes.foreign(self.record, machine):
            raise Missing(foreign)
        return self.probes

    def _counted(self, check: Check, name: str) -> float:
        shape, probes = self.case(name).shape, self._probed()
        counters = probes.counters.get(name)
        if counters is None or counters.reason:
            reason = counters.reason if counters else "its counters were not collected"
            raise Missing(f"{name}: {reason}")
        try:
            return float(expression.evaluate(check.expression, {**counters.values, **shape}))
        except expression.Unknown as error:
            none = f"{name}: Nsight Compute has no value of {error.name} here"
            raise Missing(none) from error

    def _count(self, check: Check) -> Outcome:
        value = self._counted(check, check.of)
        text = plain(value)
        if check.per:
            base = self._counted(check, check.per)
            if base == 0:
                raise Missing(f"{check.per}: its count is 0, so there is no ratio")
            text = f"{plain(value)}, {_names([self.case(check.per)])[0]} {plain(base)}: "
            value /= base
            text += many(value)
        return Outcome(check, exact(value, check), text, value, evidence=check.ids)

    def _attributes(self) -> dict[str, float]:
        """What is known of the device, by name."""
        gpu = self.record.environment.gpu
        found: dict[str, float] = {}
        if self.probes and not self.probes.foreign(self.record):
            found |= {k: v for k, v in self.probes.attributes.items() if v}  # 0: not known
        if gpu:
            found |= {k: v for k, v in vars(gpu).items() if type(v) in (int, float)}
        return found

    def _attribute_missing(self, name: str) -> Missing:
        if self.record.environment.gpu is None:
            return Missing(self.record.environment.gpu_reason or "no GPU")
        self._probed()  # may have the better reason
        return Missing(f"the device's {name} is not known")

    def _attribute(self, check: Check) -> Outcome:
        value = self._attributes().get(check.name)
        if value is None:
            raise self._attribute_missing(check.name)
        name = "" if check.says else check.name.replace("_", NBSP) + " "
        return Outcome(check, exact(value, check), f"{name}{plain(value)}", value)

    def _arithmetic(self, check: Check) -> Outcome:
        try:
            value = expression.evaluate(check.expression, self._attributes())
        except expression.Unknown as error:
            raise self._attribute_missing(error.name) from error
        if check.equals is None:
            if type(value) is not bool:
                raise expression.BadExpression(f"{check.expression!r} says neither yes nor no")
            text = f"{check.expression}: {'true' if value else 'false'}"
            return Outcome(check, HOLDS if value else FAILS, text)
        text = f"{check.expression} = {plain(value)}"
        return Outcome(check, exact(value, check), text, float(value))

    def _test(self, check: Check) -> Outcome:
        compiled = check.finds in COMPILED
        found = self._probed(machine=not compiled).tests.get(check.test)
        if found is None or found.reason or found.outcome is None:
            reason = found.reason if found and found.reason else "the test was not run"
            raise Missing(f"{check.test}: {reason}")
        many = f"{found.count} hazard{'s' if found.count != 1 else ''}"
        texts = {"pass": "its test passes", "fail": "its test fails", "clean": "no hazards"}
        texts |= {"refused": "nvcc refuses it", "compiles": "nvcc compiles it"}
        if check.finds == "fail":  # of a test that is there to show the opposite
            texts |= {"pass": "a test refutes it", "fail": "the test against it fails"}
        verdict = HOLDS if found.outcome == check.finds else FAILS
        text = texts.get(found.outcome, many)
        return Outcome(check, verdict, text, evidence=(check.test,))


def _names(cases: Sequence[Case]) -> list[str]:
    """Each by its strategy, and by the regime and shape where these set it apart."""
    shapes, found = {case.shape_name for case in cases}, []
    for case in cases:
        regimes = {each.regime for each in cases if each.strategy == case.strategy}
        scope = SCOPES.get(case.regime, f" {case.regime}" if len(regimes) > 1 else "")
        where = f" at {shape_label(case.shape_name)}" if len(shapes) > 1 else ""
        found.append(f"`{case.strategy}`{scope}{where}")
    return found
