"""What binds a launch: the units of a GPU by how busy they are, as Nsight Compute saw them.

<experiment>/binds.toml names the cases, `collect` counts, probes.json has what came out, and the
findings say it in a line for each.
"""

from __future__ import annotations

import re
from pathlib import Path

from recheck_report.formatting import cell, significant
from recheck_report.model.probes import Probes
from recheck_report.model.record import BadRecord, Record, read_toml

CASE = re.compile(r"(?P<experiment>\w+)/(?P<strategy>\w+)/(?P<shape>\d+(x\d+)*)/cold")
# counters that are shares of what a unit can do at most, in percent, and the unit's name
UNITS = {
    "issue_percent": "issue slots",
    "fma_percent": "FMA pipes",
    "tensor_percent": "tensor cores",
    "l2_percent": "L2",
    "dram_percent": "DRAM",
}
LEAST = 0.5  # percent; what is used less goes without saying


def bound_cases(folder: Path) -> list[str]:
    """The cases of all experiments' binds.toml; raises BadRecord, one line."""
    found: list[str] = []
    for path in sorted(folder.glob("*/binds.toml")):
        document = read_toml(path)
        cases = document.get("cases")
        if set(document) != {"cases"} or not isinstance(cases, list):
            raise BadRecord(f"{path}: field cases: must be a list of cases, and the only field")
        for case in cases:
            match = CASE.fullmatch(case) if isinstance(case, str) else None
            if not match or match["experiment"] != path.parent.name:
                raise BadRecord(f"{path}: field cases: {case!r} is no cold case of this experiment")
        found += cases
    return found


def busy(probes: Probes | None, record: Record, case: str) -> tuple[str, str]:
    """What was counted of a case, as half a sentence, and why nothing was: one of them is empty."""
    if probes is None:
        return "", "there is no `probes.json` beside the record"
    if foreign := probes.foreign(record):
        return "", cell(foreign)
    counters = probes.counters.get(case)
    if counters is None:
        return "", "nobody counted anything there"
    if counters.reason:
        return "", cell(counters.reason.removeprefix("not measured: "))
    values = counters.values
    shares = sorted(
        ((values[key], unit) for key, unit in UNITS.items() if key in values), reverse=True
    )
    if not shares:
        return "", "this Nsight Compute has none of the counters"
    texts = [f"{unit} {significant(share)} %" for share, unit in shares if share >= LEAST]
    text = f"busiest are **{texts[0]}**" if texts else "no unit is busy"
    if texts[1:]:
        text += f", then {', '.join(texts[1:])}"
    if values.get("shared_wavefronts"):
        conflicts = values.get("shared_bank_conflicts", 0) / values["shared_wavefronts"]
        text += (
            f"; {significant(100 * conflicts, 2)} % of shared memory's cycles are bank conflicts"
        )
    if "sm_hertz" in values:
        text += f"; SM clock {significant(values['sm_hertz'] / 1e9)} GHz under the profiler"
    return text, ""
