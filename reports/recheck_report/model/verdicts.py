"""Reads and writes verdicts.json, schema 1: the contract that other programs read."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from recheck_report import schemas
from recheck_report.model.companions import read
from recheck_report.model.typed import BadRecord

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
    found = read(Verdicts, path, path.name, again)
    if found is None:
        raise BadRecord(f"{path}: cannot be read: No such file or directory; {again}")
    return found
