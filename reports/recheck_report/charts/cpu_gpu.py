"""CPU against GPU over the square shapes, with and without the copies, and where they cross."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter

from recheck_report.charts.canvas import (
    BLUE,
    CARD,
    INK,
    MUTED,
    ORANGE,
    VERMILLION,
    Label,
    Look,
    card,
    end_labels,
    line,
    log_axes,
)
from recheck_report.charts.drawing import Drawing, NotDrawn, nothing, sizes_label
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration
from recheck_report.model.record import Experiment
from recheck_report.queries import crossings, first_rung, reference, sweep

TITLE = "CPU against GPU"
RUNGS = {"matmul": "tile16"}  # what stands for the GPU


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record = own.record
    rung = RUNGS.get(experiment.name) or first_rung(record, experiment) or ""
    cpu = [row.strategy for row in record.strategies(experiment) if row.target == "cpu"]
    series = []  # strategy, regime, label, colour, marker
    for name, (color, marker) in zip(cpu, ((VERMILLION, "s"), (ORANGE, "D")) * 9, strict=False):
        series.append((name, "hot", name, color, marker))
    gpu = (rung, BLUE, "o"), (reference(record, experiment) or "", INK, "^")
    for name, color, marker in gpu:
        series.append((name, "end_to_end", f"{name}, end to end", color, marker))
        series.append((name, "cold", f"{name}, kernel only", color, marker))
    lines = {(name, r): sweep(record, experiment, name, r) for name, r, *_ in series}
    times = [case.time.median for points in lines.values() for _, case in points]
    if not times:
        raise NotDrawn("no square size was measured")
    subtitle = "CPU: data in memory (hot) · GPU, kernel only: cold · end to end: allocate, copy "
    subtitle += "in, run, copy out, free"
    figure = card(5.9, f"{experiment.title}: CPU against GPU", subtitle)
    axes = figure.add_axes((0.085, 0.1, 0.68, 0.755))
    sizes = sorted({edge for points in lines.values() for edge, _ in points})
    log_axes(axes, sizes, min(times) / 3, max(times) * 2)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: duration(y, 1)))
    axes.set_ylabel("time (s, ms or µs as at each tick, log)")
    axes.set_xlabel(sizes_label(experiment))
    labels, notes = [], []
    for name, regime, text, color, marker in series:
        points = [(n, c.time.median, c.time.low, c.time.high) for n, c in lines[name, regime]]
        if points:
            kernel = regime == "cold"
            look = {"linestyle": (0, (4, 2)) if kernel else "-", "marker": marker}
            line(axes, points, color=color, markerfacecolor=CARD if kernel else color, **look)
            labels.append(Label(*points[-1][:2], text, color, bold=not kernel))
    end_labels(axes, labels, 8.5)
    corner: Look = {"fontsize": 8.5, "ha": "right", "transform": axes.transAxes}
    ring: Look = {"marker": "o", "markersize": 13, "markerfacecolor": "none", "color": INK}
    crossed: list[str] = []
    for name in cpu:
        found, ratios = crossings(record, lines[name, "hot"], lines[rung, "end_to_end"])
        for crossing in found:
            # a ring with a number, explained in the corner that rising lines leave free
            point = (crossing.at, crossing.seconds)
            axes.plot(*point, **ring)
            place: Look = {"textcoords": "offset points", "ha": "center", "fontweight": "bold"}
            axes.annotate(str(len(crossed) + 1), point, (0, 9), **place)
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
        notes.append(f"The GPU's lines are missing: {nothing(record)}.")
    return Drawing(figure, subtitle, " ".join(notes))
