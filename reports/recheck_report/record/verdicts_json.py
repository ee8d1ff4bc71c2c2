"""verdicts.json, schema 2, for other programs, and the names of verdicts."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Annotated

from recheck_report.record.probes import Commit
from recheck_report.record.typed import Is

SCHEMA = 2
# in the order of tables
VERDICTS = (
    HOLDS, DEPENDS, UNDECIDED, FAILS_HERE, WRONG_AS_PRINTED, NOT_MEASURED, NOT_JUDGED
) = (
    "holds", "depends", "undecided", "fails here", "wrong as printed", "not measured", "not judged"
)  # fmt: skip
FAILS = (FAILS_HERE, WRONG_AS_PRINTED)
UNKNOWN = (NOT_MEASURED, NOT_JUDGED)
_UTC = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"


@dataclass(frozen=True)
class About:
    """The record behind the verdicts."""

    gpu: Annotated[str | None, Is("model; null without one")]
    commit: Commit
    started: Annotated[str, Is("when its run began, UTC", pattern=_UTC)]
    schema: Annotated[int, Is("of its form", least=2)]


@dataclass(frozen=True)
class Value:
    value: Annotated[float, Is("in the unit")]
    low: Annotated[float | None, Is("of the interval; null without one")]
    high: Annotated[float | None, Is("of the interval; null without one")]
    unit: Annotated[str, Is("empty: a number without one")]


@dataclass(frozen=True)
class Verdict:
    id: Annotated[str, Is("of the claim")]
    verdict: Annotated[str, Is("what its checks say", one_of=VERDICTS)]
    measured: Annotated[Value | None, Is("what decides it; null where nothing has a value")]
    expected: Annotated[str, Is("what the checks ask, in one line")]
    evidence: Annotated[tuple[str, ...], Is("ids of cases, names of probes")]
    reason: Annotated[str | None, Is("why it is not measured, or what was disturbed")]


@dataclass(frozen=True)
class Verdicts:
    """verdicts.json, member by member."""

    schema: Annotated[int, Is("of this form", one_of=(SCHEMA,))]
    record: Annotated[About, Is("that they are on")]
    claims: Annotated[tuple[Verdict, ...], Is("in the report's order")]

    def json(self) -> bytes:
        return (json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n").encode()
