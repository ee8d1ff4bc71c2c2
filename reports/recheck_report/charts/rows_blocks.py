"""Rows against block size at equal bytes: for each kernel what its best block reaches, and for two
of those that win somewhere a band down to the worst."""

from __future__ import annotations

from recheck_report.charts.drawing import NotDrawn, nothing
from recheck_report.claims.measured import Measured
from recheck_report.queries import metric_of, same_size, swept
from recheck_report.record.record import Case, Experiment
from recheck_report.say import charts as say
from recheck_report.say.charts import rows_of
from recheck_report.write.svg import SERIES, Card, Interval, linear, sizes, width_of

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
    order: dict[str, list[str]] = {}  # by shape, the kernels that have a time, the fastest first
    for shape in shapes:
        if has := [kernel for kernel, by in found.items() if shape in by]:
            order[shape] = sorted(has, key=lambda each: found[each][shape][0].time.median)
    winners = dict.fromkeys(first for first, *_ in order.values())
    banded = [each for each in winners if any(of[1:] for of in found[each].values())][:2]
    best = {shape: [found[each][shape][0] for each in has] for shape, has in order.items()}
    card = Card(say.rows_blocks(own, best), say.rows_blocks_note(experiment), 300)
    rates = {
        k: {s: [metric.rates(c) for c in of] for s, of in by.items()} for k, by in found.items()
    }
    every = [r[2] for by in rates.values() for of in by.values() for r in of]
    x = sizes([rows_of(shape) for shape in best])
    y = linear(0, 1.05 * max(every))
    called = {each: say.plain_name(own, next(iter(by.values()))[0]) for each, by in found.items()}
    right = 24 + max(width_of(name, bold=True) for name in called.values())
    panel = card.panel(x, y, 46, right, top=20)
    panel.frame("rows (count, log)", f"rate, cold ({metric.unit})")
    labels = []
    for (kernel, by), (color, marker) in zip(rates.items(), SERIES, strict=False):
        points: list[Interval] = [(rows_of(shape), *of[0]) for shape, of in by.items()]
        if kernel in banded:
            panel.band([(rows_of(shape), of[-1][0], of[0][0]) for shape, of in by.items()], color)
        panel.line(points, color, marker)
        labels.append((*points[-1][:2], called[kernel], color, True))
    panel.name_ends(labels)
    return card
