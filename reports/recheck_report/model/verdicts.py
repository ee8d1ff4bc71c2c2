"""Reads and writes verdicts.json, schema 1: the contract that other programs read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from recheck_report import schemas
from recheck_report.model.companions import read
from recheck_report.model.record import SCHEMA as RECORD_SCHEMA
from recheck_report.model.typed import BadRecord, Unfit

_FORM = schemas.load("verdicts")["properties"]
SCHEMA: int = _FORM["schema"]["const"]
VERDICTS: list[str] = _FORM["claims"]["items"]["properties"]["verdict"]["enum"]


@dataclass(frozen=True)
class About:
    """The record that they are on."""

    gpu: str | None
    commit: str | None
    started: str
    schema: int


@dataclass(frozen=True)
class Value:
    value: float
    low: float | None
    high: float | None
    unit: str


@dataclass(frozen=True)
class Verdict:
    id: str
    verdict: str
    measured: Value | None
    expected: str
    evidence: tuple[str, ...]
    reason: str | None


@dataclass(frozen=True)
class Verdicts:
    """verdicts.json, member by member."""

    schema: int
    record: About
    claims: tuple[Verdict, ...]

    def json(self) -> bytes:
        return (json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n").encode()

    @property
    def by_id(self) -> dict[str, Verdict]:
        return {each.id: each for each in self.claims}


def load_verdicts(path: Path) -> Verdicts:
    """Reads a verdicts.json; raises BadRecord with one line that names the file and the field."""
    again = "render the record"
    found = read(Verdicts, path, path.name, again, check=_check)
    if found is None:
        raise BadRecord(f"{path}: cannot be read: No such file or directory; {again}")
    return found


def _check(found: Verdicts) -> None:
    """What the form alone does not say; raises Unfit."""
    if len(found.by_id) < len(found.claims):
        raise Unfit("have two of the same id").at("claims")
    if found.record.schema > RECORD_SCHEMA:
        raise Unfit(f"must be at most {RECORD_SCHEMA}").at("record.schema")
    for at, each in enumerate(found.claims):
        try:
            _check_claim(each)
        except Unfit as unfit:
            raise unfit.at(f"claims[{at}]") from None


def _check_claim(claim: Verdict) -> None:
    unmeasured, value = claim.verdict == "not_measured", claim.measured
    if unmeasured and not claim.reason:
        raise Unfit("must say why it is not measured").at("reason")
    if unmeasured and value:
        raise Unfit("must be null, as the claim is not measured").at("measured")
    low, high = (value.low, value.high) if value else (None, None)
    if value and not (low is None or low <= value.value):
        raise Unfit("must have low <= value").at("measured")
    if value and not (high is None or value.value <= high):
        raise Unfit("must have value <= high").at("measured")
