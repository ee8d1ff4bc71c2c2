"""The documents' own measurements: <experiment>/figures.toml, as typed values in SI units. The
report shows them next to the record's times, with the hardware of both."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from recheck_report.claims.load import load_claims
from recheck_report.claims.quantity import BYTES, OPERATIONS, SECONDS, quantity
from recheck_report.claims.sources import load_sources
from recheck_report.claims.toml import BadClaim, Shape, load_tables, one_of
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.record.regimes import REGIMES
from recheck_report.record.typed import BadRecord, Is, Strict, Unfit, read_toml, typed

# the units of plain numbers; texts like "8 ms" have a unit
UNITS = {
    "seconds": SECONDS, "bytes_per_second": BYTES, "operations_per_second": OPERATIONS,
}  # fmt: skip


@dataclass(frozen=True)
class Figure(Strict):
    """One number of one document: exactly one of UNITS, or `lost`, is set."""

    strategy: str
    regime: Annotated[str, Is(one_of=tuple(REGIMES))]
    shape: Shape
    document: str
    place: str  # the row's name in the document
    hardware: str
    claim: str = ""
    printed: str = ""  # as printed, if its unit is wrong
    seconds: Annotated[float | None, Is(above=0)] = None
    bytes_per_second: Annotated[float | None, Is(above=0)] = None
    operations_per_second: Annotated[float | None, Is(above=0)] = None
    lost: str | None = None  # why the figure is lost

    def validate(self) -> None:
        numbers = (self.seconds, self.bytes_per_second, self.operations_per_second, self.lost)
        if sum(number is not None for number in numbers) != 1:
            raise Unfit(f"must have exactly one of {', '.join(UNITS)} and lost")

    def time(self, case: Case | None) -> float | None:
        """Seconds; for a rate, from the work of the record's case."""
        if self.rate and case:
            value, _, work = self.rate
            amount: float = getattr(case, work)
            return amount / value
        return self.seconds

    @property
    def rate(self) -> tuple[float, str, str] | None:
        """The rate, its unit, and the member of a case with its work; None if it is a time."""
        if self.bytes_per_second:
            return self.bytes_per_second, BYTES, "bytes"
        if self.operations_per_second:
            return self.operations_per_second, OPERATIONS, "flops"
        return None

    def case(self, record: Record, experiment: Experiment) -> Case | None:
        return record.find(experiment, self.strategy, self.shape, self.regime)


@dataclass(frozen=True)
class Figures:
    """The figures of a file in its order, and the full names of documents and hardware."""

    document: dict[str, str]
    hardware: dict[str, str]
    figure: tuple[Figure, ...]

    def figures_of(self, document: str) -> list[Figure]:
        return [figure for figure in self.figure if figure.document == document]


def _figure(table: dict[str, Any]) -> Figure:
    texts = {key: unit for key, unit in UNITS.items() if isinstance(table.get(key), str)}
    return typed(Figure, table | {k: quantity(table[k], k, unit)[0] for k, unit in texts.items()})


def load(path: Path) -> Figures:
    """Reads a figures.toml; raises BadClaim."""
    file, folder = read_toml(path, BadClaim), path.parents[1]
    try:
        document, hardware = (
            typed(dict[str, str], file.pop(key, {}), key) for key in ("document", "hardware")
        )
        for name in document:
            one_of(load_sources(folder)[0], name, f"document.{name}")
    except BadRecord as error:
        raise BadClaim(f"{path}: {error}") from error
    claims = ["", *(claim.id for claim in load_claims(folder))]
    figures = load_tables(
        path, "figure", _figure, file, " tables, [document] and [hardware]",
        document=document, hardware=hardware, claim=claims,
    )  # fmt: skip
    return Figures(document, hardware, figures)
