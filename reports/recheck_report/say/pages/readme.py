"""The first page: the answer, each claim in a line, where the rest is."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator
from dataclasses import dataclass

from recheck_report.anchors import CASES, CHANGES, CLAIMS, ERRATA, METHOD, README, page
from recheck_report.claims.measured import Measured
from recheck_report.fallback import caught
from recheck_report.formatting import VERDICTS, shape_label
from recheck_report.record.record import Record
from recheck_report.say import documents, harnesses, provenance, summary
from recheck_report.say.claim import SUMMARY, View
from recheck_report.say.nodes import (
    Block,
    Bullets,
    Note,
    Page,
    Section,
    Text,
    blocks,
    joined,
    link,
    strong,
    table,
    text,
)
from recheck_report.say.pages import MARK, machine, without

_LINKS = {
    CLAIMS: text(link(CLAIMS, "Claims"), ": each with its quote, checks and evidence"),
    ERRATA: text(link(ERRATA, "Errata"), ": errors as printed, what is right, the listings"),
    CHANGES: text(link(CHANGES, "Changes"), ": checks changed after the first evidence"),
    harnesses.PAGE: text(
        link(harnesses.PAGE, "Why your number differs"),
        ": the same kernels by nvbench, Triton, CuPy, Nsight Compute",
    ),
    METHOD: text(
        link(METHOD, "Method"),
        ": words explained, trust, the machine; ",
        link(f"{METHOD}#reproduce-it", "how to repeat it"),
    ),
    "report.html": text(
        link("report.html", "report.html"),
        ": every case and sample, offline; ",
        link("report.html#view=compare", "did my GPU differ?"),
    ),
    CASES: text(link(CASES, CASES), ": every time and rate"),
}


@dataclass(frozen=True)
class Peak:
    """What the peak collection's report of a GPU model says in a sentence, by experiment."""

    says: dict[str, Text]
    folder: str  # where it lies, as an address relative to the report that says so


def readme(report: Measured, files: Names[str], others: bool, peak: Peak | None) -> Page:
    """`files`: the others of the folder, to which it may lead; `others`: whether the claims' page
    has other GPUs' verdicts."""
    record, view = report.record, View(report)
    warnings = provenance.brands(report)
    answer = caught(lambda: summary.answer(report, warnings), lambda why: [without(why)])
    counts = table(("claims", *VERDICTS), view.kinds, range(1, 8))
    links = [text(joined(", ", (link(page(e), e.title) for e in record.ordinary)),
                  ": charts, every row"),
             *(says for name, says in _LINKS.items() if name in files)]  # fmt: skip
    called = documents.called(report)
    title = text(called + ", rechecked" if called else "Recheck", f" on {machine(record)}")
    body = blocks(
        joined(" ", _left_out(report, view)),
        _no_gpu(record, others),
        answer,
        (remark.note for remark in (*warnings, *provenance.notes(report))),
        _beyond(record, peak),
        counts if record.gpu_measured else None,
        Bullets(tuple(links)),
        _measured_with(record),
        Section(text("The claims"), blocks(table(SUMMARY, view.rows)), "claims")
        if view.rows
        else None,
        _documents(report, ERRATA in files),
    )
    headline = f": {view.headline}" if view.headline else ""
    return Page(MARK, text(title, headline), body)


def _left_out(report: Measured, view: View) -> Iterator[Text]:
    record = report.record
    if view.left_out:
        yield view.left_out
    if absent := [
        experiment.title for experiment in record.experiments if not record.of(experiment)
    ]:
        yield text(f"Not in this record: {', '.join(absent)}.")
    if many := len(record.plan.dropped):
        shapes = "1 shape" if many == 1 else f"{many} shapes"
        where = link(f"{METHOD}#left-out", "which and why")
        yield text(f"Left out by the plan: {shapes}, ", where, ".")


def _no_gpu(record: Record, others: bool) -> Note | None:
    if record.gpu_measured:
        return None
    where = link("claims.md#other-gpus", "other GPUs")
    more = text(" What GPUs gave, claim by claim: ", where, ".") if others else ""
    return Note(text(f"Why: {record.no_gpu_because}.", more))


def _beyond(record: Record, peak: Peak | None) -> Text:
    """What kernels beyond the documents reach."""
    says = peak.says if peak else {}
    sentences = [
        text(f"{experiment.title} at {shape_label(experiment.headline)}: ", says[experiment.name])
        for experiment in record.ordinary
        if experiment.name in says
    ]
    if not peak or not sentences:
        return Text()
    where = link(f"{peak.folder}{README}", "The report")
    return text(strong("Beyond the documents"), ": ", joined("; ", sentences), ". ", where, ".")


def _measured_with(record: Record) -> Text:
    env = record.environment
    commit = "Commit unknown: git knew none of its source tree"
    if env.git.known:
        commit = f"Commit {env.git.short}{' with uncommitted changes' * env.git.dirty}"
    facts = [commit, env.started, f"driver {env.driver}" if env.driver else ""]
    facts += [f"CUDA {env.cuda_runtime}" if env.cuda_runtime else "", f"{env.build_type} build"]
    return joined(" · ", (*facts, f"{record.wall_seconds:.0f} s in all"))


def _documents(report: Measured, has_errata: bool) -> Block | None:
    """Where the claims are from; in full where no other page has that."""
    columns, rows = (
        (documents.CITED, documents.cited(report))
        if has_errata
        else (documents.SOURCES, documents.sources(report))
    )
    if not rows:
        return None
    title = "The document" if documents.one_title(report) else "The documents"
    body = blocks(documents.printed(report), table(columns, rows))
    return Section(text(title), body, "documents")
