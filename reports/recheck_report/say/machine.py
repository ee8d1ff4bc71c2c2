"""The machine's ceilings, specified and measured."""

from __future__ import annotations

from recheck_report.anchors import anchor
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NBSP, NONE, cell, duration, significant, spread
from recheck_report.queries import COMPUTE, MEMORY, Metric
from recheck_report.record.record import Case, Record
from recheck_report.statistics.ratio import Ratio
from recheck_report.suspects import machine_rows


def mark(own: Measured, case: Case | None) -> str:
    """What follows a time that nothing may be concluded from."""
    if case is None or not case.seconds:
        return ""
    if case.unsure:
        return " **disturbed**" if case.disturbed else " **no interval**"
    return " **suspect**" if case.id in own.suspects else ""


def work_of(case: Case) -> Metric | None:
    """The rate that a row of the machine is about; none if it does no work to speak of."""
    if max(case.flops, case.bytes) < 1e3:
        return None
    if case.flops > case.bytes:
        return COMPUTE
    return MEMORY if case.bytes else None


COLUMNS = ["row", "what", "measured", "time", "specification", "of the specification"]
COLUMNS += ["SM clock"]
NUMBERS = range(2, 7)


def table(record: Record) -> list[list[str]]:
    """The measured ceilings beside the specified ones: a row for each row of the experiment."""
    rows, places = [], set()
    for case in machine_rows(record):
        place = anchor(case, record.experiment_of(case))
        mark = "" if place in places else f'<a id="{place}"></a>'
        places.add(place)
        line = [f"{mark}`{case.strategy}`, {case.regime}", cell(case.problem or case.note) or NONE]
        if case.seconds is None:
            rows.append([*line, cell(case.why_not), *[NONE] * 4])
            continue
        metric, seconds = work_of(case), case.seconds
        wide = f"{duration(seconds.median)} {spread(seconds)}".replace(" ", NBSP)
        clock = f"{case.clock_hz / 1e9:.3f}{NBSP}GHz" if case.clock_hz else NONE
        if metric is None:
            rows.append([*line, NONE, wide, NONE, NONE, clock])
            continue
        value = f"{significant(metric.rate(case, seconds.median))} {metric.unit} {spread(seconds)}"
        line += [value.replace(" ", NBSP), wide]
        # the specification names DRAM and fp32; nobody specifies L2
        limit = None if "l2" in case.strategy else metric.limit(record)
        if limit is None:
            rows.append([*line, NONE, NONE, clock])
            continue
        line.append(f"{significant(limit)}{NBSP}{metric.unit}")
        middle, low, high = (rate / limit for rate in metric.rates(case))
        line += [Ratio(middle, low, high).percent.replace(" ", NBSP), clock]
        rows.append(line)
    return rows
