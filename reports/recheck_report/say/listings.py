"""The documents' listings as a reader sees them: what is kept of each, what our general form has
otherwise, and what that costs."""

from __future__ import annotations

from collections import Counter

from recheck_report.claims.documents import Listing
from recheck_report.claims.measured import Measured
from recheck_report.record.record import Case
from recheck_report.say.nodes import BREAK, Text, code, emphasis, prose, text
from recheck_report.say.sentences import against, row_link, timed

COLUMNS = ["listing", "what its row keeps", "what our general form changes", "what that costs"]


# of a general form against its listing, as they are counted
WORDS = {
    "faster": "faster", "slower": "slower", "same": "equal", "no difference": "tied",
    "": "not measured",
}  # fmt: skip


def _cost(report: Measured, listing: Listing) -> tuple[str, Text]:
    """The outcome, empty without both times, and what the general form of a listing costs."""
    experiment = report.record.experiment(listing.experiment)
    assert experiment  # or it would not be shown
    shape = listing.shape or experiment.headline
    base, other = (timed(report, experiment, name, shape) for name in listing.strategies)
    if isinstance(base, Text):
        return "", base
    if isinstance(other, Text):
        return "", other
    outcome, said = against(report, base, other)
    return outcome, said + "."


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
        row, general = listing.strategies
        name, printed = code(row), cases.get(listing.row)
        outcome, cost = _cost(report, listing)
        outcomes[outcome] += 1
        if printed:
            name = row_link(report, printed)
        keeps, reconstructed = prose(listing.keeps), prose(listing.reconstructed)
        if reconstructed:
            keeps = text(keeps, BREAK, emphasis("Reconstructed:"), " ", reconstructed)
        differs = text(code(general), ": ", prose(listing.differs))
        place = text(name, BREAK, f"{listing.document} ", prose(listing.place))
        rows.append([place, keeps, differs, cost])
    counts = ", ".join(f"{outcomes[key]} {WORDS[key]}" for key in WORDS if outcomes[key])
    return counts, rows
