"""The charts of one experiment: which cases each shows, and how.

A chart follows from the record alone; only PLANS names strategies and shapes. A chart without data
is not drawn and says why, and a case without a time stays visible with its reason.
"""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import Any

import matplotlib
from canvas import (
    BLUE,
    CARD,
    FAINT,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    SERIES,
    VERMILLION,
    Label,
    card,
    end_labels,
    ink_on_card,
    ink_on_fill,
    line,
    log_axes,
    note,
    style,
    svg,
)
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from quantities import Ratio, duration, shape_label, significant, spread
from record import Case, Experiment, Record
from series import crossings, first_rung, metric_of, reference, sweep


@dataclass(frozen=True)
class Plan:
    """What the charts of an experiment single out."""

    rung: str  # stands for the GPU in the chart against the CPU
    second_shape: str  # a second look at the block policies


PLANS = {"matmul": Plan("tile16", "1024x1024x1024")}


@dataclass(frozen=True)
class Chart:
    name: str
    title: str
    alt: str
    caption: str
    svg: bytes | None
    why_not: str = ""


class _NotDrawn(Exception):
    """The record has nothing to draw; str() is the reason that the report gives."""


@dataclass(frozen=True)
class _Drawing:
    figure: Figure
    subtitle: str
    caption: str = ""


def _nothing(record: Record) -> _NotDrawn:
    if record.gpu_measured:
        return _NotDrawn("none of the cases that it shows was measured")
    return _NotDrawn(f"no GPU case was measured, because {record.no_gpu_because}")


def _throughput(record: Record, experiment: Experiment) -> _Drawing:
    metric, limit = metric_of(record, experiment), metric_of(record, experiment).limit(record)
    rows, lines = [], {}
    for row in record.strategies(experiment):
        cases = sweep(record, experiment, row.strategy, "cold")
        if row.target == "gpu" and cases:
            rows.append(row)
            # the slow end of a time's interval is the low end of the rate's
            lines[row.strategy] = [
                (n, *(metric.rate(c, s) for s in (c.seconds.median, c.seconds.high, c.seconds.low)))
                for n, c in cases
            ]
    if not lines:
        raise _nothing(record)
    # fifteen rungs in one panel overlap, so each block tile has its own; the others stay grey
    panels: dict[str, list[str]] = {}
    for row in rows:
        tile = row.parameters.get("tile")
        name = f"{tile} × {tile} tiles, by depth" if tile else "Rungs outside the block sweep"
        if row.role == "rung":
            panels.setdefault(name, []).append(row.strategy)
    panels = panels or {"Baselines": []}
    sizes = sorted({point[0] for points in lines.values() for point in points})
    values = [v for points in lines.values() for p in points for v in p[1:]] + [limit or 1]
    columns = min(2, len(panels))
    lanes = math.ceil(len(panels) / columns)
    height = 1.3 + 3.7 * lanes
    subtitle = "cold (L2 flushed before each launch) · square sizes, powers of two · bars are 95 % "
    subtitle += "intervals of the median"
    figure = card(height, f"{experiment.title}: throughput against size", subtitle)
    grid = figure.add_gridspec(lanes, columns, wspace=0.62, hspace=0.24)
    grid.update(left=0.07, right=0.86, bottom=0.55 / height, top=1 - 1.05 / height)
    for at, (name, members) in enumerate(panels.items()):
        axes = figure.add_subplot(grid[at // columns, at % columns], title=name)
        log_axes(axes, sizes, min(values) / 1.5, max(values) * 1.6)
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: significant(y, 1)))
        axes.set_ylabel(f"throughput ({metric.unit}, log)")
        axes.set_xlabel(f"{' = '.join(experiment.axes)} (elements, log)")
        labels = []
        if limit:
            axes.axhline(limit, color=MUTED, linestyle=(0, (5, 3)), linewidth=1.1)
            text = f"{metric.ceiling_label} {significant(limit)}"
            labels.append(Label(sizes[-1] * 2**0.2, limit, text, MUTED))
        for row in rows:
            points = lines[row.strategy]
            if row.role == "baseline":
                fp32 = row.arithmetic == "fp32"
                look = {"linestyle": "-" if fp32 else (0, (1, 1.2)), "linewidth": 1.4}
                line(axes, points, color=INK, marker=".", **look)
                text = row.strategy + ("" if fp32 else "\nnot fp32-accurate")
                labels.append(Label(*points[-1][:2], text, INK))
            elif row.strategy not in members:
                axes.plot(*list(zip(*points, strict=True))[:2], color=FAINT, linewidth=0.8)
        for member, (color, marker) in zip(members, SERIES * 9, strict=False):
            points = lines[member]
            line(axes, points, color=color, marker=marker, markeredgecolor=CARD, mew=0.6)
            labels.append(Label(*points[-1][:2], member, color, bold=True))
        end_labels(axes, labels)
    caption = "Grey lines are the rungs of the other panels. Sizes that are no power of two and "
    return _Drawing(figure, subtitle, caption + "rectangular shapes stand in the tables only.")


def _ladder(record: Record, experiment: Experiment) -> _Drawing:
    shape, base_name = experiment.headline, first_rung(record, experiment)
    base = record.find(experiment, base_name or "", shape, "cold")
    if not record.gpu_measured:
        raise _nothing(record)
    if base is None or base.seconds is None:
        why = base.why_not if base else "the record holds no such case"
        raise _NotDrawn(f"its base, {base_name} at {shape_label(shape)}: {why}")
    rows = [row for row in record.strategies(experiment) if row.target == "gpu"]
    cases = {row.strategy: record.find(experiment, row.strategy, shape, "cold") for row in rows}
    ratios = {n: Ratio.of(base.seconds, c.seconds) for n, c in cases.items() if c and c.seconds}
    subtitle = f"cold · speed-up over the first rung, {base_name} "
    subtitle += f"({duration(base.seconds.median)}) · whiskers are 95 % intervals of the ratio"
    height = 1.75 + 0.25 * len(rows)
    figure = card(height, f"{experiment.title}: the ladder at {shape_label(shape)}", subtitle)
    axes = figure.add_axes((0.13, 0.8 / height, 0.56, 1 - 1.75 / height))
    low = min(0.8, *(r.low for r in ratios.values())) / 1.15
    high = max(1.25, *(r.high for r in ratios.values())) * 1.15
    axes.set(xscale="log", xlim=(low, high), ylim=(len(rows) - 0.4, -0.6))
    ticks = [t * 10.0**e for e in range(-4, 6) for t in (1, 2, 5) if low < t * 10.0**e < high]
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}×"))
    axes.grid(True, axis="x")
    axes.axvline(1, color=MUTED, linewidth=1)
    axes.spines["left"].set_visible(False)
    axes.set_yticks(range(len(rows)), list(cases))
    axes.set_xlabel(f"speed-up over {base_name} (×, log; right of 1 is faster)")
    beside = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 8}
    axes.text(1.025, -0.95, "speed-up [95 % interval]", color=MUTED, **beside)
    axes.text(1.37, -0.95, "time", color=MUTED, **beside)
    for at, row in enumerate(rows):
        case, fp32 = cases[row.strategy], row.arithmetic == "fp32"
        color = BLUE if row.role == "rung" else ORANGE if fp32 else PURPLE
        axes.get_yticklabels()[at].set_color(INK if row.role == "rung" else ink_on_card(color))
        ratio = ratios.get(row.strategy)
        if ratio is None:
            why = case.why_not if case else "the record holds no such case"
            text = "\n".join(textwrap.wrap(why, 92, max_lines=2, placeholder=" …"))
            look = {**beside, "fontsize": 7.2, "color": MUTED, "style": "italic", "zorder": 4}
            look["bbox"] = {"facecolor": CARD, "edgecolor": "none", "pad": 1}
            axes.text(0.012, at, text, linespacing=1, **look)
            continue
        stem = {"linewidth": 5, "alpha": 0.35, "solid_capstyle": "butt"}
        axes.plot([1, ratio.value], [at, at], color=color, **stem)
        spans = [[ratio.value - ratio.low], [ratio.high - ratio.value]]
        look = {"marker": "o" if fp32 else "D", "markersize": 5.5, "elinewidth": 1.2}
        axes.errorbar([ratio.value], [at], xerr=spans, color=color, capsize=3, **look)
        text = "base" if case is base else str(ratio)
        axes.text(1.025, at, text + ("" if fp32 else " †"), **beside)
        axes.text(1.37, at, duration(case.seconds.median), **beside)
    key = "blue: rungs of the documents · orange: the vendor's library"
    if any(row.arithmetic != "fp32" for row in rows):
        key += " · † purple: not fp32-accurate"
    note(figure, 22, key, fontsize=8, color=MUTED)
    return _Drawing(figure, subtitle)


def _cpu_gpu(record: Record, experiment: Experiment) -> _Drawing:
    plan = PLANS.get(experiment.name)
    rung = plan.rung if plan else first_rung(record, experiment)
    cpu = [row.strategy for row in record.strategies(experiment) if row.target == "cpu"]
    series = []  # strategy, regime, label, colour, marker
    for name, (color, marker) in zip(cpu, ((VERMILLION, "s"), (ORANGE, "D")) * 9, strict=False):
        series.append((name, "hot", name, color, marker))
    gpu = (rung, BLUE, "o"), (reference(record, experiment), INK, "^")
    for name, color, marker in gpu:
        series.append((name, "end_to_end", f"{name}, end to end", color, marker))
        series.append((name, "cold", f"{name}, kernel only", color, marker))
    lines = {(name, r): sweep(record, experiment, name or "", r) for name, r, *_ in series}
    times = [case.seconds.median for points in lines.values() for _, case in points]
    if not times:
        raise _NotDrawn("no square size was measured")
    subtitle = "CPU: data in memory (hot) · GPU, kernel only: cold · end to end: allocate, copy "
    subtitle += "in, run, copy out, free"
    figure = card(5.9, f"{experiment.title}: CPU against GPU", subtitle)
    axes = figure.add_axes((0.085, 0.1, 0.68, 0.755))
    sizes = sorted({edge for points in lines.values() for edge, _ in points})
    log_axes(axes, sizes, min(times) / 3, max(times) * 2)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: duration(y, 1)))
    axes.set_ylabel("time (s, ms or µs as at each tick, log)")
    axes.set_xlabel(f"{' = '.join(experiment.axes)} (elements, log)")
    labels, notes = [], []
    for name, regime, text, color, marker in series:
        points = [
            (n, c.seconds.median, c.seconds.low, c.seconds.high) for n, c in lines[name, regime]
        ]
        if points:
            kernel = regime == "cold"
            look = {"linestyle": (0, (4, 2)) if kernel else "-", "marker": marker}
            line(axes, points, color=color, markerfacecolor=CARD if kernel else color, **look)
            labels.append(Label(*points[-1][:2], text, color, bold=not kernel))
    end_labels(axes, labels, 8.5)
    corner = {"fontsize": 8.5, "ha": "right", "transform": axes.transAxes}
    ring = {"marker": "o", "markersize": 13, "markerfacecolor": "none", "color": INK}
    crossed: list[str] = []
    for name in cpu:
        found, ratios = crossings(lines[name, "hot"], lines[rung, "end_to_end"])
        for crossing in found:
            # a ring with a number, explained in the corner that rising lines leave free
            point = (crossing.at, crossing.seconds)
            axes.plot(*point, **ring)
            look = {"textcoords": "offset points", "ha": "center", "fontweight": "bold"}
            axes.annotate(str(len(crossed) + 1), point, (0, 9), **look)
            verb = "overtakes" if crossing.other_wins_above else "falls behind"
            text = f"{len(crossed) + 1}: {rung} end to end {verb} {name} "
            crossed.append(text + f"between {crossing.below} and {crossing.above}")
        if ratios and not found:
            word = "faster" if ratios[0][1].value > 1 else "slower"
            notes.append(f"{rung} end to end is {word} than {name} at every size measured by both.")
    for at, text in enumerate(reversed(crossed)):
        axes.text(0.985, 0.03 + 0.045 * at, text, **corner)
    if not record.gpu_measured:
        text = f"GPU not measured: {record.no_gpu_because}"
        axes.text(0.985, 0.045, text, color=MUTED, **corner)
        notes.append(f"The GPU's lines are missing: {_nothing(record)}.")
    return _Drawing(figure, subtitle, " ".join(notes))


def _block_policy(record: Record, experiment: Experiment) -> _Drawing:
    metric, plan = metric_of(record, experiment), PLANS.get(experiment.name)
    policies = {
        (row.parameters["tile"], row.parameters["depth"]): row.strategy
        for row in record.strategies(experiment)
        if {"tile", "depth"} <= set(row.parameters)
    }
    if not policies:
        raise _NotDrawn("the record holds no strategy with a tile and a depth")
    tiles, depths = (sorted(set(axis)) for axis in zip(*policies, strict=True))
    shapes = dict.fromkeys([experiment.headline, *([plan.second_shape] if plan else [])])
    shapes = [shape for shape in shapes if shape in record.shapes(experiment)]
    cases = {
        (shape, *policy): record.find(experiment, strategy, shape, "cold")
        for shape in shapes
        for policy, strategy in policies.items()
    }
    rates = {
        key: metric.rate(case, case.seconds.median)
        for key, case in cases.items()
        if case and case.seconds
    }
    if not rates:
        raise _nothing(record)
    low, high = min(rates.values()), max(rates.values())
    height = 2.0 + 0.78 * len(tiles)
    subtitle = f"throughput in {metric.unit}, cold · brighter is faster, on one scale · "
    subtitle += "outlined: the fastest of its panel"
    figure = card(height, f"{experiment.title}: block policies, tile × depth", subtitle)
    grid = figure.add_gridspec(1, len(shapes), wspace=0.24)
    grid.update(left=0.105, right=0.975, bottom=0.62 / height, top=1 - 1.0 / height)
    for panel, shape in enumerate(shapes):
        axes = figure.add_subplot(grid[0, panel], title=shape_label(shape))
        axes.set(xlim=(-0.5, len(depths) - 0.5), ylim=(len(tiles) - 0.5, -0.5))
        axes.set_xticks(range(len(depths)), [str(depth) for depth in depths])
        axes.set_yticks(range(len(tiles)), [f"{tile} × {tile}" for tile in tiles])
        axes.spines[:].set_visible(False)
        axes.set_xlabel("depth (tiles staged at once, count)")
        axes.set_ylabel("tile (elements)")
        best = max((key for key in rates if key[0] == shape), key=rates.__getitem__, default=None)
        for y, tile in enumerate(tiles):
            for x, depth in enumerate(depths):
                key = (shape, tile, depth)
                _policy_cell(axes, x, y, cases.get(key), rates.get(key), (low, high), key == best)
    return _Drawing(figure, subtitle)


def _policy_cell(
    axes: Any, x: int, y: int, case: Case | None, rate: float | None,
    scale: tuple[float, float], best: bool,
) -> None:  # fmt: skip
    box = {"xy": (x - 0.475, y - 0.46), "width": 0.95, "height": 0.92}
    middle = {"ha": "center", "va": "center"}
    if case is None or rate is None:
        axes.add_patch(Rectangle(**box, facecolor=CARD, edgecolor=FAINT, hatch="////"))
        why = case.why_not if case else "not in this record"
        text = "\n".join(textwrap.wrap(why, 17, max_lines=5, placeholder=" …"))
        look = {"fontsize": 6.5, "bbox": {"facecolor": CARD, "edgecolor": "none", "pad": 1}}
        axes.text(x, y, text, **middle, **look)
        return
    low, high = scale
    fill = matplotlib.colormaps["cividis"](0.08 + 0.9 * (rate - low) / (high - low or 1))
    ink = ink_on_fill(fill)
    axes.add_patch(Rectangle(**box, facecolor=fill, edgecolor="none"))
    if best:
        outline = {"facecolor": "none", "edgecolor": VERMILLION, "linewidth": 3, "zorder": 5}
        axes.add_patch(Rectangle(**box, **outline))
    weight = "bold" if best else "normal"
    axes.text(x, y - 0.06, significant(rate), color=ink, fontsize=12, fontweight=weight, **middle)
    axes.text(x, y + 0.27, spread(case.seconds), color=ink, fontsize=7, **middle)
    if best:
        axes.text(x, y - 0.32, "fastest", color=ink, fontsize=7, **middle)


_CHARTS = {
    "throughput": ("Throughput against size", _throughput),
    "ladder": ("The ladder", _ladder),
    "cpu_gpu": ("CPU against GPU", _cpu_gpu),
    "block_policy": ("Block policies", _block_policy),
}


def charts(record: Record, experiment: Experiment, prefix: str = "") -> list[Chart]:
    """Draws every chart of one experiment; one without data comes with `why_not` instead."""
    drawn = []
    for kind, (title, draw) in _CHARTS.items():
        name = f"{prefix}{experiment.name}_{kind}.svg"
        try:
            with style():
                drawing = draw(record, experiment)
                data = svg(drawing.figure)
            alt = f"{experiment.title}, {title}: {drawing.subtitle}"
            drawn.append(Chart(name, title, alt, drawing.caption, data))
        except _NotDrawn as why:
            drawn.append(Chart(name, title, "", "", None, str(why)))
    return drawn
