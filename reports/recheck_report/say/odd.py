"""Odd values: what does not fit the rest of a record. Each is a note, and none is refused."""

from __future__ import annotations

from collections.abc import Callable

from recheck_report.record.record import Case, Record
from recheck_report.say.nodes import Table, code, table

COLUMNS = ["what", "cases", "such as"]


def _clock(record: Record, case: Case) -> bool:
    gpu = record.environment.gpu
    most = max((clock for clock in case.clocks if clock), default=case.clock_hz or 0.0)
    return bool(gpu and gpu.clock_hz and most > 1.25 * gpu.clock_hz)


def _error(_: Record, case: Case) -> bool:
    error = case.error
    right = error is not None and error.value is not None and 0 <= error.value <= error.bound
    return case.status == "passed" and not right


KINDS: dict[str, Callable[[Record, Case], bool]] = {
    "an SM clock above 1.25 times what the device states": _clock,
    "a time without an interval: it decides nothing": lambda _, case: (
        bool(case.unsure) and not case.disturbed
    ),
    "a time of 0 s, or none: it is left out": lambda _, case: (
        case.status == "passed" and case.seconds is None
    ),
    "passed, but its error is beyond its bound, or was not recorded": _error,
    # rounding of the record's digits aside
    "a median that is not among its samples": lambda _, case: bool(
        case.seconds
        and case.samples
        and not 0.999 * min(case.samples) <= case.seconds.median <= 1.001 * max(case.samples)
    ),
}


def values(record: Record) -> Table:
    """What is odd, of how many cases, and the first of them."""
    rows = [
        (what, str(len(odd)), code(odd[0].id))
        for what, is_odd in KINDS.items()
        if (odd := [case for case in record.cases if is_odd(record, case)])
    ]
    return table(COLUMNS, rows, (1,), "Odd values")
