"""Peak and sustained: what each row keeps of its burst's rate over seconds of launches."""

from __future__ import annotations

from recheck_report.charts.canvas import CARD, MUTED, OURS, Card, beside, down, room
from recheck_report.charts.drawing import nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import significant
from recheck_report.model.record import Experiment
from recheck_report.queries import metric_of
from recheck_report.sections.sustained import pairs

TITLE = "Peak and sustained"
_NOTE = (
    "Each row at its headline shape. Hollow: a burst of a few milliseconds, 100 %; filled: "
    "launches back to back over seconds. The line is what it loses or gains."
)


def draw(own: Measured, _: Experiment) -> Card:
    """Of all experiments, as one has but few such rows."""
    record = own.record
    found = [(each, pair) for each in record.ordinary for pair in pairs(record, each)]
    if not found:
        raise nothing(record)
    names = [f"{each.name}: {pair.burst.strategy}{pair.burst.marks}" for each, pair in found]
    (_, most), name = max(zip(found, names, strict=True), key=lambda each: each[0][1].falls)
    falls = f"Over seconds, {name} loses {100 * most.falls:.1f} % of its rate, the most of all"
    message = falls if most.falls >= 0.005 else "Over seconds, no row loses 0.5 % of its rate"
    card = Card(message, _NOTE, 46 + 22 * len(found))
    axes = card.axes(room(names), 130, xlabel="rate, of that in a burst (%)")
    kept = [100 * (1 - pair.falls) for _, pair in found]
    axes.set_xlim(min(*kept, 99) - 1, max(*kept, 100) + 1)
    down(axes, names)
    for y, ((experiment, pair), share) in enumerate(zip(found, kept, strict=True)):
        axes.plot([share, 100], [y, y], color=OURS, linewidth=1.6)
        for x, fill in ((100, CARD), (share, OURS)):
            axes.plot([x], [y], "o", color=OURS, mfc=fill, mec=OURS, mew=1.2)
        metric = metric_of(record, experiment)
        burst, over = (metric.rates(case)[0] for case in (pair.burst, pair.over))
        text = f"{significant(burst)} → {significant(over)} {metric.unit}"
        beside(axes, y, text, color=MUTED)
    return card
