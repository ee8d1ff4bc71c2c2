"""The page of errata: errors in the documents, and their listings."""

from __future__ import annotations

from recheck_report.anchors import README
from recheck_report.claims.measured import Measured
from recheck_report.say import listings
from recheck_report.say.documents import ERRATA, errata, whose
from recheck_report.say.nodes import Page, Section, blocks, emphasis, table, text
from recheck_report.say.pages import MARK, machine

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


def page(report: Measured) -> Page:
    sections = []
    if rows := errata(report):
        sections.append(
            Section(text("Errata"), blocks(text(_PROVEN), table(ERRATA, rows)), "errata")
        )
    counts, forms = listings.listed(report)
    if forms:
        reconstructed = (
            emphasis("Reconstructed"),
            ": what is lost or left open, and what we made it from.",
        )
        how = text(_GENERAL_FORMS, f"{counts}. ", _COST, *reconstructed)
        title = text("Listings, as printed and in general form")
        shown = blocks(how, table(listings.COLUMNS, forms))
        sections.append(Section(title, shown, "listings"))
    printed = " as printed and what is right, and the listings as printed."
    says = text("Errors in ", whose(report), printed)
    title = text(f"Errata, checked on {machine(report.record)}")
    return Page(MARK, title, tuple(sections), says, README)
