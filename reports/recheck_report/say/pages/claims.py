"""The page of the claims: one line for each, with its quote and evidence folded."""

from __future__ import annotations

from recheck_report.anchors import CHANGES, METHOD, README, claim_anchor, slug
from recheck_report.claims import Judged
from recheck_report.claims.measured import Measured
from recheck_report.formatting import VERDICTS
from recheck_report.say import claim, gpus
from recheck_report.say.documents import errata_of, whose
from recheck_report.say.nodes import (
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
    code,
    emphasis,
    joined,
    link,
    prose,
    strong,
    table,
    text,
)
from recheck_report.say.pages import MARK, machine
from recheck_report.say.pages.compare import ACROSS


def page(report: Measured, others: list[Measured], chart: Picture) -> Page:
    testable = " that can be tested, what decides it, and what was measured."
    says = text("Each sentence of ", whose(report), testable)
    sections = [_how(report, chart), *_documents(report), *_others(report, others)]
    title = text(f"The claims on {machine(report.record)}")
    return Page(MARK, title, tuple(sections), says, README)


def _how(report: Measured, chart: Picture) -> Section:
    view = claim.View(report)
    listed = [
        text(anchor(slug(v)), emphasis(v), f" ({len(ids)}): ", joined(", ", ids))
        for v in VERDICTS
        if (ids := [claim.reference(e.claim.id) for e in view.claims if e.verdict == v])
    ]
    borrowed = report.comparisons.borrowed
    how = text(
        "Each check is ", emphasis("for it"), ", ", emphasis("against it"), ", ",
        emphasis("mixed"), " (choices differ) or ", emphasis("cannot tell"), "; ",
        emphasis("also measured"), " decides nothing. The checks of a claim are judged within"
        " each ", emphasis("configuration"), ": a joint choice of what the document leaves open,"
        " such as the block size. The first that applies: ",
        emphasis("not judged"), ", the words assert nothing that a run, a count or a proof could"
        " contradict; ",
        emphasis("wrong as printed"), ", it fails by what is the same on every GPU; ",
        emphasis("fails here"), ", a part fails in every configuration; ",
        emphasis("depends"), ", all parts hold in one and a part fails in another; ",
        emphasis("undecided"), ", a part has p of 5 % or more, or lies within the ",
        link(f"{METHOD}#comparisons", "margin"), ": the ",
        link(f"{METHOD}#self-audit", "resolution"), " or the run-to-run variation of that ratio",
        f" on an {borrowed}; " if borrowed else "; ",
        emphasis("holds"), ", as far as the sentence reaches. Not measured: the data is missing.",
    )  # fmt: skip
    policy = Text()
    if read := view.policy:
        policy = text(
            "Where a document gives a word and no figure, this report reads the word as a"
            " threshold: ", read, ".",
        )  # fmt: skip
    probes = text(
        ", ", link("probes.json", code("probes.json")),
        " the counters, attributes and tests that some checks need",
    )  # fmt: skip
    brackets = text(
        "Brackets hold 95 % intervals. p is the p-value against the threshold, after Holm's"
        f" correction for all {len(report.comparisons.family)} comparisons of this report; it is"
        " printed only where it is 0.001 or more. ", link("verdicts.json", code("verdicts.json")),
        " holds the verdicts and all evidence for programs", probes if report.probes else "", ".",
    )  # fmt: skip
    parts = blocks(Bullets(tuple(listed)), how, policy, brackets, chart)
    return Section(text("How they are judged"), parts, "how-they-are-judged")


def _documents(report: Measured) -> list[Section]:
    """The claims of each document."""
    by_document: dict[str, list[Judged]] = {}
    for judged in report.judgement.claims:
        by_document.setdefault(judged.claim.document, []).append(judged)
    named = [
        (source, by_document[name])
        for name, source in report.known.sources.items()
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
    says = joined(". ", [*parts, claim.why(judged)])
    line = text(anchor(claim_anchor(about.id)), head, " ", says)
    return Paragraph(line), Fold(text("quote and evidence"), quote_and_facts(report, judged))


def quote_and_facts(report: Measured, judged: Judged) -> tuple[Quote, Bullets]:
    """What a document says, and all that is known of that."""
    about = judged.claim
    english = text(" (“", prose(about.english), "”)") if about.english else Text()
    quote = text("“", prose(about.quote), "”", english, " ", claim.place(judged))
    facts = claim.asked_and_then(about)
    facts += claim.findings(report.record, judged)
    facts += [*claim.also_measured(report.record, judged), *claim.left_open(about)]
    # that the verdict turned as the check was changed, with its evidence known
    days = [change.date for change in report.turned if change.claim == about.id]
    facts += [text("Turned with its check, ", link(CHANGES, day), ".") for day in days[-1:]]
    if errata := errata_of(report, about.id):
        facts.append("Errata: " + errata)
    return Quote(quote), Bullets(tuple(facts))


def _others(report: Measured, others: list[Measured]) -> list[Section]:
    """The verdicts of other GPUs' records, a column each."""
    claims = [judged.claim for judged in report.judgement.claims]
    if not others or not claims:
        return []
    records = [report, *gpus.ordered(others)]
    differing = gpus.differing(records, claims)
    agree = "The verdicts agree on every claim that two records judge."
    differ = f"The verdicts differ on {', '.join(differing)}."
    rows = gpus.rows(records, claims, linked=True)
    columns = gpus.columns(records)
    shown = blocks(ACROSS, text(differ if differing else agree), table(columns, rows))
    return [Section(text("Other GPUs"), shown, "other-gpus")]
