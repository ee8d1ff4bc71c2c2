"""Reads probes.json, schema 1: what was found out about a record's code besides its times.

Counters of Nsight Compute, attributes of the device, outcomes of single tests; made by
`recheck-report collect` on the machine that measured, and kept beside the record.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from recheck_report.model import companions
from recheck_report.model.case import NAME, ROW, SHAPE
from recheck_report.model.record import REGIMES, Record
from recheck_report.model.typed import BadRecord, Is

SCHEMA = 1
OUTCOMES = ("pass", "fail", "hazards", "clean", "refused", "compiles")
_CASE = rf"^{NAME}/{ROW}/{SHAPE}/({'|'.join(REGIMES)})$"
_TEST = r"^(gate|racecheck|compile):[^`\[\]<>|\\]+$"


class BadProbes(BadRecord):
    """The file is not in form; str() is one line for the user."""


@dataclass(frozen=True)
class Origin(companions.Origin):
    tools: Annotated[dict[str, str | None], Is("versions by name; null: not found")]


@dataclass(frozen=True)
class Counters:
    reason: Annotated[str | None, Is("why there are none", filled=True)]
    values: Annotated[
        dict[str, Annotated[float, Is(least=0, most=1e18)]], Is("by the counters' names")
    ]


@dataclass(frozen=True)
class Trial:
    reason: Annotated[str | None, Is("why it has no outcome", filled=True)]
    outcome: Annotated[
        str | None, Is("of a gate; of racecheck; of a snippet that is compiled", one_of=OUTCOMES)
    ]
    count: Annotated[int, Is("of hazards", least=0, most=1e12)]


@dataclass(frozen=True, eq=False)
class Probes:
    schema: Annotated[int, Is("of this form", one_of=(SCHEMA,))]
    environment: Annotated[Origin, Is("where it was found out")]
    attributes: Annotated[
        dict[str, Annotated[float, Is(least=0, most=1e9)]], Is("of the device, by name")
    ]
    counters: Annotated[dict[str, Counters], Is("of one call of each case", names=_CASE)]
    tests: Annotated[dict[str, Trial], Is("by kind and name", names=_TEST)]

    def foreign(self, record: Record, machine: bool = True) -> str | None:
        """Why these probes are not about that record, or its code alone; None if they are."""
        return self.environment.foreign(record, "probes.json", machine)


def load_probes(path: Path) -> Probes | None:
    """The probes in a report folder, beside a record, or in a file; None where there are none.

    Raises BadProbes with one line that names the file, the field and what to do.
    """
    return companions.read(Probes, SCHEMA, path, companions.PROBES, "collect the probes", BadProbes)
