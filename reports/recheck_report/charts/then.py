"""Then and here: the times that a document gives beside this machine's, one line per row."""

from __future__ import annotations

from recheck_report.charts.canvas import (
    FAINT,
    MUTED,
    OCHRE,
    THEIRS,
    Card,
    Interval,
    beside,
    down,
    log_values,
    room,
)
from recheck_report.charts.drawing import Drawing, NotDrawn
from recheck_report.charts.message import FASTER, factor, listed
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, shape_label, significant
from recheck_report.model.record import Experiment
from recheck_report.statistics.ratio import Ratio

TITLE = "Then and here"


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record, known = own.record, own.known.figures_of(experiment.name)
    rows = [each for each in known.figure if each.shape == experiment.headline]
    if not rows:
        raise NotDrawn("no document gives a time at the headline's shape")
    cases = [each.case(record, experiment) for each in rows]
    times = [case.seconds.median for case in cases if case and case.seconds]
    if not times:
        raise NotDrawn("none of the cases that it shows was measured")
    times += [each.seconds for each in rows if each.seconds]
    hardware = listed(list(dict.fromkeys(known.hardware[each.hardware] for each in rows)))
    env, document = record.environment, rows[0].document
    here = f"{env.gpu.name}, {env.cpu}" if env.gpu else env.cpu
    ratios = {
        each.strategy: Ratio.over(each.seconds, case.seconds)
        for each, case in zip(rows, cases, strict=True)
        if each.seconds and case and case.seconds
    }
    note = (
        f"{experiment.title} at {shape_label(experiment.headline)}. {document} then: {hardware}. "
    )
    note += f"Here: {here}; GPU cold, CPU hot. A document's times have no interval."
    card = Card(_message(document, ratios), note, 66 + 17 * len(rows))
    axes = card.axes(room([each.strategy for each in rows]), 176, top=24)
    log_values(axes.xaxis, min(times) / 2, max(times) * 2, lambda x: duration(x, 1))
    down(axes, [each.strategy for each in rows])
    axes.set_xlabel("time (s, ms or µs as at each tick, log)")
    columns = {"then": 8.0, "here": 60.0, "speed-up": 116.0}
    for text, x in columns.items():
        beside(axes, -1.1, text, x, color=MUTED)
    points: list[Interval] = []
    for y, (each, case) in enumerate(zip(rows, cases, strict=True)):
        seconds = case.seconds if case else None
        if each.seconds and seconds:
            axes.plot([seconds.median, each.seconds], [y, y], color=FAINT, linewidth=1, zorder=1)
            beside(axes, y, f"{significant(ratios[each.strategy].value)}×", columns["speed-up"])
        beside(axes, y, duration(each.seconds) if each.seconds else "lost", columns["then"])
        if seconds:
            points.append((y, seconds.median, seconds.low, seconds.high))
        gap = case.status.replace("_", " ") if case else "–"
        beside(axes, y, duration(seconds.median) if seconds else gap, columns["here"])
    printed: list[Interval] = [
        (y, each.seconds, each.seconds, each.seconds) for y, each in enumerate(rows) if each.seconds
    ]
    card.dots(axes, printed, color=OCHRE, marker="s", label=f"then, in {document}")
    card.dots(axes, points, color=THEIRS, marker="o", label="here")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1), ncols=2, borderaxespad=0.2)
    lost = [each.strategy for each in rows if each.lost]
    caption = f"Lost in every copy of the document: the times of {', '.join(lost)}." if lost else ""
    return Drawing(card, caption)


def _message(document: str, ratios: dict[str, Ratio]) -> str:
    if not ratios:
        return f"No row has a time both in {document} and here"
    ordered = sorted(ratios.items(), key=lambda each: each[1].value)
    (slow, least), (fast, most) = ordered[0], ordered[-1]
    faster = sum(each.outcome == FASTER for each in ratios.values())
    if len(ordered) == 1:
        return f"{slow} takes {factor(1 / least.value)} times as long here as in {document}"
    ends = f"{factor(least.value)} ({slow}) to {factor(most.value)} ({fast}) times as fast"
    if faster == len(ordered):
        return f"Every row that {document} has a time for is faster here: {ends}"
    return f"{faster} of {len(ordered)} rows are faster here than in {document}: {ends}"
