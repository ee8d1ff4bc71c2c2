"""The documents that claims are of: sources.toml, as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated

from recheck_report.claims.toml import BadClaim, Id, Said, load_tables, table_of
from recheck_report.model.typed import BadRecord, Is, read_toml, typed

SOURCES = "sources.toml"
HOLDER = "log_held_by"
OWN = "own"  # names of what is no document, which rows may give as theirs
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


_read = table_of(Source)


@cache
def load_sources(folder: Path) -> dict[str, Source]:
    """The documents of a folder by their ids, in the order of its file; raises BadClaim."""
    path = folder / SOURCES
    document = read_toml(path, BadClaim)
    for name in (HOLDER, OWN):
        document.pop(name, None)
    more = f" tables, {HOLDER} and {OWN}"
    found = load_tables(path, document, "source", _read, more, unique="id")
    return {source.id: source for source in found}


def load_more(folder: Path) -> tuple[str, tuple[str, ...]]:
    """What holds the log of changed checks to the history, "a test", empty if nothing does; and
    what rows may name in place of a document."""
    path = folder / SOURCES
    document = read_toml(path, BadClaim)
    try:
        holder = typed(str, document.get(HOLDER, ""), HOLDER)
        own = typed(tuple[str, ...], document.get(OWN, []), OWN)
        return holder, (*own, *ALWAYS)
    except BadRecord as error:
        raise BadClaim(f"{path}: {error}") from error
