"""What titles are made of: who is the fastest, and a direction only where statistics has one.

A direction is a verdict among all comparisons of the report (statistics/family.py): "faster" or
"slower" beyond the record's resolution, else the two cannot be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence

from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, shape_label, significant
from recheck_report.model.record import Case, Experiment, Record
from recheck_report.queries import DISPATCH, reference
from recheck_report.statistics.ratio import Ratio

FASTER, SLOWER = "faster", "slower"


def ratio(own: Measured, base: Case, other: Case) -> Ratio:
    """How many times as fast `other` is as `base`; its outcome is fit for a sentence."""
    return own.comparisons.verdict(base, other)


def factor(value: float) -> str:
    """ "10.4", with as many digits as it takes not to read as 1."""
    digits = 3
    while digits < 6 and value != 1 and float(significant(value, digits)) == 1:
        digits += 1
    return significant(value, digits)


def interval(ends: tuple[float, float, float], unit: str) -> str:
    """ "9.52 TFLOP/s [9.518, 9.523]", as it shows under a mouse."""
    value, low, high = ends
    return f"{significant(value)} {unit} [{significant(low, 4)}, {significant(high, 4)}]"


def percent(share: float) -> str:
    return f"{factor(share * 100)} %" if share < 1 else f"{significant(share * 100)} %"


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
    return f"not to be told apart from {name}"


def rungs(record: Record, experiment: Experiment) -> list[Case]:
    """The GPU rows that solve the problem in fp32, each a step of the story of its own."""
    return [
        row
        for row in record.strategies(experiment)
        if row.target == "gpu" and row.role == "rung" and row.contends and row.fp32
        if not row.sweep and row.strategy not in DISPATCH
    ]


def timed(
    record: Record, experiment: Experiment, rows: Sequence[Case], shape: str, regime: str = "cold"
) -> list[Case]:
    """The cases of these rows that have a time, fastest first by median."""
    found = (record.find(experiment, row.strategy, shape, regime) for row in rows)
    return sorted((c for c in found if c and c.seconds), key=lambda case: case.time.median)


def leading(record: Record, experiment: Experiment, shapes: Sequence[str]) -> Case | None:
    """The fastest rung at the headline; else at the last of the shapes that has one with a time."""
    for shape in (experiment.headline, *reversed(shapes)):
        if found := timed(record, experiment, rungs(record, experiment), shape):
            return found[0]
    return None


def passes(own: Measured, experiment: Experiment, shapes: Sequence[str]) -> str:
    """Whether, and from where on, the fastest rung is faster than the vendor's; "" if there is no
    such pair. `shapes` are in the order of their sizes."""
    record = own.record
    lead = leading(record, experiment, shapes)
    vendor = reference(record, experiment, lead.layout) if lead else None
    outcomes, passed = [], []
    for shape in shapes:
        base = record.find(experiment, vendor or "", shape, "cold")
        found = timed(record, experiment, rungs(record, experiment), shape)
        if not lead or not base or not base.seconds or not found:
            continue
        led = next((case for case in found if case.strategy == lead.strategy), None)
        outcomes.append((shape, ratio(own, base, led).outcome if led else ""))
        if ratio(own, base, found[0]).outcome == FASTER:
            passed.append(shape)
    if not lead or not outcomes:
        return ""
    if any(outcome == FASTER for _, outcome in outcomes):
        return f"{lead.strategy} {since(outcomes, vendor or '')}"
    if passed:
        where = sizes(passed, len(outcomes))
        return f"{vendor} is passed at {where}, by no row at {shape_label(lead.shape_name)}"
    if all(outcome == SLOWER for _, outcome in outcomes):
        return f"No row passes {vendor}"
    return f"No row can be told to be faster than {vendor}"


def since(outcomes: Sequence[tuple[str, str]], than: str) -> str:
    """Where something is faster, as outcomes by shape say: "passes cublas from 1024³ on"."""
    there = [shape for shape, outcome in outcomes if outcome == FASTER]
    first = next(at for at, (_, outcome) in enumerate(outcomes) if outcome == FASTER)
    if len(outcomes) == 1:
        return f"is faster than {than} at {shape_label(there[0])}"
    if len(there) == len(outcomes):
        return f"is faster than {than} at every size"
    if len(there) > 1 and len(there) == len(outcomes) - first:
        return f"passes {than} from {shape_label(there[0])} on"
    return f"is faster than {than} at {sizes(there, len(outcomes))}"


def sizes(shapes: Sequence[str], of: int) -> str:
    """ "512³ and 1024³"; of more than three how many: "4 of 5 sizes"."""
    if len(shapes) > 3:
        return f"{len(shapes)} of {of} sizes"
    return listed([shape_label(shape) for shape in shapes])


def listed(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
