"""The documents' listings: listings.toml, as typed values. Each is a row with the code as printed,
next to a row of our general form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from recheck_report.claims.sources import load_sources
from recheck_report.claims.toml import Row, Said, load_tables
from recheck_report.record.case import ROW
from recheck_report.record.typed import Is, Strict, Unfit

LISTINGS = "listings.toml"
SHAPE_OR_NONE = r"^(\d+(x\d+)*)?$"


@dataclass(frozen=True)
class Listing(Strict):
    row: Row  # "matmul/s0_tiles", the listing as printed
    general: Row  # "matmul/tile16", ours
    document: str
    place: Said
    keeps: Said  # the parts of the printed code that the row keeps
    differs: Said  # what the general form does differently, and why
    reconstructed: str = ""  # the lost parts, and their reconstruction
    # rows that each differ from `row` in one word, as their notes have it; and why their times do
    wordings: tuple[Annotated[str, Is(pattern=f"^{ROW}$", form="a row's name")], ...] = ()
    wordings_shape: Annotated[str, Is(pattern=SHAPE_OR_NONE, form="like 8192x8192")] = ""
    wordings_why: str = ""
    # where the two are compared; empty: at the headline
    shape: Annotated[str, Is(pattern=SHAPE_OR_NONE, form="like 8192x8192")] = ""

    def validate(self) -> None:
        if not self.general.startswith(f"{self.experiment}/"):
            raise Unfit("must be of the row's experiment", "general")

    @property
    def experiment(self) -> str:
        return self.row.split("/")[0]

    @property
    def strategies(self) -> tuple[str, str]:
        """The names of both rows without the experiment: listing, general form."""
        return self.row.split("/")[1], self.general.split("/")[1]

    def reworded(self, headline: str) -> dict[str, str]:
        """The ids of the cases of the listing, its wordings and its general form, by row; empty
        without wordings. `headline`: the experiment's."""
        at, (row, general) = f"{self.wordings_shape or headline}/cold", self.strategies
        rows = (row, *self.wordings, general) if self.wordings else ()
        return {row: f"{self.experiment}/{row}/{at}" for row in rows}


def load_listings(folder: Path) -> tuple[Listing, ...]:
    """The listings in their order, empty without a file; raises BadClaim."""
    documents, _ = load_sources(folder)
    return load_tables(folder / LISTINGS, "listing", Listing, unique="row", document=documents)
