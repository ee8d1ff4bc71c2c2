"""Rows against block size at equal bytes: for each kernel what its best block reaches, and for two
of those that win somewhere a band down to the worst."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby

from recheck_report.charts import drawing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label, short
from recheck_report.queries import metric_of
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.write.svg import SERIES, Card, linear, sizes

KIND = "Rows against block size"
TIE = "a tie"


def title(report: Measured, best: Mapping[str, Sequence[Case]]) -> str:
    """`best`: by shape, by number of rows, each kernel's best block, the fastest first."""
    winners: list[tuple[str, int]] = []
    for shape, (first, *others) in best.items():
        if not others:
            continue
        tied = drawing.outcome(report, others[0], first) != "faster"
        winners.append((TIE if tied else drawing.plain_name(report, first), _rows_of(shape)))
    if not winners:
        return "No shape has the times of two kernels"
    parts = []
    for name, places in groupby(winners, key=lambda each: each[0]):
        rows = [short(at) for _, at in places]
        parts.append(f"{name} at {rows[0]}{f' to {rows[-1]}' if rows[1:] else ''}")
    if len(parts) == 1:
        name = winners[0][0]
        two = "The two fastest kernels tie"
        return f"{two if name == TIE else f'{drawing.start(name)} is the fastest'} at every shape"
    what = "listing" if report.collection.listings else "kernel"
    return f"The best {what} depends on the shape: {drawing.listed(parts)} rows"


def _rows_of(shape: str) -> int:
    return int(shape.split("x")[0])


def _blocks(record: Record, experiment: Experiment, base: str) -> list[str]:
    """The rows that differ from `base` only in their block size; includes `base`."""
    rows = ((row.strategy, row.parameters.get("block")) for row in record.strategies(experiment))
    return [row for row, at in rows if at is not None and row in (base, f"{base}_block{at}")]


def _same_size(record: Record, experiment: Experiment) -> list[str]:
    """The shapes with as many elements as the headline, by number of rows."""
    extents = {s: [*map(int, s.split("x"))] for s in record.shapes(experiment)}
    size = math.prod(map(int, experiment.headline.split("x")))
    shapes = [shape for shape, sizes in extents.items() if math.prod(sizes) == size]
    return sorted(shapes, key=lambda shape: extents[shape][0])


def draw(report: Measured, experiment: Experiment, *names: str) -> Card:
    record = report.record
    metric, shapes = metric_of(record, experiment), _same_size(record, experiment)
    kernels = {kernel: _blocks(record, experiment, kernel) for kernel in names}
    kernels = {kernel: blocks for kernel, blocks in kernels.items() if blocks}
    if not kernels or not shapes:
        raise drawing.NotDrawn("the record holds no strategy with a block size at such a shape")
    found: dict[str, dict[str, list[Case]]] = {}  # by kernel and shape, the fastest block first
    for kernel, blocks in kernels.items():
        for shape in shapes:
            timed = drawing.timed(record, experiment, blocks, shape)
            # one timed block of several shows no difference between blocks
            if len(timed) > 1 or len(blocks) == 1 and timed:
                found.setdefault(kernel, {})[shape] = timed
    if not found:
        raise drawing.nothing(record)
    best: dict[str, list[Case]] = {}  # by shape, the best block of each kernel, the fastest first
    banded: dict[str, None] = {}  # of several blocks, and the fastest somewhere
    for shape in shapes:
        blocks_of = [(kernel, by[shape]) for kernel, by in found.items() if shape in by]
        if blocks_of:
            blocks_of.sort(key=lambda pair: pair[1][0].time.median)
            best[shape] = [blocks[0] for _, blocks in blocks_of]
            banded |= {kernel: None for kernel, blocks in blocks_of[:1] if blocks[1:]}
    series, highest = [], 0.0
    for (kernel, by), look in zip(found.items(), SERIES, strict=False):
        rates = {_rows_of(shape): [metric.rates(c) for c in of] for shape, of in by.items()}
        band = [(rows, of[-1][0], of[0][0]) for rows, of in rates.items()]
        points = [(rows, *of[0]) for rows, of in rates.items()]
        highest = max(highest, *(high for *_, high in points))
        name = drawing.plain_name(report, next(iter(by.values()))[0])
        shown = band if kernel in [*banded][:2] else ()
        series.append(drawing.Series(name, points, look, band=shown))
    note = f"{experiment.title}, cold, {shape_label(experiment.headline)} elements at every point: "
    note += "columns make up for rows. Lines: the best block of 32 to 1024 threads; bands: down to "
    words = title(report, best), note + "the worst, for two kernels."
    x, y = sizes([_rows_of(shape) for shape in best]), linear(0, 1.05 * highest)
    return drawing.lines(words, series, x, y, ("rows (count, log)", f"rate, cold ({metric.unit})"))[
        0
    ]
