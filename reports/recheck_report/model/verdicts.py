"""Reads and writes verdicts.json, schema 1: the contract that other programs read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from recheck_report import schemas
from recheck_report.model.companions import read
from recheck_report.model.record import BadRecord

SCHEMA = 1
_CLAIM = schemas.load("verdicts")["properties"]["claims"]["items"]["properties"]
VERDICTS: list[str] = _CLAIM["verdict"]["enum"]


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
    strange, again = "these are no verdicts of Recheck", "render the record"
    found = read(Verdicts, path, path.name, SCHEMA, strange, again, BadRecord, _check)
    if found is None:
        raise BadRecord(f"{path}: cannot be read: No such file or directory; {again}")
    return found


def _check(found: Verdicts) -> None:
    """What the types alone do not say; raises BadRecord."""
    for at, each in enumerate(found.claims):
        if each.verdict not in VERDICTS:
            raise BadRecord(f"field claims[{at}].verdict must be one of {', '.join(VERDICTS)}")
    if len(found.by_id) < len(found.claims):
        raise BadRecord("field claims: two have the same id")
