"""The documents as a reader sees them: where they are from, their errata, and how checks of their
claims have changed."""

from __future__ import annotations

from collections import Counter

from recheck_report.anchors import ERRATA as ERRATA_PAGE
from recheck_report.anchors import README
from recheck_report.claims.documents import Source
from recheck_report.claims.evaluate import FAILS, HOLDS
from recheck_report.claims.judge import Corrected
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE
from recheck_report.record.record import Case
from recheck_report.say.check import finding
from recheck_report.say.claim import reference
from recheck_report.say.nodes import (
    BREAK,
    Block,
    Fold,
    Page,
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
from recheck_report.say.standings import against, row_link, timed

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
    copies = f"We know no address of {', '.join(lost)}; the claims quote the text."
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
        judged = (name for name in erratum.concerns if report.judgement.by_id.get(name))
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
        judged = report.judgement.by_id.get(change.claim)
        assert judged  # or the change would not be shown
        # the log has one word for what fails
        fails = "wrong as printed" if judged.claim.of_any_machine else "fails here"
        log = change.entry
        then = fails if log.verdict == "fails" else log.verdict
        verdicts = text(f"{then}, ", strong(judged.verdict))
        asked, because, reason = prose(change.asked), text(log.because), prose(log.reason)
        rows.append([reference(change.claim), text(log.date), asked, verdicts, because, reason])
    return rows


LISTINGS = ["listing", "what its row keeps", "what our general form changes", "what that costs"]


# of a general form against its listing, as they are counted
WORDS = {
    "faster": "faster", "slower": "slower", "same": "equal", "no difference": "tied",
    "": "not measured",
}  # fmt: skip


def listed(report: Measured) -> tuple[str, list[list[Text]]]:
    """How the general forms compare, "9 slower, 12 equal", and a line for each listing; empty if
    the record has none of their rows."""
    record, listings = report.record, report.collection.listings
    headlines = {experiment.name: experiment.headline for experiment in record.experiments}
    cases: dict[str, Case] = {}
    for case in sorted(record.cases, key=lambda c: c.shape_name != headlines[c.experiment]):
        cases.setdefault(f"{case.experiment}/{case.strategy}", case)
    if not any(listing.row in cases for listing in listings):
        return "", []
    rows, outcomes = [], Counter[str]()
    for listing in listings:
        experiment, (row, general) = record.experiment(listing.experiment), listing.strategies
        assert experiment  # or it would not be shown
        shape, printed = listing.shape or experiment.headline, cases.get(listing.row)
        base, other = (timed(report, experiment, name, shape) for name in listing.strategies)
        if isinstance(base, Text):
            outcome, cost = "", base
        elif isinstance(other, Text):
            outcome, cost = "", other
        else:
            outcome, cost = against(report, base, other)
        outcomes[outcome] += 1
        name = row_link(report, printed) if printed else code(row)
        keeps, reconstructed = prose(listing.keeps), prose(listing.reconstructed)
        if reconstructed:
            keeps = text(keeps, BREAK, emphasis("Reconstructed:"), " ", reconstructed)
        differs = text(code(general), ": ", prose(listing.differs))
        place = text(name, BREAK, f"{listing.document} ", prose(listing.place))
        rows.append([place, keeps, differs, cost.ended])
    counts = ", ".join(f"{outcomes[key]} {WORDS[key]}" for key in WORDS if outcomes[key])
    return counts, rows


_PROVEN = (
    "Proven: by arithmetic, or on this machine by counters, by tests, or by nvcc, which refuses a"
    " few lines with the same mistake and compiles them once it is corrected. By reading: the"
    " sentence says how one sees it."
)
_GENERAL_FORMS = (
    "Each listing is measured as printed, and once more in our general form, which takes any shape"
    " and stride. General forms against the listings: "
)
_COST = (
    "The fourth column (cold) is the cost of everything that the third one names, not of guards"
    " alone. "
)


def errata_page(report: Measured) -> Page:
    sections = []
    if rows := errata(report):
        sections.append(
            Section(text("Errata"), blocks(text(_PROVEN), table(ERRATA, rows)), "errata")
        )
    counts, forms = listed(report)
    if forms:
        reconstructed = (
            emphasis("Reconstructed"),
            ": what is lost or left open, and what we made it from.",
        )
        how = text(_GENERAL_FORMS, f"{counts}. ", _COST, *reconstructed)
        title = text("Listings, as printed and in general form")
        shown = blocks(how, table(LISTINGS, forms))
        sections.append(Section(title, shown, "listings"))
    printed = " as printed and what is right, and the listings as printed."
    says = text("Errors in ", whose(report), printed)
    title = text(f"Errata, checked on {machine(report.record)}")
    return Page(MARK, title, tuple(sections), says, README)


def changes_page(report: Measured) -> Page:
    rows, held_by = changed_checks(report), report.collection.settings.log_held_by
    held = text(held_by).capitalized + " compares this log with the history of the checks."
    more = len(report.collection.changed_checks) - len(rows)
    others = f"{more} other changes left the verdict as it was. "
    rest = text(others, code("changes.toml"), " has them all.")
    shown = blocks(held if held_by else None, table(CHANGED, rows), rest)
    section = Section(text("Changed checks"), shown, "changed-checks")
    says = "Checks that were changed after the first evidence was published, and turned a verdict."
    title = text(f"Changed checks, judged on {machine(report.record)}")
    return Page(MARK, title, (section,), text(says), README)
