"""Throughput against size: lines over the square shapes, one panel for each family of rungs."""

from __future__ import annotations

import math

from matplotlib.ticker import FuncFormatter, LogLocator

from recheck_report.charts.canvas import (
    CARD,
    FAINT,
    INK,
    MUTED,
    SERIES,
    Label,
    card,
    end_labels,
    line,
    lines,
    log_axes,
)
from recheck_report.charts.drawing import Drawing, nothing, sizes_label
from recheck_report.claims.measured import Measured
from recheck_report.formatting import significant
from recheck_report.model.record import Case, Experiment
from recheck_report.queries import DISPATCH, is_block_policy, metric_of, sweep

TITLE = "Throughput against size"


def _family(row: Case) -> str:
    """The panel that a rung stands in."""
    if row.problem:
        return "‡ Other problems, in the same bytes"
    if row.split:
        return "§ fp32-accurate on tensor cores"
    if not row.documented:
        return "Beyond the documents"
    if is_block_policy(row):
        return f"{row.parameters['tile']} × {row.parameters['tile']} tiles, by depth"
    return ""


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record = own.record
    metric, limit = metric_of(record, experiment), metric_of(record, experiment).limit(record)
    rows, rates = [], {}
    for row in record.strategies(experiment):
        # a row that launches others' kernels would hide their lines
        cases = row.strategy not in DISPATCH and sweep(record, experiment, row.strategy, "cold")
        if row.target == "gpu" and cases and not row.sweep and not row.part_of:
            rows.append(row)
            # the slow end of a time's interval is the low end of the rate's
            rates[row.strategy] = [(n, *metric.rates(c)) for n, c in cases]
    if not rates:
        raise nothing(record)
    # fifteen rungs in one panel overlap, so each block tile has its own; the others stay grey
    panels: dict[str, list[str]] = {}
    # what solves another problem comes last
    policies = any(map(is_block_policy, rows))
    for row in sorted(rows, key=lambda row: not row.contends):
        name = _family(row) or ("Rungs outside the block sweep" if policies else "Rungs")
        if row.role == "rung":
            panels.setdefault(name, []).append(row.strategy)
    panels = panels or {"Baselines": []}
    sizes = sorted({point[0] for points in rates.values() for point in points})
    values = [v for points in rates.values() for p in points for v in p[1:]] + [limit or 1]
    columns = min(2, len(panels))
    lanes = math.ceil(len(panels) / columns)
    height = 1.3 + 3.7 * lanes
    square = "square sizes, " if len(experiment.axes) > 1 else ""
    subtitle = f"cold (L2 flushed before each launch) · {square}powers of two · bars are 95 % "
    subtitle += "intervals of the median"
    figure = card(height, f"{experiment.title}: throughput against size", subtitle)
    longest = max(17, *map(len, rates))  # label, beside its panel
    grid = figure.add_gridspec(lanes, columns, wspace=0.62 + 0.04 * (longest - 17), hspace=0.24)
    grid.update(
        left=0.07, right=0.84 + 0.02 * (columns - 1) - 0.007 * (longest - 17),
        bottom=0.55 / height, top=1 - 1.05 / height,
    )  # fmt: skip
    for at, (name, members) in enumerate(panels.items()):
        axes = figure.add_subplot(grid[at // columns, at % columns], title=name)
        log_axes(axes, sizes, min(values) / 1.5, max(values) * 1.6)
        if max(values) < 30 * min(values):
            # powers of ten alone would leave an axis with a single tick
            axes.yaxis.set_major_locator(LogLocator(10, subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: significant(y, 1)))
        axes.set_ylabel(f"throughput ({metric.unit}, log)")
        axes.set_xlabel(sizes_label(experiment))
        labels, others = [], []
        if limit:
            axes.axhline(limit, color=MUTED, linestyle=(0, (5, 3)), linewidth=1.1)
            text = f"{metric.ceiling_label} {significant(limit)}"
            labels.append(Label(sizes[-1] * 2**0.2, limit, text, MUTED))
        for row in rows:
            points = rates[row.strategy]
            if row.role != "rung":
                plain = row.fp32 and row.role == "baseline"
                look = {"linestyle": "-" if plain else (0, (1, 1.2)), "linewidth": 1.4}
                line(axes, points, color=INK, marker=".", **look)
                text = row.strategy + ("" if row.fp32 or row.split else "\nnot fp32-accurate")
                text += " ‡" if row.problem else ""
                labels.append(Label(*points[-1][:2], text, INK))
            elif row.strategy not in members:
                others.append([point[:2] for point in points])
        lines(axes, others, colors=FAINT, linewidths=0.8)
        for member, (color, marker) in zip(members, SERIES * 9, strict=False):
            points = rates[member]
            line(axes, points, color=color, marker=marker, markeredgecolor=CARD, mew=0.6)
            labels.append(Label(*points[-1][:2], member, color, bold=True))
        end_labels(axes, labels)
    caption = "Grey lines are the rungs of the other panels. Sizes that are no power of two and "
    return Drawing(figure, subtitle, caption + "rectangular shapes stand in the tables only.")
