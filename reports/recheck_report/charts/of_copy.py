"""Each kernel's share of the simple copy's throughput: old GPUs as published, and this one."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter

from recheck_report.charts.canvas import (
    BLUE,
    CARD,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    VERMILLION,
    card,
    dots,
    note,
)
from recheck_report.charts.drawing import Drawing, nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label
from recheck_report.model.record import Experiment
from recheck_report.queries import share

TITLE = "How near to a copy"
COPY, PAPER = "sdk_copy", "white-paper"
THEN = ((VERMILLION, "s"), (ORANGE, "D"), (PURPLE, "v"))
HERE = ((BLUE, "o"), (GREEN, "^"))
Rate = tuple[float, float, float]  # and its low and high end


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record, figures = own.record, own.known.figures_of(experiment.name)
    paper, names = figures.of(PAPER), figures.hardware
    published = [(f, f.bytes_per_second) for f in paper if f.bytes_per_second]
    copies = {f.hardware: rate for f, rate in published if f.strategy == COPY}
    shapes = dict.fromkeys([experiment.headline, *(f.shape for f, _ in published)])
    rows = [
        row
        for row in record.strategies(experiment)
        if row.target == "gpu" and row.role != "part" and row.strategy != COPY and not row.sweep
    ]
    here = {}
    for shape in shapes:
        for row in rows:
            case = record.find(experiment, row.strategy, shape, "cold")
            found = share(record, experiment, case, COPY) if case else None
            if found:
                here[shape, row.strategy] = found
    if not here:
        raise nothing(record)
    known = {name for _, name in here} | {f.strategy for f, _ in published}
    rows = [row for row in rows if row.strategy in known]
    others = "published at " + ", ".join(
        shape_label(s) for s in dict.fromkeys(f.shape for f, _ in published)
    )
    gpu = record.environment.gpu.name if record.environment.gpu else "here"
    subtitle = (
        f"share of the throughput of {COPY} at the same shape · {gpu}: cold · others: {others}"
    )
    height = 2.1 + 0.36 * len(rows)
    figure = card(height, f"{experiment.title}: how near to a copy", subtitle)
    axes = figure.add_axes((0.165, 1.15 / height, 0.8, 1 - 1.9 / height))
    series: list[tuple[str, str, str, dict[str, Rate]]] = []
    for hardware, (color, marker) in zip(copies, THEN * 9, strict=False):
        values: dict[str, Rate] = {
            f.strategy: (rate / copies[hardware],) * 3
            for f, rate in published
            if f.hardware == hardware
        }
        series.append((names[hardware], color, marker, values))
    for shape, (color, marker) in zip(shapes, HERE * 9, strict=False):
        values = {
            row.strategy: (r.value, r.low, r.high)
            for row in rows
            if (r := here.get((shape, row.strategy)))
        }
        if values:
            series.append((f"{gpu}, {shape_label(shape)}", color, marker, values))
    top = 100 * max(v[2] for _, _, _, values in series for v in values.values())
    axes.set(xlim=(0, max(105.0, top * 1.06)), ylim=(len(rows) - 0.45, -0.55))
    axes.set_yticks(range(len(rows)), [row.strategy + row.marks for row in rows])
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0f} %"))
    axes.grid(True, axis="x")
    axes.axvline(100, color=INK, linewidth=1)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"share of the throughput of {COPY} (%, right is faster)")
    step = 0.72 / max(1, len(series))
    for at in range(len(rows)):
        axes.axhline(at + 0.5, color=MUTED, linewidth=0.3, alpha=0.6)
    for lane, (label, color, marker, values) in enumerate(series):
        below = (lane - (len(series) - 1) / 2) * step
        points = [
            (at + below, 100 * value, 100 * low, 100 * high)
            for at, row in enumerate(rows)
            if row.strategy in values
            for value, low, high in [values[row.strategy]]
        ]
        dots(axes, points, color=color, marker=marker, markersize=6.5, mec=CARD, mew=0.5)
        axes.plot([], [], linestyle="none", marker=marker, color=color, markersize=6, label=label)
    axes.legend(
        loc="upper left", bbox_to_anchor=(-0.19, -0.42 / (height - 1.9)), ncols=len(series),
        frameon=False, fontsize=8, handletextpad=0.1, columnspacing=1.4,
    )  # fmt: skip
    note(figure, 24, "‡ solves another problem: no transposition", fontsize=8, color=MUTED)
    return Drawing(figure, subtitle, "The published figures have no intervals.")
