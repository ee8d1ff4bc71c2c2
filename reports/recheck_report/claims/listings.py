"""The documents' listings: listings.toml, as typed values.

Each is a row in its own form beside a row of our general form. What the texts say of the two is
data of the documents and of the kernels, not of a record, which has their times.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from recheck_report.claims.sources import load_sources
from recheck_report.claims.toml import BadClaim, Wrong, in_form, known_only, load_tables, text_of
from recheck_report.model.record import read_toml

LISTINGS = "listings.toml"


@dataclass(frozen=True)
class Listing:
    row: str  # "matmul/s0_tiles", the listing in its own form
    general: str  # "matmul/tile16", ours
    document: str
    place: str
    keeps: str  # what the row has of what is printed
    differs: str  # what the general form has otherwise, and why
    reconstructed: str = ""  # what is lost, and from what it was made
    shape: str = ""  # where the two are compared; empty: at the headline

    @property
    def experiment(self) -> str:
        return self.row.split("/")[0]

    @property
    def strategies(self) -> tuple[str, str]:
        """The rows' own names: the listing's, the general form's."""
        return self.row.split("/")[1], self.general.split("/")[1]


_ROW = r"[a-z0-9_]+/[a-z0-9_]+"
_FORMS = {"row": _ROW, "general": _ROW, "shape": r"\d+(x\d+)*"}


def _listing(table: dict[str, Any], documents: Iterable[str]) -> Listing:
    names = [each.name for each in fields(Listing)]
    known_only(table, names, "")
    optional = ("reconstructed", "shape")
    texts = {key: text_of(table, key) for key in names if key in table or key not in optional}
    in_form(texts, _FORMS)
    listing = Listing(**texts)
    if listing.document not in documents:
        raise Wrong(f"field document must be one of {', '.join(documents)}")
    if not listing.general.startswith(f"{listing.experiment}/"):
        raise Wrong(f"field general: {listing.general!r} is of another experiment than the row")
    return listing


def load_listings(folder: Path) -> tuple[Listing, ...]:
    """The listings in their order, none without the file; raises BadClaim."""
    path = folder / LISTINGS
    if not path.exists():
        return ()
    documents = load_sources(folder)
    found = load_tables(
        path, read_toml(path, BadClaim), "listing", lambda table: _listing(table, documents)
    )
    rows = [each.row for each in found]
    for at, row in enumerate(rows):
        if row in rows[:at]:
            raise BadClaim(f"{path}: listing number {at + 1}: field row: another one has it too")
    return found
