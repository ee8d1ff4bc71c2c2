"""The page of the claims: one line for each, with its quote and evidence folded."""

from __future__ import annotations

from recheck_report.anchors import CHANGES, DOCUMENTS, README, claim_anchor
from recheck_report.claims.judge import Judged
from recheck_report.claims.measured import Measured
from recheck_report.record.verdicts_json import NOT_MEASURED
from recheck_report.say import claim
from recheck_report.say.check import fact
from recheck_report.say.nodes import (
    BREAK,
    Block,
    Bullets,
    Fold,
    Page,
    Paragraph,
    Picture,
    Quote,
    Section,
    Text,
    anchor,
    blocks,
    joined,
    link,
    prose,
    strong,
    text,
)
from recheck_report.say.pages import MARK, compare, machine
from recheck_report.say.pages.documents import errata_of, whose
from recheck_report.say.verdicts import how_they_are_judged


def page(report: Measured, others: list[Measured], chart: Picture) -> Page:
    testable = " that can be tested, what decides it, and what was measured."
    says = text("Each sentence of ", whose(report), testable)
    sections = [how_they_are_judged(report, chart), *_documents(report)]
    if others and report.judgement.claims:
        records = [report, *compare.ordered(others)]
        across = compare.across(records, compare.names(records), [report], linked=True)
        sections.append(Section(text("Other GPUs"), blocks(across), "other-gpus"))
    title = text(f"The claims on {machine(report.record)}")
    return Page(MARK, title, tuple(sections), says, README)


def _documents(report: Measured) -> list[Section]:
    """The claims of each document."""
    by_document: dict[str, list[Judged]] = {}
    for judged in report.judgement.claims:
        by_document.setdefault(judged.claim.document, []).append(judged)
    named = [
        (source, by_document[name])
        for name, source in report.collection.sources.items()
        if name in by_document
    ]
    return [
        Section(
            text(f"{source.id}, ", prose(source.name)),
            blocks(
                text(link(DOCUMENTS, "Who wrote it, when, and where it was found"), "."),
                (block for judged in claims for block in _claim(report, judged)),
            ),
            f"document-{at}",
        )
        for at, (source, claims) in enumerate(named, 1)
    ]


def _claim(report: Measured, judged: Judged) -> tuple[Block, Block]:
    about, measured = judged.claim, claim.measured(judged)
    head = strong(f"{about.id} {judged.verdict}: ", prose(about.title), ".")
    parts = [] if judged.headline is None else [measured]
    why, doubts = claim.why(judged).unended, claim.doubts(report, judged).unended
    missing = "Reason: " * (judged.verdict == NOT_MEASURED)
    says = missing + joined(". ", [*parts, why, doubts]).ended
    line = text(anchor(claim_anchor(about.id)), head, " ", says, BREAK, claim.required(judged))
    return Paragraph(line), Fold(text("quote and evidence"), quote_and_facts(report, judged))


def quote_and_facts(report: Measured, judged: Judged) -> tuple[Quote, Bullets]:
    """What a document says, and all that is known of that."""
    about = judged.claim
    english = text(" (“", prose(about.english), "”)") if about.english else Text()
    quote = text("“", prose(about.quote), "”", english, " ", claim.place(judged))
    hardware = "" if about.hardware in about.figure else prose(about.hardware)
    then = joined(", ", [claim.figure(about), hardware])
    facts = ["Then: " + then + "."] if then else []
    facts += [fact(report.record, outcome) for outcome in judged.outcomes]
    also = (fact(report.record, outcome, of_claim=False) for outcome in judged.also)
    facts += ["Also measured: " + line for line in also]
    facts += ["The document leaves open: " + prose(choice.what).ended for choice in about.open]
    # that the verdict turned as the check was changed, with its evidence known
    days = [change.entry.date for change in report.changed_verdicts if change.claim == about.id]
    facts += [
        text("The verdict changed with the check, ", link(CHANGES, day), ".") for day in days[-1:]
    ]
    if errata := errata_of(report, about.id):
        facts.append("Errata: " + errata)
    return Quote(quote), Bullets(tuple(facts))
