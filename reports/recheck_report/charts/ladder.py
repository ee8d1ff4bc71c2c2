"""The ladder: every GPU row's speed-up over the first rung, at the headline shape."""

from __future__ import annotations

import textwrap
from typing import Any

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from recheck_report.charts.canvas import (
    BLUE,
    CARD,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    SKY,
    Interval,
    Look,
    card,
    dots,
    ink_on_card,
    note,
)
from recheck_report.charts.drawing import Drawing, NotDrawn, nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, shape_label
from recheck_report.model.record import Case, Experiment
from recheck_report.queries import first_rung
from recheck_report.statistics.family import comparisons

TITLE = "The ladder"


def _color(row: Case) -> str:
    if not row.contends:
        return GREEN
    if not row.fp32:
        return PURPLE
    return ORANGE if row.role != "rung" else BLUE if row.documented else SKY


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record = own.record
    shape, base_name = experiment.headline, first_rung(record, experiment)
    base = record.find(experiment, base_name or "", shape, "cold")
    if not record.gpu_measured:
        raise nothing(record)
    if base is None or base.seconds is None:
        why = base.why_not if base else "the record holds no such case"
        raise NotDrawn(f"its base, {base_name} at {shape_label(shape)}: {why}")
    rows = [
        row
        for row in record.strategies(experiment)
        if row.target == "gpu" and not row.sweep and not row.part_of
    ]
    # what solves another problem is no rung of this ladder: it stands apart, below
    apart = [row for row in rows if not row.contends]
    rows = [row for row in rows if row.contends] + apart
    gap = 0.9 if apart else 0.0
    heights = [at + (gap if row in apart else 0) for at, row in enumerate(rows)]
    cases = {row.strategy: record.find(experiment, row.strategy, shape, "cold") for row in rows}
    known = comparisons(record)
    ratios = {n: known.ratio(base, c) for n, c in cases.items() if c and c.seconds}
    subtitle = f"cold · speed-up over the first rung, {base_name} "
    subtitle += f"({duration(base.seconds.median)}) · whiskers are 95 % intervals of the ratio"
    height = 1.75 + 0.25 * (len(rows) + gap)
    figure = card(height, f"{experiment.title}: the ladder at {shape_label(shape)}", subtitle)
    left = 0.13 if max(map(len, cases)) < 18 else 0.175
    axes = figure.add_axes((left, 0.8 / height, 0.69 - left, 1 - 1.75 / height))
    low = min(0.8, *(r.low for r in ratios.values())) / 1.15
    high = max(1.25, *(r.high for r in ratios.values())) * 1.15
    axes.set(xscale="log", xlim=(low, high), ylim=(heights[-1] + 0.6, -0.6))
    ticks = [t * 10.0**e for e in range(-4, 6) for t in (1, 2, 5) if low < t * 10.0**e < high]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}×"))
    axes.grid(True, axis="x")
    axes.axvline(1, color=MUTED, linewidth=1)
    axes.spines["left"].set_visible(False)
    axes.set_yticks(heights, list(cases))
    axes.set_xlabel(f"speed-up over {base_name} (×, log; right of 1 is faster)")
    beside: Look = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 8}
    # the columns of text stand at the same places of the card, however wide the panel is
    columns = [1.025, 1 + 0.207 / (0.69 - left)]
    axes.text(columns[0], -0.95, "speed-up [95 % interval]", color=MUTED, **beside)
    axes.text(columns[1], -0.95, "time", color=MUTED, **beside)
    if apart:
        text = "‡ another problem with these bytes: what the machine can do, no equal of the rest"
        look: Look = {**beside, "fontsize": 7.5}
        look["bbox"] = {"facecolor": CARD, "edgecolor": "none", "pad": 1}
        axes.text(0, len(rows) - len(apart) + 0.2, text, color=MUTED, zorder=4, **look)
    points: dict[tuple[str, str], list[Interval]] = {}
    names = axes.get_yticklabels()
    for at, row, name in zip(heights, rows, names, strict=True):
        case, color = cases[row.strategy], _color(row)
        name.set_color(INK if color == BLUE else ink_on_card(color))
        ratio = ratios.get(row.strategy)
        if case is None or ratio is None:
            _gap(axes, at, case, beside)
            continue
        stem: Look = {"linewidth": 5, "alpha": 0.35, "solid_capstyle": "butt"}
        axes.plot([1, ratio.value], [at, at], color=color, **stem)
        marker = "o" if row.fp32 and row.contends else "D"
        points.setdefault((color, marker), []).append((at, ratio.value, ratio.low, ratio.high))
        text = "base" if case is base else str(ratio)
        axes.text(columns[0], at, text + row.marks, **beside)
        axes.text(columns[1], at, duration(case.time.median), **beside)
    for (color, marker), of in points.items():
        dots(axes, of, color=color, marker=marker, markersize=5.5, capsize=3, elinewidth=1.2)
    key = "blue: rungs of the documents · orange: the vendor's library"
    if any(row.role == "rung" and not row.documented for row in rows):
        key += " · light blue: rungs beyond them"
    if any(row.split for row in rows):
        key += " · § purple: fp32-accurate on tensor cores"
    if any(not row.fp32 and not row.split for row in rows):
        key += " · † purple: not fp32-accurate"
    if apart:
        key += " · ‡ green: another problem"
    note(figure, 22, key, fontsize=8, color=MUTED)
    return Drawing(figure, subtitle)


def _gap(axes: Any, at: float, case: Case | None, beside: Look) -> None:
    why = case.why_not if case else "the record holds no such case"
    text = "\n".join(textwrap.wrap(why, 92, max_lines=2, placeholder=" …"))
    look = {**beside, "fontsize": 7.2, "color": MUTED, "style": "italic", "zorder": 4}
    look["bbox"] = {"facecolor": CARD, "edgecolor": "none", "pad": 1}
    axes.text(0.012, at, text, linespacing=1, **look)
