"""The machine's ceilings, specified and measured."""

from __future__ import annotations

from recheck_report.anchors import anchor
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NBSP, NONE, duration, percent, significant, spread
from recheck_report.queries import COMPUTE, MEMORY, Metric, machine_rows
from recheck_report.record.record import MEMORY_LEVELS, Case, Record
from recheck_report.say.nodes import Anchor, Code, Table, Text, strong, table, text
from recheck_report.statistics.ratio import Ratio


def doubt(report: Measured, case: Case | None) -> str:
    """Why nothing may be concluded from a time, in a word: disturbed, no interval or suspect."""
    if case is None or not case.seconds:
        return ""
    if case.unsure:
        return "disturbed" if case.disturbed else "no interval"
    return "suspect" if case.id in report.faster_than_ceiling else ""


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
    for case in machine_rows(record):
        place = anchor(case, record.experiment_of(case))
        begins = Text() if place in places else text(Anchor(place))
        places.add(place)
        name = text(begins, Code(case.strategy), f", {case.regime}")
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


Level = tuple[str, int | None]  # its name, and the words of a row that was timed at several sizes


def _levels(record: Record) -> dict[Level, dict[str, Case]]:
    """The cases of each level by kind, in the record's order, from near to far; a case without a
    time stands for itself with its reason."""
    experiment = record.experiment(MEMORY_LEVELS)
    if experiment is None:
        return {}
    cases: dict[Level, dict[str, Case]] = {}
    # of several regimes one with a time stands for the row at that size: drained where it writes
    order = sorted(
        record.cases_of(experiment), key=lambda c: (c.seconds is None, c.regime != "drained")
    )
    for row in record.strategies(experiment):
        kind = next((prefix for prefix in KINDS if row.strategy.startswith(prefix)), None)
        if kind is None:
            continue
        sizes: dict[int, Case] = {}
        for case in order:
            if case.strategy == row.strategy:
                sizes.setdefault(next(iter(case.shape.values())), case)
        for words, case in sorted(sizes.items()):
            level = row.strategy.removeprefix(kind), words if len(sizes) > 1 else None
            cases.setdefault(level, {})[kind] = case
    return cases


def _title(level: Level) -> str:
    """ "DRAM", "constant memory, 16 KB"."""
    name, words = _NAMES.get(level[0], level[0].replace("_", " ")), level[1]
    if words is None:
        return name
    size = 4 * words
    units = (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1))
    unit, scale = next(pair for pair in units if size >= pair[1] or pair[1] == 1)
    return f"{name}, {size / scale:.4g} {unit}"


def _rate(case: Case | None) -> str:
    if case and case.seconds and case.bytes:
        rate = significant(case.bytes / case.seconds.median / 1e9)
        return f"{rate} {spread(case.seconds)}".replace(" ", NBSP)
    return case.status.replace("_", " ") if case else NONE


def by_level(record: Record) -> Table:
    """A row for each level: how long a load takes, and how much is read and written."""
    rows: list[list[Text | str]] = []
    for level, cases in _levels(record).items():
        # a link may lead to any regime of a row at that size
        rows_here = {(case.strategy, case.shape_name) for case in cases.values()}
        anchors = (
            anchor(c, record.experiment_of(c))
            for c in record.cases
            if c.experiment == MEMORY_LEVELS and (c.strategy, c.shape_name) in rows_here
        )
        line: list[Text | str] = [text(*map(Anchor, dict.fromkeys(anchors)), _title(level))]
        case, *rates = map(cases.get, KINDS)
        if case and case.seconds:
            load = case.seconds.median / max(1, case.parameters.get("steps", 1))
            line.append(f"{duration(load)} {spread(case.seconds)}".replace(" ", NBSP))
            line.append(significant(load * case.clock_hz) if case.clock_hz else NONE)
        else:
            line += [case.status.replace("_", " ") if case else NONE, NONE]
        rows.append([*line, *map(_rate, rates)])
    return table(LEVELS, rows, range(1, 6), "Levels of memory")
