"""An experiment's story: its steps from the first kernel to the fastest, each with its paragraph,
its numbers and what binds it, all made of the record and its probes.

A sentence that is true of one outcome or one GPU is said there alone, and one that speaks of what
was not measured is not said.
"""

from __future__ import annotations

from dataclasses import dataclass

from recheck_report.claims import Check
from recheck_report.claims.measured import Measured
from recheck_report.claims.predicates import NOT_MEASURED, Questions
from recheck_report.claims.story import GAIN, Part, Step, Story
from recheck_report.formatting import duration, prose, shape_label
from recheck_report.record.record import Experiment
from recheck_report.say.bottlenecks import busy
from recheck_report.say.sentences import Missing, Sentences
from recheck_report.say.verdicts import told


@dataclass(frozen=True)
class Told:
    """One step, in Markdown."""

    anchor: str
    title: str
    text: str
    lines: list[str]  # its numbers, and what binds it


@dataclass(frozen=True)
class Telling:
    """A whole story. A row that the record does not have is no step of it, and is named."""

    title: str
    steps: list[Told]
    absent: str  # which rows these are; empty where it has all
    uncounted: str  # of which steps nothing says what binds them, and why


def there(own: Measured, experiment: Experiment) -> tuple[Story, list[Step]] | None:
    """The experiment's story, and those of its steps that the record has rows of; None if it has no
    story, or the record no GPU's times."""
    story = own.known.stories.get(experiment.name)
    if story is None or not own.record.gpu_measured:
        return None
    rows = {row.strategy for row in own.record.strategies(experiment)}
    return story, [step for step in story.steps if step.row in rows]


def tell(own: Measured, experiment: Experiment) -> Telling | None:
    found = there(own, experiment)
    if found is None:
        return None
    story, steps = found
    told, uncounted = [], dict[str, list[str]]()
    for at, step in enumerate(steps, 1):
        lines = [_numbers(own, experiment, step)]
        if step.binds:
            text, why = busy(own.probes, own.record, step.binds)
            if text:
                _, row, shape, _ = step.binds.split("/")
                lines.append(f"At {shape_label(shape)} `{row}` {text}.")
            else:
                uncounted.setdefault(why, []).append(f"`{step.row}`")
        (row_of,) = (r for r in own.record.strategies(experiment) if r.strategy == step.row)
        title = f"{at}. {prose(step.idea)}, `{step.row}`{row_of.marks}"
        told.append(Told(f"step-{step.row}", title, _paragraph(own, experiment, step), lines))
    names = ", ".join(f"`{step.row}`" for step in story.steps if step not in steps)
    return Telling(
        prose(story.title),
        told,
        f"Not in this record: {names}." if names else "",
        " ".join(
            f"What binds {', '.join(rows)} was not counted: {why}."
            for why, rows in uncounted.items()
        ),
    )


def _numbers(own: Measured, experiment: Experiment, step: Step) -> str:
    """Its time against its base's, and its rate."""
    say = Sentences(own, experiment)
    try:
        case = say.need(step.row, experiment.headline, own.record.ranked_by(experiment))
    except Missing as error:
        return f"Not measured: {error.what}: {error.why}."
    base = own.record.timed(experiment, step.base, experiment.headline)
    if base:
        text = say.against(base, case).text.removesuffix(".")
        text += case.marks if case.marks != base.marks else ""
    else:
        where = shape_label(experiment.headline)
        text = f"At {where} {say.link(case)} takes {duration(case.time.median)}"
    text += f"; {say.rate(case)}"
    if step.effective:
        text += f"; effective, for it does {prose(step.effective)}"
    return f"{text}."


def _paragraph(own: Measured, experiment: Experiment, step: Step) -> str:
    """Those parts of its text that this record bears out."""
    questions = Questions(own.record, own.probes, own.comparisons)
    checks = {each.key: each for each in step.check}
    if step.base:
        first, second = (
            f"{experiment.name}/{row}/{experiment.headline}/{own.record.ranked_by(experiment)}"
            for row in (step.base, step.row)
        )
        checks[GAIN] = Check("ratio", base=first, other=second, above=1.0)
    known = {key: questions.ask(check) for key, check in checks.items()}
    gpu = own.record.environment.gpu
    name = gpu.name if gpu else ""

    def verdict(part: Part) -> str:
        return known[part.of].verdict if part.of in known else NOT_MEASURED

    parts = (part for part in step.text if part.true(verdict(part), name, known))
    return " ".join(told(part, known) for part in parts)
