"""Sustained load: by how much kernels change the rate of a few launches, where some lose."""

from __future__ import annotations

from collections.abc import Sequence

from recheck_report.charts.drawing import Limit, NotDrawn, keys, listed, look_of, rows
from recheck_report.charts.drawing import Row as Bar
from recheck_report.claims.measured import Measured
from recheck_report.formatting import significant
from recheck_report.queries import metric_of
from recheck_report.record.record import Experiment
from recheck_report.say.sustained import SAME, Row, rows_of
from recheck_report.write.svg import Card, linear

KIND = "Sustained load"
Changed = tuple[Experiment, Row, float]  # -0.02: a loss of 2 %


def losing(report: Measured) -> list[Changed]:
    """The kernels of the experiments in which one loses rate, each with its change."""
    found = []
    for experiment in report.record.ordinary:
        changes = [
            (experiment, row, by)
            for row in rows_of(report.record, experiment)
            if (by := row.change) is not None
        ]
        found += changes if any(by <= -SAME for *_, by in changes) else []
    return found


def title(changed: Sequence[Changed]) -> str:
    """What loses most, and the library next to it."""

    def says(row: Row, by: float) -> str:
        name = f"{row.over.strategy}{row.over.marks}" + " (unsettled)" * row.over.unsettled
        if abs(by) < SAME:
            return f"{name} keeps its rate"
        return f"{name} {'loses' if by < 0 else 'gains'} {significant(100 * abs(by), 2)} %"

    experiment, worst, by = min(changed, key=lambda each: each[-1])
    library = [
        says(row, change)
        for about, row, change in changed
        if about is experiment and row is not worst and row.over.role == "baseline"
    ]
    return f"Sustained {experiment.title.lower()}: {listed([says(worst, by), *library[:1]])}"


def draw(report: Measured) -> Card:
    changed = losing(report)
    if not changed:
        raise NotDrawn("no kernel loses rate under sustained load")
    made = []
    for experiment, row, by in changed:
        metric = metric_of(report.record, experiment)
        rates = (significant(metric.rates(case)[0]) for case in (row.brief, row.over) if case)
        name = f"{experiment.name}: {row.over.strategy}{row.over.marks}"
        name += ", unsettled" * row.over.unsettled
        value = f"{' → '.join(rates)} {metric.unit}"
        made.append(Bar(name, value, (100 * by,) * 3, look_of(row.over)))
    brief = listed([*dict.fromkeys(row.brief.regime for _, row, _ in changed if row.brief)])
    note = (
        "Experiments in which a kernel loses 1 % or more, at their headline shape. From a few "
        f"launches ({brief}) to launches back to back for seconds. Unsettled: pace or power still "
        "changed when the measurement began."
    )
    ends = [row.ends[0] for row in made]
    x = linear(1.05 * min(ends), max(1.0, 1.05 * max(ends)))
    label = "change of the rate under sustained load (%)"
    card = rows((title(changed), note), made, x, label, limits=[Limit(0)])
    card.key(keys(made))
    return card
