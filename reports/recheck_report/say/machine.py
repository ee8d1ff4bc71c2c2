"""The machine: its ceilings and levels of memory, specified and measured; and the run on it."""

from __future__ import annotations

import re

from recheck_report.anchors import anchor as anchor_of
from recheck_report.claims.measured import Measured
from recheck_report.formatting import (
    NBSP,
    NONE,
    duration,
    percent,
    shape_label,
    significant,
    spread,
)
from recheck_report.queries import COMPUTE, MEMORY, Metric
from recheck_report.record.environment import Environment
from recheck_report.record.record import MACHINE, MEMORY_LEVELS, Case, Record
from recheck_report.say.nodes import Table, Text, anchor, code, strong, table, text
from recheck_report.say.warnings import odd_cases
from recheck_report.statistics.ratio import Ratio


def doubt(report: Measured, case: Case | None) -> str:
    """Why a time deserves no trust, in a word: disturbed, no interval, suspect, odd or
    unsettled."""
    if case is None or not case.seconds:
        return ""
    if case.unsure:
        return "disturbed" if case.disturbed else "no interval"
    if case.id in report.faster_than_ceiling:
        return "suspect"
    if any(case.id in ids for ids in odd_cases(report.record).values()):
        return "odd"
    return "unsettled" if case.unsettled else ""


def mark(report: Measured, case: Case | None) -> Text:
    """What follows a time in a table: its doubt."""
    word = doubt(report, case)
    return text(" ", strong(word)) if word else Text()


def work_of(case: Case) -> Metric | None:
    """The rate that a row of the machine is about; none if it does almost no work."""
    if max(case.flops, case.bytes) < 1e3:
        return None
    if case.flops > case.bytes:
        return COMPUTE
    return MEMORY if case.bytes else None


COLUMNS = ["kernel", "what", "measured", "time", "specification", "of the specification"]
COLUMNS += ["SM clock"]
NUMBERS = range(2, 7)


def ceilings(record: Record) -> Table:
    """The measured and specified ceilings: a row for each row of the experiment."""
    rows: list[list[Text | str]] = []
    places = set()
    experiment = record.experiment(MACHINE)
    for case in record.cases_of(experiment) if experiment else []:
        place = anchor_of(case, record.experiment_of(case))
        begins = Text() if place in places else text(anchor(place))
        places.add(place)
        name = text(begins, code(case.strategy), f", {case.regime}")
        line: list[Text | str] = [name, case.problem or case.note or NONE]
        if case.seconds is None:
            rows.append([*line, case.why_not, *[NONE] * 4])
            continue
        metric, seconds = work_of(case), case.seconds
        wide = f"{duration(seconds.median)} {spread(seconds)}".replace(" ", NBSP)
        clock = f"{case.clock_hz / 1e9:.3f}{NBSP}GHz" if case.clock_hz else NONE
        if metric is None:
            rows.append([*line, NONE, wide, NONE, NONE, clock])
            continue
        value = f"{significant(metric.rate(case, seconds.median))} {metric.unit} {spread(seconds)}"
        line += [value.replace(" ", NBSP), wide]
        # the specification names DRAM and fp32, but not L2
        limit = None if "l2" in case.strategy else metric.limit(record)
        if limit is None:
            rows.append([*line, NONE, NONE, clock])
            continue
        line.append(f"{significant(limit)}{NBSP}{metric.unit}")
        middle, low, high = (rate / limit for rate in metric.rates(case))
        line += [percent(Ratio(middle, low, high)).replace(" ", NBSP), clock]
        rows.append(line)
    return table(COLUMNS, rows, NUMBERS, "What the machine gives at best")


KINDS = ("latency_", "bandwidth_", "uniform_", "write_")
_NAMES = {
    "shared": "shared memory",
    "constant": "constant memory",
    "l1": "L1 cache",
    "l2": "L2 cache",
    "dram": "DRAM",
}
LEVELS = ["level", "a load takes", "cycles at the clock held", "GB/s read"]
LEVELS += ["GB/s, one word for a warp", "GB/s written"]


def by_level(record: Record) -> Table:
    """A row for each level, from near to far: how long a load takes, and how much is read and
    written. A level that was timed at several sizes has a row for each."""
    experiment, kinds = record.experiment(MEMORY_LEVELS), "|".join(KINDS)
    if experiment is None:
        return table(LEVELS, ())
    # of several regimes one with a time stands for the row at that size: drained where it writes
    order = sorted(
        record.cases_of(experiment), key=lambda c: (c.seconds is None, c.regime != "drained")
    )
    levels: dict[str, dict[str, Case]] = {}  # the cases of each by kind
    for row in record.strategies(experiment):
        if named := re.match(f"({kinds})(.*)", row.strategy):
            sizes: dict[int, Case] = {}
            for case in order:
                if case.strategy == row.strategy:
                    sizes.setdefault(next(iter(case.shape.values())), case)
            title = _NAMES.get(named[2], named[2].replace("_", " "))
            for words, case in sorted(sizes.items()):
                level = f"{title}, {_size(4 * words)}" if len(sizes) > 1 else title
                levels.setdefault(level, {})[named[1]] = case
    rows: list[list[Text | str]] = []
    for level, cases in levels.items():
        # a link may lead to any regime of a row at that size
        here = {(case.strategy, case.shape_name) for case in cases.values()}
        there = (c for c in record.cases_of(experiment) if (c.strategy, c.shape_name) in here)
        anchors = dict.fromkeys(anchor_of(case, experiment) for case in there)
        load, *rates = map(cases.get, KINDS)
        line = [load.status.replace("_", " ") if load else NONE, NONE]
        if load and load.seconds:
            seconds = load.seconds.median / max(1, load.parameters.get("steps", 1))
            line[0] = f"{duration(seconds)} {spread(load.seconds)}".replace(" ", NBSP)
            line[1] = significant(seconds * load.clock_hz) if load.clock_hz else NONE
        rows.append([text(*map(anchor, anchors), level), *line, *map(_rate, rates)])
    return table(LEVELS, rows, range(1, 6), "Levels of memory")


def _size(size: int) -> str:
    """ "16 KB"."""
    units = (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1))
    unit, scale = next(pair for pair in units if size >= pair[1] or pair[1] == 1)
    return f"{size / scale:.4g} {unit}"


def _rate(case: Case | None) -> str:
    """GB/s, or why there are none."""
    if case and case.seconds and case.bytes:
        rate = significant(case.bytes / case.seconds.median / 1e9)
        return f"{rate} {spread(case.seconds)}".replace(" ", NBSP)
    return case.status.replace("_", " ") if case else NONE


# the run


def program(env: Environment) -> str:
    """The name of the program that measured, fit for a command line and for a folder."""
    name = re.match(r"(?:\S*/)?([A-Za-z0-9][A-Za-z0-9._-]{0,40})(?=\s|$)", env.command)
    return name[1] if name else "recheck"


def dropped(record: Record) -> Table:
    """What the plan left out, with why, in the order in which it went; equal reasons together."""
    rows: dict[tuple[str, str], list[str]] = {}
    for shape in record.plan.dropped:
        rows.setdefault((shape.experiment, shape.reason), []).append(shape_label(shape.shape))
    lines = [(name, ", ".join(shapes), why) for (name, why), shapes in rows.items()]
    return table(("experiment", "shapes", "reason"), lines, title="Left out by the plan")


def spent(record: Record) -> str:
    """Where the seconds of the run went: "142 s for CPU rows, 119 s cold"; empty if not known."""
    seconds: dict[str, float] = {}
    for case in record.cases:
        kind = "for CPU rows" if case.target == "cpu" else case.regime.replace("_", " ")
        seconds[kind] = seconds.get(kind, 0) + case.spent
    most = sorted(seconds.items(), key=lambda item: -item[1])
    return ", ".join(
        f"{seconds_of_kind:.0f} s {kind}" for kind, seconds_of_kind in most if seconds_of_kind
    )


def environment(report: Measured) -> Table:
    """The machine, the build, the settings; what could not be found out says why."""
    env, gpu = report.record.environment, report.record.environment.gpu
    rows: list[tuple[str, str]] = []

    def add(what: str, value: object, says: str, field: str = "") -> None:
        absent = env.why_unknown(field) if field else "none"
        rows.append((what, absent if value is None else says))

    if gpu:
        capability = gpu.compute_capability.removeprefix("0.0") or "not known"
        many = _known("number of SMs", gpu.sm_count, "SMs")
        add("GPU", gpu, f"{gpu.name}, compute capability {capability}, {many}")
        size = _known("size", gpu.memory_bytes, "GB", 1e9, 1)
        bits, pace = _known("bus width", gpu.memory_bus_bits, "bit"), gpu.memory_clock_hz
        clock = f"{' at' if pace else ','} {_known('clock', pace, 'GHz', 1e9, 3)}"
        add("GPU memory", gpu, f"{size}, {bits}{clock}")
        clock = f"{_known('', gpu.clock_hz, 'GHz', 1e9, 3)} by the device's attribute"
        add("GPU clock", gpu.clock_hz, clock, "gpu.clock_hz")
        add("GPU identity", gpu.uuid_hash, f"{gpu.uuid_hash} (hash)", "gpu.uuid_hash")
        for name, on in (("gpu.ecc", gpu.ecc), ("gpu.mig", gpu.mig), ("mps", env.mps)):
            add(name.split(".")[-1].upper(), on, "on" if on else "off", name)
        others = env.state.other_processes
        add("other processes on the GPU", others, f"{others}", "state.other_processes")
        limit = gpu.power_limit_watts
        add("power limit", limit, f"{significant(limit or 0)} W", "gpu.power_limit_watts")
        code = {"sass": "machine code for this GPU", "ptx": "PTX, compiled by the driver"}
        add("device code", env.code, code.get(env.code or "", ""), "code")
    else:
        add("GPU", 0, f"none: {env.gpu_reason or 'not said'}")
    cuda = (("driver", env.cuda_driver), ("runtime", env.cuda_runtime), ("nvcc", env.nvcc))
    add("driver", env.driver, f"{env.driver}")
    add("CUDA", cuda, ", ".join(f"{name} {value or 'none'}" for name, value in cuda))
    add("GPU architectures", env.arch, f"{env.arch}")
    add("build", 0, env.build_type + (", device code with -G" if env.device_debug else ""))
    add("host compiler", 0, f"{env.host_compiler}, flags {env.flags}")
    add("CPU", 0, f"{env.cpu}, {_known('number of threads', env.cpu_threads, 'threads')}")
    busy = "not recorded" if env.state.other_cpus is None else f"{env.state.other_cpus}"
    add("CPUs that others kept busy, over half a minute", 0, busy)
    add("BLAS", env.blas, f"{env.blas}")
    add("operating system", 0, env.os)
    add("Recheck", env.version, f"version {env.version}", "version")
    add("inputs' seed", 0, f"{env.seed}")
    whole = env.command_budget_seconds
    planned = f"; {whole:g} s planned in total" if whole is not None else ""
    add("sampling budget", 0, f"{env.budget_seconds:g} s per case{planned}")
    return table(("what", "value"), rows, title="Environment")


def _known(what: str, value: float | None, unit: str, scale: float = 1, digits: int = 0) -> str:
    """ "2.619 GHz"; "clock not known" of what the driver does not say."""
    return f"{what} not known" if value is None else f"{value / scale:.{digits}f} {unit}"
