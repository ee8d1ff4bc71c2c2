"""The verdict on each claim, and the proof of each erratum, from a record and its probes alone."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import cached_property

from recheck_report.claims.checks import Check
from recheck_report.claims.collection import Collection
from recheck_report.claims.expression import BadExpression
from recheck_report.claims.figure import filled
from recheck_report.claims.load import Claim, Erratum
from recheck_report.claims.predicates import (
    FAILS,
    INCONCLUSIVE,
    NOT_MEASURED,
    Outcome,
    Questions,
    all_of,
)
from recheck_report.claims.toml import BadClaim
from recheck_report.model.probes import Probes
from recheck_report.model.record import Record
from recheck_report.model.verdicts import SCHEMA, About, Value, Verdict, Verdicts
from recheck_report.statistics.family import Comparisons


@dataclass(frozen=True)
class Judged:
    """A claim, and what became of it."""

    claim: Claim
    gpu: str  # whose record it is; empty without one
    outcomes: tuple[Outcome, ...]  # of the checks that decide
    also: tuple[Outcome, ...]

    @property
    def verdict(self) -> str:
        found = [outcome.verdict for outcome in self.outcomes]
        return all_of(found) if found else NOT_MEASURED

    @property
    def why(self) -> tuple[tuple[str, dict[str, Outcome]], ...]:
        """What explains this verdict on this GPU, with the outcomes that it speaks of; not where
        one of these was not measured."""
        known = {o.check.key: o for o in (*self.outcomes, *self.also) if o.check.key}
        found = []
        for each in self.claim.why:
            spoken = {key: known[key] for key in re.findall(r"{(\w+)}", each.text)}
            here = each.verdict == self.verdict and each.gpu in ("", self.gpu)
            if here and all(outcome.value is not None for outcome in spoken.values()):
                found.append((each.text, spoken))
        return tuple(found)

    @property
    def here(self) -> str:
        """What was measured, in one sentence with its figures; empty where one is missing."""
        known = {o.check.key: o for o in (*self.outcomes, *self.also) if o.check.key}
        text = self.claim.here.get(self.verdict, self.claim.here.get("else", ""))
        return filled(text, known) or "" if text else ""

    @property
    def reason(self) -> str | None:
        """Why there is no verdict, or why a time decides none; None if there is one."""
        if self.verdict == INCONCLUSIVE:
            return next((outcome.unsure for outcome in self.outcomes if outcome.unsure), None)
        if self.verdict != NOT_MEASURED:
            return None
        reasons = (outcome.reason for outcome in self.outcomes if outcome.reason)
        return self.claim.not_judged or next(reasons, None)

    @property
    def effect(self) -> Outcome | None:
        """What tables and charts show: of the outcomes that decide, the first with a value."""
        deciding = [o for o in self.outcomes if o.verdict == self.verdict] or self.outcomes
        return next((o for o in (*deciding, *self.outcomes) if o.value is not None), None)

    @property
    def evidence(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for o in self.outcomes for name in o.evidence))

    @property
    def surprise(self) -> float:
        """How much a failing claim surprises, to be ordered by: the logarithm of the factor by
        which what was timed misses its bound. What a test refutes counts as a factor of 2, and what
        is counted or reckoned, most of it slips of the pen, as 1.1."""
        effect = self.effect
        if self.verdict != FAILS:
            return 0.0
        if self.claim.kind != "timed":
            return math.log(2 if self.claim.kind == "by test" else 1.1)
        if effect is None or not effect.value or effect.value <= 0:
            return 0.0
        check = effect.check
        return abs(math.log(effect.value / (check.above or check.below or check.at_least or 1.0)))

    @property
    def rows(self) -> str:
        """The rows that the claim's first check compares."""
        check = self.outcomes[0].check
        ids = (check.base, check.other) if check.base else (check.of or self.claim.id,)
        return " ".join("/".join(each.split("/")[:2]) for each in ids)


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

    claims = (Judged(c, gpu, ask(c, c.check), ask(c, c.also)) for c in known.claims)
    errata = (Corrected(erratum, ask(erratum, erratum.check)) for erratum in known.errata)
    return Judgement(tuple(claims), tuple(errata))


def verdicts_of(record: Record, judgement: Judgement) -> Verdicts:
    """What verdicts.json says, of all claims."""
    env, found = record.environment, []
    for each in judgement.claims:
        effect, value = each.effect, None
        if effect is not None and effect.value is not None and each.verdict != NOT_MEASURED:
            value = Value(effect.value, effect.low, effect.high, effect.unit)
        expected, evidence = each.claim.expected, each.evidence
        found.append(Verdict(each.claim.id, each.verdict, value, expected, evidence, each.reason))
    gpu = env.gpu.name if env.gpu else None
    about = About(gpu, env.git.commit, env.started, record.schema)
    return Verdicts(SCHEMA, about, tuple(found))


def verdicts_json(record: Record, judgement: Judgement) -> bytes:
    return verdicts_of(record, judgement).json()
