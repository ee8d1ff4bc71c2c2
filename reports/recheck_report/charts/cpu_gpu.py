"""CPU against GPU over the square sizes, with and without the copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from recheck_report.charts import drawing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, short
from recheck_report.queries import reference
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.write.svg import INK, LIBRARY, OCHRE, PURPLE, THEIRS, Card, logarithmic, sizes

KIND = "CPU against GPU"
CPU = ((OCHRE, "v"), (PURPLE, "s"), (INK, "P"))
CLIFF = 2.0  # how much slower per operation a CPU's program is at a power of two
Sweep = list[tuple[int, Case]]  # (edge of the square shape, its measured case), by size


def _sweep(record: Record, experiment: Experiment, strategy: str, regime: str) -> Sweep:
    """The measured cases of one strategy whose extents are all equal, and a power of two."""
    points: dict[int, Case] = {}
    for case in record.cases_of(experiment):
        if case.strategy == strategy and case.regime == regime and case.seconds:
            edge, *others = {*case.shape.values()}
            if not others and edge & (edge - 1) == 0:
                points[edge] = case
    return sorted(points.items())


def _cliffs(record: Record, experiment: Experiment, strategy: str) -> list[tuple[Case, Case]]:
    """Where a CPU's program falls off at a power of two: (its case, that of a size next to it)."""
    found = []
    for edge, case in _sweep(record, experiment, strategy, "hot"):
        for shape in record.shapes(experiment):
            near = record.timed(experiment, strategy, shape, "hot")
            if near and {*near.shape.values()} in ({edge - 1}, {edge + 1}) and near.flops:
                fall = case.time.median / near.time.median * near.flops / case.flops
                found += [(case, near)] * (fall > CLIFF)
    return found


def title(report: Measured, kernel: str, gpu: Sweep, hosts: Mapping[str, Sweep]) -> str:
    """From which size on the GPU, copies included, is faster than each of the CPU's programs: in
    this run, by the intervals, and where also beyond noise and significant."""
    fastest: dict[int, Case] = {}
    for edge, case in (point for points in hosts.values() for point in points):
        fastest[edge] = min(fastest.get(edge, case), case, key=lambda each: each.time.median)
    ratios = {
        edge: report.comparisons.verdict(fastest[edge], case)
        for edge, case in gpu
        if edge in fastest
    }
    if not ratios:
        alone = drawing.listed([name for name, points in hosts.items() if points])
        return f"{alone} on the CPU alone" if alone else f"{kernel} on the GPU alone"
    clear = {edge: ratio.outcome == "faster" for edge, ratio in ratios.items()}
    ahead = {edge: ratio.is_resolvable and ratio.low > 1 for edge, ratio in ratios.items()}
    more = ""
    if any(clear.values()):
        more = f", beyond noise {_where(clear)}" if clear != ahead else ""
    elif any(ahead.values()):
        more = ", but only within noise"
    return f"Copies included, the GPU ({kernel}) leads every CPU program {_where(ahead)}{more}"


def _where(wins: Mapping[int, bool]) -> str:
    """ "from 1024 up": the sizes at which the GPU wins."""
    lost = [edge for edge, won in wins.items() if not won]
    if not lost:
        return "at every size"
    later = [edge for edge in wins if edge > lost[-1]]
    if later:
        return f"from {short(later[0], later[0])} up"
    if len(lost) == len(wins):
        return "at no size"
    return f"at {len(wins) - len(lost)} of {len(wins)} sizes"


def _note(report: Measured, experiment: Experiment, drops: Sequence[tuple[Case, Case]]) -> str:
    """`drops`: cases at which a CPU's program falls off, each with that of a size next to it."""
    text = f"{experiment.title}. CPU: data in memory (hot). GPU, kernel only: cold; end to end: "
    text += "allocate, copy in, run, copy out, free. "
    for at, near in drops:
        here, there = (next(iter(case.shape.values())) for case in (at, near))
        slower = drawing.fold(at.time.median / near.time.median)
        text += f"Cross: {at.strategy} is {slower} slower at {here} than at {there}. "
    if report.record.gpu_measured:
        wins = "Leads: by the interval; beyond noise: also significant. "
        return f"{text}{wins}{drawing.INTERVALS}"
    return f"{text}{drawing.INTERVALS} No GPU's lines: {report.record.no_gpu_because}."


def draw(report: Measured, experiment: Experiment, kernel: str = "") -> Card:
    """`kernel`: the one that stands for the GPU."""
    record = report.record
    best = drawing.leading(report, experiment)
    kernel = kernel or (best.strategy if best else "")
    cpu = [row.strategy for row in record.strategies(experiment) if row.target == "cpu"][:3]
    hosts = {name: _sweep(record, experiment, name, "hot") for name in cpu}
    every = [
        (name, points, look, False)
        for (name, points), look in zip(hosts.items(), CPU, strict=False)
    ]
    vendor = reference(record, experiment) or ""
    for name, look in ((kernel, (THEIRS, "o")), (vendor, (LIBRARY, "D"))):
        for regime, what in (("end_to_end", "end to end"), ("cold", "kernel only")):
            points = _sweep(record, experiment, name, regime)
            every.append((f"{name}, {what}", points, look, regime == "cold"))
    series = [
        drawing.Series(
            name, [(n, c.time.median, c.time.low, c.time.high) for n, c in points], look, minor
        )
        for name, points, look, minor in every
        if points
    ]
    times = [value for each in series for _, value, *_ in each.points]
    if not times:
        raise drawing.NotDrawn("it shows shapes with equal extents, and none was timed")
    drops = [drop for name in hosts for drop in _cliffs(record, experiment, name)]
    copied = _sweep(record, experiment, kernel, "end_to_end")
    words = title(report, kernel, copied, hosts), _note(report, experiment, drops)
    x = sizes(sorted({edge for _, points, *_ in every for edge, _ in points}))
    y = logarithmic(min(times) / 2, max(times) * 2, 220, lambda y: duration(y, 1), 24)
    axes = " = ".join(experiment.axes)
    label = f"{axes} (count, log)" if axes == "elements" else f"{axes} (elements, log)"
    card, panel = drawing.lines(words, series, x, y, (label, "time (log)"))
    for at, near in drops:
        edge, *_ = near.shape.values()
        place, top, bottom = panel.px(edge), panel.py(at.time.median), panel.py(near.time.median)
        card.path([(place, top), (place, bottom)], INK, 1, "2 2")
        card.mark(place, bottom, INK, "X", 7)
        card.text(place + 8, bottom, f"at {edge}: {duration(near.time.median)}", backed=True)
    return card
