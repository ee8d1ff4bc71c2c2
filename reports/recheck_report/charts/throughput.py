"""Throughput against size: a named line for what leads each family, grey ones for the rest.

Where bytes are moved, and all lines lie close below the roof, it is the share of the roof.
"""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.ticker import FuncFormatter

from recheck_report.charts.canvas import (
    DASHED,
    MUTED,
    SERIES,
    Card,
    Interval,
    Label,
    Look,
    log_sizes,
    log_values,
)
from recheck_report.charts.drawing import Drawing, nothing, sizes_label
from recheck_report.charts.message import interval, leading, passes, percent
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label, significant
from recheck_report.model.record import Case, Experiment, Record
from recheck_report.queries import (
    DISPATCH,
    MEMORY,
    first_rung,
    metric_of,
    reference,
    roof,
    share,
    square_sizes,
    sweep,
)

TITLE = "Throughput against size"
*LOOKS, LIBRARY = SERIES  # the last is the vendor's


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record = own.record
    metric, best = metric_of(record, experiment), roof(record, experiment)
    # a row that launches others' kernels would hide their lines
    rows = [
        row
        for row in record.strategies(experiment)
        if row.target == "gpu" and not row.sweep and not row.part_of
        if row.strategy not in DISPATCH
    ]
    cases = {row.strategy: dict(sweep(record, experiment, row.strategy, "cold")) for row in rows}
    roofs = cases.get(best or "", {})
    shares = metric is MEMORY and bool(roofs)
    unit = f"% of {best}" if shares else metric.unit
    series: dict[str, list[Interval]] = {}
    for row in rows:
        for size, case in cases[row.strategy].items():
            if not shares:
                point = metric.rates(case)
            elif found := share(own.comparisons, record, case, best):
                point = 100 * found.value, 100 * found.low, 100 * found.high
            else:
                continue
            series.setdefault(row.strategy, []).append((size, *point))
    if not series or shares and set(series) == {best}:
        raise nothing(record)
    sizes = sorted({point[0] for points in series.values() for point in points})
    note = f"{experiment.title}, cold: L2 flushed before each launch. Bars: 95 % intervals. Grey: "
    note += "the other rows, whose names show under a mouse. Other shapes: see the tables."
    card = Card(_message(own, experiment, best if shares else None), note, 300)
    right = 30 + 5.8 * max(14, *map(len, series))
    axes = card.axes(52, right, ylabel=f"throughput ({unit}{'' if shares else ', log'})")
    axes.set_xlabel(sizes_label(experiment))
    values = [value for points in series.values() for point in points for value in point[1:]]
    limit = None if shares else metric.limit(record)
    log_sizes(axes, [int(size) for size in sizes])
    if shares:
        axes.set_ylim(0, max(105.0, *(1.03 * value for value in values)))
        labels = [Label(sizes[-1], 100, f"{best} = 100 %", MUTED, bold=False)]
        axes.axhline(100, color=MUTED, linestyle=DASHED, linewidth=1)
    else:
        span = min(values) / 1.5, max(*values, limit or 0) * 1.5
        log_values(axes.yaxis, *span, lambda value: significant(value, 1))
        labels = []
    if limit:
        axes.axhline(limit, color=MUTED, linestyle=DASHED, linewidth=1)
        text = f"{metric.ceiling_label} {significant(limit)}"
        labels.append(Label(sizes[-1], limit, text, MUTED, bold=False))
    named = _named(record, experiment, rows, series)
    others = {name: points for name, points in series.items() if name not in {*named, best}}
    card.context(axes, [[p[:2] for p in points] for points in others.values()], list(others))
    looks = iter(LOOKS)
    for name, row in named.items():
        points = series[name]
        color, marker = LIBRARY if name == reference(record, experiment) else next(looks)
        dotted: Look = {} if row.fp32 or row.split else {"linestyle": (0, (1, 1.2))}
        titles = [f"{name} at {p[0]:g}: {interval(p[1:], unit)}" for p in points]
        card.line(axes, points, titles, color=color, marker=marker, **dotted)
        text = name + row.marks + ("" if row.fp32 or row.split else "\nnot fp32-accurate")
        labels.append(Label(*points[-1][:2], text, color))
    axes.yaxis.set_major_formatter(
        FuncFormatter(lambda y, _: significant(y, 1) if y < 1 else f"{y:g}")
    )
    card.ends(axes, labels)
    return Drawing(card)


def _named(
    record: Record, experiment: Experiment, rows: Sequence[Case], series: dict[str, list[Interval]]
) -> dict[str, Case]:
    """The row that the story starts from, the vendor's, and the fastest of each other family."""
    order = [edge for edge, _ in reversed(square_sizes(record, experiment))]
    head = next((e for e, s in square_sizes(record, experiment) if s == experiment.headline), 0)

    def speed(row: Case) -> tuple[float, ...]:
        """At the headline, else at the largest size, and so on."""
        known = {point[0]: point[1] for point in series[row.strategy]}
        return tuple(known.get(size, 0.0) for size in (head, *order))

    there = [row for row in rows if row.strategy in series and row.role in ("rung", "baseline")]
    found: dict[object, Case] = {}
    for row in sorted(there, key=speed, reverse=True):
        vendor = row.strategy == reference(record, experiment)
        first = row.strategy == first_rung(record, experiment)
        family = (bool(row.problem), row.arithmetic, row.documented, row.role == "baseline")
        found.setdefault(row.strategy if vendor or first else family, row)
    # the best of the documents stands there already where it is the first
    return {row.strategy: row for row in [*found.values()][: len(SERIES)]}


def _message(own: Measured, experiment: Experiment, best: str | None) -> str:
    record = own.record
    shapes = [shape for _, shape in square_sizes(record, experiment)]
    lead, text = leading(record, experiment, shapes), passes(own, experiment, shapes)
    text += ", at powers of two" if text.endswith(" on") else ""
    if lead is None:
        return f"{experiment.title}: no rung has a time"
    reached = share(own.comparisons, record, lead, best) if best else None
    at = shape_label(lead.shape_name)
    if reached:
        found = f"{lead.strategy} reaches {percent(reached.value)} of {best}'s rate at {at}"
        if text.startswith(f"{lead.strategy} "):
            return f"{found} and {text.removeprefix(lead.strategy).strip()}"
        return f"{found}; {text[0].lower() + text[1:]}" if text else found
    metric = metric_of(record, experiment)
    rate = f"{significant(metric.rate(lead, lead.time.median))} {metric.unit}"
    return text or f"{lead.strategy} is the fastest by median at {at}: {rate}"
