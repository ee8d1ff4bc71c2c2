"""Rows against block size at equal bytes: for each kernel what its best block reaches, and a band
down to its worst."""

from __future__ import annotations

from recheck_report.charts.drawing import NotDrawn, nothing
from recheck_report.charts.message import FASTER, factor, plain_name, ratio
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label
from recheck_report.queries import metric_of, same_size, swept
from recheck_report.record.record import Case, Experiment
from recheck_report.write.svg import SERIES, Card, Interval, logarithmic, short, sizes

TITLE = "Rows against block size"


def draw(own: Measured, experiment: Experiment, *names: str) -> Card:
    record = own.record
    metric, shapes = metric_of(record, experiment), same_size(record, experiment)
    kernels = {kernel: swept(record, experiment, kernel, "block") for kernel in names}
    kernels = {kernel: blocks for kernel, blocks in kernels.items() if blocks}
    if not kernels or not shapes:
        raise NotDrawn("the record holds no strategy with a block size at such a shape")
    found: dict[str, dict[str, list[Case]]] = {}  # by kernel and shape, the fastest block first
    for kernel, blocks in kernels.items():
        for shape in shapes:
            cases = (record.timed(experiment, name, shape) for name in blocks.values())
            timed = [case for case in cases if case]
            # a kernel with one block alone says nothing of blocks
            if len(timed) > 1 or len(blocks) == 1 and timed:
                timed.sort(key=lambda case: case.time.median)
                found.setdefault(kernel, {})[shape] = timed
    if not found:
        raise nothing(record)
    note = f"{experiment.title}, cold, {shape_label(experiment.headline)} elements at every point: "
    note += "columns make up for rows. Lines: the best block of 32 to 1024 threads; bands: down to "
    note += "the worst."
    card = Card(_message(own, found), note, 300)
    rates = {
        k: {s: [metric.rates(c) for c in of] for s, of in by.items()} for k, by in found.items()
    }
    every = [r[0] for by in rates.values() for of in by.values() for r in of]
    x = sizes(sorted({_rows(shape) for by in found.values() for shape in by}))
    y = logarithmic(min(every) / 1.3, max(every) * 1.3, 240, lambda y: f"{y:g}", 22)
    panel = card.panel(x, y, 46, 130, top=20)
    panel.frame("rows (count, log)", f"throughput ({metric.unit}, log)")
    labels = []
    for (kernel, by), (color, marker) in zip(rates.items(), SERIES, strict=False):
        points: list[Interval] = [(_rows(shape), *of[0]) for shape, of in by.items()]
        panel.band([(_rows(shape), of[-1][0], of[0][0]) for shape, of in by.items()], color)
        panel.line(points, color, marker)
        labels.append((*points[-1][:2], kernel, color, True))
    panel.name_ends(labels)
    return card


def _message(own: Measured, found: dict[str, dict[str, list[Case]]]) -> str:
    """Who is the fastest with few rows, and who with many."""
    shapes = sorted({shape for by in found.values() for shape in by}, key=_rows)
    parts = []
    for shape in dict.fromkeys((shapes[0], shapes[-1])):
        best = sorted(
            (by[shape][0] for by in found.values() if shape in by),
            key=lambda case: case.time.median,
        )
        (first, *_), last = best, best[-1]
        gained, name = ratio(own, last, first), plain_name(own, first)
        fast = f"{name} {factor(gained.value)} times"
        what = fast if gained.outcome == FASTER else "no significant difference"
        parts.append(f"{what} at {short(_rows(shape))} rows")
    return f"Fastest over slowest: {', '.join(parts)}"


def _rows(shape: str) -> int:
    return int(shape.split("x")[0])
