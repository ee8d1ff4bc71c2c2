"""What the documents are, print and measured: sources.toml, listings.toml and, in an experiment's
folder, figures.toml, as typed values in SI units."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from recheck_report.claims.toml import (
    BYTES,
    OPERATIONS,
    SECONDS,
    BadClaim,
    Id,
    Row,
    Said,
    Shape,
    load_tables,
    one_of,
    quantity,
    read_toml,
)
from recheck_report.record.case import ROW
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.record.regimes import REGIMES
from recheck_report.record.typed import BadRecord, Is, Strict, Unfit, typed

SOURCES, LISTINGS = "sources.toml", "listings.toml"
# sources of other rows: the harness, and vendors' libraries
ALWAYS = ("Recheck", "vendor")
URL = Annotated[
    str, Is(pattern=r"^(https?://[^\s\"<>\\^`{|}]+)?$", form="an address with https:// or http://")
]


@dataclass(frozen=True)
class Source(Strict):
    """A document. Empty fields are unknown."""

    id: Id
    name: Said  # short, for reports
    found: Said  # where it was published or found
    title: str = ""  # in its language
    english: str = ""  # of the title; empty if that is English
    author: str = ""
    year: str = ""  # or date
    language: str = ""
    hardware: tuple[str, ...] = ()  # of its figures
    state: str = ""  # which parts are lost
    url: URL = ""


@dataclass(frozen=True)
class Removed:
    """Two rows that show what a cost of accesses to memory amounts to."""

    cost: str
    row: str
    without: str


# the kinds of charts of an experiment
CHARTS = ("ladder", "cpu_gpu", "block_policy", "rows_blocks")
Chart = Annotated[
    str,
    Is(pattern=rf"^({'|'.join(CHARTS)})( |$)", form=f"one of {', '.join(CHARTS)}, and its rows"),
]
Pair = Annotated[
    str,
    Is(pattern=r"^[^:]{1,60}: [a-z0-9_]+ [a-z0-9_]+$", form='like "bank conflicts: row other_row"'),
]


@dataclass(frozen=True)
class Settings(Strict):
    """Settings of the whole collection."""

    title: str = ""  # for reports; empty: the title of the only document
    own: tuple[str, ...] = ()  # further names that rows may have as source
    order: Annotated[str, Is(one_of=("", "id"))] = ""  # of claims and errata; empty: of their files
    log_held_by: str = ""  # what keeps the log of changed checks complete: "a test"
    # by experiment, in the order of its page: a kind, and the rows that it shows
    charts: dict[str, tuple[Chart, ...]] = field(default_factory=dict)
    # by experiment: "COST: ROW OTHER", where OTHER differs from ROW by being without that cost
    removed: dict[str, tuple[Pair, ...]] = field(default_factory=dict)
    # by experiment, as paths from this file: folders of its kernels, files, "FILE: ROW OTHER"
    code: dict[str, tuple[str, ...]] = field(default_factory=dict)
    repository: URL = ""  # of the code host, where blob/COMMIT/PATH shows a file
    algorithms: dict[str, str] = field(default_factory=dict)  # by id, a description

    def pairs(self, experiment: str) -> list[Removed]:
        parts = (said.partition(": ") for said in self.removed.get(experiment, ()))
        return [Removed(cost, *rows.split()) for cost, _, rows in parts]


def load_sources(folder: Path) -> tuple[dict[str, Source], Settings]:
    """The documents of a folder by id, in order, and the settings; raises BadClaim."""
    path = folder / SOURCES
    file = read_toml(path)
    sources = load_tables(path, "source", Source, {"source": file.pop("source", [])}, unique="id")
    try:
        settings = typed(Settings, file)
    except BadRecord as error:
        raise BadClaim(f"{path}: {error}") from error
    return {source.id: source for source in sources}, settings


@dataclass(frozen=True)
class Listing(Strict):
    """A row with the code of a listing as printed, next to a row of our general form."""

    row: Row  # "matmul/s0_tiles", the listing as printed
    general: Row  # "matmul/tile16", ours
    document: str
    place: Said
    keeps: Said  # the parts of the printed code that the row keeps
    differs: Said  # what the general form does differently, and why
    reconstructed: str = ""  # the lost parts, and their reconstruction
    # rows that each differ from `row` in one word, as their notes have it; and why their times do
    wordings: tuple[Annotated[str, Is(pattern=f"^{ROW}$", form="a row's name")], ...] = ()
    wordings_shape: Shape = ""
    wordings_why: str = ""
    shape: Shape = ""  # where the two are compared; empty: at the headline

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


# by the field of a number of a figure: its unit, and the member of a case with the work of a rate
UNITS = {
    "seconds": (SECONDS, ""), "bytes_per_second": (BYTES, "bytes"),
    "operations_per_second": (OPERATIONS, "flops"),
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
        if sum(getattr(self, name) is not None for name in (*UNITS, "lost")) != 1:
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
        rates = ((getattr(self, name), unit, work) for name, (unit, work) in UNITS.items() if work)
        return next((rate for rate in rates if rate[0]), None)

    def case(self, record: Record, experiment: Experiment) -> Case | None:
        return record.find(experiment, self.strategy, self.shape, self.regime)


@dataclass(frozen=True)
class Figures(Strict):
    """The figures of a file in its order, and the full names of documents and hardware."""

    document: dict[str, str] = field(default_factory=dict)
    hardware: dict[str, str] = field(default_factory=dict)
    figure: tuple[Figure, ...] = ()

    def figures_of(self, document: str) -> list[Figure]:
        return [figure for figure in self.figure if figure.document == document]


def _figure(table: dict[str, Any]) -> Figure:
    texts = {key: unit for key, (unit, _) in UNITS.items() if isinstance(table.get(key), str)}
    return typed(Figure, table | {k: quantity(table[k], k, unit)[0] for k, unit in texts.items()})


def load_figures(path: Path, sources: Collection[str], claims: Collection[str]) -> Figures:
    """The documents' own measurements in a figures.toml, which may name these documents and claims;
    raises BadClaim."""
    file = read_toml(path)
    tables = {"figure": file.pop("figure", [])}
    try:
        names = typed(Figures, file)
        for name in names.document:
            one_of(sources, name, f"document.{name}")
    except BadRecord as error:
        raise BadClaim(f"{path}: {error}") from error
    valid = {"document": names.document, "hardware": names.hardware, "claim": ("", *claims)}
    figures = load_tables(path, "figure", _figure, tables, unique="", **valid)
    return replace(names, figure=figures)
