"""The levels of memory, as the experiment `memory` measured them: latency and bandwidth.

A row `latency_<level>` follows a chain of addresses for `steps` loads, a row `bandwidth_<level>`
reads as much as it can, a row `uniform_<level>` reads one word for all lanes of a warp, a row
`write_<level>` writes.
"""

from __future__ import annotations

from recheck_report.anchors import anchor
from recheck_report.formatting import NBSP, NONE, duration, significant, spread
from recheck_report.record.record import MEMORY_LEVELS, Case, Record
from recheck_report.say.nodes import Anchor, Table, Text, table, text

KINDS = ("latency_", "bandwidth_", "uniform_", "write_")
_NAMES = {
    "shared": "shared memory",
    "constant": "constant memory",
    "l1": "L1 cache",
    "l2": "L2 cache",
    "dram": "DRAM",
}
COLUMNS = ["level", "a load takes", "cycles at the clock held", "GB/s read"]
COLUMNS += ["GB/s, one word for a warp", "GB/s written"]
NUMBERS = range(1, 6)


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
    return table(COLUMNS, rows, NUMBERS, "Levels of memory")
