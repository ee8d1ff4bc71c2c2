"""The documents' listings as a reader sees them: what is kept of each, what our general form has
otherwise, and what that costs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from recheck_report.claims.measured import Measured
from recheck_report.record.record import Case
from recheck_report.say.nodes import BREAK, Text, code, emphasis, prose, text
from recheck_report.say.sentences import WORDS, Sentences, prices

COLUMNS = ["listing", "what its row keeps", "what our general form changes", "what that costs"]


@dataclass(frozen=True)
class Listed:
    counts: str  # "9 slower, 12 the same within the resolution": the general forms
    rows: list[list[Text]]


def listed(own: Measured) -> Listed | None:
    """A line for each listing; None if the record has none of their rows."""
    record, known = own.record, own.known.listings
    heads = {each.name: each.headline for each in record.experiments}
    there: dict[str, Case] = {}
    for case in sorted(record.cases, key=lambda case: case.shape_name != heads[case.experiment]):
        there.setdefault(f"{case.experiment}/{case.strategy}", case)
    if not any(each.row in there for each in known):
        return None
    rows, found = [], prices(own)
    for each in known:
        row, general = each.strategies
        name, printed = code(row), there.get(each.row)
        if printed:
            name = Sentences(own, record.experiment_of(printed)).link(printed)
        keeps, reconstructed = prose(each.keeps), prose(each.reconstructed)
        if reconstructed:
            keeps = text(keeps, BREAK, emphasis("Reconstructed:"), " ", reconstructed)
        differs = text(code(general), ": ", prose(each.differs))
        place = text(name, BREAK, f"{each.document} ", prose(each.place))
        rows.append([place, keeps, differs, found[each.row].text])
    outcomes = Counter(line.outcome for line in found.values())
    words = {**WORDS, "not measured": "not measured"}
    counts = ", ".join(f"{outcomes[key]} {words[key]}" for key in words if outcomes[key])
    return Listed(counts, rows)
