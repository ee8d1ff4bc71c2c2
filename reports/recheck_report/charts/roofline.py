"""The roofline: how near each fp32 row comes to what memory and arithmetic of this machine allow.

Intensity is that of the compulsory work: useful operations for each byte that has to move. The
roofs are what the experiment `machine` measured; where it was not run, the device's attributes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from recheck_report.charts.canvas import DASHED, FAINT, INK, MUTED, Card, Label, Look, log_values
from recheck_report.charts.drawing import Drawing, NotDrawn, nothing
from recheck_report.charts.ladder import LOOKS, group
from recheck_report.charts.message import leading, percent, timed
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label, significant
from recheck_report.model.record import MACHINE, Case, Experiment, Record
from recheck_report.queries import COMPUTE, DISPATCH, MEMORY, Metric, first_rung, reference
from recheck_report.sections.machine import work_of

TITLE = "Roofline"
_LIMITS = (COMPUTE.ceiling_label, MEMORY.ceiling_label)


@dataclass(frozen=True)
class Roof:
    name: str
    value: float  # flop/s or bytes/s


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record, shape = own.record, experiment.headline
    rows = [
        row
        for row in record.strategies(experiment)
        if row.target == "gpu" and row.fp32 and row.contends and not row.sweep
        if row.strategy not in DISPATCH
    ]
    cases = timed(record, experiment, rows, shape)
    if not cases:
        raise nothing(record)
    intensity = cases[0].flops / cases[0].bytes if cases[0].bytes else 0.0
    if not intensity:
        raise NotDrawn("it does no arithmetic or moves nothing, so it has one roof alone")
    memory, compute = highest(record, MEMORY, False), highest(record, COMPUTE, False)
    if not memory or not compute:
        raise NotDrawn("the record holds no ceilings")
    measured = compute.name not in _LIMITS and memory.name not in _LIMITS
    ridge, top = compute.value / memory.value, compute.value / 1e12
    most = min(top, intensity * memory.value / 1e12)
    rates = {case.strategy: case.flops / case.time.median / 1e12 for case in cases}
    lead = leading(record, experiment, [shape]) or cases[0]
    roof, kind = (memory, "bandwidth") if intensity < ridge else (compute, "arithmetic rate")
    said = f"measured {kind}, {roof.name}" if measured else f"specified {kind}"
    part = percent(rates[lead.strategy] / most)
    message = f"{lead.strategy} reaches {part} of the {said}"
    note = (
        f"{experiment.title} at {shape_label(shape)}, cold, rows in fp32 on CUDA cores, with their "
    )
    note += f"share of the roof. Intensity: {significant(intensity)} operations for each byte that "
    note += (
        f"has to move. Roofs: {'measured' if measured else 'what attributes of the device say'}."
    )
    card = Card(message, note, 290)
    axes = card.axes(52, 40 + 5.9 * max(16, *(len(name) + 7 for name in rates)))
    axes.set(xlabel="intensity (flop/B, log)", ylabel="throughput (TFLOP/s, log)")
    low, high = min(intensity, ridge) / 8, max(intensity, ridge) * 4
    floor = min(*rates.values(), low * memory.value / 1e12)
    log_values(axes.xaxis, low, high, lambda x: f"{x:g}")
    log_values(axes.yaxis, floor / 1.5, top * 2.5, lambda y: f"{y:g}")
    axes.grid(True)
    for level, dash in ((memory, "-"), (highest(record, MEMORY, True), DASHED)):
        if level:
            corner, start = compute.value / level.value, low * level.value / 1e12
            text = f"{level.name} {significant(level.value / 1e9)} GB/s"
            name = card.says([text], "trend")
            axes.plot([low, corner], [start, top], color=INK, linestyle=dash, gid=name)
            ends = axes.transData.transform([(low, start), (corner, top)])
            slope = math.degrees(math.atan2(*(ends[1] - ends[0])[::-1]))
            # clear of the rows and of their names
            at = 0.55 if intensity < ridge else 0.12
            place = low * (corner / low) ** at, start * (top / start) ** at
            side, va = ((5, -2), "top") if level is memory else ((-2, 4), "bottom")
            look: Look = {"rotation": slope, "rotation_mode": "anchor", "va": va, "color": MUTED}
            axes.annotate(text, place, side, textcoords="offset points", **look)
    axes.plot([ridge, high], [top, top], color=INK)
    axes.axvline(intensity, color=FAINT, linewidth=0.7)
    labels = [Label(high, top, f"{compute.name} {significant(top)}", MUTED, bold=False)]
    # names where there is room for them, those first that everyone looks for
    sought = [lead.strategy, reference(record, experiment), first_rung(record, experiment)]
    for case in sorted(cases, key=lambda case: case.strategy not in sought):
        rate, name = rates[case.strategy], case.strategy
        color, marker = LOOKS[group(case)]
        text = f"{name} {percent(rate / most)}"
        look = {"linestyle": "none", "color": color, "marker": marker}
        title = f"{text} of the roof, {significant(rate)} TFLOP/s"
        axes.plot([intensity], [rate], gid=card.says([title]), **look)
        span = math.log(top * 2.5) - math.log(floor / 1.5)
        if name in sought or all(
            abs(math.log(rate / label.y)) / span * 250 > 12 for label in labels[1:]
        ):
            labels.append(Label(intensity, rate, text, color, bold=name in sought))
    card.ends(axes, labels)
    return Drawing(card)


def highest(record: Record, metric: Metric, cached: bool) -> Roof | None:
    """What the machine was measured to give at best, from L2 if `cached`."""
    experiment = record.experiment(MACHINE)
    rows: list[Case] = [
        case
        for case in (record.of(experiment) if experiment else [])
        if case.seconds and work_of(case) is metric and ("l2" in case.strategy) == cached
    ]
    if rows:
        best = max(rows, key=lambda case: metric.rate(case, case.time.median))
        return Roof(best.strategy, metric.rate(best, best.time.median) * metric.scale)
    ceiling = record.ceilings.get(metric.ceiling)
    return Roof(metric.ceiling_label, ceiling.value) if ceiling and not cached else None
