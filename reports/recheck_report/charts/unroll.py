"""Unrolling: each kernel's throughput by how far its loop is unrolled, and the roof above them."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter

from recheck_report.charts.canvas import (
    CARD,
    MUTED,
    SERIES,
    Label,
    card,
    end_labels,
    line,
    log_axes,
)
from recheck_report.charts.drawing import Drawing, nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label, significant
from recheck_report.model.record import Experiment
from recheck_report.queries import metric_of, roof, swept

TITLE = "Unrolling"
KERNELS = ("s3_naive", "s3_transposed", "s3_constant", "s3_shared")


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record = own.record
    metric, shape = metric_of(record, experiment), experiment.headline
    lines = {}
    for kernel in KERNELS:
        rows = swept(record, experiment, kernel, "unroll")
        found = {at: record.find(experiment, name, shape, "cold") for at, name in rows.items()}
        points = [(at, *metric.rates(c)) for at, c in found.items() if c and c.seconds]
        if points:
            lines[kernel] = points
    if not lines:
        raise nothing(record)
    best = roof(record, experiment)
    limit = record.find(experiment, best or "", shape, "cold")
    top = metric.rate(limit, limit.seconds.median) if limit and limit.seconds else None
    values = [v for points in lines.values() for point in points for v in point[1:]]
    values += [top] if top else []
    sizes = sorted({point[0] for points in lines.values() for point in points})
    subtitle = (
        f"cold, at {shape_label(shape)} · equal blocks · bars are 95 % intervals of the median"
    )
    figure = card(4.2, f"{experiment.title}: unrolling", subtitle)
    axes = figure.add_axes((0.085, 0.15, 0.7, 0.64))
    log_axes(axes, sizes, min(values) / 1.25, max(values) * 1.25)
    ticks = [t * 10.0**e for e in range(-3, 7) for t in (1, 2, 5)]
    low, high = axes.get_ylim()
    axes.set_yticks([tick for tick in ticks if low < tick < high])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: significant(y, 1)))
    axes.set_ylabel(f"throughput ({metric.unit}, log)")
    axes.set_xlabel("steps of the loop unrolled (count, log)")
    labels = []
    if top:
        axes.axhline(top, color=MUTED, linestyle=(0, (5, 3)), linewidth=1.1)
        labels.append(Label(axes.get_xlim()[1], top, f"{best} ‡ {significant(top)}", MUTED))
    for (kernel, points), (color, marker) in zip(lines.items(), SERIES, strict=False):
        line(axes, points, color=color, marker=marker, markeredgecolor=CARD, mew=0.6)
        labels.append(Label(*points[-1][:2], kernel, color, bold=True))
    end_labels(axes, labels)
    return Drawing(figure, subtitle, f"‡ {best}: the roof, a pass that only reads." if top else "")
