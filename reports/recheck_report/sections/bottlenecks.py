"""What limits a launch: the units of a GPU by how busy they are, and what its warps spend their
cycles on, as Nsight Compute saw them.

The steps of story.toml name the cases, `collect` counts, probes.json has what came out, and the
story says it in a line for each.
"""

from __future__ import annotations

import math

from recheck_report.formatting import cell, significant
from recheck_report.model.probes import Probes
from recheck_report.model.record import Record

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
# what a warp does in a state, with Nsight Compute's name for it where that is another
STATES = {
    "barrier": "waiting at barriers",
    "long_scoreboard": "waiting for global or local memory (long scoreboard)",
    "short_scoreboard": "waiting for shared memory or special functions (short scoreboard)",
    "mio_throttle": "waiting for a full queue to shared memory or special functions (MIO throttle)",
    "lg_throttle": "waiting for a full queue to global or local memory (LG throttle)",
    "math_pipe_throttle": "waiting for an arithmetic pipe that is busy (math pipe throttle)",
    "wait": "waiting for a fixed latency (wait)",
    "not_selected": "ready, while another warp was issued (not selected)",
    "dispatch_stall": "held back by the dispatcher (dispatch stall)",
    "no_instruction": "waiting for its next instruction (no instruction)",
    "gmma": "waiting for its warpgroup to begin wgmma (GMMA)",
}
NAMED, SHARE = 3, 0.1  # at most so many states are named, each with so large a share
LIMITED = 80  # percent; from here on a unit is what limits a launch, as Nsight Compute has it


def busy(probes: Probes | None, record: Record, case: str) -> tuple[str, str]:
    """What was counted of a case, as a sentence behind the case's name, and why nothing was: one of
    them is empty."""
    if probes is None:
        return "", "there is no `probes.json` beside the record"
    if foreign := probes.foreign(record):
        return "", cell(foreign)
    counters = probes.counters.get(case)
    if counters is None:
        return "", "its counters were not collected"
    if counters.reason:
        return "", cell(counters.reason.removeprefix("not measured: "))
    values = counters.values
    shares = sorted(
        ((values[key], unit) for key, unit in UNITS.items() if key in values), reverse=True
    )
    if not shares:
        return "", "this Nsight Compute has none of the counters"
    used = [(f"{significant(share)} %", unit) for share, unit in shares if share >= LEAST]
    text = "keeps no unit busy"
    if used:
        share, unit = used[0]
        text = f"is limited by **{unit}**, {share} busy"
        if shares[0][0] < LIMITED:
            text = f"is limited by no unit: the busiest is **{unit}**, {share}"
    if used[1:]:
        text += f"; then {', '.join(f'{unit} {share}' for share, unit in used[1:])}"
    if states := _states(values):
        text += f"; of its cycles a warp spends {', '.join(states)}"
    if values.get("shared_wavefronts"):
        conflicts = values.get("shared_bank_conflicts", 0) / values["shared_wavefronts"]
        text += (
            f"; {significant(100 * conflicts, 2)} % of the shared-memory cycles are bank conflicts"
        )
    return text, ""


def _states(values: dict[str, float]) -> list[str]:
    """What the largest parts of a warp's cycles go into, the largest first."""
    total = values.get("warp_cycles", 0.0)
    known = {why: values[f"stall_{why}"] for why in STATES if f"stall_{why}" in values}
    # ncu takes several passes, and where parts exceed the whole these do not agree
    if not 0 < math.fsum(known.values()) <= total:
        return []
    largest = sorted(known, key=lambda why: known[why], reverse=True)[:NAMED]
    return [
        f"{significant(100 * known[why] / total, 2)} % {STATES[why]}"
        for why in largest
        if known[why] / total >= SHARE
    ]
