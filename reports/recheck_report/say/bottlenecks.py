"""What limits a launch: the units of a GPU by how busy they are, as Nsight Compute saw them.

The steps of story.toml name the cases, `collect` counts, probes.json has what came out, and the
story says it in a line for each.
"""

from __future__ import annotations

from recheck_report.formatting import significant
from recheck_report.record.probes import Probes
from recheck_report.record.record import Record
from recheck_report.say.nodes import Code, Text, strong, text

# counters that are shares of what a unit can do at most, in percent, and the unit's name
UNITS = {
    "issue_percent": "issue slots",
    "fma_percent": "FMA pipes",
    "tensor_percent": "tensor cores",
    "l1_percent": "L1 and shared memory",
    "l2_percent": "L2",
    "dram_percent": "DRAM",
}
LEAST = 1.0  # percent; what is used less is not named
LIMITED = 80  # percent; from here on a unit is what limits a launch, as Nsight Compute has it


def busy(probes: Probes | None, record: Record, case: str) -> tuple[Text, Text]:
    """What was counted of a case, as a sentence behind the case's name, and why nothing was: one of
    them is empty."""
    if probes is None:
        return Text(), text("there is no ", Code("probes.json"), " beside the record")
    if foreign := probes.foreign(record):
        return Text(), text(foreign)
    counters = probes.counters.get(case)
    if counters is None:
        return Text(), text("its counters were not collected")
    if counters.reason:
        return Text(), text(counters.reason.removeprefix("not measured: "))
    values = counters.values
    shares = sorted(
        ((values[key], unit) for key, unit in UNITS.items() if key in values), reverse=True
    )
    if not shares:
        return Text(), text("this Nsight Compute has none of the counters")
    used = [(f"{significant(share)} %", unit) for share, unit in shares if share >= LEAST]
    said = text("keeps no unit busy")
    if used:
        share, unit = used[0]
        said = text("is limited by ", strong(unit), f", {share} busy")
        if shares[0][0] < LIMITED:
            said = text("is limited by no unit: the busiest is ", strong(unit), f", {share}")
    if used[1:]:
        said += f"; then {', '.join(f'{unit} {share}' for share, unit in used[1:])}"
    if values.get("shared_wavefronts"):
        conflicts = values.get("shared_bank_conflicts", 0) / values["shared_wavefronts"]
        percent = significant(100 * conflicts, 2)
        said += f"; {percent} % of the shared-memory cycles are bank conflicts"
    return said, Text()
