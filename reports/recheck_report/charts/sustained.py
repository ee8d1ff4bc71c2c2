"""Over seconds: what each row keeps of its single launches' rate in seconds of launches."""

from __future__ import annotations

from recheck_report.charts.drawing import nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import significant
from recheck_report.queries import metric_of
from recheck_report.record.record import Experiment
from recheck_report.say.sustained import SAME, rows_of
from recheck_report.write.svg import MUTED, OURS, Card, linear, names_width, rows_axis

TITLE = "Over seconds"
_NOTE = (
    "Each row at the headline shape. Hollow: single launches, {single}, 100 %; bar: back to back "
    "for milliseconds (hot); filled: for seconds."
)


def draw(own: Measured, experiment: Experiment) -> Card:
    found = rows_of(own.record, experiment)
    single = own.record.ranked_by(experiment)
    compared = [(row, by) for row in found if (by := row.change(row.single)) is not None]
    if not compared:
        raise nothing(own.record)
    names = [f"{row.over.strategy}{row.over.marks}" for row, _ in compared]
    most, name = min(zip((by for _, by in compared), names, strict=True))
    message = f"Over seconds {name} runs {-100 * most:.1f} % below its {single} rate"
    if most > -SAME:
        message = f"Over seconds no row loses 1 % of its {single} rate"
    card = Card(message, _NOTE.format(single=single), 46 + 22 * len(compared))
    kept = [100 * (1 + by) for _, by in compared]
    hot = {
        y: kept[y] / (1 + by)
        for y, (row, _) in enumerate(compared)
        if (by := row.change(row.hot)) is not None
    }
    x = linear(min(*kept, *hot.values(), 99) - 1, max(*kept, *hot.values(), 100) + 1, 5)
    panel = card.panel(x, rows_axis(len(names)), names_width(names), 150)
    panel.frame(f"rate, of the {single} one (%)")
    panel.rows(names)
    metric = metric_of(own.record, experiment)
    for y, (row, _) in enumerate(compared):
        if y in hot:
            panel.tick(y, hot[y], MUTED)
        panel.level(y, kept[y], 100, OURS, 1.6)
        for at in (100.0, kept[y]):
            panel.dots([(y, at, at, at)], OURS, "o", hollow=at == 100)
        rates = (significant(metric.rates(case)[0]) for case in (row.single, row.over) if case)
        panel.beside(y, f"{' → '.join(rates)} {metric.unit}", color=MUTED)
    return card
