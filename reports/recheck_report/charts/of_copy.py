"""Each kernel's share of a copy's rate: here of the roof, a plain memcpy; as published, where no
memcpy was timed, of the simple copy kernel beside it."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter

from recheck_report.charts.canvas import (
    BLUE,
    GREEN,
    INK,
    MARGIN,
    OCHRE,
    PURPLE,
    VERMILLION,
    WIDTH,
    Card,
    down,
    room,
)
from recheck_report.charts.drawing import Drawing, nothing
from recheck_report.charts.message import percent, timed
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label, significant
from recheck_report.model.record import Case, Experiment
from recheck_report.queries import DISPATCH, roof, share

TITLE = "How near to a copy"
COPY, PAPER = "sdk_copy", "white-paper"
COPIES = ("copy", "copy_shared", COPY, "sdk_copy_shared")  # which nobody takes for transpositions
THEN = ((VERMILLION, "s"), (OCHRE, "D"), (PURPLE, "v"))
HERE = ((BLUE, "o"), (GREEN, "^"))
Rate = tuple[float, float, float]  # per cent, with its low and high end


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record, figures, best = (
        own.record,
        own.known.figures_of(experiment.name),
        roof(own.record, experiment),
    )
    published = [(f, f.bytes_per_second) for f in figures.of(PAPER) if f.bytes_per_second]
    copies = {f.hardware: rate for f, rate in published if f.strategy == COPY}
    shapes = list(dict.fromkeys([experiment.headline, *(f.shape for f, _ in published)]))
    rows = [
        row
        for row in record.strategies(experiment)
        if row.target == "gpu" and row.role not in ("part", "roof") and not row.sweep
        if row.strategy not in DISPATCH
    ]
    here: dict[str, dict[str, Rate]] = {}
    for shape in shapes:
        for case in timed(record, experiment, rows, shape):
            if found := share(own.comparisons, record, case, best):
                of = here.setdefault(shape, {})
                of[case.strategy] = 100 * found.value, 100 * found.low, 100 * found.high
    if not here:
        raise nothing(record)
    then: dict[str, dict[str, Rate]] = {}
    for figure, rate in published:
        if figure.hardware in copies and figure.strategy != COPY:
            value = 100 * rate / copies[figure.hardware]
            name = figures.hardware[figure.hardware]
            then.setdefault(name, {})[figure.strategy] = value, value, value
    first = next(iter(here.values()))
    there = {name for of in (*here.values(), *then.values()) for name in of}
    rows = sorted(
        (row for row in rows if row.strategy in there),
        key=lambda row: first.get(row.strategy, (0.0,))[0],
    )
    names = [row.strategy + row.marks for row in rows]
    at = {row.strategy: y for y, row in enumerate(rows)}
    gpu = record.environment.gpu.name if record.environment.gpu else "here"
    note = f"{experiment.title}, cold. ‡: solves another problem, no transposition. "
    if then:
        note += (
            "Published: without intervals, and of the paper's own copy kernel, as it has no memcpy."
        )
    card = Card(_message(own, experiment, rows, best or ""), note, 104 + 14 * len(rows))
    left, top = room(names), 20
    middle = left + (WIDTH - MARGIN - left) * (0.56 if then else 1.0)
    looks = {True: HERE, False: THEN}
    panels = [(f"{gpu}: % of {best}", left, WIDTH - middle + 8, here)]
    if then:
        panels.append((f"published: % of {COPY}", middle + 8, MARGIN, then))
    for text, start, end, series in panels:
        axes = card.axes(start, end, top, 84, title=text)
        values = [value[2] for of in series.values() for value in of.values()]
        axes.set_xlim(0, max(108.0, 1.05 * max(values)))
        down(axes, names if series is here else [""] * len(names))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:.0f}"))
        axes.set_xlabel("share of the copy's rate (%)")
        axes.axvline(100, color=INK, linewidth=1)
        for (name, of), (color, marker) in zip(
            series.items(), looks[series is here] * 9, strict=False
        ):
            label = shape_label(name) if series is here else name
            points = [(at[n], *value) for n, value in of.items() if n in at]
            titles = [f"{n}, {label}: {_ends(value)}" for n, value in of.items() if n in at]
            card.dots(axes, points, titles, color=color, marker=marker, label=label)
        axes.legend(loc="upper left", bbox_to_anchor=(-0.1, -30 / axes.get_window_extent().height),
                    borderaxespad=0)  # fmt: skip
    return Drawing(card)


def _ends(value: Rate) -> str:
    if value[1] == value[2]:
        return f"{significant(value[0])} %"
    return f"{significant(value[0])} % [{significant(value[1], 4)}, {significant(value[2], 4)}]"


def _message(own: Measured, experiment: Experiment, rows: list[Case], best: str) -> str:
    record = own.record
    """What the fastest transposition reaches, and whether the documents' fastest row is one."""

    def reached(some: list[Case]) -> tuple[str, str]:
        for case in timed(record, experiment, some, experiment.headline):
            if found := share(own.comparisons, record, case, best):
                return case.strategy, percent(found.value)
        return "", ""

    name, part = reached([row for row in rows if row.contends])
    if not name:
        return f"No row that solves the problem has a share of {best}"
    found = f"{name} moves data at {part} of {best}"
    told = [row for row in rows if row.documented and row.strategy not in COPIES]
    fastest, of = reached(told)
    row = next((row for row in rows if row.strategy == fastest), None)
    if row and row.problem:
        named = f"{fastest} ({of}), which documents list as a transposition"
        return f"{found}; {named}, does not transpose"
    return found
