"""What report.html shows without a script: its views as nodes. Everything that the Markdown pages
show as well comes from the functions that they call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import quote, urlencode

from recheck_report.anchors import CHANGES, ERRATA, LOSSES, METHOD, claim_anchor
from recheck_report.claims.collection import BY_READING, KINDS
from recheck_report.claims.documents import Source
from recheck_report.claims.judge import Judged
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NBSP, count, duration, spread
from recheck_report.say import answer, claim
from recheck_report.say.machine import mark
from recheck_report.say.nodes import (
    Block,
    Fold,
    Page,
    Section,
    Table,
    Text,
    blocks,
    code,
    joined,
    link,
    paragraph,
    strong,
    table,
    text,
)
from recheck_report.say.pages import compare, documents, machine
from recheck_report.say.pages.claims import quote_and_facts
from recheck_report.say.pages.first_page import measured_with
from recheck_report.say.verdicts import VERDICTS

FILE = "report.html"
TWO_KERNELS = (
    "Any two kernels of this report. Ratios to the library are the report's own. Others are of the "
    "medians: their intervals combine those of both, and are wider."
)


def view(name: str, **parameters: str) -> str:
    """The address of a view: "report.html#view=claims&verdict=holds"."""
    return f"{FILE}#{urlencode({'view': name, **parameters}, safe='/,', quote_via=quote)}"


# the first screen: what holds, what fails, what is fastest, whether it can be trusted


def about(report: Measured) -> Text:
    """ "NVIDIA H200 · Commit 1234567 · 2026-11-24 · driver 580"."""
    return text(strong(machine(report.record)), " · ", measured_with(report.record))


def headline(report: Measured) -> Text:
    said = answer.headline(report)
    named = joined(": ", [documents.called(report), said]).capitalized
    return (named + "." if said else named) or answer.left_out(report) or text("What is fastest")


def claimed(report: Measured) -> Text:
    """Whose claims these are."""
    names = [
        f"“{source.english or source.title}”" if source.title else source.name
        for source in sources(report)
    ]
    who, more = ("it", "") if len(names) == 1 else (f"{len(names)} documents", "; ".join(names))
    said = f"What {who} claimed, measured again on {machine(report.record)}"
    record, why = report.record, text()
    if record.lacks_gpu:
        why = text(f"Only CPU programs were timed: {record.no_gpu_because}.")
    return joined(" ", [joined(": ", (said, more)) + ".", why, answer.left_out(report)])


def bar(report: Measured) -> list[tuple[str, int, Text]]:
    """The verdicts with their counts, and a link to the claims: "20 hold"."""
    return [
        (v, many, link(view("claims", verdict=v), f"{many} {VERDICTS[v].verb(many)}"))
        for v, many in answer.by_verdict(report).items()
        if many
    ]


# the claims and the errata


def sources(report: Measured) -> list[Source]:
    """The documents that claims are from."""
    named = {judged.claim.document for judged in report.judgement.claims}
    return [source for source in report.collection.sources.values() if source.id in named]


def choices(report: Measured) -> dict[str, tuple[str, dict[str, str]]]:
    """What claims are filtered by: its label, and the values with their names."""
    claims = report.judgement.claims
    shown = {judged.verdict for judged in claims}
    kinds = {judged.claim.kind for judged in claims}
    return {
        "document": ("Document", {e.id: f"{e.id}, {e.name}" for e in sources(report)}),
        "verdict": ("Verdict", {verdict: verdict for verdict in VERDICTS if verdict in shown}),
        "kind": ("Decided by", {e: e for e in (*KINDS, BY_READING) if e in kinds}),
    }


def of_claim(report: Measured, judged: Judged) -> tuple[Block, ...]:
    """What unfolds below a claim's line."""
    place, why = f"{FILE}#{claim_anchor(judged.claim.id)}", claim.why(judged)
    return blocks(
        claim.required(judged),
        text(strong("Why:"), " ", why) if why else None,
        quote_and_facts(report, judged),
        _evidence(report, judged),
        text(link(place, f"Link to {judged.claim.id}")),
    )


def _evidence(report: Measured, judged: Judged) -> Table:
    cases = [report.record.by_id.get(name) for name in judged.evidence]
    rows: list[list[Text | str]] = [
        [
            code(case.id),
            duration(case.seconds.median).replace(" ", NBSP) + mark(report, case),
            spread(case.seconds).replace(" ", NBSP),
            str(len(case.samples)),
            str(case.source),
        ]
        for case in cases
        if case and case.seconds
    ]
    columns = ["case", "median", "95 % interval", "samples", "kernel"]
    return table(columns, rows, range(1, 4), f"Cases that {judged.claim.id} rests on")


# other records, and what the numbers rest on


def compared(report: Measured, others: Sequence[Measured]) -> tuple[Block, ...]:
    """How each other record differs from this one, folded but for the answer."""
    names = compare.names([report, *others])
    pairs = (compare.pair(report, other, (names[0], name), folded=True)
             for other, name in zip(others, names[1:], strict=True))  # fmt: skip
    flags = compare.flags([report, *others], names) if others else None
    return blocks(flags, pairs, text(TWO_KERNELS))


def losses(pages: Mapping[str, Page]) -> tuple[Block, ...]:
    """The page of losses, folded."""
    shown = pages.get(LOSSES)
    return (Fold(text("Every loss to the library"), shown.blocks),) if shown else ()


def evidence(report: Measured, pages: Mapping[str, Page]) -> tuple[Block, ...]:
    """The pages on the method, the documents and the checks."""
    method, errata, changes = (
        pages[name].blocks if name in pages else () for name in (METHOD, ERRATA, CHANGES)
    )
    # the errata are next to the claims
    listings = (e for e in errata if not isinstance(e, Section) or e.anchor != "errata")
    body = blocks(method, listings, documents.section(report), changes)
    titles = ((section.anchor, section.title) for section in body if isinstance(section, Section))
    return (paragraph(joined(" · ", (link(f"#{to}", name) for to, name in titles))), *body)


def made_from(report: Measured) -> str:
    cases, claims = len(report.record.cases), len(report.judgement.claims)
    many = f"{count(cases, 'case')}, {count(claims, 'claim')}"
    return f"Made by Recheck from one record; raw samples are in samples.jsonl.bz2. {many}."
