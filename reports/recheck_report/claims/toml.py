"""What all files of the documents' data have in common: tables of TOML as typed values. A file that
is not in form is refused in one line that names the file, the table and the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from recheck_report.model.record import BadRecord

T = TypeVar("T")


class BadClaim(BadRecord):
    """A file of claims or errata is not in form; str() is one line for the user."""


class Wrong(Exception):
    """What is wrong with a field, for a place that the caller knows."""


def text_of(table: dict[str, Any], key: str, where: str = "", optional: bool = False) -> str:
    if key not in table and optional:
        return ""
    if key not in table:
        raise Wrong(f"field {where}{key} is missing")
    text = table[key]
    if not isinstance(text, str) or not text.isprintable():
        raise Wrong(f"field {where}{key} must be one line of text")
    return text


def known_only(table: dict[str, Any], allowed: Iterable[str], where: str) -> None:
    for key in table:
        if key not in allowed:
            raise Wrong(f"field {where}{key} is unknown")


def in_form(texts: dict[str, str], forms: dict[str, str]) -> None:
    """Every text matches its pattern; one without may be anything but empty."""
    for name, text in texts.items():
        if not re.fullmatch(forms.get(name, ".+"), text):
            raise Wrong(f"field {name}: {text!r} is not in form")


def list_of(table: dict[str, Any], key: str, where: str = "") -> list[Any]:
    found = table.get(key, [])
    if type(found) is not list:
        raise Wrong(f"field {where}{key} must be a list")
    return found


def id_of(table: dict[str, Any]) -> str:
    """A name of the reader's own, fit for links."""
    name = text_of(table, "id")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9._-]*", name):
        raise Wrong("field id must be a letter, and letters, digits, ., - or _ behind it")
    return name


def in_order(name: str) -> list[str | int]:
    """To sort ids by: C2 before C10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def load_tables(
    path: Path,
    document: dict[str, Any],
    key: str,
    parse: Callable[[dict[str, Any]], T],
    more: str = "",
) -> tuple[T, ...]:
    """What the tables of that name come to, of a file that holds nothing else but `more`, which has
    been taken out; in its order; raises BadClaim."""
    tables = document.get(key, [])
    if set(document) - {key} or type(tables) is not list:
        raise BadClaim(f"{path}: holds more than [[{key}]]{more} tables")
    found: list[T] = []
    for at, table in enumerate(tables):
        name = table.get("id") if type(table) is dict else None
        try:
            if type(table) is not dict:
                raise Wrong("is no table")
            found.append(parse(table))
        except Wrong as error:
            where = f"{path}: {key} {name or f'number {at + 1}'}"
            raise BadClaim(f"{where}: {error}") from error
    return tuple(found)
