"""CPU against GPU over the square sizes, with and without the copies."""

from __future__ import annotations

from recheck_report.charts.drawing import NotDrawn, nothing, sizes_label
from recheck_report.charts.message import against, leading, listed
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration
from recheck_report.queries import Sweep, reference, sweep
from recheck_report.record.record import Experiment
from recheck_report.write.svg import (
    INK,
    LIBRARY,
    OCHRE,
    PURPLE,
    THEIRS,
    Card,
    logarithmic,
    short,
    sizes,
)

TITLE = "CPU against GPU"
CPU = ((OCHRE, "v"), (PURPLE, "s"), (INK, "P"))


def draw(own: Measured, experiment: Experiment, rung: str = "") -> Card:
    """`rung`: what stands for the GPU."""
    record = own.record
    best = leading(own, experiment)
    rung = rung or (best.strategy if best else "")
    cpu = [row.strategy for row in record.strategies(experiment) if row.target == "cpu"]
    # strategy, regime, label, colour, marker
    series = [(name, "hot", name, *look) for name, look in zip(cpu, CPU, strict=False)]
    vendor = reference(record, experiment) or ""
    for name, color, marker in ((rung, THEIRS, "o"), (vendor, LIBRARY, "D")):
        series.append((name, "end_to_end", f"{name}, end to end", color, marker))
        series.append((name, "cold", f"{name}, kernel only", color, marker))
    lines = {(name, r): sweep(record, experiment, name, r) for name, r, *_ in series}
    times = [case.time.median for points in lines.values() for _, case in points]
    if not times:
        raise NotDrawn("it shows shapes with equal extents, and none was timed")
    hosts = {name: lines[name, "hot"] for name in cpu[: len(CPU)]}
    note = f"{experiment.title}. CPU: data in memory (hot). GPU, kernel only: cold; end to end: "
    note += "allocate, copy in, run, copy out, free. Bars: 95 % intervals."
    note += "" if record.gpu_measured else f" No GPU's lines: {nothing(record)}."
    card = Card(_message(own, rung, lines[rung, "end_to_end"], hosts), note, 300)
    x = sizes(sorted({edge for points in lines.values() for edge, _ in points}))
    y = logarithmic(min(times) / 2, max(times) * 2, 240, lambda y: duration(y, 1), 22)
    panel = card.panel(x, y, 54, 148, top=20)
    panel.frame(sizes_label(experiment), "time (log)")
    labels = []
    for name, regime, text, color, marker in series:
        points = [(n, c.time.median, c.time.low, c.time.high) for n, c in lines[name, regime]]
        if points:
            kernel = regime == "cold"
            panel.line(points, color, marker, dash="4 2" * kernel, hollow=kernel)
            labels.append((*points[-1][:2], text, color, not kernel))
    panel.name_ends(labels)
    return card


def _message(own: Measured, rung: str, gpu: Sweep, hosts: dict[str, Sweep]) -> str:
    """How the GPU, copies included, does against each of the CPU's rows at their largest size."""
    found, on_gpu = [], dict(gpu)
    for points in hosts.values():
        both = [(edge, base, on_gpu[edge]) for edge, base in points if edge in on_gpu]
        if both:
            edge, base, other = both[-1]
            found.append(f"{against(own, base, other)} at {short(edge, edge)}")
    if found:
        return f"Copies included, {rung} is {listed(found[:2])}"
    measured = [name for name, points in hosts.items() if points]
    return f"{listed(measured)} on the CPU alone" if measured else f"{rung} on the GPU alone"
