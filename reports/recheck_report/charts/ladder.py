"""The ladder: how many times as fast as the first kernel each way to compute is, slow to fast.

A mark for each listing of the documents, at its fastest row, and for each library: eight to twelve.
"""

from __future__ import annotations

from recheck_report.charts.drawing import NotDrawn, nothing
from recheck_report.charts.message import FASTER, SLOWER, factor, leading, plain_name, ratio
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, shape_label, significant
from recheck_report.queries import first_kernel, reference
from recheck_report.record.record import Case, Experiment
from recheck_report.write.svg import (
    FAINT,
    INK,
    LIBRARY,
    MUTED,
    OTHER_PROBLEM,
    OURS,
    SPLIT,
    THEIRS,
    WIDTH,
    Card,
    logarithmic,
    names_width,
    rows_axis,
    width_of,
)

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
    base_name = first_kernel(record, experiment)
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
    left, right = names_width(names), 112 + max(map(width_of, rows))
    ends = [end for each in ratios for end in (each.low, each.high)]
    span = min(0.9, *ends) / 1.1, max(1.2, *ends) * 1.1
    x = logarithmic(*span, WIDTH - left - right, lambda x: f"{x:g}×")
    panel = card.panel(x, rows_axis(len(cases)), left, right, top=24, bottom=50 + legend)
    panel.frame(f"speed-up over {base_name} (×, log; right of 1 is faster)")
    panel.rows(names)
    panel.vertical(1, MUTED)
    if vendor := record.timed(experiment, reference(record, experiment), shape):
        panel.vertical(own.comparisons.ratio(base, vendor).value, LIBRARY, dash="5 3")
    for text, at in (("speed-up", 6.0), ("time", 56.0), ("row", 106.0)):
        panel.beside(-1.0, text, at, MUTED)
    for y, (case, each) in enumerate(zip(cases, ratios, strict=True)):
        panel.level(y, 1, each.value, FAINT)
        panel.dots([(y, each.value, each.low, each.high)], *LOOKS[group(case)])
        panel.beside(y, "base" if case is base else f"{significant(each.value)}×")
        panel.beside(y, duration(case.time.median), 56)
        panel.beside(y, case.strategy, 106, MUTED)
    if len(kinds) > 1:
        card.legend(panel.bottom + 40, [(*LOOKS[kind], [*GROUPS][kind]) for kind in kinds])
    return card


def _shown(own: Measured, experiment: Experiment, base: Case) -> tuple[list[Case], bool]:
    """The first kernel and the others, slow to fast, and whether these are all; where they are too
    many, of each other source and arithmetic the fastest row."""
    found: dict[object, Case] = {}
    dispatch = own.collection.settings.dispatch  # what launches others' kernels has their place
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
