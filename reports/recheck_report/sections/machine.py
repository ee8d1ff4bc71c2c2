"""The machine's ceilings, specified and measured; which times are too good to be true."""

from __future__ import annotations

from functools import lru_cache

from recheck_report.anchors import anchor
from recheck_report.formatting import NBSP, NONE, cell, duration, significant, spread
from recheck_report.model.record import MACHINE, MEMORY_LEVELS, Case, Record
from recheck_report.queries import COMPUTE, MEMORY, Metric
from recheck_report.statistics.audit import CONVENTION
from recheck_report.statistics.family import comparisons
from recheck_report.statistics.ratio import Ratio

# what no machine does in any regime, by far: operations of tensor cores for each of fp32's, bytes
# that a multiprocessor moves per clock, and operations or bytes of a CPU's thread per second
TENSOR, BYTES_PER_CLOCK, PER_THREAD = 64, 256, 2e12


def _roofs(record: Record) -> list[Case]:
    experiment = record.experiment(MACHINE)
    return record.of(experiment) if experiment else []


def work_of(case: Case) -> Metric | None:
    """The rate that a row of the machine is about; none if it does no work to speak of."""
    if max(case.flops, case.bytes) < 1e3:
        return None
    if case.flops > case.bytes:
        return COMPUTE
    return MEMORY if case.bytes else None


def _highest(record: Record, names: tuple[str, ...], metric: Metric) -> float | None:
    """The upper end of the best measured roof's interval; SI units."""
    rates = [
        getattr(case, metric.work) / case.seconds.low
        for case in _roofs(record)
        if case.strategy in names and case.seconds
    ]
    return max(rates, default=None)


@lru_cache(maxsize=16)
def suspects(record: Record) -> dict[str, str]:
    """Cases faster than the machine can be, by id, each with the reason."""
    found = _beyond(record)
    gpu = record.environment.gpu
    if gpu is None:
        return found
    # two kernels at two places and times differ by more than one kernel's interval
    slack = 1 + max(comparisons(record).resolution, CONVENTION)
    roofs = {
        metric.work: (record.ceilings.get(metric.ceiling), _highest(record, names, metric), names)
        for metric, names in ((MEMORY, ("read", "copy")), (COMPUTE, ("ffma",)))
    }
    for case in record.cases:
        if case.target != "gpu" or case.regime != "cold" or not case.seconds or case.part_of:
            continue
        for metric in (MEMORY, COMPUTE):
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
            elif apt and measured and not roof and rate > measured * slack:
                value = significant(measured / metric.scale)
                what = " and ".join(f"`{name}`" for name in names)
                found[case.id] = f"{text} {what} reached here, {value} {metric.unit} at most"
    return found


def _beyond(record: Record) -> dict[str, str]:
    """Of all targets and regimes what is beyond any cache and any tensor core."""
    env, found = record.environment, {}
    threads = PER_THREAD * env.cpu_threads or None
    limits: dict[tuple[str, Metric], float | None] = {
        ("cpu", COMPUTE): threads, ("cpu", MEMORY): threads,
    }  # fmt: skip
    fp32 = record.ceilings.get(COMPUTE.ceiling)
    if env.gpu and fp32:
        limits["gpu", COMPUTE] = fp32.value
        limits["gpu", MEMORY] = BYTES_PER_CLOCK * env.gpu.sm_count * env.gpu.clock_hz
    for case in record.cases:
        # a part has the work of its whole, and the levels are timed for being fast
        if not case.seconds or case.part_of or case.experiment == MEMORY_LEVELS:
            continue
        for metric in (MEMORY, COMPUTE):
            limit = limits.get((case.target, metric))
            if limit and metric is COMPUTE and not case.fp32:
                limit *= TENSOR
            rate = getattr(case, metric.work) / case.seconds.median
            if limit and rate > limit:
                text = f"{significant(rate / metric.scale)} {metric.unit} is more than"
                most = significant(limit / metric.scale)
                found[case.id] = f"{text} any such machine does, {most} {metric.unit}"
    return found


COLUMNS = ["row", "what", "measured", "time", "specification", "of the specification"]
COLUMNS += ["SM clock", "specification at that clock"]
NUMBERS = range(2, 8)


def table(record: Record) -> list[list[str]]:
    """The measured ceilings beside the specified ones: a row for each row of the experiment."""
    gpu, rows, places = record.environment.gpu, [], set()
    for case in _roofs(record):
        place = anchor(case, record.experiment_of(case))
        mark = "" if place in places else f'<a id="{place}"></a>'
        places.add(place)
        line = [f"{mark}`{case.strategy}`, {case.regime}", cell(case.problem or case.note) or NONE]
        if case.seconds is None:
            rows.append([*line, cell(case.why_not), *[NONE] * 5])
            continue
        metric, seconds = work_of(case), case.seconds
        wide = f"{duration(seconds.median)} {spread(seconds)}".replace(" ", NBSP)
        clock = f"{case.clock_hz / 1e9:.3f}{NBSP}GHz" if case.clock_hz else NONE
        if metric is None:
            rows.append([*line, NONE, wide, NONE, NONE, clock, NONE])
            continue
        value = f"{significant(metric.rate(case, seconds.median))} {metric.unit} {spread(seconds)}"
        line += [value.replace(" ", NBSP), wide]
        # the specification names DRAM and fp32; nobody specifies L2
        limit = None if "l2" in case.strategy else metric.limit(record)
        if limit is None:
            rows.append([*line, NONE, NONE, clock, NONE])
            continue
        line.append(f"{significant(limit)}{NBSP}{metric.unit}")
        middle, low, high = (rate / limit for rate in metric.rates(case))
        line += [Ratio(middle, low, high).percent.replace(" ", NBSP), clock]
        if metric is COMPUTE and gpu and case.clock_hz:
            held = limit * case.clock_hz / gpu.clock_hz
            share = f"{significant(held)}{NBSP}{metric.unit}, reached "
            share += f"{significant(100 * metric.rate(case, seconds.median) / held)}{NBSP}%"
            line.append(share)
        else:
            line.append(NONE)
        rows.append(line)
    return rows
