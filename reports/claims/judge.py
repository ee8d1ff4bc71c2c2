"""The verdict on each claim, and the proof of each erratum, from a record and its probes alone."""

from __future__ import annotations

import json
import math
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
    outcomes: tuple[Outcome, ...]  # of the checks that decide
    also: tuple[Outcome, ...]

    @property
    def verdict(self) -> str:
        if not self.outcomes:
            return NOT_MEASURED
        return all_of(outcome.verdict for outcome in self.outcomes)

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
    def surprise(self) -> float:
        """How far what was measured lies from what is claimed, as a logarithm."""
        effect = self.effect
        if self.verdict != FAILS or not effect or not effect.value or effect.value <= 0:
            return 0.0
        if effect.low is None or effect.unit not in ("×", ""):
            return 0.0
        return abs(math.log(effect.value / (self.claim.claimed or 1.0)))


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
        """The claims that fail by most, most first."""
        failing = [each for each in self.claims if each.surprise > 0]
        return sorted(failing, key=lambda each: -each.surprise)[:n]


def _judge(
    record: Record,
    probes: Probes | None,
    claims: tuple[Claim, ...] | None,
    errata: tuple[Erratum, ...] | None,
) -> Judgement:
    if errata is None:
        errata = load_errata() if claims is None else ()
    judged, corrected = [], []
    for claim in load_claims() if claims is None else claims:
        ask = Questions(record, probes, claim).ask
        judged.append(Judged(claim, tuple(map(ask, claim.check)), tuple(map(ask, claim.also))))
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
