"""The documents that claims are of: sources.toml, as typed values."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from recheck_report.claims.toml import (
    BadClaim,
    Wrong,
    id_of,
    known_only,
    list_of,
    load_tables,
    text_of,
)
from recheck_report.model.record import read_toml

SOURCES = "sources.toml"
HOLDER = "log_held_by"


@dataclass(frozen=True)
class Source:
    """A document. What is empty it does not say, or nobody knows."""

    id: str
    name: str  # by which the report calls it
    found: str  # where it was published, or where it was found
    title: str = ""  # its own, in its language
    english: str = ""  # of the title; empty if that is English
    author: str = ""
    year: str = ""  # or date
    language: str = ""
    hardware: tuple[str, ...] = ()  # of its figures
    state: str = ""  # what is lost of it


def _source(table: dict[str, Any]) -> Source:
    names = [each.name for each in fields(Source)]
    known_only(table, names, "")
    id_of(table)
    hardware = list_of(table, "hardware")
    if any(type(each) is not str or not each.isprintable() for each in hardware):
        raise Wrong("field hardware must be a list of texts")
    texts = {
        key: text_of(table, key, optional=key not in ("id", "name", "found"))
        for key in names
        if key != "hardware"
    }
    if not (texts["name"] and texts["found"]):
        raise Wrong("fields name and found may not be empty")
    return Source(hardware=tuple(hardware), **texts)


@cache
def load_sources(folder: Path) -> dict[str, Source]:
    """The documents of a folder by their ids, in the order of its file; raises BadClaim."""
    path, found = folder / SOURCES, dict[str, Source]()
    document = read_toml(path, BadClaim)
    document.pop(HOLDER, None)
    for source in load_tables(path, document, "source", _source, f" tables and {HOLDER}"):
        if source.id in found:
            raise BadClaim(f"{path}: source {source.id}: field id: another one has it too")
        found[source.id] = source
    return found


def load_log_holder(folder: Path) -> str:
    """What holds the log of changed checks to the history, "a test"; empty if nothing does."""
    path = folder / SOURCES
    try:
        return text_of(read_toml(path, BadClaim), HOLDER, optional=True)
    except Wrong as error:
        raise BadClaim(f"{path}: {error}") from error
