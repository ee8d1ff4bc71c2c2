"""Reads probes.json, schema 1: counters of Nsight Compute, attributes of the device and outcomes of
tests. `recheck-report collect` writes it next to the record, on the machine that measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from recheck_report.record.case import CASE
from recheck_report.record.record import Record
from recheck_report.record.typed import Is, read_if_there

SCHEMA = 1
PROBES = "probes.json"  # also in the report's folder
MOST_COUNT = 1e18
OUTCOMES = ("pass", "fail", "hazards", "clean", "refused", "compiles")
_TEST = r"^(gate|racecheck|compile):[^`\[\]<>|\\]+$"

Count = Annotated[float, Is(least=0, most=MOST_COUNT)]
Commit = Annotated[str | None, Is("as in the record", pattern="^([0-9a-f]{40}|unknown)$")]


@dataclass(frozen=True)
class Origin:
    """The code and machine that the probes are about."""

    gpu: Annotated[str | None, Is("model; null without one")]
    driver: Annotated[str | None, Is("as in the record")]
    commit: Commit
    dirty: Annotated[bool, Is("as in the record")]
    uuid_hash: Annotated[str | None, Is("as in the record", pattern="^[0-9a-f]{16}$")]


@dataclass(frozen=True)
class Counters:
    reason: Annotated[str | None, Is("why no counter has a value", filled=True)]
    values: Annotated[dict[str, Count], Is("by the counters' names")]


@dataclass(frozen=True)
class Trial:
    reason: Annotated[str | None, Is("why it has no outcome", filled=True)]
    outcome: Annotated[str | None, Is("of a gate, racecheck or a snippet", one_of=OUTCOMES)]
    count: Annotated[int, Is("of hazards", least=0, most=1e12)]


@dataclass(frozen=True, eq=False)
class Probes:
    schema: Annotated[int, Is("of this form", one_of=(SCHEMA,))]
    environment: Annotated[Origin, Is("the machine and the code")]
    attributes: Annotated[dict[str, Count], Is("of the device, by name")]
    counters: Annotated[dict[str, Counters], Is("of one call of each case", names=CASE)]
    tests: Annotated[dict[str, Trial], Is("by kind and name", names=_TEST)]

    def foreign(self, record: Record, machine: bool = True) -> str | None:
        """How the machine or code of these probes differs from the record's; None if both agree.
        `machine`: whether to compare the machine as well as the commit."""
        about, env = self.environment, record.environment
        pairs = [("commit", about.commit, env.git.commit)]
        if machine:
            gpu = ("GPU", about.gpu, record.gpu or None)
            pairs = [gpu, ("driver", about.driver, env.driver), *pairs]
        for field, here, measured in pairs:
            if here != measured:
                return f"probes.json has {field} {here}, the record {measured}"
        return None


def read_probes(file: Path) -> Probes | None:
    """A file of probes; None without it. Raises BadRecord."""
    return read_if_there(Probes, file, SCHEMA, "not a probes.json", "collect the probes again")
