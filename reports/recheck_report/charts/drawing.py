"""What several charts draw: kernels as bars from 0, with what limits their rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recheck_report.claims.measured import Measured
from recheck_report.formatting import significant
from recheck_report.queries import metric_of
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.say.standings import contenders
from recheck_report.write.svg import (
    INK,
    LIBRARY,
    MARGIN,
    MUTED,
    OURS,
    THEIRS,
    WIDTH,
    Card,
    linear,
    names_width,
    rows_axis,
    width_of,
)
from recheck_report.write.svg import NotDrawn as NotDrawn

ROW, LINE, AXIS = 17.0, 13.0, 32.0  # points: a bar, a line of text above them, the axis below
# the colour and marker of a kernel
LOOKS = {
    "from the articles": (THEIRS, "o"),
    "beyond the articles": (OURS, "s"),
    "library": (LIBRARY, "D"),
}


@dataclass(frozen=True)
class Bar:
    name: str
    case: Case
    beside: tuple[str, ...]  # a text for each column after the rate
    loses: bool = False


@dataclass(frozen=True)
class Limit:
    """What rates are held against."""

    name: str
    rate: float
    color: str = MUTED


def sizes_label(experiment: Experiment) -> str:
    """What an axis of sizes counts: "m = n = k (elements, log)"."""
    axes = " = ".join(experiment.axes)
    return f"{axes} (count, log)" if axes == "elements" else f"{axes} (elements, log)"


def nothing(record: Record) -> NotDrawn:
    because = "none of the cases that it shows was measured"
    return NotDrawn(because if record.gpu_measured else record.no_gpu_because)


def timed(
    record: Record, experiment: Experiment, rows: Sequence[Case], shape: str, regime: str = ""
) -> list[Case]:
    """The cases of these rows that have a time, fastest first by median."""
    found = (record.timed(experiment, row.strategy, shape, regime) for row in rows)
    return sorted(filter(None, found), key=lambda case: case.time.median)


def leading(own: Measured, experiment: Experiment) -> Case | None:
    """The fastest kernel at the headline that solves the problem in fp32, libraries apart."""
    rows = [row for row in contenders(own, experiment) if row.role == "rung" and row.fp32]
    return next(iter(timed(own.record, experiment, rows, experiment.headline)), None)


def bars(
    own: Measured,
    experiment: Experiment,
    words: tuple[str, str],
    rows: Sequence[Bar],
    heads: tuple[str, ...],
    limits: Sequence[Limit],
) -> Card:
    """Kernels from top to bottom, their rates on a linear scale. `words`: the card's message and
    note; `heads`: of the columns after the rate."""
    metric, lines = metric_of(own.record, experiment), sorted(limits, key=lambda line: line.rate)
    kinds = [kind for kind in LOOKS if any(_kind(row.case) == kind for row in rows)]
    rates = [metric.rates(row.case) for row in rows]
    texts: list[tuple[str, ...]] = [
        (significant(at[0]), *row.beside) for row, at in zip(rows, rates, strict=True)
    ]
    columns = list(zip((metric.unit, *heads), *texts, strict=True))
    widths = [10 + max(map(width_of, column)) for column in columns]
    top, legend = LINE * (0.4 + max(1, len(lines))), 18.0 * (len(kinds) > 1)
    card = Card(*words, top + ROW * len(rows) + AXIS + legend)
    end = 1.03 * max([each[2] for each in rates] + [line.rate for line in lines])
    left, right = names_width([row.name for row in rows]), MARGIN + sum(widths)
    x = linear(0, end, int(min(5, (WIDTH - left - right) / 32)))
    panel = card.panel(x, rows_axis(len(rows)), left, right, top, AXIS + legend)
    panel.frame(f"rate, {own.record.ranked_by(experiment)} ({metric.unit})")
    panel.rows([row.name for row in rows])
    for y, (row, (value, low, high)) in enumerate(zip(rows, rates, strict=True)):
        color, marker = LOOKS[_kind(row.case)]
        panel.level(y, 0, value, color, 5)
        panel.dots([(y, value, low, high)], color, marker, size=7)
    for at, line in enumerate(lines):
        # the names are stairs: a line ends at its own, below those of the lines to its right
        end_x, above = panel.px(line.rate), panel.top - 5 - LINE * at
        card.path([(end_x, above), (end_x, panel.bottom)], line.color, 1, "5 3")
        text, here = f"{line.name} {significant(line.rate)}", line.rate < end / 2
        anchor = "start" if here else "end"
        card.text(end_x + (4 if here else -4), above, text, line.color, anchor=anchor, backed=True)
    left = panel.right + 10
    for (head, *column), width in zip(columns, widths, strict=True):
        card.text(left, panel.top - 5, head, MUTED)
        for y, (row, text) in enumerate(zip(rows, column, strict=True)):
            lost = row.loses and text == row.beside[-1]
            card.text(left, panel.py(y), text, LIBRARY if lost else INK, bold=lost)
        left += width
    if legend:
        card.legend(panel.bottom + 41, [(*LOOKS[kind], kind) for kind in kinds])
    return card


def _kind(case: Case) -> str:
    kinds = [*LOOKS]
    return kinds[2 if case.role != "rung" else 0 if case.documented else 1]
