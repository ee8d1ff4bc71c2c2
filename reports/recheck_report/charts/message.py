"""What titles are made of: who is the fastest, and a direction only where statistics has one.

A direction is a verdict among all comparisons of the report (statistics/family.py): "faster" or
"slower" beyond the record's resolution, else there is no significant difference.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, significant
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.statistics.ratio import Ratio

FASTER, SLOWER = "faster", "slower"
_COUNTS = {1: "one", 2: "two", 4: "four", 8: "eight"}


def plain_name(own: Measured, row: Case) -> str:
    """What a row does, in a reader's words: "tiles of 16, four deep"; else its name."""
    steps = own.collection.stories.get(row.experiment)
    for step in steps.steps if steps else ():
        if step.row == row.strategy:
            return step.idea[0].lower() + step.idea[1:]
    if known := own.collection.settings.algorithms.get(row.source.algorithm):
        depth = row.parameters.get("depth", 1)
        deep = f", {_COUNTS.get(depth, depth)} deep" if depth != 1 else ""
        return known.replace("{tile}", str(row.parameters.get("tile"))) + deep
    if row.documented and ", " in row.source.place:
        return re.sub(r" trans(pose)?$", "", row.source.place.rpartition(", ")[2])
    return row.strategy.replace("_", " ") if row.role != "baseline" else row.strategy


def ratio(own: Measured, base: Case, other: Case) -> Ratio:
    """How many times as fast `other` is as `base`; its outcome is fit for a sentence."""
    return own.comparisons.verdict(base, other)


def factor(value: float) -> str:
    """ "10.4", with as many digits as it takes not to read as 1."""
    digits = 3
    while digits < 6 and value != 1 and float(significant(value, digits)) == 1:
        digits += 1
    return significant(value, digits)


def than(base: Case, name: str = "") -> str:
    """What something is compared with, never without its time."""
    return f"{name or base.strategy} ({duration(base.time.median)})"


def against(own: Measured, base: Case, other: Case) -> str:
    """How `other` does, behind "is": "1.06 times as fast as cublas (2.74 ms)"."""
    found, name = ratio(own, base, other), than(base)
    if found.outcome == FASTER:
        return f"{factor(found.value)} times as fast as {name}"
    if found.outcome == SLOWER:
        return f"slower than {name}, which is {factor(1 / found.value)} times as fast"
    return f"not significantly different from {name}"


def rungs(own: Measured, experiment: Experiment) -> list[Case]:
    """The GPU rows that solve the problem in fp32, each a step of the story of its own."""
    return [
        row
        for row in own.record.strategies(experiment)
        if row.target == "gpu" and row.role == "rung" and row.contends and row.fp32
        if not row.sweep and row.strategy not in own.collection.settings.dispatch
    ]


def timed(
    record: Record, experiment: Experiment, rows: Sequence[Case], shape: str, regime: str = ""
) -> list[Case]:
    """The cases of these rows that have a time, fastest first by median."""
    found = (record.timed(experiment, row.strategy, shape, regime) for row in rows)
    return sorted(filter(None, found), key=lambda case: case.time.median)


def leading(own: Measured, experiment: Experiment) -> Case | None:
    """The fastest rung at the headline."""
    found = timed(own.record, experiment, rungs(own, experiment), experiment.headline)
    return found[0] if found else None


def listed(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
