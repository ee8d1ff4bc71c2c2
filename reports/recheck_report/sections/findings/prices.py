"""What the general form of each of the documents' listings costs."""

from __future__ import annotations

from functools import partial

from recheck_report.claims.measured import Measured
from recheck_report.sections.findings.sentences import Line, Sentences, finding


def prices(own: Measured) -> dict[str, Line]:
    """How each general form does against its listing, cold, by the listing's row."""
    found = {}
    for listing in own.known.listings:
        experiment = own.record.experiment(listing.experiment)
        assert experiment  # or it would not be shown
        say = Sentences(own, experiment)
        row, general = ((name, "cold") for name in listing.strategies)
        shape = listing.shape or say.headline
        said = finding("", "", partial(say.compare, row, general, shape))
        found[listing.row] = said.lines[0]
    return found
