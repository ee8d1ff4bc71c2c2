"""Block policies: a cell for each tile and depth."""

from __future__ import annotations

from recheck_report.charts.canvas import card
from recheck_report.charts.cells import draw_cell
from recheck_report.charts.drawing import Drawing, NotDrawn, nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label
from recheck_report.model.record import Experiment
from recheck_report.queries import is_block_policy, metric_of

TITLE = "Block policies"
SECOND_SHAPES = {"matmul": "1024x1024x1024"}  # a second look beside the headline


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record = own.record
    metric, second = metric_of(record, experiment), SECOND_SHAPES.get(experiment.name)
    policies = {
        (row.parameters["tile"], row.parameters["depth"]): row.strategy
        for row in record.strategies(experiment)
        if is_block_policy(row)
    }
    if not policies:
        raise NotDrawn("the record holds no strategy with a tile and a depth")
    tiles, depths = (sorted(set(axis)) for axis in zip(*policies, strict=True))
    wanted = dict.fromkeys([experiment.headline, *([second] if second else [])])
    shapes = [shape for shape in wanted if shape in record.shapes(experiment)]
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
        raise nothing(record)
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
                draw_cell(axes, x, y, cases.get(key), rates.get(key), (low, high), key == best)
    return Drawing(figure, subtitle)
