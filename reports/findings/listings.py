"""What the general form of each of the documents' listings costs."""

from __future__ import annotations

from functools import partial

from measured import Measured

from findings.judge import Judge, Line, finding


def prices(own: Measured, prefix: str) -> dict[str, Line]:
    """How each general form does against its listing, cold, by the listing's row."""
    found = {}
    for listing in own.known.listings:
        experiment = own.record.experiment(listing.experiment)
        assert experiment  # or it would not be shown
        judge = Judge(own, experiment, prefix)
        row, general = ((name, "cold") for name in listing.strategies)
        shape = listing.shape or judge.headline
        said = finding("", "", partial(judge.compare, row, general, shape))
        found[listing.row] = said.lines[0]
    return found
