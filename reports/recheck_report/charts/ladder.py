"""The ladder: how many times as fast as the first kernel each way to compute is, slow to fast.

A mark for each listing of the documents, at its fastest row, and for each library: eight to twelve.
"""

from __future__ import annotations

from recheck_report.charts.canvas import (
    DASHED,
    FAINT,
    INK,
    LIBRARY,
    MUTED,
    OTHER_PROBLEM,
    OURS,
    SPLIT,
    THEIRS,
    Card,
    beside,
    down,
    log_values,
    room,
)
from recheck_report.charts.drawing import NotDrawn, nothing
from recheck_report.charts.message import FASTER, SLOWER, factor, leading, plain_name, ratio
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, shape_label, significant
from recheck_report.queries import first_rung, reference
from recheck_report.record.record import Case, Experiment

TITLE = "The ladder"
MOST = 12  # marks
# what a row must be, its colour and marker
GROUPS = {
    "follow the documents": (THEIRS, "o"),
    "go beyond": (OURS, "s"),
    "libraries": (LIBRARY, "D"),
    "§ split inputs": (SPLIT, "^"),
    "† not fp32": (INK, "P"),
    "‡ another problem": (OTHER_PROBLEM, "v"),
}
LOOKS = [*GROUPS.values()]


def group(row: Case) -> int:
    """Its number among the groups."""
    if not row.contends:
        return 5
    if not row.fp32:
        return 3 if row.split else 4
    return 2 if row.role != "rung" else 0 if row.documented else 1


def draw(own: Measured, experiment: Experiment) -> Card:
    record, shape = own.record, experiment.headline
    base_name = first_rung(record, experiment)
    regime = record.ranked_by(experiment)
    base = record.find(experiment, base_name or "", shape, regime)
    if not record.gpu_measured:
        raise nothing(record)
    if base is None or base.seconds is None:
        why = base.why_not if base else "the record holds no such case"
        raise NotDrawn(f"its base, {base_name} at {shape_label(shape)}: {why}")
    cases, all_of_them = _shown(own, experiment, base)
    names = [f"{plain_name(own, case)}{case.marks}" for case in cases]
    ratios = [own.comparisons.ratio(base, case) for case in cases]
    rows = [case.strategy for case in cases]
    of_each = "" if all_of_them else ": of each listing its fastest row"
    note = f"{experiment.title} at {shape_label(shape)}, {regime}{of_each}. "
    note += "Dashed: the library. Grey: from the base; coloured: 95 % intervals."
    kinds = sorted({group(case) for case in cases})
    legend = 13.0 * (len(kinds) > 4)  # a second line of it
    card = Card(_message(own, experiment, base), note, 74 + legend + 19 * len(cases))
    grey = 12 + 5.6 * max(map(len, rows))
    axes = card.axes(room(names), 104 + grey, top=24, bottom=50 + legend)
    ends = [end for each in ratios for end in (each.low, each.high)]
    span = min(0.9, *ends) / 1.1, max(1.2, *ends) * 1.1
    log_values(axes.xaxis, *span, lambda x: f"{x:g}×")
    down(axes, names)
    axes.set_xlabel(f"speed-up over {base_name} (×, log; right of 1 is faster)")
    axes.axvline(1, color=MUTED, linewidth=1)
    if vendor := record.timed(experiment, reference(record, experiment), shape):
        there = own.comparisons.ratio(base, vendor).value
        axes.axvline(there, color=LIBRARY, linestyle=DASHED, linewidth=1)
    for text, x in (("speed-up", 6.0), ("time", 56.0), ("row", 106.0)):
        beside(axes, -1.0, text, x, color=MUTED)
    axes.hlines(range(len(cases)), 1, [each.value for each in ratios], color=FAINT, linewidth=1)
    for kind in kinds:
        color, marker = LOOKS[kind]
        at = [y for y, case in enumerate(cases) if group(case) == kind]
        points = [(y, ratios[y].value, ratios[y].low, ratios[y].high) for y in at]
        card.dots(axes, points, color=color, marker=marker, label=[*GROUPS][kind])
    for y, (case, each) in enumerate(zip(cases, ratios, strict=True)):
        beside(axes, y, "base" if case is base else f"{significant(each.value)}×")
        beside(axes, y, duration(case.time.median), 56)
        beside(axes, y, case.strategy, 106, color=MUTED)
    if len(kinds) > 1:
        corner = (12 - room(names)) / axes.get_window_extent().width, 0
        axes.legend(loc="upper left", bbox_to_anchor=corner, ncols=4, borderaxespad=3.4)
    return card


def _shown(own: Measured, experiment: Experiment, base: Case) -> tuple[list[Case], bool]:
    """The first kernel and the others, slow to fast, and whether these are all; where they are too
    many, of each other source and arithmetic the fastest row."""
    found: dict[object, Case] = {}
    dispatch = own.known.settings.dispatch  # what launches others' kernels has their place
    rows = [
        (row, case)
        for row in own.record.strategies(experiment)
        if row.target == "gpu"
        and not (row.sweep or row.part_of or row.strategy in dispatch)
        and (case := own.record.timed(experiment, row.strategy, base.shape_name))
    ]
    if len(rows) <= MOST:
        return sorted((case for _, case in rows), key=lambda case: -case.time.median), True
    for row, case in rows:
        if str(row.source) == str(base.source):
            continue
        key = str(row.source), row.arithmetic, row.layout, row.role
        known = found.get(key)
        if known is None or case.time.median < known.time.median:
            found[key] = case
    others = sorted(found.values(), key=lambda case: case.time.median)
    # the slowest kernels go where there are too many
    kept = [case for case in others if case.role != "rung"]
    kept += [case for case in others if case.role == "rung"][: MOST - 1 - len(kept)]
    return sorted([base, *kept], key=lambda case: -case.time.median), False


def _message(own: Measured, experiment: Experiment, base: Case) -> str:
    """How far the documents' kernels come, and how far the library is from that."""
    record, first = own.record, plain_name(own, base)
    lead = leading(own, experiment) or base
    vendor = reference(record, experiment, lead.layout)
    library = record.timed(experiment, vendor, experiment.headline)
    gained = lead is not base and ratio(own, base, lead).outcome == FASTER
    name = plain_name(own, lead)
    found = f"No kernel is significantly faster than {first}"
    if gained:
        times = factor(ratio(own, base, lead).value)
        found = f"{name[0].upper()}{name[1:]}: {times} times as fast as {first}"
    if library and lead is not library:
        against = ratio(own, lead, library)
        how = {
            FASTER: f"is another {factor(against.value)} times as fast",
            SLOWER: f"takes {factor(against.inverse.value)} times as long",
        }
        found += f"; {vendor} {how.get(against.outcome, 'is not significantly different')}"
    return found
