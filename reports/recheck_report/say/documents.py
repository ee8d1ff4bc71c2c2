"""The documents as a reader sees them: where they are from, their errata, and how checks of their
claims have changed."""

from __future__ import annotations

from recheck_report.anchors import ERRATA as ERRATA_PAGE
from recheck_report.claims import Corrected, Source
from recheck_report.claims.measured import Measured
from recheck_report.claims.outcome import FAILS, HOLDS
from recheck_report.formatting import NONE
from recheck_report.say.claim import reference
from recheck_report.say.nodes import (
    BREAK,
    Block,
    Fold,
    Section,
    Text,
    anchor,
    blocks,
    code,
    joined,
    link,
    prose,
    strong,
    table,
    text,
)
from recheck_report.say.outcome import finding

SOURCES = ["document", "title", "by, when", "found", "language", "hardware of its figures", "state"]
ERRATA = ["erratum", "where", "as written", "what is right", "claims", "proof"]
CHANGED = ["claim", "changed", "asked before", "verdict then, today", "because of", "reason"]


def one_title(report: Measured) -> Text:
    """The title or name of the only document; empty where there are several."""
    sources = [*report.collection.sources.values()]
    return _title(sources[0]) if len(sources) == 1 else Text()


def called(report: Measured) -> Text:
    """What the collection is called, or its one document."""
    return prose(report.collection.settings.title) or one_title(report)


def whose(report: Measured) -> Text:
    """Whose sentences and errors a page has: "the documents", "“A title”"."""
    one = one_title(report)
    return text("“", one, "”") if one else text("the documents")


def _title(source: Source) -> Text:
    """Its title with the English, or else its name in the report."""
    english = text(" (", prose(source.english), ")") if source.english else Text()
    return text(prose(source.title), english) or prose(source.name)


def printed(report: Measured) -> Text:
    """What names of rows that are listings as printed begin with; empty without such rows."""
    rows = {case.strategy for case in report.record.cases}
    ids = [
        e for e in report.collection.sources if any(row.startswith(f"{e.lower()}_") for row in rows)
    ]
    if not ids:
        return Text()
    names = joined(", ", (code(f"{name.lower()}_") for name in ids))
    return text("Names with ", names, f" in front: listings of {', '.join(ids)} as printed.")


def section(report: Measured) -> Section | None:
    """Where the sentences and figures are from, with all that is known; several are folded."""
    none = text(NONE)
    rows = [
        (
            text(f"{source.id}: ", prose(source.name)),
            (link(source.url, _title(source)) if source.url else _title(source))
            if source.title
            else none,
            joined(", ", map(prose, (source.author, source.year))) or none,
            prose(source.found),
            prose(source.language) or none,
            joined(BREAK, map(prose, source.hardware)) or none,
            prose(source.state) or none,
        )
        for source in report.collection.sources.values()
    ]
    if not rows:
        return None
    title = "The document" if one_title(report) else "The documents"
    lost = [source.id for source in report.collection.sources.values() if not source.url]
    copies = f"This report knows no address of {', '.join(lost)}; the claims quote the text."
    shown: Block = table(SOURCES, rows)
    if len(rows) > 1:
        shown = Fold(text(f"{len(rows)} documents: titles, authors, years"), (shown,))
    known = joined(" ", (printed(report), copies if lost else ""))
    return Section(text(title), blocks(known, shown), "documents")


def proof(corrected: Corrected) -> Text:
    """Whether the correction is proven, and how."""
    outcomes = corrected.outcomes
    if not outcomes:
        return "by reading: " + prose(corrected.erratum.shown)
    verdicts = {outcome.verdict for outcome in outcomes}
    word = "not proven here"
    if verdicts == {HOLDS}:
        word = "proven"
    elif FAILS in verdicts:
        word = "refuted"
    return text(strong(word), ": ", joined("; ", map(finding, outcomes)))


def errata(report: Measured) -> list[list[Text]]:
    rows = []
    for corrected in report.judgement.errata:
        erratum = corrected.erratum
        english = text(" (“", prose(erratum.english), "”)") if erratum.english else Text()
        judged = (name for name in erratum.concerns if report.judgement.find(name))
        concerns = joined(", ", map(reference, judged)) or text(NONE)
        rows.append(
            [
                text(anchor(f"erratum-{erratum.id.lower()}"), erratum.id),
                text(f"{erratum.document} ", prose(erratum.place)),
                text("“", prose(erratum.written), "”", english),
                prose(erratum.right),
                concerns,
                proof(corrected),
            ]
        )
    return rows


def errata_of(report: Measured, claim: str) -> Text:
    """Links to the errata that concern a claim."""
    errata = (corrected.erratum for corrected in report.judgement.errata)
    ids = [erratum.id for erratum in errata if claim in erratum.concerns]
    return joined(", ", (link(f"{ERRATA_PAGE}#erratum-{name.lower()}", name) for name in ids))


def changed_checks(report: Measured) -> list[list[Text]]:
    """The changes after which a verdict was another: what decided the claim before, and what it
    came to then and comes to now."""
    rows = []
    for change in report.changed_verdicts:
        judged = report.judgement.find(change.claim)
        assert judged  # or the change would not be shown
        # the log has one word for what fails
        fails = "wrong as printed" if judged.claim.of_any_machine else "fails here"
        log = change.entry
        then = fails if log.verdict == "fails" else log.verdict
        verdicts = text(f"{then}, ", strong(judged.verdict))
        asked, because, reason = prose(change.asked), text(log.because), prose(log.reason)
        rows.append([reference(change.claim), text(log.date), asked, verdicts, because, reason])
    return rows
