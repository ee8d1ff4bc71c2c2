"""The levels of memory, as the experiment `memory` measured them: latency and bandwidth.

A row `latency_<level>` follows a chain of addresses for `steps` loads, a row `bandwidth_<level>`
reads as much as it can, a row `uniform_<level>` reads one word for all lanes of a warp, a row
`write_<level>` writes.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True)
class Level:
    """One level of memory; a case without a time stands for itself with its reason."""

    name: str
    words: int | None  # of a row that was timed at several sizes
    latency: Case | None
    bandwidth: Case | None
    uniform: Case | None
    write: Case | None

    @property
    def title(self) -> str:
        name = _NAMES.get(self.name, self.name.replace("_", " "))
        return name if self.words is None else f"{name}, {_size(4 * self.words)}"

    @property
    def steps(self) -> int:
        return max(1, self.latency.parameters.get("steps", 1)) if self.latency else 1


def levels(record: Record) -> list[Level]:
    """In the record's order, from near to far; none if it holds no such experiment."""
    experiment = record.experiment(MEMORY_LEVELS)
    if experiment is None:
        return []
    cases: dict[tuple[str, int | None], dict[str, Case]] = {}
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
    return [Level(*level, *map(of.get, KINDS)) for level, of in cases.items()]


def _size(bytes_: int) -> str:
    for unit, scale in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if bytes_ >= scale:
            return f"{bytes_ / scale:.4g} {unit}"
    return f"{bytes_} B"


def _gap(case: Case | None) -> str:
    return case.status.replace("_", " ") if case else NONE


def _rate(case: Case | None) -> str:
    if case and case.seconds and case.bytes:
        rate = significant(case.bytes / case.seconds.median / 1e9)
        return f"{rate} {spread(case.seconds)}".replace(" ", NBSP)
    return _gap(case)


def by_level(record: Record) -> Table:
    """A row for each level: how long a load takes, and how much is read and written."""
    rows: list[list[Text | str]] = []
    for level in levels(record):
        case, rates = level.latency, (level.bandwidth, level.uniform, level.write)
        # a link may lead to any regime of a row at that size
        rows_here = {(c.strategy, c.shape_name) for c in (case, *rates) if c}
        anchors = (
            anchor(c, record.experiment_of(c))
            for c in record.cases
            if c.experiment == MEMORY_LEVELS and (c.strategy, c.shape_name) in rows_here
        )
        line: list[Text | str] = [text(*map(Anchor, dict.fromkeys(anchors)), level.title)]
        if case and case.seconds:
            load = case.seconds.median / level.steps
            line.append(f"{duration(load)} {spread(case.seconds)}".replace(" ", NBSP))
            line.append(significant(load * case.clock_hz) if case.clock_hz else NONE)
        else:
            line += [_gap(case), NONE]
        rows.append([*line, *map(_rate, rates)])
    return table(COLUMNS, rows, NUMBERS, "Levels of memory")
