"""An experiment's story: its steps from the first kernel to the fastest, each with its paragraph,
its numbers and what binds it, all made of the record and its probes.

A sentence that is true for one outcome or one GPU appears only there. A sentence about something
that was not measured does not appear.
"""

from __future__ import annotations

from recheck_report.claims.checks import Check
from recheck_report.claims.collection import GAIN, Part, Step, Story
from recheck_report.claims.evaluate import NOT_MEASURED, Questions
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, shape_label, significant
from recheck_report.queries import metric_of
from recheck_report.record.record import Experiment
from recheck_report.say.bottlenecks import busy
from recheck_report.say.check import explained
from recheck_report.say.nodes import (
    Bullets,
    Section,
    Text,
    anchor,
    blocks,
    code,
    joined,
    prose,
    strong,
    text,
)
from recheck_report.say.standings import against, row_link, timed


def shown_steps(report: Measured, experiment: Experiment) -> tuple[Story, list[Step]] | None:
    """The experiment's story, and those of its steps that the record has rows of; None if it has no
    story, or the record no GPU's times."""
    story = report.collection.stories.get(experiment.name)
    if story is None or not report.record.gpu_measured:
        return None
    rows = {row.strategy for row in report.record.strategies(experiment)}
    return story, [step for step in story.steps if step.row in rows]


def tell(report: Measured, experiment: Experiment, lead: Text) -> Section | None:
    """The whole story: `lead`, which rows the record lacks, then the steps in their order."""
    shown = shown_steps(report, experiment)
    if shown is None:
        return None
    story, steps = shown
    items, uncounted = [], dict[Text, list[Text]]()
    for at, step in enumerate(steps, 1):
        lines = [_numbers(report, experiment, step)]
        if step.binds:
            counted, why = busy(report.probes, report.record, step.binds)
            if counted:
                _, row, shape, _ = step.binds.split("/")
                lines.append(text(f"At {shape_label(shape)} ", code(row), " ", counted, "."))
            else:
                uncounted.setdefault(why, []).append(code(step.row))
        (row_of,) = (r for r in report.record.strategies(experiment) if r.strategy == step.row)
        title = text(f"{at}. ", prose(step.idea), ", ", code(step.row), f"{row_of.marks}.")
        head = text(anchor(f"step-{step.row}"), strong(title), " ")
        items.append((head + _paragraph(report, experiment, step), Bullets(tuple(lines))))
    names = joined(", ", (code(step.row) for step in story.steps if step not in steps))
    absent = text("Not in this record: ", names, ".") if names else Text()
    gaps = (
        text("What binds ", joined(", ", rows), " was not counted: ", why, ".")
        for why, rows in uncounted.items()
    )
    body = blocks(joined(" ", (lead, absent, *gaps)), Bullets(tuple(items)))
    return Section(prose(story.title), body, "step-by-step")


def _numbers(report: Measured, experiment: Experiment, step: Step) -> Text:
    """Its time against its base's, and its rate: "8.99 TFLOP/s (13 % of the fp32 limit)"; that
    limit is not the one of TF32 or a CPU."""
    record, metric = report.record, metric_of(report.record, experiment)
    case = timed(report, experiment, step.row, experiment.headline)
    if isinstance(case, Text):
        return case
    if base := record.timed(experiment, step.base, experiment.headline):
        marks = case.marks if case.marks != base.marks else ""
        said = text(against(report, base, case)[1], marks)
    else:
        where = shape_label(experiment.headline)
        said = text(f"At {where} ", row_link(report, case), f" takes {duration(case.time.median)}")
    rate, limit = metric.rate(case, case.time.median), metric.limit(record)
    share = ""
    if limit and case.target == "gpu" and case.fp32:
        share = f" ({significant(100 * rate / limit, 2)} % of the {metric.ceiling_label})"
    less = text("; effective, for it does ", prose(step.effective)) if step.effective else ""
    return text(said, f"; {significant(rate)} {metric.unit}{share}", less, ".")


def _paragraph(report: Measured, experiment: Experiment, step: Step) -> Text:
    """Those parts of its text that this record bears out."""
    questions = Questions(report.record, report.probes, report.comparisons)
    checks = {check.key: check for check in step.check}
    if step.base:
        first, second = (
            f"{experiment.name}/{row}/{experiment.headline}/{report.record.ranked_by(experiment)}"
            for row in (step.base, step.row)
        )
        checks[GAIN] = Check("ratio", base=first, other=second, above=1.0)
    outcomes = {key: questions.ask(check) for key, check in checks.items()}

    def verdict(part: Part) -> str:
        return outcomes[part.of].verdict if part.of in outcomes else NOT_MEASURED

    parts = (part for part in step.text if part.applies(verdict(part), report.record.gpu, outcomes))
    return joined(" ", (explained(part.text, outcomes) for part in parts))
