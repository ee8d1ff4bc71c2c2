"""Sustained load: by how much kernels change the rate of a few launches, where some lose."""

from __future__ import annotations

from recheck_report.charts.drawing import ROW, NotDrawn
from recheck_report.claims.measured import Measured
from recheck_report.formatting import significant
from recheck_report.queries import metric_of
from recheck_report.record.record import Experiment
from recheck_report.say import charts as say
from recheck_report.say.sustained import SAME, Row, rows_of
from recheck_report.write.svg import (
    LIBRARY,
    MUTED,
    OURS,
    Card,
    linear,
    names_width,
    rows_axis,
    width_of,
)

TITLE = "Sustained load"


def losing(own: Measured) -> list[tuple[Experiment, Row, float]]:
    """The kernels of the experiments in which one loses rate, each with its change."""
    found = []
    for experiment in own.record.ordinary:
        changes = [
            (experiment, row, by)
            for row in rows_of(own.record, experiment)
            if (by := row.change) is not None
        ]
        found += changes if any(by <= -SAME for *_, by in changes) else []
    return found


def _signed(value: float) -> str:
    return f"{value:g}".replace("-", "−")


def draw(own: Measured) -> Card:
    rows = losing(own)
    if not rows:
        raise NotDrawn("no kernel loses rate under sustained load")
    names, beside = [], []
    for experiment, row, _ in rows:
        metric = metric_of(own.record, experiment)
        rates = (significant(metric.rates(case)[0]) for case in (row.brief, row.over) if case)
        beside.append(f"{' → '.join(rates)} {metric.unit}")
        names.append(f"{experiment.name}: {row.over.strategy}{row.over.marks}")
    changes = [100 * by for *_, by in rows]
    card = Card(say.sustained(rows), say.sustained_note(rows), 46 + ROW * len(rows))
    x = linear(1.05 * min(changes), max(1.0, 1.05 * max(changes)), 5, _signed)
    right = 20 + max(map(width_of, beside))
    panel = card.panel(x, rows_axis(len(rows)), names_width(names), right)
    panel.frame("change of the rate under sustained load (%)")
    panel.rows(names)
    panel.vertical(0, MUTED)
    for y, ((_, row, _), by, text) in enumerate(zip(rows, changes, beside, strict=True)):
        panel.level(y, 0, by, LIBRARY if row.over.role == "baseline" else OURS, 8)
        panel.beside(y, text)
    return card
