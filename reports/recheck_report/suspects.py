"""Times that are too good to be true: which cases are faster than the machine can be."""

from __future__ import annotations

import math
from statistics import median

from recheck_report.formatting import duration, significant
from recheck_report.model.environment import Gpu
from recheck_report.model.record import MACHINE, MEMORY_LEVELS, Case, Record
from recheck_report.queries import COMPUTE, MEMORY, Metric
from recheck_report.statistics import variation
from recheck_report.statistics.audit import CONVENTION

# what no machine does in any regime, by far: operations of tensor cores for each of fp32's, bytes
# that a multiprocessor moves per clock, and operations or bytes of a CPU's thread per second
TENSOR, BYTES_PER_CLOCK, PER_THREAD = 64, 256, 2e12
# the same of rows that time a level of memory: shared memory has 32 banks of 4 bytes, L1 gives a
# line of 128, L2 gives a multiprocessor 64 up to Hopper; 125.5, 124.6 and 26.4 were seen
LEVEL_PER_CLOCK = {"shared": 128, "l1": 128, "l2": 96}
# clocks that a load takes there at least; 31.7, 37.2, 278 and 671 were seen
LOAD_CLOCKS = {"shared": 10, "l1": 10, "constant": 10, "l2": 80, "dram": 200}
# of what clock and units allow, as the clock is that of one multiprocessor, read around launches;
# 0.98 was seen of banks, 0.935 of fp32 units
HELD = 1.05
# of so many times the L2 the cache keeps too little between two launches to beat DRAM
FLUSHED = 16
# of the empty launch that any launch takes at least; 0.94 was seen
LAUNCH = 0.5
# of the same launch hot that it takes with its copies at least, as hot ones may slow the clock;
# 1.48 was seen
WITHOUT = 0.9
# of the same launch hot that it takes with other data in the L2 cache; 0.914 was seen
COLDER = 0.8
# seconds that the host and the device need for a launch of nothing; 1.9 µs were seen
EMPTY = 0.25e-6
# bytes per second between a host and a device; 15 GB/s were seen, and the fastest links have 450
LINK = 500e9


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
    found = _beyond(record)
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


def _beyond(record: Record) -> dict[str, str]:
    """Of all targets and regimes what is beyond any cache and any tensor core."""
    found = {}
    empty = record.by_id.get(f"{MACHINE}/launch/1/hot")
    launch = empty if empty and empty.seconds and not empty.unsure else None
    for case in record.cases:
        if not case.seconds or case.unsure:
            continue
        least = _least(record, case, launch)
        if least and case.seconds.median < least[0]:
            text = f"{duration(case.seconds.median)} is less than {least[1]}"
            found[case.id] = f"{text}, {duration(least[0])}"
        if case.part_of:
            continue  # it has the work of its whole
        clock, limits = _limits(record, case)
        for metric, limit in limits.items():
            rate = getattr(case, metric.work) / case.seconds.median
            if rate > limit:
                text = f"{significant(rate / metric.scale)} {metric.unit} is more than any such"
                most = f"{significant(limit / metric.scale)} {metric.unit}"
                found[case.id] = f"{text} machine does{clock}, {most}"
    return found


def _held(case: Case, gpu: Gpu) -> float:
    """The clock that makes of a case's time the clocks that its blocks took, each by its own; the
    GPU's where those are not known."""
    pairs = zip(case.rounds.values(), case.clocks, strict=False)
    found = [seconds * (own or gpu.clock_hz) for seconds, own in pairs]
    return median(found) / case.time.median if found else gpu.clock_hz


def _limits(record: Record, case: Case) -> tuple[str, dict[Metric, float]]:
    """Operations and bytes per second beyond which no case like this is, and in words at which
    clock."""
    env, fp32 = record.environment, record.ceilings.get(COMPUTE.ceiling)
    if case.target == "cpu":
        return "", dict.fromkeys((MEMORY, COMPUTE), PER_THREAD * env.cpu_threads)
    if not env.gpu or not fp32 or not env.gpu.clock_hz:
        return "", {}
    clock = _held(case, env.gpu)
    # such as l2_read and bandwidth_l2
    words = case.strategy.split("_") if case.experiment in (MACHINE, MEMORY_LEVELS) else []
    levels = (most for level, most in LEVEL_PER_CLOCK.items() if level in words)
    per_clock = next(levels, BYTES_PER_CLOCK)
    return f" at {significant(clock / 1e9)} GHz", {
        MEMORY: HELD * clock * per_clock * env.gpu.sm_count,
        COMPUTE: HELD * clock * fp32.value / env.gpu.clock_hz * (1 if case.fp32 else TENSOR),
    }


def _least(record: Record, case: Case, launch: Case | None) -> tuple[float, str] | None:
    """What a case takes at least by another one of the record, and in words."""
    hot = record.by_id.get(f"{case.id.rpartition('/')[0]}/hot")
    whole = hot.seconds if hot and not hot.unsure else None
    if case.regime == "end_to_end":
        copies = (case.bytes / LINK, f"copies at {LINK / 1e9:g} GB/s")
        alone = (WITHOUT * whole.median, "nine tenths of its launch alone") if whole else copies
        return max(copies, alone)
    gpu, steps = record.environment.gpu, case.parameters.get("steps")
    level = case.strategy.removeprefix("latency_")
    if gpu and steps and case.experiment == MEMORY_LEVELS and level in LOAD_CLOCKS:
        clocks = LOAD_CLOCKS[level]
        held = _held(case, gpu)
        return (steps * clocks / held, f"{clocks} clocks for each load") if held else None
    # a part of a launch may be shorter than a launch
    if case.target != "gpu" or case.regime not in ("hot", "cold") or case.part_of:
        return None
    found = [(LAUNCH * launch.time.median, "half an empty launch")] if launch else []
    if launch is case:
        found.append((EMPTY, "any launch takes"))
    if whole and case.regime == "cold":
        found.append((COLDER * whole.median, "eight tenths of the same hot"))
    return max(found, default=None)
