"""The page of the claims: one line for each, with its quote and evidence folded."""

from __future__ import annotations

from recheck_report.anchors import CHANGES, METHOD, README, claim_anchor
from recheck_report.claims.checks import POLICY
from recheck_report.claims.judge import Judged
from recheck_report.claims.measured import Measured
from recheck_report.files import slug
from recheck_report.record.verdicts import NOT_MEASURED
from recheck_report.say import claim
from recheck_report.say.glossary import VERDICTS_MEAN
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
    emphasis,
    joined,
    link,
    marked,
    prose,
    strong,
    table,
    text,
    texts,
)
from recheck_report.say.outcome import fact
from recheck_report.say.pages import MARK, compare, machine
from recheck_report.say.pages.documents import errata_of, whose


def page(report: Measured, others: list[Measured], chart: Picture) -> Page:
    testable = " that can be tested, what decides it, and what was measured."
    says = text("Each sentence of ", whose(report), testable)
    sections = [_how(report, chart), *_documents(report)]
    if others and report.judgement.claims:
        records = [report, *compare.ordered(others)]
        across = compare.across(records, compare.names(records), [report], linked=True)
        sections.append(Section(text("Other GPUs"), blocks(across), "other-gpus"))
    title = text(f"The claims on {machine(report.record)}")
    return Page(MARK, title, tuple(sections), says, README)


CHECKS = """\
Each check is *for it*, *against it*, *mixed* (choices differ) or *cannot tell*; *also measured*
decides nothing. A *choice* is a value of each parameter that the document leaves open, such as the
block size; what a listing prints is fixed. A choice passes if all checks pass with it, and fails if
one fails. The first verdict that applies counts, but another common reading of a word that reverses
the answer makes a claim *depend*."""
WORDS = """\
If a document gives a word and no figure, this report reads the word as a threshold: {words}. Other
readings do not count."""
BRACKETS = """\
Brackets hold 95 % intervals, and *noise* is how much the ratio varies from run to run. p is the
p-value against the threshold, after Holm's correction for all {family} comparisons of this report;
it is printed only from 0.001 up. [What this report cannot tell you](README.md#limits) limits every
verdict. [`verdicts.json`](verdicts.json) holds the verdicts and all
evidence for programs"""
PROBES = """\
, [`probes.json`](probes.json) the counters, attributes and tests that some checks need"""


def _how(report: Measured, chart: Picture) -> Section:
    policy = _policy(report)
    borrowed = report.comparisons.borrowed
    noise = link(f"{METHOD}#comparisons", "noise") + (
        f" known from an {borrowed}" if borrowed else ""
    )
    rows = []
    for verdict, meaning in VERDICTS_MEAN.items():
        names = [
            claim.reference(e.claim.id) for e in report.judgement.claims if e.verdict == verdict
        ]
        head = text(anchor(slug(verdict)) if names else "", emphasis(verdict))
        rows.append(
            texts((head, marked(meaning, noise=noise), f"{len(names)}", joined(", ", names)))
        )
    brackets = marked(BRACKETS, family=f"{len(report.comparisons.family)}")
    parts = blocks(
        table(("verdict", "meaning", "claims", "which"), rows, (2,)),
        marked(CHECKS),
        marked(WORDS, words=policy) if policy else None,
        text(brackets, marked(PROBES) if report.probes else "", "."),
        chart,
    )
    return Section(text("How they are judged"), parts, "how-they-are-judged")


def _policy(report: Measured) -> Text:
    """How words without a figure are read, of those that checks of these claims have."""
    words = {check.word for judged in report.judgement.claims for check in judged.claim.checks}
    readings = []
    for word, (ours, *others) in POLICY.items():
        if word in words and ours != 1:  # faster is faster
            read = f"{ours:g} times" if ours >= 1 else f"{100 * ours:g} % of the total"
            also = ", ".join(f"{other:g}" for other in others)
            more = f" (also read: {also})" if also else ""
            readings.append(text(emphasis(word), f" is more than {read}{more}"))
    return joined("; ", readings)


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
            text(f"{source.id}, {source.name}"),
            tuple(block for judged in claims for block in _claim(report, judged)),
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
