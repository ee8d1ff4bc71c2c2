"""Odd values: what does not fit the rest of a record. Each is a note, and none is refused."""

from __future__ import annotations

from collections.abc import Callable

from recheck_report.formatting import cell
from recheck_report.model.record import Case, Record

COLUMNS = ["what", "cases", "such as"]
FASTER = 1.25  # of the clock that the device states


def _clock(record: Record, case: Case) -> bool:
    gpu = record.environment.gpu
    most = max((each for each in case.clocks if each), default=case.clock_hz or 0.0)
    return bool(gpu and gpu.clock_hz and most > FASTER * gpu.clock_hz)


def _no_interval(_: Record, case: Case) -> bool:
    return bool(case.unsure) and not case.disturbed


def _no_time(_: Record, case: Case) -> bool:
    return case.status == "passed" and case.seconds is None


def _error(_: Record, case: Case) -> bool:
    if case.status != "passed":
        return False
    error = case.error
    return error is None or error.value is None or not 0 <= error.value <= error.bound


def _samples(_: Record, case: Case) -> bool:
    """Rounding of the record's digits aside."""
    if not case.seconds or not case.samples:
        return False
    least, most = min(case.samples), max(case.samples)
    return not least * 0.999 <= case.seconds.median <= most * 1.001


KINDS: dict[str, Callable[[Record, Case], bool]] = {
    "an SM clock above 1.25 times what the device states": _clock,
    "a time without an interval: it decides nothing": _no_interval,
    "a time of 0 s, or none: it is left out": _no_time,
    "passed, with an error beyond its bound, or none": _error,
    "a median that is not among its samples": _samples,
}


def values(record: Record) -> list[list[str]]:
    """Rows of the table: what is odd, of how many cases, and the first of them."""
    found = []
    for what, is_odd in KINDS.items():
        odd = [case for case in record.cases if is_odd(record, case)]
        if odd:
            found.append([what, str(len(odd)), f"`{odd[0].id}`"])
    env = record.environment
    if record.finished and record.finished < env.started:
        when = f"{cell(record.finished)}, before {cell(env.started)}"
        found.append(["a run that ended before it began: its clock was set", "–", when])
    return found
