"""The documents that claims are of: sources.toml, as typed values."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated

from recheck_report.claims.toml import BadClaim, Id, Said, load_tables, one_of, table_of
from recheck_report.record.typed import BadRecord, Is, members, read_toml, typed

SOURCES = "sources.toml"
# of rows that no document has: the harness's and the vendors' libraries
ALWAYS = ("Recheck", "vendor")
_URL = r"^(https?://[^\s\"<>\\^`{|}]+)?$"
# kinds of documents that the Citation File Format knows
TYPES = (
    "article", "blog", "book", "conference-paper", "generic", "magazine-article", "manual",
    "pamphlet", "report", "slides", "thesis", "unpublished", "website",
)  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A document. What is empty it does not say, or nobody knows."""

    id: Id
    name: Said  # by which the report calls it
    found: Said  # where it was published, or where it was found
    title: str = ""  # its own, in its language
    english: str = ""  # of the title; empty if that is English
    author: str = ""
    year: str = ""  # or date
    language: str = ""
    hardware: tuple[str, ...] = ()  # of its figures
    state: str = ""  # what is lost of it
    type: Annotated[str, Is(one_of=(*TYPES, ""))] = ""
    url: Annotated[str, Is(pattern=_URL, form="an address with https:// or http://")] = ""


@dataclass(frozen=True)
class Settings:
    """What the file says of the collection as a whole."""

    title: str = ""  # by which reports call it; empty: by that of its one document
    own: tuple[str, ...] = ()  # names of what is no document, which rows may give as theirs
    order: Annotated[str, Is(one_of=("", "id"))] = ""  # of claims and errata; empty: of their files
    log_held_by: str = ""  # what holds the log of changed checks to the history: "a test"
    # of an experiment, in the order of its page: a kind, and the rows that it shows
    charts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    algorithms: dict[str, str] = field(default_factory=dict)  # by id, what their rows do
    dispatch: tuple[str, ...] = ()  # rows of old records that launch whichever other suits


# by which an experiment may show what it has, a file of charts/ each
CHARTS = ("ladder", "cpu_gpu", "loops", "block_policy", "rows_blocks")
_read = table_of(Source)


@cache
def load_sources(folder: Path) -> tuple[dict[str, Source], Settings]:
    """The documents of a folder by their ids, in the order of its file, and what that says of all;
    raises BadClaim."""
    path, names = folder / SOURCES, list(members(Settings))
    file = read_toml(path, BadClaim)
    whole = {key: file.pop(key) for key in names if key in file}
    sources = load_tables(path, file, "source", _read, f" tables and {', '.join(names)}", "id")
    try:
        settings = typed(Settings, whole)
        for experiment, charts in settings.charts.items():
            for chart in charts:
                one_of(CHARTS, chart.partition(" ")[0], f"charts.{experiment}")
    except BadRecord as error:
        raise BadClaim(f"{path}: {error}") from error
    return {source.id: source for source in sources}, settings
