"""Times that are too good to be true: which cases are faster than the machine can be."""

from __future__ import annotations

import math

from recheck_report.formatting import significant
from recheck_report.queries import COMPUTE, MEMORY
from recheck_report.record.record import MACHINE, MEMORY_LEVELS, Case, Record


def machine_rows(record: Record) -> list[Case]:
    """The cases that time the machine's own limits; none if the record has no such experiment."""
    experiment = record.experiment(MACHINE)
    return record.of(experiment) if experiment else []


def suspects(record: Record) -> dict[str, str]:
    """Cold and drained cases that beat the GPU's specification, by id, each with the reason."""
    found: dict[str, str] = {}
    gpu = record.environment.gpu
    cache = (gpu and gpu.l2_bytes) or math.inf
    for case in record.cases if gpu else ():
        if case.target != "gpu" or case.regime not in ("cold", "drained") or not case.seconds:
            continue
        # nearer levels of memory are faster than DRAM: that is what they are timed for
        nearer = case.experiment == MEMORY_LEVELS and "dram" not in case.strategy
        # unless it is drained, what is written may stay in the cache; TF32 has units of its own
        large = (case.regime == "drained" or case.bytes > 4 * cache) and not nearer
        for metric, apt in ((MEMORY, large), (COMPUTE, case.fp32)):
            limit, rate = metric.limit(record), metric.rate(case, case.seconds.median)
            if apt and limit and rate > limit and not case.part_of and not case.unsure:
                text = f"{significant(rate)} {metric.unit} is more than the {metric.ceiling_label}"
                found[case.id] = f"{text} of {significant(limit)} {metric.unit}"
    return found
