"""The documents' listings: listings.toml, as typed values.

Each is a row in its own form beside a row of our general form. What the texts say of the two is
data of the documents and of the kernels, not of a record, which has their times.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from recheck_report.claims.sources import load_sources
from recheck_report.claims.toml import BadClaim, Row, Said, load_tables, table_of
from recheck_report.record.typed import Is, Unfit, read_toml

LISTINGS = "listings.toml"


@dataclass(frozen=True)
class Listing:
    row: Row  # "matmul/s0_tiles", the listing in its own form
    general: Row  # "matmul/tile16", ours
    document: str
    place: Said
    keeps: Said  # what the row has of what is printed
    differs: Said  # what the general form has otherwise, and why
    reconstructed: str = ""  # what is lost, and from what it was made
    shape: Annotated[str, Is(pattern=r"^(\d+(x\d+)*)?$", form="like 8192x8192")] = (
        ""  # where the two are compared; empty: at the headline
    )

    @property
    def experiment(self) -> str:
        return self.row.split("/")[0]

    @property
    def strategies(self) -> tuple[str, str]:
        """The rows' own names: the listing's, the general form's."""
        return self.row.split("/")[1], self.general.split("/")[1]


def _check(listing: Listing) -> None:
    if not listing.general.startswith(f"{listing.experiment}/"):
        raise Unfit("is of another experiment than the row", "general")


_read = table_of(Listing, _check)


def load_listings(folder: Path) -> tuple[Listing, ...]:
    """The listings in their order, none without the file; raises BadClaim."""
    path = folder / LISTINGS
    if not path.exists():
        return ()
    file, (documents, _) = read_toml(path, BadClaim), load_sources(folder)
    return load_tables(path, file, "listing", _read, unique="row", document=documents)
