"""The first page: the answer, one chart, the fastest, then the claims by verdict."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Sequence

from recheck_report.anchors import CASES, CHANGES, CLAIMS, ERRATA, METHOD, page
from recheck_report.claims.measured import Measured
from recheck_report.record.record import Record
from recheck_report.say import answer, bottlenecks, warnings
from recheck_report.say.nodes import (
    Block,
    Bullets,
    Note,
    Page,
    Picture,
    Section,
    Text,
    blocks,
    joined,
    link,
    marked,
    strong,
    text,
)
from recheck_report.say.pages import MARK, documents, harnesses, machine
from recheck_report.say.wordings import costly

NEXT = "Next: on a machine with an NVIDIA GPU, run `cmake --workflow --preset report`."
OPEN = "download [report.html](report.html), then open it (code hosts show its source)"
# links above the sections of the first page
CONTENTS = {
    "fastest": "fastest", "fails": "what fails", "depends": "what depends",
    "undecided": "what is undecided", "holding": "what holds", "sure": "how sure",
    "warnings": "warnings", "limits": "what it cannot tell", "pages": "all pages",
    "documents": "documents",
}  # fmt: skip
_LINKS = {
    CLAIMS: f"[Claims]({CLAIMS}): each with its quote, checks and evidence",
    ERRATA: f"[Errata]({ERRATA}): errors as printed, what is right, the listings",
    CHANGES: f"[Changes]({CHANGES}): checks changed after the first evidence",
    harnesses.PAGE: f"[Why your number differs]({harnesses.PAGE}): kernels timed by other "
    "harnesses",
    METHOD: f"[Method]({METHOD}): definitions, the machine, "
    f"[how to repeat it]({METHOD}#reproduce-it)",
    "report.html": f"Every case{{beside}}: {OPEN}",
    CASES: f"[{CASES}]({CASES}): every time and rate",
}


def first_page(
    report: Measured,
    files: Names[str],
    others: Sequence[Measured],
    answered: tuple[Block, ...],
    chart: Picture | None,
) -> Page:
    """`files`: the other files of the folder, which it may link to; `others`: records of other
    GPUs, whose verdicts the page of claims has; `answered`: its answer_blocks(); `chart`: of the
    claims."""
    record = report.record
    experiments = joined(", ", (link(page(e), e.title) for e in record.ordinary))
    words = filter(None, (costly(report, experiment) for experiment in record.ordinary))
    across, costs = _others(report, others), joined("; ", _costs(report))
    links = [joined("; ", (experiments + ": every kernel and shape", *words))]
    links += [text("Costs: ", costs)] if costs else []
    beside = ", next to other GPUs" if others else ""
    links += [marked(words, beside=beside) for name, words in _LINKS.items() if name in files]
    links += [text("Other GPUs: ", across)] if across else []
    called = documents.called(report)
    title = text(called + ", rechecked" if called else "Recheck", f" on {machine(record)}")
    flags = "; ".join(remark.title for remark in warnings.warnings(report))
    sections = blocks(
        answered,
        Section(text("All pages"), blocks(Bullets(tuple(links)), measured_with(record)), "pages"),
        documents.section(report),
    )
    anchors = [section.anchor for section in sections if isinstance(section, Section)]
    contents = (link(f"#{name}", CONTENTS[name]) for name in anchors if name in CONTENTS)
    where = marked("**Warnings**: {flags} ([why](#warnings)).", flags=flags) if flags else text()
    body = blocks(
        joined(" ", _left_out(report)),
        _no_gpu(record, across),
        strong(answer.counts(report), ".")
        if report.judgement.claims and not record.lacks_gpu
        else None,
        Note(where, warning=True) if where else None,
        text("On this page: ", joined(" · ", contents)),
        None if record.lacks_gpu else chart,
        sections,
    )
    named = joined(": ", (title, answer.headline(report)))
    return Page(MARK, named, body)


def answer_blocks(report: Measured, peak: answer.Peak | None) -> tuple[Block, ...]:
    """The fastest, the claims by verdict, how sure they are, and what the report cannot tell."""
    return blocks(
        answer.fastest(report, peak),
        answer.failing(report),
        answer.depending(report),
        answer.undecided(report),
        answer.folded(report),
        answer.sure(report),
        answer.by_cause(report),
        answer.limits(report),
    )


def _left_out(report: Measured) -> Iterator[Text]:
    record = report.record
    yield answer.left_out(report)
    if absent := [
        experiment.title for experiment in record.experiments if not record.cases_of(experiment)
    ]:
        yield text(f"Not in this record: {', '.join(absent)}.")
    if many := len(record.plan.dropped):
        shapes = "1 shape" if many == 1 else f"{many} shapes"
        yield marked(f"Left out by the plan: {shapes}, [which and why]({METHOD}#left-out).")


def _costs(report: Measured) -> Iterator[Text]:
    """Where each experiment's page has its costs, and which of them a pair of kernels shows."""
    for experiment in report.record.ordinary:
        if bottlenecks.has_costs(report, experiment):
            pairs = report.collection.settings.pairs(experiment.name)
            kinds = ", ".join(dict.fromkeys(pair.cost for pair in pairs)) or "bank conflicts"
            yield text(link(f"{page(experiment)}#costs", experiment.title), f" ({kinds})")


def _others(report: Measured, others: Sequence[Measured]) -> Text:
    """Where the results of other GPUs are: claim by claim, and the report of each."""
    if not others or not report.judgement.claims:
        return text()
    reports = (link(each.address, each.gpu) for each in others if each.address)
    return joined(", ", (link(f"{CLAIMS}#other-gpus", "claim by claim"), *reports))


def _no_gpu(record: Record, others: Text) -> Note | None:
    if not record.lacks_gpu:
        return None
    where = text(" Results of GPUs: ", others, ".") if others else text()
    return Note(
        marked(f"No GPU was timed: {{reason}}. {NEXT}", reason=record.no_gpu_because) + where
    )


def measured_with(record: Record) -> Text:
    env = record.environment
    commit = "Commit unknown: git knew none of its source tree"
    if env.git.has_commit:
        commit = f"Commit {env.git.short}{' with uncommitted changes' * env.git.dirty}"
    facts = [commit, env.started, f"driver {env.driver}" if env.driver else ""]
    facts += [f"CUDA {env.cuda_runtime}" if env.cuda_runtime else "", f"{env.build_type} build"]
    return joined(" · ", (*facts, f"{record.wall_seconds:.0f} s in all"))
