"""What the general form of each of the documents' listings costs."""

from __future__ import annotations

from functools import partial

from claims import load_listings
from record import Record

from findings.judge import Judge, Line, finding


def prices(record: Record, prefix: str) -> dict[str, Line]:
    """How each general form does against its listing, cold, by the listing's row."""
    found = {}
    for listing in load_listings():
        experiment = record.experiment(listing.experiment)
        if experiment is None:
            text = f"Not measured: the record holds no {listing.experiment}."
            found[listing.row] = Line("not measured", text)
            continue
        judge = Judge(record, experiment, prefix)
        row, general = ((name, "cold") for name in listing.strategies)
        shape = listing.shape or judge.headline
        said = finding("", "", partial(judge.compare, row, general, shape))
        found[listing.row] = said.lines[0]
    return found
