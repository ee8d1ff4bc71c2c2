"""The documents as a reader sees them: where they are from, their errata, and how checks of their
claims have changed."""

from __future__ import annotations

from recheck_report.anchors import ERRATA as ERRATA_PAGE
from recheck_report.anchors import README
from recheck_report.anchors import place as place_of
from recheck_report.claims import Corrected, Source
from recheck_report.claims.measured import Measured
from recheck_report.claims.outcome import FAILS, HOLDS
from recheck_report.formatting import NONE
from recheck_report.record.record import Case
from recheck_report.say import listings
from recheck_report.say.claim import reference
from recheck_report.say.nodes import (
    BREAK,
    Page,
    Section,
    Text,
    anchor,
    blocks,
    code,
    emphasis,
    joined,
    link,
    paragraph,
    prose,
    strong,
    table,
    text,
)
from recheck_report.say.outcome import finding

CITED = ["document", "author, year"]
SOURCES = ["document", "title", "by, when", "found", "language", "hardware of its figures", "state"]
ERRATA = ["erratum", "where", "as written", "what is right", "concerns", "proof"]
CHANGES = ["claim", "changed", "asked before", "verdict then, today", "because of", "reason"]


def one_title(own: Measured) -> Text:
    """The title of the one document, or what it is called; empty where there are several."""
    sources = [*own.known.sources.values()]
    return _title(sources[0]) if len(sources) == 1 else Text()


def called(own: Measured) -> Text:
    """What the collection is called, or its one document."""
    return prose(own.known.settings.title) or one_title(own)


def whose(own: Measured) -> Text:
    """Whose sentences and errors a page has: "the documents", "“A title”"."""
    one = one_title(own)
    return text("“", one, "”") if one else text("the documents")


def _title(source: Source) -> Text:
    """Its title with the English, or else what it is called here."""
    english = text(" (", prose(source.english), ")") if source.english else Text()
    return text(prose(source.title), english) or prose(source.name)


def _by(source: Source) -> Text:
    """Its author and year."""
    return joined(", ", map(prose, (source.author, source.year))) or text(NONE)


def cited(own: Measured) -> list[list[Text]]:
    """In short: title, who wrote it and when."""
    rows = []
    for source in own.known.sources.values():
        title = _title(source)  # in quotes, slips of the pen and all, unless it is ours
        title = text("“", title, "”") if source.title else title
        rows.append([text(f"{source.id}: ", title), _by(source)])
    return rows


def printed(own: Measured) -> Text:
    """What names of rows that are listings as printed begin with; empty where there are none."""
    rows = {case.strategy for case in own.record.cases}
    ids = [e for e in own.known.sources if any(row.startswith(f"{e.lower()}_") for row in rows)]
    if not ids:
        return Text()
    names = joined(", ", (code(f"{name.lower()}_") for name in ids))
    return text("Names with ", names, f" in front: listings of {', '.join(ids)} as printed.")


def sources(own: Measured) -> list[list[Text]]:
    """Where the sentences and figures are from, with all that is known."""
    none = text(NONE)
    return [
        [
            text(f"{source.id}: ", prose(source.name)),
            _title(source) if source.title else none,
            _by(source),
            prose(source.found),
            prose(source.language) or none,
            joined(BREAK, map(prose, source.hardware)) or none,
            prose(source.state) or none,
        ]
        for source in own.known.sources.values()
    ]


def proof(corrected: Corrected) -> Text:
    """Whether what is put right is proven, and by what."""
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


def errata(own: Measured) -> list[list[Text]]:
    rows = []
    for corrected in own.judgement.errata:
        erratum = corrected.erratum
        english = text(" (“", prose(erratum.english), "”)") if erratum.english else Text()
        concerns = joined(", ", (_concerned(own, name) for name in erratum.concerns))
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


def errata_of(own: Measured, claim: str) -> Text:
    """Links to the errata that concern a claim."""
    errata = (corrected.erratum for corrected in own.judgement.errata)
    ids = [erratum.id for erratum in errata if claim in erratum.concerns]
    return joined(", ", (link(f"{ERRATA_PAGE}#erratum-{name.lower()}", name) for name in ids))


def _concerned(own: Measured, name: str) -> Text:
    """A claim, an algorithm or a document, with a link if it stands in the report."""
    record = own.record
    if own.judgement.find(name):
        return reference(name)
    rows = [case for case in record.cases if case.source.algorithm == name and not case.sweep]
    if not rows:
        return text(name)
    headline = {experiment.name: experiment.headline for experiment in record.experiments}

    def fit(case: Case) -> tuple[bool, bool]:
        """Whether it is the listing as printed, and in the table that shows most."""
        printed = case.strategy.startswith(f"{case.source.document.lower()}_")
        return printed, case.shape_name == headline[case.experiment]

    case = max(rows, key=fit)
    return link(place_of(case, record.experiment_of(case)), name)


def changes(own: Measured) -> list[list[Text]]:
    """The changes after which a verdict was another: what decided the claim before, and what it
    came to then and comes to now."""
    rows = []
    for change in own.turned:
        judged = own.judgement.find(change.claim)
        assert judged  # or the change would not be shown
        # the log has one word for what fails
        fails = "wrong as printed" if judged.claim.independent else "fails here"
        then = fails if change.verdict == "fails" else change.verdict
        verdicts = text(f"{then}, ", strong(judged.verdict))
        asked, because = prose(change.asked), text(change.because)
        reason = prose(change.reason)
        rows.append([reference(change.claim), text(change.date), asked, verdicts, because, reason])
    return rows


# pages


def errata_page(own: Measured, mark: str, title: str) -> Page:
    """Errors in the documents, their listings, and where they are from."""
    algorithms = {case.source.algorithm for case in own.record.cases} - {""}
    concerned = {name for each in own.judgement.errata for name in each.erratum.concerns}
    how = (
        "Proven: by arithmetic, or on this machine by counters, by tests, or by nvcc, which refuses"
        " a few lines with the same mistake and compiles them once it is corrected. By reading: the"
        " sentence says how one sees it."
    )
    if algorithms & concerned:
        how += (
            " What an erratum concerns besides claims and documents is an algorithm, and leads to a"
            " row made from it."
        )
    found, listed, sections = errata(own), listings.listed(own), []
    if found:
        sections.append(_section("errata", "Errata", paragraph(how), table(ERRATA, found)))
    if listed:
        sections.append(
            _section(
                "listings", "Listings, as printed and in general form",
                paragraph(
                    "Each listing is measured as printed, and once more in our general form, which"
                    " takes any shape and stride. General forms against the listings: "
                    f"{listed.counts}. The fourth column (cold) is the cost of everything that the"
                    " third one names, not of guards alone. ", emphasis("Reconstructed"),
                    ": what is lost or left open, and what we made it from.",
                ),
                table(listings.COLUMNS, listed.rows),
            )
        )  # fmt: skip
    name = "The document" if one_title(own) else "The documents"
    origin = paragraph("Where the quotes and figures are from. A dash: not known.")
    sections.append(_section("sources", name, origin, table(SOURCES, sources(own))))
    says = text(
        "Errors in ", whose(own), " as printed and what is right, and the listings as printed."
    )
    return Page(mark, text(f"Errata, checked on {title}"), tuple(sections), says, README)


def changes_page(own: Measured, mark: str, title: str) -> Page:
    """What decided claims before."""
    rows, held_by = changes(own), own.known.settings.log_held_by
    held = text(held_by).capitalized + " compares this log with the history of the checks."
    others = len(own.known.changes) - len(rows)
    rest = text(f"{others} other changes left the verdict as it was. ", code("changes.toml"))
    shown = _section(
        "changed-checks", "Changed checks",
        held if held_by else None, table(CHANGES, rows), rest + " has them all.",
    )  # fmt: skip
    says = "Checks that were changed after the first evidence was published, and turned a verdict."
    return Page(mark, text(f"Changed checks, judged on {title}"), (shown,), text(says), README)


def _section(name: str, title: str, *found: object) -> Section:
    return Section(text(title), blocks(*found), name)  # type: ignore[arg-type]
