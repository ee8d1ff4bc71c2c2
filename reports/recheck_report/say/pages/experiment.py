"""The page of one experiment: the fastest kernel, shape by shape, every kernel, and the gaps."""

from __future__ import annotations

from collections.abc import Sequence

from recheck_report.anchors import CASES
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label
from recheck_report.record.record import Experiment
from recheck_report.say import bottlenecks, documents, standings, story, sustained, tables, wordings
from recheck_report.say.glossary import marks
from recheck_report.say.nodes import (
    Page,
    Picture,
    Section,
    Table,
    Text,
    blocks,
    joined,
    marked,
    paragraph,
    text,
)
from recheck_report.say.pages import MARK, README, machine

STEPS = (
    "Texts explain what the kernels' sources do, and report what was counted. An explanation "
    "without a counter is a reading of the source."
)
MEDIANS = """\
Medians, each with the larger half of its 95 % interval. Rate, speed-ups and error belong to the
{regime} times (CPU programs: hot){drained}. The error is {error}, with its bound."""


def experiment_page(report: Measured, experiment: Experiment, charts: Sequence[Picture]) -> Page:
    """`charts`: those of the experiment, in their order."""
    record = report.record
    every = marked(f"[{CASES}]({CASES}) has every shape and regime.")
    fastest = [*standings.sentences(report, experiment)]
    gaps = tables.not_passed(record, [experiment])
    none = paragraph("None: every case passed its check and was timed.")
    figures = report.collection.figures_of(experiment.name)
    shape = shape_label(experiment.headline)
    lead = [
        f"At {shape}, {record.ranked_by(experiment)}, each step compared with the previous one "
    ]
    lead += ["or the one that it names. ", STEPS]
    every_kernel = tables.KernelsTable(report, experiment).table
    kernels = blocks(_how(report, experiment, every_kernel), every_kernel)
    sections = (
        standings.shapes_section(report, experiment),
        Section(text(f"Every kernel at {shape}"), kernels, "at-the-headline"),
        story.tell(report, experiment, text("".join(lead))),
        sustained.section(report, experiment),
        bottlenecks.costs(report, experiment),
        wordings.section(report, experiment),
        *tables.then_and_here(record, experiment, figures),
        Section(text("Cases without a time"), (gaps if gaps.rows else none,), "without-a-time"),
    )
    problem = f"kernel computes {experiment.problem}" if experiment.problem else "kernel is"
    return Page(
        MARK,
        text(f"{experiment.title} on {machine(record)}"),
        blocks(fastest or standings.untimed(report, experiment), every, charts, sections),
        says=text(f"How fast each {problem}, and what could not be timed."),
        back=README,
    )


def _how(report: Measured, experiment: Experiment, kernels: Table) -> Text:
    """How to read the table of all kernels."""
    record, cases = report.record, report.record.cases_of(experiment)
    ranked = record.ranked_by(experiment)
    metrics = dict.fromkeys(case.error.metric for case in cases if case.error)
    drained = ", from a clean L2 until everything written is in DRAM" * (ranked == "drained")
    error = " or ".join(metrics) or "not known"
    sentences = [
        marked(MEDIANS, regime=ranked, drained=drained, error=error),
        documents.printed(report),
        marks(kernels.rows, "§†‡ᵉ"),
    ]
    if others := tables.other_problems(record, experiment):
        sentences.append(text("‡ here: ", joined("; ", others), "."))
    return joined(" ", sentences)
