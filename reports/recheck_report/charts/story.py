"""The story: rate and gain of each step from the first kernel to the fastest.

Its steps are those of the experiment's story.toml, so any experiment may have it. Scales are linear
and begin at 0: a logarithm would hide the steps near the limit. Steps that are not IEEE fp32 stand
below on a scale of their own, as the limit is not theirs. A step's name stands above its bar, which
leaves room for type that is read on a phone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from recheck_report.charts.drawing import nothing, without_time
from recheck_report.charts.ladder import GROUPS, LOOKS, group
from recheck_report.charts.message import FASTER, against, factor, ratio
from recheck_report.claims.measured import Measured
from recheck_report.claims.story import Step
from recheck_report.formatting import NONE, duration, shape_label, significant
from recheck_report.queries import metric_of, reference
from recheck_report.record.record import Case, Experiment
from recheck_report.say.story import shown_steps
from recheck_report.write.svg import INK, LIBRARY, MARGIN, MUTED, Axis, Card, Panel, linear

TITLE = "Step by step"
SIGNS = ("●", "■", "◆", "▲", "✚", "▼")  # the markers of GROUPS, in words
# points: of type, a step, the axis below a panel, a line of text above one, a column of numbers
TYPE, ROW, AXIS, LINE, COLUMN = 11.0, 28.0, 42.0, 16.0, 54.0
MARK = 7.0  # points across
_GAIN = "× before"
_TOP, _ABOVE = -0.65, -0.65 - 0.7 * LINE / ROW  # of a panel, and of the text on it, counted in rows


@dataclass(frozen=True)
class _Row:
    """What a step came to."""

    step: Step
    case: Case
    rate: tuple[float, float, float]  # with its interval
    numbers: list[str]  # beside it, a column each


@dataclass(frozen=True)
class _Line:
    """What rates are held against."""

    name: str
    value: float
    color: str


def draw(own: Measured, experiment: Experiment) -> Card:
    record, told = own.record, shown_steps(own, experiment)
    every = told[1] if told else []
    shape = experiment.headline
    steps = [(e, case) for e in every if (case := record.timed(experiment, e.row, shape))]
    if not steps:
        raise nothing(record)
    metric, rows = metric_of(record, experiment), []
    for step, case in steps:
        base, rate = record.timed(experiment, step.base, shape), metric.rates(case)
        gain = factor(own.comparisons.ratio(base, case).value) if base else NONE
        numbers = [significant(rate[0]) + ("*" if step.effective else ""), gain]
        rows.append(_Row(step, case, rate, numbers))
    heads = [metric.unit, _GAIN] if any(row.numbers[1] != NONE for row in rows) else [metric.unit]
    panels = [
        (panel, _lines(own, experiment) if fp32 else [])
        for fp32 in (True, False)
        if (panel := [row for row in rows if row.case.fp32 == fp32])
    ]
    right = MARGIN + COLUMN * len(heads)
    note = _note(experiment, own.record.ranked_by(experiment), rows, heads)
    note += "Bars: 95 % intervals."
    note += without_time([step.row for step in every], [case for _, case in steps])
    above = [LINE * (0.2 + max(1, len(lines))) for _, lines in panels]
    heights = [top + ROW * len(rows) + AXIS for top, (rows, _) in zip(above, panels, strict=True)]
    message = _message(own, experiment, [case for _, case in steps])
    card = Card(message, note, math.fsum(heights), TYPE)
    for at, (panel, lines) in enumerate(panels):
        end = _end(panel, lines)
        top = math.fsum(heights[:at]) + above[at]
        bottom = math.fsum(heights[at + 1 :]) + AXIS
        rows_down = Axis(len(panel) + _TOP, _TOP)
        place = card.panel(linear(0, end, 5), rows_down, MARGIN, right, top, bottom)
        place.frame(f"rate ({metric.unit})", size=TYPE)
        _draw(place, panel, lines)
        for y, row in enumerate(panel):
            _numbers(place, y, row.numbers[: len(heads)], INK)
        if at == 0:
            _numbers(place, _ABOVE, heads, MUTED)
        if not panel[0].case.fp32:
            text = "Not IEEE fp32" + ", on a scale of their own" * at
            card.text(place.left, place.py(_ABOVE), text, MUTED, TYPE)
    return card


def _lines(own: Measured, experiment: Experiment) -> list[_Line]:
    """From left to right."""
    record, metric, lines = own.record, metric_of(own.record, experiment), list[_Line]()
    if library := record.timed(experiment, reference(record, experiment), experiment.headline):
        lines.append(_Line(library.strategy, metric.rates(library)[0], LIBRARY))
    if limit := metric.limit(record):
        lines.append(_Line(metric.ceiling_label, limit, MUTED))
    return sorted(lines, key=lambda line: line.value)


def _end(rows: list[_Row], lines: list[_Line]) -> float:
    """Where a panel's scale ends."""
    return 1.03 * max([row.rate[2] for row in rows] + [line.value for line in lines])


def _numbers(panel: Panel, y: float, numbers: list[str], color: str) -> None:
    """Beside the panel, in columns."""
    for column, text in enumerate(numbers, 1):
        at = panel.right + COLUMN * column
        panel.card.text(at, panel.py(y), text, color, TYPE, anchor="end")


def _draw(panel: Panel, rows: list[_Row], lines: list[_Line]) -> None:
    """The steps from top to bottom, each with its name above its bar."""
    card, end = panel.card, panel.x.high
    for at, line in enumerate(lines):
        # the names are stairs: a line ends at its own, below those of the lines to its right
        top, x = panel.py(_ABOVE - at * LINE / ROW), panel.px(line.value)
        dash = "5 3" if line.color == LIBRARY else ""
        card.path([(x, top), (x, panel.bottom)], line.color, 1, dash)
        right = line.value < end / 2
        text = f"{line.name} {significant(line.value)}"
        anchor, at_x = ("start", x + 4) if right else ("end", x - 4)
        card.text(at_x, top, text, line.color, TYPE, anchor=anchor, backed=True)
    for y, row in enumerate(rows):
        color, marker = LOOKS[group(row.case)]
        panel.level(y, 0, row.rate[0], color, 2)
        above = panel.py(y - 0.46)
        ends = card.text(panel.left, above, row.step.idea, color, TYPE, bold=True, backed=True)
        # its row's name follows
        name = row.case.strategy + row.case.marks
        card.text(ends + 6, above, name, MUTED, TYPE, backed=True)
        panel.dots([(y, *row.rate)], color, marker, size=MARK)


def _note(experiment: Experiment, ranked: str, rows: list[_Row], heads: list[str]) -> str:
    text = f"{experiment.title} at {shape_label(experiment.headline)}, {ranked}. "
    if _GAIN in heads:
        text += f"{_GAIN}: times as fast as the step before"
        for last, row in zip([None, *rows], rows, strict=False):
            if row.numbers[1] != NONE and not (last and last.step.row == row.step.base):
                text += f"; {row.step.row}: over {row.step.base}"
        text += ". "
    kinds = sorted({group(row.case) for row in rows})
    text += "; ".join(f"{SIGNS[kind]} {list(GROUPS)[kind]}" for kind in kinds) + ". "
    if any(row.step.effective for row in rows):
        text += "*: effective, as the step does less work than it is credited with. "
    return text


def _message(own: Measured, experiment: Experiment, cases: list[Case]) -> str:
    """How far the fastest of the first step's arithmetic came, and then the fastest of others."""
    first = cases[0]
    same = [case for case in cases[1:] if case.arithmetic == first.arithmetic]
    rest = [case for case in cases[1:] if case.arithmetic != first.arithmetic]
    found = [min(some, key=lambda case: case.time.median) for some in (same, rest) if some]
    texts: list[str] = []
    for case in found:
        text = f"is {against(own, first, case)}"
        if texts and ratio(own, first, case).outcome == FASTER:
            text = f"{factor(ratio(own, first, case).value)} times"
        elif case.fp32 and rest:
            text += ", in IEEE fp32"
        texts.append(f"{case.strategy}{case.marks} {text}")
    if not texts:
        texts = [f"{first.strategy}{first.marks} takes {duration(first.time.median)}"]
    return f"At {shape_label(experiment.headline)} {'; '.join(texts)}"
