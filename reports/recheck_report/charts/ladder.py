"""The ladder: every GPU row's speed-up over the first rung at the headline shape, slow to fast."""

from __future__ import annotations

from recheck_report.charts.canvas import (
    BLUE,
    CARD,
    DASHED,
    FAINT,
    GREEN,
    INK,
    MUTED,
    OCHRE,
    PURPLE,
    VERMILLION,
    Card,
    Interval,
    Look,
    beside,
    down,
    log_values,
    room,
)
from recheck_report.charts.drawing import Drawing, NotDrawn, nothing
from recheck_report.charts.message import FASTER, against, leading, listed, ratio
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, shape_label, significant
from recheck_report.model.record import Case, Experiment
from recheck_report.queries import DISPATCH, first_rung, reference

TITLE = "The ladder"
BACKED = {"facecolor": CARD, "edgecolor": "none", "pad": 1}
# the groups of rows, from top to bottom: what a row must be, its colour and marker
GROUPS = {
    "documents' rungs": (BLUE, "o"),
    "rungs beyond them": (GREEN, "s"),
    "libraries": (VERMILLION, "D"),
    "§ split inputs on tensor cores": (PURPLE, "^"),
    "† not fp32-accurate": (INK, "P"),
    "‡ another problem with these bytes: no equal of the rest": (OCHRE, "v"),
}


LOOKS = [*GROUPS.values()]


def group(row: Case) -> int:
    """Its number among the groups."""
    if not row.contends:
        return 5
    if not row.fp32:
        return 3 if row.split else 4
    return 2 if row.role != "rung" else 0 if row.documented else 1


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record = own.record
    shape, base_name = experiment.headline, first_rung(record, experiment)
    base = record.find(experiment, base_name or "", shape, "cold")
    if not record.gpu_measured:
        raise nothing(record)
    if base is None or base.seconds is None:
        why = base.why_not if base else "the record holds no such case"
        raise NotDrawn(f"its base, {base_name} at {shape_label(shape)}: {why}")
    cases, gone = [], []
    for row in record.strategies(experiment):
        # a row that launches others' kernels has their place
        if row.target == "gpu" and not (row.sweep or row.part_of or row.strategy in DISPATCH):
            case = record.find(experiment, row.strategy, shape, "cold")
            if case and case.seconds:
                cases.append(case)
            else:
                why = case.why_not if case else "the record holds no such case"
                gone.append(f"{row.strategy} ({why})")
    # those that compute the same to the same accuracy stand together, slow to fast
    cases.sort(key=lambda c: (max(2, group(c)), -c.time.median))
    heights, heads, at = [], {}, 0.0
    for before, case in zip([None, *cases], cases, strict=False):
        if before and max(2, group(before)) != max(2, group(case)):
            at += 1.2
            heads[at - 1.05] = list(GROUPS)[group(case)]
        heights.append(at)
        at += 1
    ratios = [own.comparisons.ratio(base, case) for case in cases]
    note = f"{experiment.title} at {shape_label(shape)}, cold. Bars: 95 % intervals."
    card = Card(_message(own, experiment, base), note, 70 + 13.5 * at)
    axes = card.axes(room([c.strategy for c in cases]), 122, top=24, bottom=38)
    ends = [end for each in ratios for end in (each.low, each.high)]
    span = min(0.9, *ends) / 1.1, max(1.2, *ends) * 1.1
    log_values(axes.xaxis, *span, lambda x: f"{x:g}×")
    down(axes, [case.strategy for case in cases], heights)
    axes.set_xlabel(f"speed-up over {base_name} (×, log; right of 1 is faster)")
    axes.axvline(1, color=MUTED, linewidth=1)
    vendor = record.find(experiment, reference(record, experiment) or "", shape, "cold")
    if vendor and vendor.seconds:
        place = own.comparisons.ratio(base, vendor).value
        axes.axvline(place, color=VERMILLION, linestyle=DASHED, linewidth=1)
        axes.text(place, -1.0, vendor.strategy, color=VERMILLION, ha="center", fontweight="bold")
    beside(axes, -1.2, "speed-up", color=MUTED)
    beside(axes, -1.2, "time", x=66, color=MUTED)
    for y, text in heads.items():
        axes.text(span[0], y, text, color=MUTED, va="center", bbox=BACKED)
    axes.hlines(heights, 1, [each.value for each in ratios], color=FAINT, linewidth=1)
    for name, case in zip(axes.get_yticklabels(), cases, strict=True):
        name.set_color(LOOKS[group(case)][0])
    points: dict[int, list[Interval]] = {}
    titles: dict[int, list[str]] = {}
    for y, case, each in zip(heights, cases, ratios, strict=True):
        kind = group(case)
        points.setdefault(kind, []).append((y, each.value, each.low, each.high))
        text = f"{case.strategy}: {each}, {duration(case.time.median)}"
        titles.setdefault(kind, []).append(text)
        beside(axes, y, "base" if case is base else f"{significant(each.value)}×{case.marks}")
        beside(axes, y, duration(case.time.median), x=66)
    for kind, (text, (color, marker)) in enumerate(GROUPS.items()):
        look: Look = {"color": color, "marker": marker, "label": text if kind < 3 else "_"}
        card.dots(axes, points.get(kind, []), titles.get(kind, []), **look)
    if len(points.keys() & {0, 1, 2}) > 1:
        corner = -room([c.strategy for c in cases]) / axes.get_window_extent().width, 0
        axes.legend(loc="upper left", bbox_to_anchor=corner, ncols=3, borderaxespad=3)
    caption = f"No time at {shape_label(shape)}: {'; '.join(gone)}." if gone else ""
    return Drawing(card, caption)


def _message(own: Measured, experiment: Experiment, base: Case) -> str:
    record = own.record
    lead = leading(record, experiment, [experiment.headline]) or base
    vendor = reference(record, experiment, lead.layout)
    library = record.find(experiment, vendor or "", experiment.headline, "cold")
    gained = lead is not base and ratio(own, base, lead).outcome == FASTER
    than = [base] if gained else []
    than += [library] if library and library.seconds else []
    if not than:
        return f"No rung can be told to be faster than {base.strategy}"
    found = f"{lead.strategy} is {listed([against(own, each, lead) for each in than])}"
    return found if gained else f"{found}; no rung can be told to be faster than {base.strategy}"
