"""Reads probes.json, schema 1: what was found out about a record's code besides its times.

Counters of Nsight Compute, attributes of the device, outcomes of single tests; made by
`recheck-report collect` on the machine that measured, and kept beside the record.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recheck_report.model import companions
from recheck_report.model.record import Record
from recheck_report.model.typed import BadRecord


class BadProbes(BadRecord):
    """The file is not in form; str() is one line for the user."""


@dataclass(frozen=True)
class Origin(companions.Origin):
    tools: dict[str, str | None]


@dataclass(frozen=True)
class Counters:
    reason: str | None  # why there are none
    values: dict[str, float]


@dataclass(frozen=True)
class Trial:
    reason: str | None  # why it has no outcome
    outcome: str | None
    count: int  # of hazards


@dataclass(frozen=True, eq=False)
class Probes:
    schema: int
    environment: Origin
    attributes: dict[str, float]
    counters: dict[str, Counters]
    tests: dict[str, Trial]

    def foreign(self, record: Record, machine: bool = True) -> str | None:
        """Why these probes are not about that record, or its code alone; None if they are."""
        return self.environment.foreign(record, "probes.json", machine)


def load_probes(path: Path) -> Probes | None:
    """The probes in a report folder, beside a record, or in a file; None where there are none.

    Raises BadProbes with one line that names the file, the field and what to do.
    """
    return companions.read(Probes, path, companions.PROBES, "collect the probes", BadProbes)
