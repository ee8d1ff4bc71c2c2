"""The story: rate and gain of each step from the first kernel to the fastest, in fp32.

Its steps are those of the experiment's story.toml, so any experiment may have it.
"""

from __future__ import annotations

from collections.abc import Sequence

from recheck_report.charts import drawing
from recheck_report.claims.collection import Step
from recheck_report.claims.measured import Measured
from recheck_report.formatting import significant, speed
from recheck_report.queries import Metric, metric_of, reference
from recheck_report.record.record import Experiment
from recheck_report.say.story import shown_steps
from recheck_report.write.svg import LIBRARY, Card

KIND = "Step by step"


def title(rates: Sequence[float], unit: str, lost: int) -> str:
    """ "From 5.2 to 53 TFLOP/s in 12 steps; 2 of them lose"."""
    first, best = (significant(value, 2) for value in (rates[0], max(rates)))
    found = f"From {first} to {best} {unit} in {len(rates)} steps" if rates[1:] else ""
    found = found or f"{first} {unit} in one step"
    return found + f"; {lost} of them lose{'s' * (lost == 1)}" * (lost > 0)


def _note(
    report: Measured,
    experiment: Experiment,
    rest: Sequence[float],
    metric: Metric,
    steps: list[Step],
) -> str:
    """`rest`: the rates of the steps that are not drawn."""
    text = drawing.where(experiment, report.record.ranked_by(experiment)) + " "
    ideas = {step.row: step.idea for step in steps}
    for last, step in zip(steps, steps[1:], strict=False):
        if step.base != last.row and step.base in ideas:
            text += f"“{step.idea}” is compared with “{ideas[step.base]}”. "
    text += drawing.INTERVALS
    if rest:
        many = f"{len(rest)} more steps are" if rest[1:] else "One more step is"
        text += f" {many} not IEEE fp32: up to {significant(max(rest))} {metric.unit}."
    return text


def draw(report: Measured, experiment: Experiment) -> Card:
    record, story, shape = report.record, shown_steps(report, experiment), experiment.headline
    every = [
        (e, c) for e in (story[1] if story else ()) if (c := record.timed(experiment, e.row, shape))
    ]
    steps = [(step, case) for step, case in every if case.fp32] or every
    if not steps:
        raise drawing.nothing(record)
    metric, rows = metric_of(record, experiment), []
    for step, case in steps:
        base, gain, lost = record.timed(experiment, step.base, shape), "", False
        if base:
            gain = speed(report.comparisons.verdict(base, case).value)
            lost = drawing.outcome(report, base, case) == "slower"
        rows.append(drawing.kernel(metric, case, step.idea, gain, LIBRARY if lost else ""))
    rest = [metric.rates(case)[0] for step, case in every if (step, case) not in steps]
    rates = [metric.rates(case)[0] for _, case in steps]
    limits = []
    if library := record.timed(experiment, reference(record, experiment), shape):
        rate = metric.rates(library)[0]
        limits.append(drawing.Limit(rate, f"{library.strategy} {significant(rate)}", LIBRARY))
    if limit := metric.limit(record):
        limits.append(drawing.Limit(limit, f"{metric.ceiling_label} {significant(limit)}"))
    note = _note(report, experiment, rest, metric, [step for step, _ in steps])
    words = title(rates, metric.unit, sum(bool(row.color) for row in rows)), note
    return drawing.kernels(report, experiment, words, rows, limits, "against the step before")
