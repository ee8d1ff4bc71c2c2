"""Reads probes.json, schema 1: what was found out about a record's code besides its times.

Counters of Nsight Compute, attributes of the device, outcomes of single tests; made by
`recheck-report collect` on the machine that measured, and kept beside the record.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from recheck_report.model import companions
from recheck_report.model.record import Record
from recheck_report.model.typed import BadRecord, Unfit

# what each kind of test can come to
OUTCOMES = {
    "gate": ("pass", "fail"),
    "racecheck": ("hazards", "clean"),
    "compile": ("refused", "compiles"),
}
MOST_PERCENT = 110  # counters of several passes may say a little more than all
MOST_HERTZ = 1e10
# of a launch, by what CUDA allows on every GPU
LAUNCHED = ("launches", "grid", "block")  # at least one of each
MOST_OF_LAUNCH = {"registers": 255, "block": 1024}
REGISTERS = 65536  # of a multiprocessor, and so of a block
ALWAYS = {"warp_size": 32, "total_constant_memory": 65536}  # of every GPU that CUDA knows


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
    return companions.read(Probes, path, companions.PROBES, "collect the probes", BadProbes, _check)


def _check(probes: Probes) -> None:
    """What the form alone does not say; raises Unfit."""
    for name, value in ALWAYS.items():
        if probes.attributes.get(name, value) != value:
            raise Unfit(f"must be {value}, as of every GPU").at(f"attributes.{name}")
    for name, found in probes.counters.items():
        if (found.reason is None) != bool(found.values):
            what = "must say why there are no counters, and nothing where there are"
            raise Unfit(what).at(f"counters.{name}.reason")
        try:
            _check_values(found.values)
        except Unfit as unfit:
            raise unfit.at(f"counters.{name}.values") from None
    for name, trial in probes.tests.items():
        if (trial.reason is None) != bool(trial.outcome):
            what = "must say why there is no outcome, and nothing where there is"
            raise Unfit(what).at(f"tests.{name}.reason")
        known = OUTCOMES[name.split(":")[0]]
        if trial.outcome and trial.outcome not in known:
            raise Unfit(f"must be one of {', '.join(known)}").at(f"tests.{name}.outcome")
        if (trial.outcome == "hazards") != (trial.count > 0):
            what = "must be above 0" if trial.outcome == "hazards" else "must be 0"
            raise Unfit(f"{what}, by its outcome").at(f"tests.{name}.count")


def _check_values(values: dict[str, float]) -> None:
    """No counter is beyond what a launch can do, nor a part more than its whole."""
    for name, value in values.items():
        most = MOST_PERCENT if name.endswith("_percent") else math.inf
        most = MOST_HERTZ if name == "sm_hertz" else MOST_OF_LAUNCH.get(name, most)
        if value > most:
            raise Unfit(f"must be at most {most:g}").at(name)
    for name in LAUNCHED:
        if values.get(name, 1) < 1:
            raise Unfit("must be at least 1").at(name)
    registers = values.get("block", 0) * values.get("registers", 0)
    if values.get("launches") == 1 and registers > REGISTERS:
        raise Unfit(f"must be at most {REGISTERS} of a block, not {registers:g}").at("registers")
    # each comes from a pass of its own, so they may differ a little
    for part, whole, more in (("dram_read_bytes", "dram_bytes", 1e6), ("requests", "sectors", 1e3)):
        least, found = values.get(part), values.get(whole)
        if least is not None and found is not None and found * 1.5 + more < least:
            raise Unfit(f"must be at least {part}, {least:g}").at(whole)
