"""The two kinds of charts, rows with marks and lines over sizes, and what several charts say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from recheck_report.claims.measured import Measured
from recheck_report.formatting import factor, shape_label, significant
from recheck_report.queries import Metric, metric_of
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.record.regimes import REGIMES
from recheck_report.say.standings import contenders
from recheck_report.write import svg
from recheck_report.write.svg import NotDrawn as NotDrawn

INTERVALS = "Thin bars: 95 % intervals."
COUNTS = {1: "one", 2: "two", 4: "four", 8: "eight"}
Look = tuple[str, str]  # colour and marker
LOOKS: dict[str, Look] = {
    "from the articles": (svg.THEIRS, "o"),
    "beyond the articles": (svg.OURS, "s"),
    "library": (svg.LIBRARY, "D"),
}


@dataclass(frozen=True)
class Row:
    """A name with a value to the right of it, and below both a mark with its interval."""

    name: str
    value: str
    ends: tuple[float, float, float]  # where the mark is, and the ends of its interval
    look: Look
    range: tuple[()] | tuple[float, float] = ()  # a thin bar
    color: str = ""  # of the value, which is bold then
    more: str = ""  # after the name, where there is room


@dataclass(frozen=True)
class Limit:
    """A vertical line."""

    at: float
    name: str = ""
    color: str = svg.MUTED


@dataclass(frozen=True)
class Series:
    name: str
    points: Sequence[svg.Interval]  # place, value, low, high
    look: Look
    minor: bool = False  # dashed and hollow
    band: Sequence[tuple[float, float, float]] = ()  # place, low, high


def rows(
    words: tuple[str, str],
    shown: Sequence[Row],
    x: svg.Axis,
    label: str,
    *,
    bars: bool = True,
    limits: Sequence[Limit] = (),
) -> svg.Card:
    """Rows from top to bottom. `words`: the card's title and note; `bars`: from 0 to the marks;
    `label`: what the axis counts."""
    card, room = svg.Card(*words), svg.WIDTH - 2 * svg.MARGIN
    names = [
        svg.wrapped(row.name, room - svg.width_of(row.value, bold=bool(row.color)) - 8)
        for row in shown
    ]
    named = sorted((limit for limit in limits if limit.name), key=lambda limit: limit.at)
    card.y += svg.LINE * len(named)
    panel = card.panel(x, svg.Axis(0, 1), sum(svg.LINE * len(name) + 16 for name in names) + 2)
    panel.frame(label)
    for at, limit in enumerate(named):
        # the names are stairs: a line ends at its own, below those of the lines to its right
        place, y = panel.px(limit.at), panel.top - 6 - svg.LINE * at
        card.path([(place, y), (place, panel.bottom)], limit.color, 1, "5 3")
        side = 1 if limit.at - x.low < x.high - limit.at else -1
        anchor = "start" if side > 0 else "end"
        card.text(place + 4 * side, y, limit.name, limit.color, anchor=anchor, backed=True)
    y = panel.top
    for row, name in zip(shown, names, strict=True):
        bold, ends = bool(row.color), svg.MARGIN
        place, color = svg.WIDTH - svg.MARGIN, row.color or svg.INK
        card.text(place, y + 8, row.value, color, bold=bold, anchor="end", backed=True)
        for line in name:
            ends = card.text(svg.MARGIN, y + 8, line, backed=True)
            y += svg.LINE
        if ends + 6 + svg.width_of(row.more) + svg.width_of(row.value) + 8 < svg.WIDTH - svg.MARGIN:
            card.text(ends + 6, y + 8 - svg.LINE, row.more, svg.MUTED, backed=bool(row.more))
        y += 7
        if bars:
            card.path([(panel.px(0), y), (panel.px(row.ends[0]), y)], row.look[0], 5)
        if row.range:
            card.path([(panel.px(end), y) for end in row.range], svg.FAINT, 1.4)
        for limit in limits:
            if not limit.name:
                card.path([(panel.px(limit.at), y - 6), (panel.px(limit.at), y + 6)], limit.color)
        panel.interval(y, *row.ends, *row.look)
        y += 9
    return card


def lines(
    words: tuple[str, str],
    series: Sequence[Series],
    x: svg.Axis,
    y: svg.Axis,
    labels: tuple[str, str],
) -> tuple[svg.Card, svg.Panel]:
    """Lines over sizes, with a key below; `labels`: what the two axes count."""
    card = svg.Card(*words)
    card.y += 16
    panel = card.panel(x, y, 220, svg.MARGIN + 6 + max(svg.width_of(text) for _, text in y.ticks))
    panel.frame(*labels)
    for each in series:
        panel.band(each.band, each.look[0])
    for each in series:
        panel.line(each.points, *each.look, "4 2" * each.minor, hollow=each.minor)
    card.key([(*each.look, each.name, each.minor) for each in series])
    return card, panel


def kernel(
    metric: Metric, case: Case, name: str, gain: str, color: str = "", more: str = ""
) -> Row:
    """A kernel with its rate, and behind that what it gains."""
    ends = metric.rates(case)
    value = " · ".join(filter(None, (significant(ends[0]), gain)))
    return Row(name, value, ends, look_of(case), color=color, more=more)


def kernels(
    report: Measured,
    experiment: Experiment,
    words: tuple[str, str],
    shown: Sequence[Row],
    limits: Sequence[Limit],
    beside: str,
) -> svg.Card:
    """Kernels on a linear scale from 0; `beside`: what follows the rate."""
    end = 1.03 * max([row.ends[2] for row in shown] + [limit.at for limit in limits])
    unit = metric_of(report.record, experiment).unit
    label = f"rate, {report.record.ranked_by(experiment)} ({unit}) · {beside}"
    card = rows(words, shown, svg.linear(0, end), label, limits=limits)
    card.key(keys(shown))
    return card


def keys(shown: Sequence[Row]) -> list[tuple[str, str, str, bool]]:
    """The key to the looks of kernels; empty if there is only one."""
    used = {row.look for row in shown}
    return [(*look, kind, False) for kind, look in LOOKS.items() if look in used and used - {look}]


def look_of(case: Case) -> Look:
    """How a kernel is drawn."""
    kinds = [*LOOKS]
    return LOOKS[kinds[2 if case.role != "rung" else 0 if case.documented else 1]]


def nothing(record: Record) -> NotDrawn:
    because = "none of the cases that it shows was measured"
    return NotDrawn(because if record.gpu_measured else record.no_gpu_because)


def timed(record: Record, experiment: Experiment, rows: Iterable[str], shape: str) -> list[Case]:
    """The cases of these rows that have a time, fastest first by median."""
    found = (record.timed(experiment, row, shape) for row in rows)
    return sorted(filter(None, found), key=lambda case: case.time.median)


def leading(report: Measured, experiment: Experiment) -> Case | None:
    """The fastest kernel at the headline that solves the problem in fp32, libraries apart."""
    rows = (row for row in contenders(report, experiment) if row.role == "rung" and row.fp32)
    names = (row.strategy for row in rows)
    return next(iter(timed(report.record, experiment, names, experiment.headline)), None)


# words


def outcome(report: Measured, base: Case, other: Case) -> str:
    """Whether `other` is faster or slower than `base`, among all comparisons of the report."""
    return report.comparisons.verdict(base, other).outcome


def plain_name(report: Measured, row: Case) -> str:
    """What a kernel does, in a reader's words: "tiles of 16, four deep"; else its name."""
    steps = report.collection.stories.get(row.experiment)
    for step in steps.steps if steps else ():
        if step.row == row.strategy:
            return step.idea[0].lower() + step.idea[1:]
    names = report.collection.settings.algorithms
    known = names.get(row.source.algorithm)
    if known and ("tile" in row.parameters or "{tile}" not in known):
        depth = row.parameters.get("depth", 1)
        deep = f", {COUNTS.get(depth, depth)} deep" if depth != 1 else ""
        return known.replace("{tile}", str(row.parameters.get("tile"))) + deep
    if names and row.documented and ", " in row.source.place:  # "SDK sample, diagonal transpose"
        return re.sub(r" trans(pose)?$", "", row.source.place.rpartition(", ")[2])
    return row.strategy.replace("_", " ") if row.role != "baseline" else row.strategy


def fold(value: float, exact: bool = False) -> str:
    """ "1.25×", "1/49.1": a factor and its inverse read in one unit. `exact`: "1.5×", "1/3"."""
    number = factor(max(value, 1 / value))
    number = f"{float(number):g}" if exact else number
    return f"{number}×" if value >= 1 else f"1/{number}"


def start(name: str) -> str:
    """A name as the first words of a sentence: "DRAM", "Shared memory"."""
    return name[0].upper() + name[1:]


def listed(names: Sequence[str]) -> str:
    """ "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def where(experiment: Experiment, regime: str) -> str:
    """The first sentences of a note: the shape, and the regime in words."""
    return f"{experiment.title} at {shape_label(experiment.headline)}. {REGIMES[regime].chart}"
