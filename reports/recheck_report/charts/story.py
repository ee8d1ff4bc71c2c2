"""The story: rate and gain of each step from the first kernel to the fastest, in fp32.

Its steps are those of the experiment's story.toml, so any experiment may have it.
"""

from __future__ import annotations

from recheck_report.charts.drawing import Bar, Limit, bars, nothing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE
from recheck_report.queries import metric_of, reference
from recheck_report.record.record import Experiment
from recheck_report.say import charts as say
from recheck_report.say.ratio import speed
from recheck_report.say.story import shown_steps
from recheck_report.write.svg import LIBRARY, Card

TITLE = "Step by step"


def draw(own: Measured, experiment: Experiment) -> Card:
    record, told, shape = own.record, shown_steps(own, experiment), experiment.headline
    every = [
        (e, c) for e in (told[1] if told else ()) if (c := record.timed(experiment, e.row, shape))
    ]
    steps = [(step, case) for step, case in every if case.fp32] or every
    if not steps:
        raise nothing(record)
    metric, rows = metric_of(record, experiment), []
    for step, case in steps:
        base, gain, lost = record.timed(experiment, step.base, shape), NONE, False
        if base:
            found = say.ratio(own, base, case)
            gain, lost = speed(found.value), found.outcome == say.SLOWER
        rows.append(Bar(step.idea, case, (gain,), lost))
    rest = [metric.rates(case)[0] for step, case in every if (step, case) not in steps]
    rates = [metric.rates(case)[0] for _, case in steps]
    limits = []
    if library := record.timed(experiment, reference(record, experiment), shape):
        limits.append(Limit(library.strategy, metric.rates(library)[0], LIBRARY))
    if limit := metric.limit(record):
        limits.append(Limit(metric.ceiling_label, limit))
    message = say.story(rates, metric.unit, sum(row.loses for row in rows))
    note = say.story_note(own, experiment, rest, metric, [step for step, _ in steps])
    return bars(own, experiment, (message, note), rows, ("per step",), limits)
