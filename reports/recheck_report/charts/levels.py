"""The levels of memory: how long a load takes, and how much is read and written at once."""

from __future__ import annotations

from collections.abc import Callable

from recheck_report.charts.drawing import nothing
from recheck_report.charts.message import factor
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, significant
from recheck_report.queries import MEMORY
from recheck_report.record.record import Case, Experiment
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
    note = "Left: one load of a chain, each waiting for the last. Right: the whole GPU; filled: "
    note += "reads, hollow: writes. Bars: 95 % intervals."
    card = Card(_message(rows), note, 62 + 30 * len(rows))
    left = names_width([row.title for row in rows])
    width = (WIDTH - left - sum(VALUES)) / 2
    loads = {row.title: _ends(row.latency, row.steps) for row in rows}
    _panel(card, left, width, rows, {"load": loads})
    rates = {
        "read": {row.title: _ends(row.bandwidth) for row in rows},
        "written": {row.title: _ends(row.write) for row in rows},
    }
    _panel(card, left + width + VALUES[0], width, rows, rates)
    return card


Ends = tuple[float, float, float]


def _ends(case: Case | None, steps: int = 0) -> Ends | str:
    """GB/s, or seconds of one of so many loads, with their interval; or why there are none."""
    if case is None or case.seconds is None:
        return case.status.replace("_", " ") if case else "no test"
    s = case.seconds
    return (s.median / steps, s.low / steps, s.high / steps) if steps else MEMORY.rates(case)


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


def _message(rows: list[Level]) -> str:
    """The nearest level against the farthest, of those that have a time."""
    found = []
    times = [(r, e[0]) for r in rows if not isinstance(e := _ends(r.latency, r.steps), str)]
    rates = [(r, e[0]) for r in rows if not isinstance(e := _ends(r.bandwidth), str)]
    if len(times) > 1:
        (near, short), (far, long) = times[0], times[-1]
        more = factor(long / short)
        found.append(f"A load from {far.title} takes {more} times as long as from {near.title}")
    if len(rates) > 1:
        (near, most), (far, least) = rates[0], rates[-1]
        found.append(f"{near.title} is read at {factor(most / least)} times {far.title}'s rate")
    return "; ".join(found) or "One level of memory alone has a time"
