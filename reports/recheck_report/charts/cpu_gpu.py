"""CPU against GPU over the square sizes, with and without the copies."""

from __future__ import annotations

from recheck_report.charts.drawing import NotDrawn, leading, nothing, sizes_label
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration
from recheck_report.queries import cliffs, reference, sweep
from recheck_report.record.record import Experiment
from recheck_report.say import charts as say
from recheck_report.write.svg import INK, LIBRARY, OCHRE, PURPLE, THEIRS, Card, logarithmic, sizes

TITLE = "CPU against GPU"
CPU = ((OCHRE, "v"), (PURPLE, "s"), (INK, "P"))


def draw(own: Measured, experiment: Experiment, kernel: str = "") -> Card:
    """`kernel`: what stands for the GPU."""
    record = own.record
    best = leading(own, experiment)
    kernel = kernel or (best.strategy if best else "")
    cpu = [row.strategy for row in record.strategies(experiment) if row.target == "cpu"]
    # strategy, regime, label, colour, marker
    series = [(name, "hot", name, *look) for name, look in zip(cpu, CPU, strict=False)]
    vendor = reference(record, experiment) or ""
    for name, color, marker in ((kernel, THEIRS, "o"), (vendor, LIBRARY, "D")):
        series.append((name, "end_to_end", f"{name}, end to end", color, marker))
        series.append((name, "cold", f"{name}, kernel only", color, marker))
    lines = {(name, r): sweep(record, experiment, name, r) for name, r, *_ in series}
    times = [case.time.median for points in lines.values() for _, case in points]
    if not times:
        raise NotDrawn("it shows shapes with equal extents, and none was timed")
    hosts = {name: lines[name, "hot"] for name in cpu[: len(CPU)]}
    drops = [drop for name in hosts for drop in cliffs(record, experiment, name)]
    note = say.cpu_gpu_note(experiment, drops)
    note += "" if record.gpu_measured else f" No GPU's lines: {nothing(record)}."
    card = Card(say.cpu_gpu(own, kernel, lines[kernel, "end_to_end"], hosts), note, 300)
    x = sizes(sorted({edge for points in lines.values() for edge, _ in points}))
    y = logarithmic(min(times) / 2, max(times) * 2, 240, lambda y: duration(y, 1), 22)
    panel = card.panel(x, y, 54, 148, top=20)
    panel.frame(sizes_label(experiment), "time (log)")
    labels = []
    for name, regime, text, color, marker in series:
        points = [(n, c.time.median, c.time.low, c.time.high) for n, c in lines[name, regime]]
        if points:
            kernel_only = regime == "cold"
            panel.line(points, color, marker, dash="4 2" * kernel_only, hollow=kernel_only)
            labels.append((*points[-1][:2], text, color, not kernel_only))
    for at, beside in drops:
        edge, *_ = beside.shape.values()
        x_at, time = panel.px(edge), beside.time.median
        card.path([(x_at, panel.py(at.time.median)), (x_at, panel.py(time))], INK, 1, "2 2")
        card.mark(x_at, panel.py(time), INK, "X", size=7)
        card.text(x_at + 8, panel.py(time), f"at {edge}: {duration(time)}", backed=True)
    panel.name_ends(labels)
    return card
