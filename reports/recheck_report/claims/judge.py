"""The verdict on each claim, and the proof of each erratum, from a record and its probes alone."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from recheck_report.claims.checks import Check, with_choices
from recheck_report.claims.collection import Collection
from recheck_report.claims.expression import BadExpression
from recheck_report.claims.figure import filled
from recheck_report.claims.load import Claim, Erratum
from recheck_report.claims.predicates import (
    FAILS,
    HOLDS,
    NOT_MEASURED,
    UNDECIDED,
    Outcome,
    Questions,
    all_of,
)
from recheck_report.claims.story import Part
from recheck_report.claims.toml import BadClaim
from recheck_report.formatting import duration
from recheck_report.record import verdicts as VERDICT
from recheck_report.record.probes import Probes
from recheck_report.record.record import Record
from recheck_report.record.verdicts import SCHEMA, About, Value, Verdict, Verdicts
from recheck_report.statistics import variation
from recheck_report.statistics.family import Comparisons

USUAL = "the usual choices"  # of all that a document leaves open
SHORT = 20e-6  # seconds; below, a launch varies by several per cent between runs


@dataclass(frozen=True)
class Judged:
    """A claim, and what became of it."""

    claim: Claim
    gpu: str  # whose record it is; empty without one
    outcomes: tuple[Outcome, ...]  # of the checks that decide
    also: tuple[Outcome, ...]
    earlier: tuple[int, int] = (0, 0)  # of how many earlier runs of the model so many agree

    @cached_property
    def configurations(self) -> dict[str, str]:
        """By a joint choice of what the document leaves open, whether all parts of the claim hold
        there: holds, fails, undecided or not measured. Under USUAL stands the usual choice."""
        parts = [(each, dict(each.over[1:])) for each in self.outcomes]
        labels = dict.fromkeys([USUAL, *(label for _, over in parts for label in over)])
        return {
            label: all_of(over.get(label, _usual(each)).verdict for each, over in parts)
            for label in labels
        }

    @cached_property
    def verdict(self) -> str:
        """One of VERDICTS: how far the claim holds over all configurations, as far as its sentence
        reaches."""
        if self.claim.not_judged:
            return VERDICT.NOT_JUDGED
        found = Counter(self.configurations.values())
        total, holding = found.total(), found[HOLDS]
        reached = {"every": holding == total, "most": 2 * holding > total, "some": holding > 0}
        if reached[self.claim.scope]:
            return VERDICT.HOLDS
        if found[FAILS] == total:
            return VERDICT.WRONG_AS_PRINTED if self.claim.independent else VERDICT.FAILS_HERE
        if holding and found[FAILS]:
            return VERDICT.DEPENDS
        unknown = self.configurations[USUAL] == NOT_MEASURED or not (found[UNDECIDED] or holding)
        return VERDICT.NOT_MEASURED if unknown else VERDICT.UNDECIDED

    @property
    def turns(self) -> str:
        """With which choices the claim holds and with which it fails; empty unless it depends."""
        if self.verdict != VERDICT.DEPENDS:
            return ""
        by_verdict: dict[str, list[str]] = {}
        for label, verdict in self.configurations.items():
            by_verdict.setdefault(verdict, []).append(label)
        few = min((HOLDS, FAILS), key=lambda verdict: len(by_verdict[verdict]))
        return f"It {few} {with_choices(by_verdict[few])}."

    @property
    def _word(self) -> str:
        """The verdict as texts of the collection name it: one word for all that fail."""
        return "fails" if self.verdict in VERDICT.FAILS else self.verdict

    @property
    def known(self) -> dict[str, Outcome]:
        return {o.check.key: o for o in (*self.outcomes, *self.also) if o.check.key}

    @property
    def here(self) -> str:
        """What was measured, in one sentence with its figures; empty where one is missing."""
        text = self.claim.here.get(self._word, self.claim.here.get("else", ""))
        return filled(text, self.known) or "" if text else ""

    @property
    def elsewhere(self) -> str:
        """What is known of other runs on this GPU model, in a few words."""
        if self.claim.independent and self.verdict not in VERDICT.UNKNOWN:
            return "on every GPU"
        alike, runs = self.earlier
        return f"{alike} of {runs}" if runs and self.shown else ""

    @property
    def why(self) -> list[Part]:
        """What explains this verdict on this GPU."""
        return [part for part in self.claim.why if part.true(self._word, self.gpu, self.known)]

    @property
    def reason(self) -> str | None:
        """Why there is no verdict, or why a time decides none; None if there is one."""
        if self.verdict == VERDICT.UNDECIDED:
            unsure = next((outcome.unsure for outcome in self.outcomes if outcome.unsure), None)
            return unsure or next(filter(None, map(_too_short, self.outcomes)), None)
        if self.verdict == VERDICT.NOT_JUDGED:
            return self.claim.not_judged
        if self.verdict != VERDICT.NOT_MEASURED:
            return None
        return next((outcome.reason for outcome in self.outcomes if outcome.reason), None)

    @property
    def shown(self) -> Outcome | None:
        """Of the checks that decide, the first with a value, else the first: what every page shows.
        None where nothing was measured."""
        if self.verdict in VERDICT.UNKNOWN:
            return None
        word = {VERDICT.HOLDS: HOLDS, VERDICT.UNDECIDED: UNDECIDED}.get(self.verdict, FAILS)
        found = [o for o in self.outcomes if o.verdict == word] or self.outcomes
        return next((o for o in found if o.value is not None), found[0])

    @property
    def evidence(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for o in self.outcomes for name in o.evidence))

    @property
    def surprise(self) -> float:
        """How much a failing claim surprises, to be ordered by: the logarithm of the factor by
        which what was timed misses its bound. What a test refutes counts as a factor of 2, and what
        is counted or reckoned, most of it slips of the pen, as 1.1."""
        shown = self.shown
        if self.verdict not in VERDICT.FAILS:
            return 0.0
        if self.claim.kind != "timed":
            return math.log(2 if self.claim.kind == "by test" else 1.1)
        if shown is None or not shown.value or shown.value <= 0:
            return 0.0
        check = shown.check
        bounds = (check.above, check.below, check.at_least, check.at_most)
        return abs(math.log(shown.value / next(filter(None, bounds), 1.0)))

    @property
    def rows(self) -> str:
        """The rows that the claim's first check compares."""
        check = self.outcomes[0].check
        ids = (check.base, check.other) if check.base else (check.of or self.claim.id,)
        return " ".join("/".join(each.split("/")[:2]) for each in ids)


def _too_short(outcome: Outcome) -> str:
    """That a shape is too small to decide, where run-to-run variation alone leaves it open."""
    least = min(outcome.seconds or (SHORT,))
    if not outcome.differs or least >= SHORT:
        return ""
    return f"launches of {duration(least)} vary too much from run to run: a larger shape may decide"


def _usual(outcome: Outcome) -> Outcome:
    return outcome.over[0][1] if outcome.over else outcome


@dataclass(frozen=True)
class Corrected:
    """An erratum, and what became of its proof; nothing where it is shown by reading."""

    erratum: Erratum
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, eq=False)
class Judgement:
    """Every claim with its verdict, and every erratum with its proof, by id."""

    claims: tuple[Judged, ...]
    errata: tuple[Corrected, ...]

    def count(self, verdict: str) -> int:
        return sum(each.verdict == verdict for each in self.claims)

    @cached_property
    def _by_id(self) -> dict[str, Judged]:
        return {each.claim.id: each for each in self.claims}

    def find(self, name: str) -> Judged | None:
        return self._by_id.get(name)

    def surprises(self, n: int = 5) -> list[Judged]:
        """The failing claims that surprise most, most first; one for the same rows."""
        failing = [each for each in self.claims if each.surprise > 0]
        found: dict[str, Judged] = {}
        for each in sorted(failing, key=lambda each: each.surprise, reverse=True):
            found.setdefault(each.rows, each)
        return list(found.values())[:n]


def judge(
    record: Record, probes: Probes | None, known: Collection, comparisons: Comparisons
) -> Judgement:
    """The verdicts on all claims of a collection, and its errata; raises BadClaim."""
    gpu = record.environment.gpu.name if record.environment.gpu else ""
    questions = Questions(record, probes, comparisons)

    def ask(asker: Claim | Erratum, checks: tuple[Check, ...]) -> tuple[Outcome, ...]:
        try:
            return tuple(map(questions.ask, checks))
        except BadExpression as error:
            where = f"{known.folder / asker.address}: field expression"
            raise BadClaim(f"{where}: {error}; mend the formula") from error

    def judged(claim: Claim) -> Judged:
        outcomes, also = ask(claim, claim.check), ask(claim, claim.also)
        return Judged(claim, gpu, outcomes, also, _earlier(record, outcomes))

    claims = map(judged, known.claims)
    errata = (Corrected(erratum, ask(erratum, erratum.check)) for erratum in known.errata)
    return Judgement(tuple(claims), tuple(errata))


def _earlier(record: Record, outcomes: tuple[Outcome, ...]) -> tuple[int, int]:
    """In how many other runs of this GPU model all ratios of a claim, at the usual choices, lie
    on the same side of their bounds as here, and how many runs have them all."""
    gpu, alike = record.environment.gpu, []
    runs = variation.runs_of(gpu.name) if gpu else None
    usual = [each for each in map(_usual, outcomes) if each.value is not None]
    checks = [each.check for each in usual if each.check.form == "ratio"]
    if not runs or not checks or len(checks) < len(outcomes):
        return 0, 0
    for at, began in enumerate(runs.began):
        if began == record.environment.started:  # the run itself
            continue
        ratios = [runs.ratio(each.base, each.other, at) for each in checks]
        if None not in ratios:
            pairs = zip(ratios, map(_usual, outcomes), strict=True)
            alike.append(all(_same_side(ratio, outcome) for ratio, outcome in pairs))
    return sum(alike), len(alike)


def _same_side(ratio: float | None, outcome: Outcome) -> bool:
    bound = outcome.check.bound
    return ratio is not None and ((ratio > bound) == ((outcome.value or 0.0) > bound))


def verdicts_of(record: Record, judgement: Judgement) -> Verdicts:
    """What verdicts.json says, of all claims."""
    env, found = record.environment, []
    for each in judgement.claims:
        shown, value = each.shown, None
        if shown is not None and shown.value is not None:
            value = Value(shown.value, shown.low, shown.high, shown.unit)
        expected, evidence = each.claim.expected, each.evidence
        found.append(Verdict(each.claim.id, each.verdict, value, expected, evidence, each.reason))
    gpu = env.gpu.name if env.gpu else None
    about = About(gpu, env.git.commit, env.started, record.schema)
    return Verdicts(SCHEMA, about, tuple(found))


def verdicts_json(record: Record, judgement: Judgement) -> bytes:
    return verdicts_of(record, judgement).json()
