"""The verdict on each claim, and the proof of each erratum, from a record and its probes alone."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from comparison import comparisons
from record import Record

from claims.load import Claim, Erratum, load_claims, load_errata
from claims.predicates import FAILS, NOT_MEASURED, Outcome, Questions, all_of
from claims.probes import Probes

SCHEMA = 1  # of verdicts.json


@dataclass(frozen=True)
class Judged:
    """A claim, and what became of it."""

    claim: Claim
    gpu: str  # whose record it is; empty without one
    outcomes: tuple[Outcome, ...]  # of the checks that decide
    also: tuple[Outcome, ...]

    @property
    def verdict(self) -> str:
        if not self.outcomes:
            return NOT_MEASURED
        return all_of(outcome.verdict for outcome in self.outcomes)

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
    def reason(self) -> str | None:
        """Why there is no verdict; None if there is one."""
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
    def surprise(self) -> tuple[bool, float]:
        """How much a failing claim surprises, to be ordered by: first where an order is turned
        round, by how far, and what is refuted without any interval; then what only falls short of
        its figure, by how far that is. Nothing: (False, 0)."""
        effect = self.effect
        if self.verdict != FAILS:
            return False, 0.0
        if self.claim.kind != "timed":
            return True, math.log(2)
        if (
            effect is None
            or not effect.value
            or effect.value <= 0
            or effect.low is None
            or effect.high is None
        ):
            return False, 0.0
        check = effect.check
        turned = effect.high < 1 if check.below is None else effect.low > 1
        if turned and (check.form == "order" or 1 in (check.above, check.below)):
            return True, abs(math.log(effect.value))
        return False, abs(math.log(effect.value / (self.claim.claimed or 1.0)))

    @property
    def base(self) -> str:
        """The row that the claim's first check compares with."""
        check = self.outcomes[0].check
        return "/".join((check.base or check.of or self.claim.id).split("/")[:2])


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

    def of(self, experiment: str) -> list[Judged]:
        return [each for each in self.claims if each.claim.experiment == experiment]

    @cached_property
    def _by_id(self) -> dict[str, Judged]:
        return {each.claim.id: each for each in self.claims}

    def find(self, name: str) -> Judged | None:
        return self._by_id.get(name)

    def surprises(self, n: int = 5) -> list[Judged]:
        """The failing claims that surprise most, most first; at most one for each base row."""
        failing = [each for each in self.claims if each.surprise[1] > 0]
        found: dict[str, Judged] = {}
        for each in sorted(failing, key=lambda each: each.surprise, reverse=True):
            found.setdefault(each.base, each)
        return list(found.values())[:n]


def _judge(
    record: Record,
    probes: Probes | None,
    claims: tuple[Claim, ...] | None,
    errata: tuple[Erratum, ...] | None,
) -> Judgement:
    if errata is None:
        errata = load_errata() if claims is None else ()
    judged, corrected = [], []
    gpu = record.environment.gpu.name if record.environment.gpu else ""
    for claim in load_claims() if claims is None else claims:
        ask = Questions(record, probes, claim).ask
        outcomes = (tuple(map(ask, checks)) for checks in (claim.check, claim.also))
        judged.append(Judged(claim, gpu, *outcomes))
    for erratum in errata:
        ask = Questions(record, probes, erratum).ask
        corrected.append(Corrected(erratum, tuple(map(ask, erratum.check))))
    return Judgement(tuple(judged), tuple(corrected))


def close_family(
    record: Record,
    claims: tuple[Claim, ...] | None = None,
    errata: tuple[Erratum, ...] | None = None,
) -> None:
    """Makes every comparison of the report once, without correction, to learn which there are."""
    from findings import register

    known = comparisons(record)
    if known.closed:
        return
    register(record)
    _judge(record, None, claims, errata)
    known.close()


@lru_cache(maxsize=16)
def judge(
    record: Record,
    probes: Probes | None,
    claims: tuple[Claim, ...] | None = None,
    errata: tuple[Erratum, ...] | None = None,
) -> Judgement:
    """Judges claims and errata: all of this tree, unless others are given; raises BadClaim."""
    close_family(record, claims, errata)
    return _judge(record, probes, claims, errata)


def verdicts_json(record: Record, judgement: Judgement) -> bytes:
    """verdicts.json: the contract that other programs read."""
    env = record.environment
    found = []
    for each in judgement.claims:
        effect = each.effect
        measured = None
        if effect is not None and each.verdict != NOT_MEASURED:
            keys = ("value", "low", "high")
            measured = {key: getattr(effect, key) for key in keys} | {"unit": effect.unit}
        found.append(
            {
                "id": each.claim.id,
                "verdict": each.verdict,
                "measured": measured,
                "expected": each.claim.expected,
                "evidence": list(each.evidence),
                "reason": each.reason,
            }
        )
    document = {
        "schema": SCHEMA,
        "record": {
            "gpu": env.gpu.name if env.gpu else None,
            "commit": env.git.commit,
            "started": env.started,
            "schema": record.schema,
        },
        "claims": found,
    }
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()
