"""Unrolling: each kernel's throughput by how far its loop is unrolled, and the roof above them."""

from __future__ import annotations

from recheck_report.charts.canvas import (
    DASHED,
    MUTED,
    SERIES,
    Card,
    Interval,
    Label,
    log_sizes,
    log_values,
)
from recheck_report.charts.drawing import Drawing, nothing
from recheck_report.charts.message import FASTER, SLOWER, factor, interval, listed, percent, ratio
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label, significant
from recheck_report.model.record import Case, Experiment, Record
from recheck_report.queries import metric_of, roof, share, swept

TITLE = "Unrolling"
KERNELS = ("s3_naive", "s3_transposed", "s3_constant", "s3_shared")


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record = own.record
    metric, shape = metric_of(record, experiment), experiment.headline
    lines: dict[str, dict[int, Case]] = {}
    for kernel in KERNELS:
        for at, name in swept(record, experiment, kernel, "unroll").items():
            case = record.find(experiment, name, shape, "cold")
            if case and case.seconds:
                lines.setdefault(kernel, {})[at] = case
    if not lines:
        raise nothing(record)
    best = roof(record, experiment)
    limit = record.find(experiment, best or "", shape, "cold")
    top = metric.rate(limit, limit.time.median) if limit and limit.seconds else None
    note = f"{experiment.title} at {shape_label(shape)}, cold, equal blocks. Bars: 95 % intervals."
    note += f" Dashed: the roof, {best}, which only reads." if top else ""
    card = Card(_message(record, experiment, lines, best), note, 230)
    axes = card.axes(56, 108, ylabel=f"throughput ({metric.unit}, log)")
    axes.set_xlabel("steps of the loop unrolled (count, log)")
    rates: dict[str, list[Interval]]
    rates = {k: [(at, *metric.rates(c)) for at, c in of.items()] for k, of in lines.items()}
    values = [v for points in rates.values() for point in points for v in point[1:]]
    log_values(axes.yaxis, min(values) / 1.3, max(*values, top or 0) * 1.3, lambda y: f"{y:g}")
    log_sizes(axes, sorted({at for of in lines.values() for at in of}))
    labels = []
    if top:
        axes.axhline(top, color=MUTED, linestyle=DASHED, linewidth=1)
        end = axes.get_xlim()[1]
        labels.append(Label(end, top, f"{best} ‡ {significant(top)}", MUTED, bold=False))
    for (kernel, points), (color, marker) in zip(rates.items(), SERIES, strict=False):
        titles = [f"{kernel}, {p[0]:g} unrolled: {interval(p[1:], metric.unit)}" for p in points]
        card.line(axes, points, titles, color=color, marker=marker)
        labels.append(Label(*points[-1][:2], kernel, color))
    card.ends(axes, labels)
    return Drawing(card)


def _message(
    record: Record, experiment: Experiment, lines: dict[str, dict[int, Case]], best: str | None
) -> str:
    """What the most helpful step does, and which rows get slower by the last one."""
    gains = []
    for kernel, of in lines.items():
        at = min(of, key=lambda n: of[n].time.median)
        once = of[min(of)]
        found = ratio(record, once, of[at])
        if found.outcome == FASTER:
            gains.append((found.value, kernel, at))
    fastest = min((c for of in lines.values() for c in of.values()), key=lambda c: c.time.median)
    near = share(record, experiment, fastest, best)
    last = [f"none passes {percent(near.value)} of {best}"] if near else []
    if not gains:
        return listed(["Unrolling gains nothing that can be told", *last])
    value, kernel, at = max(gains)
    base = f" as unrolled {least} times" if (least := min(lines[kernel])) != 1 else ""
    slower = [
        f"{name} is slower unrolled {max(of)} times than {sorted(of)[-2]}"
        for name, of in lines.items()
        if len(of) > 1 and ratio(record, of[sorted(of)[-2]], of[max(of)]).outcome == SLOWER
    ]
    gained = f"Unrolled {at} times {kernel} is {factor(value)} times as fast{base}"
    return listed([gained, *slower, *last])
