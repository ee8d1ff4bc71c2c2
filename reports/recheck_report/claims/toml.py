"""Reads TOML tables of the documents' data, and numbers with their units, as typed values. Errors
are one line with the file, the table and the field."""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any, TypeVar

from recheck_report.record.typed import BadRecord, Is, Unfit, bytes_of, list_or_nearest, typed

T = TypeVar("T")
# texts: not empty; an id, fit for links; a row; a shape
Said = Annotated[str, Is(filled=True)]
Id = Annotated[
    str, Is(pattern=r"^[A-Za-z][A-Za-z0-9._-]*$", form="a letter, then letters, digits, ., - or _")
]
Row = Annotated[str, Is(pattern=r"^[a-z0-9_]+/[a-z0-9_]+$", form="like matmul/tile16")]
Shape = Annotated[str, Is(pattern=r"^\d+(x\d+)*$", form="like 8192x8192")]


class BadClaim(BadRecord):
    """A file of claims or errata is invalid: one or more lines for the user."""

    def __str__(self) -> str:
        return "\n".join(self.args)


def read_toml(path: Path) -> dict[str, Any]:
    """A TOML file as a table. Raises BadClaim, a line that names the file."""
    try:
        return tomllib.loads(bytes_of(path).removeprefix(codecs.BOM_UTF8).decode())
    except BadRecord as problem:
        raise BadClaim(f"{path}: {problem}") from problem
    except (ValueError, RecursionError) as problem:
        why = " ".join(str(problem).split())
        if "twice" in why or "overwrite" in why:
            why += "; where there may be several tables of a name, each begins with [[name]]"
        raise BadClaim(f"{path}: is not TOML: {why}") from problem


def one_of(names: Collection[str], name: str, field: str) -> None:
    if name not in names:
        wrong = f"unknown {name}" if name else "missing"
        raise Unfit(f"{wrong}; {list_or_nearest(names, name)}", f"{field}:")


def in_order(name: str) -> list[str | int]:
    """A key to sort ids: C2 before C10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def load_tables(
    path: Path,
    key: str,
    kind: type[T] | Callable[[dict[str, Any]], T],
    file: dict[str, Any] | None = None,
    *,
    unique: str = "",
    **valid: Collection[str],
) -> tuple[T, ...]:
    """The tables of that name as a Strict dataclass, or as what `kind` makes of them, in the order
    of the file; none without one. `file`: its content, if the caller has read it and removed the
    rest. `unique`: a field that must differ between tables. `valid`: the valid values of fields.
    Raises BadClaim with a line for each wrong table."""
    if file is None:
        file = read_toml(path) if path.exists() else {}
    tables = file.get(key, [])
    if type(tables) is not list:
        raise BadClaim(f"{path}: [{key}] must be [[{key}]], as there may be several")
    for other in file.keys() - {key}:
        raise BadClaim(f"{path}: nothing reads {other}; its tables are [[{key}]]")
    entries: list[T] = []
    wrong: list[str] = []
    for at, table in enumerate(tables):
        name = table.get("id") if type(table) is dict else None
        try:
            if type(table) is not dict:
                raise BadRecord("is not a table")
            one = typed(kind, table) if isinstance(kind, type) else kind(table)
            if unique and getattr(one, unique) in [getattr(entry, unique) for entry in entries]:
                raise Unfit(f"another {key} of this file has it too", f"{unique}:")
            for member, values in valid.items():
                one_of(values, getattr(one, member), member)
            entries.append(one)
        except BadRecord as error:
            wrong.append(f"{path}: {key} {name or f'number {at + 1}'}: {error}")
    if wrong:
        raise BadClaim(*wrong)
    return tuple(entries)


SECONDS, BYTES, OPERATIONS = "s", "B/s", "flop/s"
_PREFIXES = {"n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "": 1.0}
_PREFIXES |= {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_NAMES = {"s": SECONDS, "B/s": BYTES}
_NAMES |= dict.fromkeys(("FLOP/s", "flop/s", "FLOPS", "Flops", "OP/s"), OPERATIONS)
_TEXT = re.compile(rf"([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([nuµmkMGTP]?)({'|'.join(_NAMES)})")
_LIKE = {SECONDS: '"8 ms"', BYTES: '"79.5 GB/s"', OPERATIONS: '"12.5 GFLOP/s"'}


def quantity(value: Any, where: str, *units: str) -> tuple[float, str]:
    """A text as a number of one of these SI units, and which; raises Unfit."""
    match = _TEXT.fullmatch(value.strip()) if isinstance(value, str) else None
    unit = _NAMES[match[3]] if match else ""
    if not match or unit not in units or match[1].count(".") > 1:
        raise Unfit(f"must have its unit, like {' or '.join(_LIKE[unit] for unit in units)}", where)
    return float(match[1]) * _PREFIXES[match[2]], unit
