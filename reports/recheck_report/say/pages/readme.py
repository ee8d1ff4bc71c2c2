"""The first page: the answer, one chart, the fastest, then the claims by verdict."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator
from dataclasses import dataclass

from recheck_report.anchors import CASES, CHANGES, CLAIMS, ERRATA, METHOD, README, page
from recheck_report.claims.measured import Measured
from recheck_report.fallback import or_placeholder
from recheck_report.record.record import Record
from recheck_report.say import answer, documents, harnesses, provenance, standings
from recheck_report.say.claim import View
from recheck_report.say.nodes import (
    Block,
    Bullets,
    Fold,
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
    table,
    text,
)
from recheck_report.say.pages import MARK, machine, without
from recheck_report.say.wordings import costly

NEXT = (
    "Next: on a machine with an NVIDIA GPU and the CUDA Toolkit, run "
    "`cmake --workflow --preset report`."
)
OPEN = "download [report.html](report.html), then open it (code hosts show its source)"
# links above the sections of the first page
CONTENTS = {
    "fastest": "fastest", "fails": "what fails", "depends": "what depends",
    "undecided": "too close to call", "holding": "what holds", "sure": "how sure",
    "warnings": "warnings", "limits": "what it cannot tell", "pages": "all pages",
}  # fmt: skip
_LINKS = {
    CLAIMS: f"[Claims]({CLAIMS}): each with its quote, checks and evidence",
    ERRATA: f"[Errata]({ERRATA}): errors as printed, what is right, the listings",
    CHANGES: f"[Changes]({CHANGES}): checks changed after the first evidence",
    harnesses.PAGE: f"[Why your number differs]({harnesses.PAGE}): kernels timed by other "
    "harnesses",
    METHOD: f"[Method]({METHOD}): definitions, trust, the machine, "
    f"[how to repeat it]({METHOD}#reproduce-it)",
    "report.html": f"Every sample, next to yours: {OPEN}",
    CASES: f"[{CASES}]({CASES}): every time and rate",
}


@dataclass(frozen=True)
class Peak:
    """What the peak collection's report of a GPU model reports for each contest, by experiment."""

    says: dict[str, list[standings.Brief]]
    folder: str  # the folder of that report, as an address relative to this one


def readme(
    report: Measured, files: Names[str], others: bool, peak: Peak | None, chart: Picture | None
) -> Page:
    """`files`: the other files of the folder, which it may link to; `others`: whether the page of
    the claims has other GPUs' verdicts; `chart`: of the claims."""
    record, view = report.record, View(report)
    experiments = joined(", ", (link(page(e), e.title) for e in record.ordinary))
    words = filter(None, (costly(report, experiment) for experiment in record.ordinary))
    links = [joined("; ", (experiments + ": every kernel and shape", *words))]
    links += [marked(words) for name, words in _LINKS.items() if name in files]
    called = documents.called(report)
    title = text(called + ", rechecked" if called else "Recheck", f" on {machine(record)}")
    flags = "; ".join(remark.title for remark in provenance.brands(report))
    sections = blocks(
        or_placeholder(lambda: answer_blocks(report, peak), lambda why: (*blocks(without(why)),)),
        Section(text("All pages"), blocks(Bullets(tuple(links)), _measured_with(record)), "pages"),
        _documents(report, ERRATA in files),
    )
    anchors = [section.anchor for section in sections if isinstance(section, Section)]
    contents = (link(f"#{name}", CONTENTS[name]) for name in anchors if name in CONTENTS)
    where = marked("**Warnings**: {flags} ([why](#warnings)).", flags=flags) if flags else text()
    body = blocks(
        joined(" ", _left_out(report, view)),
        _no_gpu(record, others),
        strong(view.counts, ".") if report.judgement.claims and record.gpu_measured else None,
        Note(where, warning=True) if where else None,
        text("On this page: ", joined(" · ", contents)),
        chart if record.gpu_measured else None,
        sections,
    )
    headline = f": {view.headline}" if view.headline else ""
    return Page(MARK, text(title, headline), body)


def answer_blocks(
    report: Measured, peak: Peak | None, more: Iterator[Block] | None = None
) -> tuple[Block, ...]:
    """The fastest, `more` about that, the claims by verdict, how sure they are, and what the report
    cannot tell."""
    return blocks(
        answer.fastest(report),
        more,
        beyond(report.record, peak),
        answer.failing(report),
        answer.unsettled(report),
        answer.folded(report),
        answer.sure(report),
        answer.warnings(report),
        answer.limits(report),
    )


def _left_out(report: Measured, view: View) -> Iterator[Text]:
    record = report.record
    if view.left_out:
        yield view.left_out
    if absent := [
        experiment.title for experiment in record.experiments if not record.cases_of(experiment)
    ]:
        yield text(f"Not in this record: {', '.join(absent)}.")
    if many := len(record.plan.dropped):
        shapes = "1 shape" if many == 1 else f"{many} shapes"
        yield marked(f"Left out by the plan: {shapes}, [which and why]({METHOD}#left-out).")


def _no_gpu(record: Record, others: bool) -> Note | None:
    if record.gpu_measured:
        return None
    where = f" What GPUs gave, claim by claim: [other GPUs]({CLAIMS}#other-gpus)." if others else ""
    return Note(marked(f"Why: {{reason}}. {NEXT}{where}", reason=record.no_gpu_because))


def beyond(record: Record, peak: Peak | None) -> Section | None:
    """What kernels beyond the documents reach; None without a report of them."""
    says = peak.says if peak else {}
    rows = [
        (
            ", ".join(filter(None, (experiment.title, line.label))),
            line.kernel,
            line.library,
            line.single,
            line.sustained,
            line.shapes,
        )
        for experiment in record.ordinary
        for line in says.get(experiment.name, ())
    ]
    if not peak or not rows:
        return None
    lead = text("At the same shapes, from ", link(f"{peak.folder}{README}", "another report"), ":")
    columns = ["experiment", "kernel", "library", "single launches", "sustained", "shapes"]
    return Section(
        text("Beyond the documents"),
        blocks(lead, table(columns, rows), answer.symbols(rows)),
        level=3,
    )


def _measured_with(record: Record) -> Text:
    env = record.environment
    commit = "Commit unknown: git knew none of its source tree"
    if env.git.has_commit:
        commit = f"Commit {env.git.short}{' with uncommitted changes' * env.git.dirty}"
    facts = [commit, env.started, f"driver {env.driver}" if env.driver else ""]
    facts += [f"CUDA {env.cuda_runtime}" if env.cuda_runtime else "", f"{env.build_type} build"]
    return joined(" · ", (*facts, f"{record.wall_seconds:.0f} s in all"))


def _documents(report: Measured, has_errata: bool) -> Block | None:
    """The documents that the claims are from; in full if the page of errata is missing."""
    columns, rows = (
        (documents.CITED, documents.cited(report))
        if has_errata
        else (documents.SOURCES, documents.sources(report))
    )
    if not rows:
        return None
    title = "The document" if documents.one_title(report) else "The documents"
    shown: Block = table(columns, rows)
    if len(rows) > 1:
        shown = Fold(text(f"{len(rows)} documents: titles, authors, years"), (shown,))
    return Section(text(title), blocks(documents.printed(report), shown), "documents")
