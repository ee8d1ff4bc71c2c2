"""The story: rate and energy of each step from the first kernel to the fastest, side by side.

Its steps are those of the experiment's story.toml, so any experiment may have it. Energy is of one
window of hot launches, so it has no interval, and a title says of it no more than what it came to.
"""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

from recheck_report.charts.canvas import (
    DASHED,
    FAINT,
    INK,
    MARGIN,
    MUTED,
    VERMILLION,
    WIDTH,
    Card,
    Interval,
    Look,
    beside,
    down,
    log_values,
)
from recheck_report.charts.drawing import Drawing, nothing
from recheck_report.charts.ladder import GROUPS, LOOKS, group
from recheck_report.charts.message import FASTER, against, factor, interval, ratio
from recheck_report.charts.roofline import highest
from recheck_report.claims.measured import Measured
from recheck_report.claims.story import Step
from recheck_report.formatting import duration, shape_label, significant
from recheck_report.model.record import Case, Experiment
from recheck_report.queries import metric_of, reference
from recheck_report.sections.story import case_of, joules, there

TITLE = "Step by step"
SIGNS = ("●", "■", "◆", "▲", "✚", "▼")  # the markers of GROUPS, in words
NAMES, NUMBERS, GAP = 180.0, 42.0, 8.0  # points: the steps' names, numbers beside, between panels
ROW = 27.0  # of a step, two lines of text
Rates = Mapping[str, tuple[float, float, float]]  # of rows, with their intervals
Line = tuple[str, float, str]  # what it is of, where it stands, its colour


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record, shape, told = own.record, experiment.headline, there(own, experiment)
    steps, gone = [], []
    for step in told[1] if told else []:
        if case := case_of(own, experiment, step.row):
            steps.append((step, case))
        else:
            missing = record.find(experiment, step.row, shape, "cold")
            why = missing.why_not if missing else "the record holds no such case"
            gone.append(f"{step.row} ({why})")
    if not steps:
        raise nothing(record)
    metric, vendor = metric_of(record, experiment), reference(record, experiment)
    rates = {case.strategy: metric.rates(case) for _, case in steps}
    work = getattr(steps[0][1], metric.work) / 1e9
    energies = {
        row: work / found
        for row in (*rates, vendor)
        if row and (found := joules(own, experiment, row))
    }
    lines: list[Line] = []
    library = case_of(own, experiment, vendor or "")
    if vendor and library:
        lines.append((vendor, metric.rates(library)[0], VERMILLION))
    best, limit = highest(record, metric, False), metric.limit(record)
    if best and best.name != metric.ceiling_label:
        lines.append(("measured", best.value / metric.scale, INK))
    if limit:
        lines.append((metric.ceiling_label, limit, MUTED))

    kinds = sorted({group(case) for _, case in steps})
    note = (
        f"{experiment.title} at {shape_label(shape)}, cold; energy of hot launches in one window. "
    )
    note += "; ".join(f"{SIGNS[kind]} {list(GROUPS)[kind]}" for kind in kinds) + ". "
    note += "§ is not IEEE fp32. " * any(case.split for _, case in steps)
    note += "*: effective, as the step does less work than it is credited with. " * any(
        step.effective for step, _ in steps
    )
    note += "Bars: 95 % intervals."
    card = Card(_message(own, experiment, [case for _, case in steps]), note, 78 + ROW * len(steps))
    width = (WIDTH - NAMES - NUMBERS - MARGIN) / (2 if energies else 1)
    width -= (NUMBERS + GAP) / 2 if energies else 0
    left = card.axes(NAMES, WIDTH - NAMES - width, top=36, bottom=38)
    _panel(card, left, steps, rates, f"rate ({metric.unit}, log)", lines)
    for y, (step, case) in enumerate(steps):
        name = case.strategy + case.marks
        bold: Look = {"color": LOOKS[group(case)][0], "fontweight": "bold"}
        _named(left, y, step.idea, 6, bold)
        _named(left, y, name, -6, {"color": MUTED})
    if energies:
        right = card.axes(NAMES + width + NUMBERS + GAP, NUMBERS + MARGIN, top=36, bottom=38)
        of_vendor = [(vendor, energies[vendor], VERMILLION)] if vendor in energies else []
        alone = {row: (each,) * 3 for row, each in energies.items()}
        _panel(card, right, steps, alone, f"energy ({metric.energy_unit}, log)", of_vendor)
    return Drawing(card, f"No time at {shape_label(shape)}: {'; '.join(gone)}." if gone else "")


def _named(axes: Axes, y: float, text: str, above: float, look: Look) -> None:
    """A text at the card's left edge, so many points above the middle of its row."""
    look = {"xycoords": ("figure points", "data"), "textcoords": "offset points", **look}
    axes.annotate(
        text, (MARGIN, y), (0, above), va="center_baseline", annotation_clip=False, **look
    )


def _panel(
    card: Card, axes: Axes, steps: list[tuple[Step, Case]], rates: Rates, label: str,
    lines: list[Line],
) -> None:  # fmt: skip
    """The steps from top to bottom by one measure."""
    unit = label.partition("(")[2].partition(",")[0]
    ends = [end for each in rates.values() for end in each] + [value for _, value, _ in lines]
    log_values(axes.xaxis, min(ends) / 1.3, max(ends) * 1.3, lambda x: f"{x:g}")
    down(axes, [""] * len(steps))
    axes.set_xlabel(label)
    bottom = axes.get_ylim()[0]
    for at, (name, value, color) in enumerate(lines):
        # a name stands on the side where no other line is, the rightmost below
        side = "right" if at == 0 else "left"
        top = -0.85 - 0.42 * max(0, len(lines) - 1 - at) * (at > 0)
        dash = DASHED if color == VERMILLION else "-"
        axes.vlines(value, top, bottom, color=color, linewidth=1, linestyle=dash, clip_on=False)
        axes.annotate(
            f"{name} {significant(value)}", (value, top), (3 if at else -3, 0), color=color,
            ha=side, va="center_baseline", textcoords="offset points", annotation_clip=False,
        )  # fmt: skip
    points: dict[int, list[Interval]] = {}
    titles: dict[int, list[str]] = {}
    for y, (step, case) in enumerate(steps):
        if case.strategy not in rates:
            beside(axes, y, "–")
            continue
        value, low, high = rates[case.strategy]
        axes.hlines(y, axes.get_xlim()[0], value, color=FAINT, linewidth=1)
        sign = "*" if step.effective else ""
        beside(axes, y, significant(value) + case.marks + sign)
        points.setdefault(group(case), []).append((y, value, low, high))
        each = interval((value, low, high), unit) if high > low else f"{significant(value)} {unit}"
        titles.setdefault(group(case), []).append(f"{case.strategy}: {each}{sign}")
    for kind, (color, marker) in enumerate(LOOKS):
        card.dots(axes, points.get(kind, []), titles.get(kind, []), color=color, marker=marker)


def _message(own: Measured, experiment: Experiment, cases: list[Case]) -> str:
    """How far the fastest of the first step's arithmetic came, and then the fastest of others."""
    record, first = own.record, cases[0]
    same = [case for case in cases[1:] if case.arithmetic == first.arithmetic]
    rest = [case for case in cases[1:] if case.arithmetic != first.arithmetic]
    found = [min(some, key=lambda case: case.time.median) for some in (same, rest) if some]
    if not found:
        return f"{first.strategy} takes {duration(first.time.median)}"
    texts: list[str] = []
    for case in found:
        text = f"{case.strategy}{case.marks} is {against(record, first, case)}"
        if texts and ratio(record, first, case).outcome == FASTER:
            text = f"{case.strategy}{case.marks} {factor(ratio(record, first, case).value)} times"
        energy = [joules(own, experiment, each.strategy) for each in (case, first)]
        if energy[0] and energy[1]:
            text += f", for {significant(100 * energy[0] / energy[1], 2)} % of the energy"
        texts.append(text)
    return "; ".join(texts)
