"""The machine's ceilings, specified and measured."""

from __future__ import annotations

from recheck_report.anchors import anchor
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NBSP, NONE, duration, percent, significant, spread
from recheck_report.queries import COMPUTE, MEMORY, Metric, machine_rows
from recheck_report.record.record import Case, Record
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
