"""The page of one experiment: what was found, how fast each row is, and what has no time."""

from __future__ import annotations

from collections.abc import Sequence

from recheck_report.anchors import CASES
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label
from recheck_report.record.record import Experiment
from recheck_report.say import documents, story, summary, sustained, tables
from recheck_report.say.nodes import (
    Page,
    Picture,
    Section,
    Text,
    blocks,
    joined,
    link,
    paragraph,
    text,
)
from recheck_report.say.pages import MARK, README, machine

STEPS = (
    "Texts explain by what the kernels' sources do, and say what was counted; an explanation "
    "without a counter is a reading of the source."
)
SPLIT = "§ meets an error bound of its own, not IEEE fp32's: no rank among the steps without it."


def experiment_page(report: Measured, experiment: Experiment, charts: Sequence[Picture]) -> Page:
    """`charts`: those of the experiment, in their order."""
    record = report.record
    every = text("Every shape and regime: ", link(CASES, CASES), ", report.html.")
    gaps = tables.not_passed(record, [experiment])
    none = paragraph("None: every case passed its check and was timed.")
    figures = report.known.figures_of(experiment.name)
    shape = shape_label(experiment.headline)
    split = any(case.split for case in record.of(experiment))
    lead = [f"All at {shape}, {record.ranked_by(experiment)}, each step against the one before or"]
    lead += ["the one that it names.", STEPS, *[SPLIT] * split]
    sections = (
        Section(
            text(f"Every row at {shape}"),
            blocks(_how(report, experiment), tables.Headline(report, experiment).table),
            "at-the-headline",
        ),
        story.tell(report, experiment, text(" ".join(lead))),
        sustained.section(report, experiment),
        *tables.then_and_here(record, experiment, figures),
        Section(text("Cases without a time"), (gaps if gaps.rows else none,), "without-a-time"),
    )
    problem = f" ({experiment.problem})" if experiment.problem else ""
    return Page(
        MARK,
        text(f"{experiment.title} on {machine(record)}"),
        blocks(joined(" ", (summary.winner(report, experiment), every)), charts, sections),
        says=text(f"How fast each way to compute it is{problem}, and what could not be timed."),
        back=README,
    )


def _how(report: Measured, experiment: Experiment) -> Text:
    """How to read the table of all rows."""
    record, cases = report.record, report.record.of(experiment)
    ranked = record.ranked_by(experiment)
    metrics = dict.fromkeys(case.error.metric for case in cases if case.error)
    drained = ": from a clean L2 until everything written is in DRAM" * (ranked == "drained")
    error = f"The error is {' or '.join(metrics) or 'not known'}"
    says: list[Text | str] = [
        "Medians, each with the larger half of its 95 % interval. Rate, speed-ups and error are "
        f"those of {ranked} times (CPU rows: hot){drained}. {error}, and the bound that it must "
        "stay within.",
        documents.printed(report),
    ]
    if any(not case.fp32 and not case.split for case in cases):
        says.append("† not fp32-accurate: not compared as an equal.")
    if any(case.split for case in cases):
        says.append(
            "§ not IEEE fp32: tensor cores add up products of split inputs, within a bound of "
            "their own."
        )
    if others := tables.other_problems(record, experiment):
        lead = "‡ another problem, or a part of this one: not compared as an equal; "
        says.append(text(lead, joined("; ", others), "."))
    return joined(" ", says)
