"""The documents behind claims: sources.toml, as typed values."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

from recheck_report.claims.toml import BadClaim, Id, Said, load_tables, one_of
from recheck_report.record.typed import BadRecord, Is, Strict, Unfit, members, read_toml, typed

SOURCES = "sources.toml"
# sources of other rows: the harness, and vendors' libraries
ALWAYS = ("Recheck", "vendor")
_URL = r"^(https?://[^\s\"<>\\^`{|}]+)?$"


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
    url: Annotated[str, Is(pattern=_URL, form="an address with https:// or http://")] = ""


@dataclass(frozen=True)
class Removed:
    """Two rows that show what a cost of accesses to memory amounts to."""

    cost: str
    row: str
    without: str


@dataclass(frozen=True)
class Settings:
    """Settings of the whole collection."""

    title: str = ""  # for reports; empty: the title of the only document
    own: tuple[str, ...] = ()  # further names that rows may have as source
    order: Annotated[str, Is(one_of=("", "id"))] = ""  # of claims and errata; empty: of their files
    log_held_by: str = ""  # what keeps the log of changed checks complete: "a test"
    # by experiment, in the order of its page: a kind, and the rows that it shows
    charts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # by experiment: "COST: ROW OTHER", where OTHER differs from ROW by being without that cost
    removed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # by experiment, the folders of its kernels, as paths from this file
    code: dict[str, tuple[str, ...]] = field(default_factory=dict)
    # of the code host, where blob/COMMIT/PATH shows a file
    repository: Annotated[str, Is(pattern=_URL, form="an address with https://")] = ""
    algorithms: dict[str, str] = field(default_factory=dict)  # by id, a description

    def pairs(self, experiment: str) -> list[Removed]:
        parts = (said.partition(": ") for said in self.removed.get(experiment, ()))
        return [Removed(cost, *rows.split()) for cost, _, rows in parts]


# the kinds of charts of an experiment
CHARTS = ("ladder", "cpu_gpu", "block_policy", "rows_blocks")
_REMOVED = re.compile(r"[^:]{1,60}: [a-z0-9_]+ [a-z0-9_]+")


@cache
def load_sources(folder: Path) -> tuple[dict[str, Source], Settings]:
    """The documents of a folder by id, in order, and the settings; raises BadClaim."""
    path, names = folder / SOURCES, list(members(Settings))
    file = read_toml(path, BadClaim)
    whole = {key: file.pop(key) for key in names if key in file}
    more = file, f" tables and {', '.join(names)}"
    sources = load_tables(path, "source", Source, *more, unique="id")
    try:
        settings = typed(Settings, whole)
        for experiment, charts in settings.charts.items():
            for chart in charts:
                one_of(CHARTS, chart.partition(" ")[0], f"charts.{experiment}")
        for experiment, pairs in settings.removed.items():
            if not all(map(_REMOVED.fullmatch, pairs)):
                raise Unfit(
                    'must be texts such as "bank conflicts: row other_row"', f"removed.{experiment}"
                )
    except BadRecord as error:
        raise BadClaim(f"{path}: {error}") from error
    return {source.id: source for source in sources}, settings
