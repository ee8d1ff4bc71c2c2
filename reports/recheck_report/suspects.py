"""Times that are too good to be true: which cases are faster than the machine can be."""

from __future__ import annotations

import math

from recheck_report.formatting import significant
from recheck_report.model.record import MACHINE, MEMORY_LEVELS, Case, Record
from recheck_report.queries import COMPUTE, MEMORY, Metric
from recheck_report.statistics import variation
from recheck_report.statistics.audit import CONVENTION

# of so many times the L2 the cache keeps too little between two launches to beat DRAM
FLUSHED = 16


def _highest(record: Record, names: tuple[str, ...], metric: Metric) -> tuple[float, Case] | None:
    """The upper end of the best measured roof's interval, SI units, and that roof."""
    rates = (
        (getattr(case, metric.work) / case.seconds.low, case)
        for case in machine_rows(record)
        if case.strategy in names and case.seconds and not case.unsure
    )
    return max(rates, key=lambda found: found[0], default=None)


def machine_rows(record: Record) -> list[Case]:
    """The cases that time the machine's own limits; none if the record has no such experiment."""
    experiment = record.experiment(MACHINE)
    return record.of(experiment) if experiment else []


def _apart(resolution: float, *cases: Case) -> float:
    """What two kernels at two places and times may differ by: what each differs by in another
    process."""
    both = math.expm1(math.fsum(variation.known().differs_by([case]) for case in cases))
    return max(resolution, CONVENTION, both)


def suspects(record: Record, resolution: float) -> dict[str, str]:
    """Cases faster than the machine can be, by id, each with the reason. Differences up to
    `resolution`, 0.01 for 1 %, say nothing."""
    found: dict[str, str] = {}
    gpu = record.environment.gpu
    if gpu is None:
        return found
    roofs = {
        metric.work: (record.ceilings.get(metric.ceiling), _highest(record, names, metric), names)
        for metric, names in ((MEMORY, ("read", "copy")), (COMPUTE, ("ffma",)))
    }
    for case in record.cases:
        if case.target != "gpu" or not case.seconds or case.part_of or case.unsure:
            continue
        flushed = case.bytes > FLUSHED * gpu.l2_bytes and case.experiment != MACHINE
        bound = [MEMORY] if case.regime == "hot" and flushed else []
        for metric in (MEMORY, COMPUTE) if case.regime == "cold" else bound:
            # what fits into the cache may come from there; TF32 is not bound by fp32 units
            apt = case.bytes > 4 * gpu.l2_bytes if metric is MEMORY else case.fp32
            # nearer levels of memory are faster than DRAM: that is what they are timed for
            apt = apt and not (case.experiment == MEMORY_LEVELS and "dram" not in case.strategy)
            specified, measured, names = roofs[metric.work]
            rate = getattr(case, metric.work) / case.seconds.median
            text = f"{significant(rate / metric.scale)} {metric.unit} is more than"
            roof = case.experiment in (MACHINE, MEMORY_LEVELS)
            if apt and specified and rate > specified.value:
                value = significant(specified.value / metric.scale)
                found[case.id] = f"{text} the {metric.ceiling_label} of {value} {metric.unit}"
            elif (
                apt
                and measured
                and not roof
                and rate > measured[0] * (1 + _apart(resolution, case, measured[1]))
            ):
                value = significant(measured[0] / metric.scale)
                what = " and ".join(f"`{name}`" for name in names)
                found[case.id] = f"{text} {what} reached here, {value} {metric.unit} at most"
    return found
