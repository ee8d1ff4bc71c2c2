"""Reads contribution.json, schema 1: what a packed contribution holds, and how it came about."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from recheck_report.model import companions
from recheck_report.model.record import COMPRESSED, RECORD
from recheck_report.model.typed import BadRecord

CONTRIBUTION = "contribution.json"
SCHEMA = 1
PACK = "pack it again"
ASK = "ask its sender for another"
NEEDED = (RECORD, COMPRESSED, companions.PROBES, companions.ACCURACY, companions.LARGER)


@dataclass(frozen=True)
class Tests:
    passed: int
    skipped: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    name: str
    seconds: float


@dataclass(frozen=True)
class File:
    name: str
    size: int
    sha256: str

    @classmethod
    def of(cls, name: str, data: bytes) -> File:
        return cls(name, len(data), hashlib.sha256(data).hexdigest())


@dataclass(frozen=True, eq=False)
class Contribution:
    schema: int
    commit: str
    gpu: str
    tools: dict[str, str | None]
    tests: Tests
    steps: tuple[Step, ...]
    files: tuple[File, ...]


class BadContribution(BadRecord):
    """It is not in form, or not what it says it is; str() is one line for the user."""


def load_contribution(path: Path) -> Contribution | None:
    """The file in that folder; None where there is none. Raises BadContribution."""
    return companions.read(Contribution, path, CONTRIBUTION, "pack it", BadContribution)


def check_files(contribution: Contribution, files: dict[str, bytes]) -> None:
    """Raises BadContribution unless these are the files that it lists, and all that it needs."""
    listed = [each.name for each in contribution.files]
    for name in sorted({*NEEDED, *files, *listed}):
        if name not in NEEDED:
            raise BadContribution(f"{name} is no part of a contribution; {PACK}")
        if name not in files:
            raise BadContribution(f"{name} is missing; {PACK}")
        if listed.count(name) != 1:
            what = f"{CONTRIBUTION} has {listed.count(name)} entries for {name}"
            raise BadContribution(f"{what}; {PACK}")
    for each in contribution.files:
        found = File.of(each.name, files[each.name])
        if found != each:
            what = f"has {found.size} bytes of SHA-256 {found.sha256[:16]}…"
            said = f"{each.size} of {each.sha256[:16]}…"
            raise BadContribution(f"{each.name} {what}, and {CONTRIBUTION} says {said}; {ASK}")
