"""The machine's ceilings, specified and measured."""

from __future__ import annotations

import re

from recheck_report.anchors import anchor
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NBSP, NONE, duration, percent, significant, spread
from recheck_report.queries import COMPUTE, MEMORY, Metric
from recheck_report.record.record import MACHINE, MEMORY_LEVELS, Case, Record
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
    experiment = record.experiment(MACHINE)
    for case in record.cases_of(experiment) if experiment else []:
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
        anchors = dict.fromkeys(anchor(case, experiment) for case in there)
        load, *rates = map(cases.get, KINDS)
        line = [load.status.replace("_", " ") if load else NONE, NONE]
        if load and load.seconds:
            seconds = load.seconds.median / max(1, load.parameters.get("steps", 1))
            line[0] = f"{duration(seconds)} {spread(load.seconds)}".replace(" ", NBSP)
            line[1] = significant(seconds * load.clock_hz) if load.clock_hz else NONE
        rows.append([text(*map(Anchor, anchors), level), *line, *map(_rate, rates)])
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
