"""Rows against block size at equal bytes: a panel for each kernel, a cell for each pair."""

from __future__ import annotations

from recheck_report.charts.canvas import MUTED, card, note
from recheck_report.charts.cells import draw_cell
from recheck_report.charts.drawing import Drawing, NotDrawn, nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, shape_label
from recheck_report.model.record import Experiment
from recheck_report.queries import S3_LISTINGS, metric_of, same_size, swept

TITLE = "Rows against block size"


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record = own.record
    metric, shapes = metric_of(record, experiment), same_size(record, experiment)
    panels = {kernel: swept(record, experiment, kernel, "block") for kernel in S3_LISTINGS}
    panels = {kernel: rows for kernel, rows in panels.items() if rows}
    if not panels or not shapes:
        raise NotDrawn("the record holds no strategy with a block size at such a shape")
    cases = {
        (kernel, shape, block): record.find(experiment, strategy, shape, "cold")
        for kernel, rows in panels.items()
        for shape in shapes
        for block, strategy in rows.items()
    }
    timed = {key: case for key, case in cases.items() if case and case.seconds}
    rates = {key: metric.rate(case, case.time.median) for key, case in timed.items()}
    if not rates:
        raise nothing(record)
    scale = min(rates.values()), max(rates.values())
    blocks = sorted({block for rows in panels.values() for block in rows})
    columns = min(3, len(panels))
    lanes = -(-len(panels) // columns)
    height = 1.6 + (0.75 + 0.235 * len(blocks)) * lanes
    subtitle = (
        f"throughput in {metric.unit}, cold · {shape_label(experiment.headline)} elements in "
    )
    subtitle += (
        "every cell · brighter is faster, on one log scale · outlined: the best of its panel"
    )
    figure = card(height, f"{experiment.title}: rows against block size", subtitle)
    grid = figure.add_gridspec(lanes, columns, wspace=0.2, hspace=0.62 / (0.235 * len(blocks)))
    grid.update(left=0.075, right=0.985, bottom=0.85 / height, top=1 - 1.0 / height)
    for at, kernel in enumerate(panels):
        axes = figure.add_subplot(grid[at // columns, at % columns], title=kernel)
        axes.set(xlim=(-0.5, len(shapes) - 0.5), ylim=(len(blocks) - 0.5, -0.5))
        axes.set_xticks(range(len(shapes)), [_short(shape) for shape in shapes])
        axes.tick_params(axis="x", labelsize=7)
        axes.set_yticks(range(len(blocks)), [str(block) for block in blocks])
        axes.spines[:].set_visible(False)
        axes.set_xlabel("rows (count)", fontsize=8)
        if at % columns == 0:
            axes.set_ylabel("threads per block (count)", fontsize=8)
        best = max((key for key in rates if key[0] == kernel), key=rates.__getitem__, default=None)
        for y, block in enumerate(blocks):
            for x, shape in enumerate(shapes):
                key = (kernel, shape, block)
                draw_cell(
                    axes, x, y, cases.get(key), rates.get(key), scale, key == best, small=True
                )
    legend = (
        "Ki, Mi: 1024 and 1024² · columns so that rows × columns stay equal · dot: not in this run"
    )
    note(figure, 26, legend, fontsize=8, color=MUTED)
    fastest = max(rates, key=rates.__getitem__)
    caption = f"The fastest cell, {fastest[0]} at {shape_label(fastest[1])} with blocks of "
    caption += f"{fastest[2]}, takes {duration(timed[fastest].time.median)}."
    return Drawing(figure, subtitle, caption)


def _short(shape: str) -> str:
    rows = int(shape.split("x")[0])
    for unit, name in ((2**20, "Mi"), (2**10, "Ki")):
        if rows >= unit and rows % unit == 0:
            return f"{rows // unit} {name}"
    return str(rows)
