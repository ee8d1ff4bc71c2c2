"""The documents' listings as a reader sees them: what is kept of each, what our general form has
otherwise, and what that costs."""

from __future__ import annotations

from collections import Counter

from recheck_report.claims.measured import Measured
from recheck_report.record.record import Case
from recheck_report.say.nodes import BREAK, Text, code, emphasis, prose, text
from recheck_report.say.sentences import WORDS, Sentences, prices

COLUMNS = ["listing", "what its row keeps", "what our general form changes", "what that costs"]


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
    rows, costs = [], prices(report)
    for listing in listings:
        row, general = listing.strategies
        name, printed = code(row), cases.get(listing.row)
        if printed:
            name = Sentences(report, record.experiment_of(printed)).link(printed)
        keeps, reconstructed = prose(listing.keeps), prose(listing.reconstructed)
        if reconstructed:
            keeps = text(keeps, BREAK, emphasis("Reconstructed:"), " ", reconstructed)
        differs = text(code(general), ": ", prose(listing.differs))
        place = text(name, BREAK, f"{listing.document} ", prose(listing.place))
        rows.append([place, keeps, differs, costs[listing.row].text])
    outcomes = Counter(line.outcome for line in costs.values())
    words = {**WORDS, "not measured": "not measured"}
    counts = ", ".join(f"{outcomes[key]} {words[key]}" for key in words if outcomes[key])
    return counts, rows
