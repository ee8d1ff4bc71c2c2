"""The levels of memory: how long a load takes, and how much is read and written at once."""

from __future__ import annotations

from collections.abc import Callable

from recheck_report.charts.drawing import nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, significant
from recheck_report.queries import MEMORY
from recheck_report.record.record import Case, Experiment
from recheck_report.say import charts as say
from recheck_report.say.memory import Level, levels
from recheck_report.write.svg import (
    BLUE,
    GREEN,
    WIDTH,
    Card,
    Interval,
    logarithmic,
    names_width,
    rows_axis,
)

TITLE = "Latency and bandwidth"
VALUES = 62.0, 44.0  # points to the right of a panel


def draw(own: Measured, experiment: Experiment) -> Card:
    record = own.record
    rows = levels(record)
    if not any(c and c.seconds for r in rows for c in (r.latency, r.bandwidth, r.write)):
        raise nothing(record)
    loads = {row.title: _ends(row.latency, row.steps) for row in rows}
    rates = {
        "read": {row.title: _ends(row.bandwidth) for row in rows},
        "written": {row.title: _ends(row.write) for row in rows},
    }
    card = Card(
        say.levels(_medians(loads), _medians(rates["read"])), say.LEVELS, 62 + 30 * len(rows)
    )
    left = names_width([row.title for row in rows])
    width = (WIDTH - left - sum(VALUES)) / 2
    _panel(card, left, width, rows, {"load": loads})
    _panel(card, left + width + VALUES[0], width, rows, rates)
    return card


Ends = tuple[float, float, float]


def _ends(case: Case | None, steps: int = 0) -> Ends | str:
    """GB/s, or with `steps` the seconds of one load, with the interval; or the reason why the case
    has no time, empty for a missing case."""
    if case is None or case.seconds is None:
        return case.status.replace("_", " ") if case else ""
    s = case.seconds
    return (s.median / steps, s.low / steps, s.high / steps) if steps else MEMORY.rates(case)


def _medians(ends: dict[str, Ends | str]) -> dict[str, float]:
    return {title: each[0] for title, each in ends.items() if not isinstance(each, str)}


def _panel(
    card: Card,
    left: float,
    width: float,
    rows: list[Level],
    series: dict[str, dict[str, Ends | str]],
) -> None:
    """A mark for each level and series, and its value to the right of the panel."""
    latency = "load" in series
    color = BLUE if latency else GREEN
    known = [e for of in series.values() for e in of.values() if not isinstance(e, str)]
    every = [x for ends in known for x in ends] or [1.0]
    tick: Callable[[float], str] = (lambda x: duration(x, 1)) if latency else "{:g}".format
    x = logarithmic(min(every) / 1.8, max(every) * 1.8, width, tick)
    panel = card.panel(x, rows_axis(len(rows)), left, WIDTH - left - width, top=20)
    what = (
        ("time of a load (log)", "latency") if latency else ("bandwidth (GB/s, log)", "bandwidth")
    )
    panel.frame(what[0], title=what[1])
    if latency:
        panel.rows([row.title for row in rows])
    for lane, (kind, of) in enumerate(series.items()):
        shift = 0.0 if latency else 0.38 * lane - 0.19
        points: list[Interval] = []
        for y, row in enumerate(rows):
            ends = of[row.title]
            if isinstance(ends, str):
                panel.beside(y + shift, ends)
                continue
            points.append((y + shift, *ends))
            panel.beside(y + shift, duration(ends[0]) if latency else significant(ends[0]))
        panel.dots(points, color, "o" if kind == "load" else "s", hollow=lane > 0)
