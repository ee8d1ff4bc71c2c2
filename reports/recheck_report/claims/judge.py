"""The verdict on each claim, and the proof of each erratum, from a record and its probes.

Judged.verdict is the first verdict whose rule applies, and each rule is a function next to it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from recheck_report.claims.checks import Check, Choice
from recheck_report.claims.collection import Claim, Collection, Erratum, Part
from recheck_report.claims.evaluate import (
    FAILS,
    HOLDS,
    NOT_MEASURED,
    UNDECIDED,
    Absence,
    Outcome,
    Questions,
    all_of,
)
from recheck_report.claims.expression import BadExpression
from recheck_report.claims.toml import BadClaim
from recheck_report.record import verdicts_json as VERDICT
from recheck_report.record.probes import Probes
from recheck_report.record.record import Case, Record
from recheck_report.statistics import variation
from recheck_report.statistics.comparisons import Comparisons

USUAL = Choice(usual=True)  # the usual values of all unspecified parameters
SHORT = 20e-6  # seconds; below, a launch varies by several per cent between runs


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict and the outcomes of its checks."""

    claim: Claim
    gpu: str  # the model of the record; empty without one
    outcomes: tuple[Outcome, ...]  # of the checks that decide
    also: tuple[Outcome, ...]
    # how many other runs of the GPU model agree, and how many have all cases of the checks
    other_runs: tuple[int, int] = (0, 0)

    @cached_property
    def configurations(self) -> dict[Choice, str]:
        """Whether all parts of the claim hold, by values of the unspecified parameters, USUAL
        among them: holds, fails, undecided or not measured."""
        parts = [(outcome, dict(outcome.over[1:])) for outcome in self.outcomes]
        choices = dict.fromkeys([USUAL, *(choice for _, over in parts for choice in over)])
        return {
            choice: all_of(over.get(choice, outcome.usual).verdict for outcome, over in parts)
            for choice in choices
        }

    @cached_property
    def verdict(self) -> str:
        """The first verdict whose rule applies; say/verdicts.py has the rules in English."""
        if self.claim.not_judged:
            return VERDICT.NOT_JUDGED
        if self._depends_on_a_reading():
            return VERDICT.DEPENDS
        if self._holds():
            return VERDICT.HOLDS
        if self._fails():
            return VERDICT.WRONG_AS_PRINTED if self.claim.of_any_machine else VERDICT.FAILS_HERE
        if self._depends_on_a_choice():
            return VERDICT.DEPENDS
        return VERDICT.UNDECIDED if self._is_undecided() else VERDICT.NOT_MEASURED

    def _depends_on_a_reading(self) -> bool:
        """Whether another reading of a word reverses the answer of the usual configuration."""
        return {HOLDS, FAILS} <= {self.configurations[USUAL], *self._readings.values()}

    def _holds(self) -> bool:
        """The quantifier of the sentence counts configurations in our reading of its words."""
        match self.claim.scope:
            case "every":
                return self._counts[HOLDS] == self._counts.total()
            case "most":
                return 2 * self._counts[HOLDS] > self._counts.total()
        return self._counts[HOLDS] > 0  # some

    def _fails(self) -> bool:
        if self.claim.scope == "most":
            return 2 * self._counts[FAILS] >= self._counts.total()
        return self._counts[FAILS] == self._counts.total()

    def _depends_on_a_choice(self) -> bool:
        every = self.claim.scope == "every"
        return every and self._counts[HOLDS] > 0 and self._counts[FAILS] > 0

    def _is_undecided(self) -> bool:
        """Whether a comparison leaves it open, and not missing data."""
        measured = self.configurations[USUAL] != NOT_MEASURED
        return measured and self._counts[UNDECIDED] + self._counts[HOLDS] > 0

    @property
    def in_our_reading(self) -> list[str]:
        """Whether all parts of the claim hold, for each configuration in our reading of its words:
        what "every", "most" and "some" count."""
        return [v for choice, v in self.configurations.items() if not choice.word]

    @property
    def _counts(self) -> Counter[str]:
        return Counter(self.in_our_reading)

    @property
    def _readings(self) -> dict[Choice, str]:
        """The usual configuration's answers to other readings of the sentence's words."""
        return {choice: v for choice, v in self.configurations.items() if choice.word}

    @property
    def deciding_parameters(self) -> tuple[str, list[Choice]] | None:
        """With which choices the claim holds, or those with which it fails if they are fewer; None
        unless it depends."""
        if self.verdict != VERDICT.DEPENDS:
            return None
        every = self.claim.scope == "every"
        choices = self.configurations if every else self._readings
        by_verdict: dict[str, list[Choice]] = {HOLDS: [], FAILS: []}
        for choice, verdict in choices.items():
            by_verdict.setdefault(verdict, []).append(choice)
        given = [verdict for verdict in (HOLDS, FAILS) if by_verdict[verdict]]
        few = min(given, key=lambda verdict: len(by_verdict[verdict]))
        return few, by_verdict[few]

    @property
    def word(self) -> str:
        """The verdict as texts of the collection name it: one word for all that fail."""
        return "fails" if self.verdict in VERDICT.FAILS else self.verdict

    @property
    def by_key(self) -> dict[str, Outcome]:
        return {o.check.key: o for o in (*self.outcomes, *self.also) if o.check.key}

    @property
    def explanations(self) -> list[Part]:
        """What explains this verdict on this GPU."""
        return [part for part in self.claim.why if part.applies(self.word, self.gpu, self.by_key)]

    @property
    def absence(self) -> Absence | None:
        """Why it is not measured; None if it is."""
        if self.verdict != VERDICT.NOT_MEASURED:
            return None
        return next((outcome.absence for outcome in self.outcomes if outcome.absence), None)

    @property
    def unsure(self) -> Case | None:
        """The case whose unreliable time leaves the claim undecided."""
        undecided = self.outcomes if self.verdict == VERDICT.UNDECIDED else ()
        return next((outcome.unsure for outcome in undecided if outcome.unsure), None)

    @property
    def too_short(self) -> Outcome | None:
        """The comparison whose launches are too short to decide, if run-to-run variation leaves
        the claim undecided."""
        undecided = self.outcomes if self.verdict == VERDICT.UNDECIDED else ()
        masked = (outcome for outcome in undecided if outcome.run_to_run)
        return next((each for each in masked if min(each.seconds or (SHORT,)) < SHORT), None)

    @property
    def headline(self) -> Outcome | None:
        """The outcome that every page shows: of the deciding checks the first with a value, else
        the first. None if nothing was measured."""
        if self.verdict in VERDICT.UNKNOWN:
            return None
        word = {VERDICT.HOLDS: HOLDS, VERDICT.UNDECIDED: UNDECIDED}.get(self.verdict, FAILS)
        deciding = [o for o in self.outcomes if o.verdict == word] or self.outcomes
        return next((o for o in deciding if o.value is not None), deciding[0])

    @property
    def evidence(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for o in self.outcomes for name in o.evidence))

    @property
    def deviation(self) -> float:
        """How far a failing claim is off, for sorting: the logarithm of the factor by which a time
        misses its bound. A claim that a test refutes counts as a factor of 2. Counts and formulas
        count as 1.1, because most of these errors are slips of the pen."""
        shown = self.headline
        if self.verdict not in VERDICT.FAILS:
            return 0.0
        if self.claim.kind != "timed":
            return math.log(2 if self.claim.kind == "by test" else 1.1)
        if shown is None or not shown.value or shown.value <= 0:
            return 0.0
        check = shown.check
        bounds = (check.above, check.below, check.at_least, check.at_most)
        return abs(math.log(shown.value / next(filter(None, bounds), 1.0)))


@dataclass(frozen=True)
class Corrected:
    """An erratum and the outcomes of its proof; none for an erratum found by reading."""

    erratum: Erratum
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, eq=False)
class Judgement:
    """Every claim with its verdict, and every erratum with its proof, by id."""

    claims: tuple[Judged, ...]
    errata: tuple[Corrected, ...]

    def count(self, verdict: str) -> int:
        return sum(judged.verdict == verdict for judged in self.claims)

    @cached_property
    def by_id(self) -> dict[str, Judged]:
        return {judged.claim.id: judged for judged in self.claims}


def judge(
    record: Record, probes: Probes | None, collection: Collection, comparisons: Comparisons
) -> Judgement:
    """The verdicts on all claims of a collection, and its errata; raises BadClaim."""
    questions = Questions(record, probes, comparisons)

    def ask(asker: Claim | Erratum, checks: tuple[Check, ...]) -> tuple[Outcome, ...]:
        try:
            return tuple(map(questions.ask, checks))
        except BadExpression as error:
            where = f"{collection.folder / asker.address}: field expression"
            raise BadClaim(f"{where}: {error}; fix the formula") from error

    def judged(claim: Claim) -> Judged:
        outcomes, also = ask(claim, claim.check), ask(claim, claim.also)
        return Judged(claim, record.gpu, outcomes, also, _other_runs(record, outcomes))

    claims = map(judged, collection.claims)
    errata = (Corrected(erratum, ask(erratum, erratum.check)) for erratum in collection.errata)
    return Judgement(tuple(claims), tuple(errata))


def _other_runs(record: Record, outcomes: tuple[Outcome, ...]) -> tuple[int, int]:
    """The number of other runs of this GPU model in which all ratios of a claim, at the usual
    choices, are on the same side of their bounds as here; and of the runs that have them all."""
    agree, runs = list[bool](), variation.runs_of(record.gpu)
    usual = [outcome.usual for outcome in outcomes if outcome.usual.value is not None]
    checks = [outcome.check for outcome in usual if outcome.check.form == "ratio"]
    if not runs or not checks or len(checks) < len(outcomes):
        return 0, 0
    by_run = zip(*(runs.ratios(check.base, check.other) for check in checks), strict=True)
    for began, ratios in zip(runs.began, by_run, strict=True):
        if began != record.environment.started and None not in ratios:  # another run, and whole
            pairs = zip(ratios, usual, (check.bound for check in checks), strict=True)
            agree.append(all(((r or 0) > b) == ((o.value or 0) > b) for r, o, b in pairs))
    return sum(agree), len(agree)
