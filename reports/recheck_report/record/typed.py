"""Turns the output of json and tomllib into typed values, or refuses it in one line.

A type is a dataclass, tuple, dict, str, float, int or bool, or one of these or None. `Annotated`
with an `Is`, it also has a meaning and limits. Texts, lists, numbers and files have bounds, so a
stranger's file cannot exhaust memory.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")
Notes = list[str]  # one short sentence for each unreadable value
Read = Callable[[Any, str, Notes | None], Any]  # of a value, its path in the file, and notes

MOST_BYTES = 1 << 26  # of a file; a full run's largest has 5 MB
MOST_CHARACTERS = 10_000  # of one text
MOST_ENTRIES = 100_000  # of one list or object; a full run has 3000 cases
MOST_NUMBER, MOST_INTEGER = 1e300, 2**63 - 1


class BadRecord(Exception):
    """An input file is unusable; str() is one line for the user."""


class Unfit(BadRecord):
    """A value of the wrong type, or outside its limits, at a path in its file."""

    def __init__(self, what: str, where: str = "") -> None:
        super().__init__(f"field {' '.join(where.split()) or 'at the top'} {what}")


@dataclass(frozen=True)
class Is:
    """What a member means, and its limits; None or empty: no limit."""

    what: str = ""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    one_of: tuple[Any, ...] = ()
    pattern: str = ""
    form: str = ""  # the pattern in words
    filled: bool = False  # a text or list that may not be empty
    zero_is_null: bool = False  # drivers report 0 for unknown
    names: str = ""  # the pattern of an object's names

    @property
    def limits(self) -> str:
        """ "at least 0 and at most 2147483647"."""
        pairs = (("at least", self.least), ("above", self.above), ("at most", self.most))
        return " and ".join(f"{how} {end:.10g}" for how, end in pairs if end is not None)


ANY = Is()


class Strict:
    """A dataclass whose files have no other members. `validate` raises Unfit if its members
    contradict each other."""

    def validate(self) -> None:
        pass


def list_or_nearest(names: Iterable[str], wrong: str) -> str:
    """The valid names for an error message: all, or the nearest of more than 12."""
    valid = list(dict.fromkeys(names))
    if len(valid) <= 12:
        return f"choose from {', '.join(valid)}" if valid else "none are defined"
    return f"nearest are {', '.join(get_close_matches(wrong, valid, 4, 0))}"


def only(table: dict[str, Any], allowed: Iterable[str], where: str) -> None:
    """Raises Unfit for another key; `where` is its path's beginning."""
    for key in table:
        if key not in allowed:
            raise Unfit(f"is unknown; {list_or_nearest(allowed, key)}", f"{where}{key}")


def printable(text: str) -> str:
    """The text in one line, without control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _text(value: Any, where: str, _: Notes | None = None) -> str:
    if type(value) is not str:
        raise Unfit("must be a string", where)
    if len(value) > MOST_CHARACTERS:
        raise Unfit(f"must have at most {MOST_CHARACTERS} characters", where)
    # a reason becomes a table cell and a chart's text, so line breaks and control codes go
    if value.isprintable() and "  " not in value and value.strip() == value:
        return value
    return printable(value)


def _collection(value: Any, where: str, kind: type, what: str) -> Any:
    if type(value) is not kind:
        raise Unfit(f"must be {what}", where)
    entries: Any = value
    if len(entries) > MOST_ENTRIES:
        raise Unfit(f"must have at most {MOST_ENTRIES} entries", where)
    return entries


def _number(kind: type, limits: Is) -> Read:
    low = -math.inf if limits.least is None else limits.least
    low = low if limits.above is None else math.nextafter(limits.above, math.inf)
    high = math.inf if limits.most is None else limits.most
    most, what = (MOST_INTEGER, "an integer") if kind is int else (MOST_NUMBER, "a finite number")
    # json reads 1e999 as infinity, and to Python a bool is an int; neither is a measurement
    kinds = (int,) if kind is int else (int, float)

    def read(value: Any, where: str, notes: Notes | None) -> Any:
        if type(value) not in kinds or not -most <= value <= most:
            raise Unfit(f"must be {what}", where)
        if not low <= value <= high:
            raise Unfit(f"must be {limits.limits}", where)
        return value

    return read


def _limited(convert: Read, limits: Is, nullable: bool) -> Read:
    """Adds the checks of one_of, pattern and filled to a reader."""
    if not (limits.one_of or limits.pattern or limits.filled):
        return convert
    match = re.compile(limits.pattern).search
    allowed = ", ".join(filter(None, map(str, limits.one_of)))

    def read(value: Any, where: str, notes: Notes | None) -> Any:
        result = convert(value, where, notes)
        if limits.one_of and result not in limits.one_of:
            raise Unfit(f"must be {'null or ' if nullable else ''}one of {allowed}", where)
        if limits.pattern and not match(result):
            raise Unfit(f"must be {limits.form or f'of the form {limits.pattern}'}", where)
        if limits.filled and not result:
            raise Unfit("must not be empty", where)
        return result

    return read


def _noted(unfit: Unfit, notes: Notes | None) -> None:
    """Appends the error to the notes, or raises it without notes."""
    if notes is None:
        raise unfit from None
    notes.append(str(unfit))


def _tuple(inner: Any) -> Read:
    convert, kind = _reader(inner), _bare(inner)
    numbers: dict[Any, set[type]] = {int: {int}, float: {int, float}}
    number = numbers.get(kind)

    def read(value: Any, where: str, notes: Notes | None) -> Any:
        listed = _collection(value, where, list, "a list")
        # most of a record is samples: if the extremes of numbers are allowed, so are all
        if number and listed and set(map(type, listed)) <= number:
            with contextlib.suppress(Unfit):
                convert(min(listed), where, None)
                convert(max(listed), where, None)
                return tuple(listed)
        result = []
        for at, entry in enumerate(listed):
            try:
                result.append(convert(entry, f"{where}[{at}]", notes))
            except Unfit as unfit:
                _noted(unfit, notes)
        return tuple(result)

    return read


def _fixed(kinds: tuple[Any, ...]) -> Read:
    converts = [_reader(kind) for kind in kinds]

    def read(value: Any, where: str, notes: Notes | None) -> Any:
        if len(_collection(value, where, list, "a list")) != len(converts):
            raise Unfit(f"must have {len(converts)} entries", where)
        pairs = zip(converts, value, strict=True)
        return tuple(convert(entry, where, None) for convert, entry in pairs)

    return read


def _dict(inner: Any, limits: Is) -> Read:
    convert, name_of = _reader(inner), _limited(_text, Is(pattern=limits.names), False)

    def read(value: Any, where: str, notes: Notes | None) -> Any:
        result: dict[str, Any] = {}
        for name, entry in _collection(value, where, dict, "an object").items():
            at = f"{where}.{name[:100]}".removeprefix(".")
            try:
                shown = name_of(name, at, None)
                if shown in result:  # names may differ in invisible characters
                    raise Unfit("appears twice", at)
                result[shown] = convert(entry, at, notes)
            except Unfit as unfit:
                _noted(unfit, notes)
        return result

    return read


def _dataclass(kind: Any) -> Read:
    """Ignores unknown members unless the class is Strict. A member with a default may be missing
    or null."""

    def read(value: Any, where: str, notes: Notes | None) -> Any:
        if type(value) is kind:  # it has been read before
            return value
        given, values = _collection(value, where, dict, "an object"), {}
        if issubclass(kind, Strict):
            only(given, members(kind), f"{where}." if where else "")
        # not learnt earlier, as a class may contain itself
        for name, convert, needed, nullable in _members(kind):
            if not needed and (name not in given or (given[name] is None and not nullable)):
                continue
            at = f"{where}.{name}" if where else name
            try:
                if name not in given:
                    raise Unfit("is missing", at)
                values[name] = convert(given[name], at, notes)
            except Unfit as unfit:
                _noted(unfit, None if needed else notes)
        result = kind(**values)
        if isinstance(result, Strict):
            result.validate()
        return result

    return read


@cache
def members(kind: Any) -> dict[str, Any]:
    """The types of a dataclass's members, with their annotations."""
    return get_type_hints(kind, include_extras=True)


def required(field: Field[Any]) -> bool:
    """Whether a member has no default."""
    return field.default is MISSING and field.default_factory is MISSING


@cache
def _members(kind: Any) -> list[tuple[str, Read, bool, bool]]:
    """The members of a dataclass: name, reader, whether it is required, whether it may be None."""
    hints = [(field, members(kind)[field.name]) for field in fields(kind)]
    return [
        (field.name, _reader(hint), required(field), get_origin(_bare(hint)) is UnionType)
        for field, hint in hints
    ]


def _bare(kind: Any) -> Any:
    return get_args(kind)[0] if get_origin(kind) is Annotated else kind


@cache
def _reader(kind: Any, limits: Is = ANY) -> Read:
    """A function that turns a value of a file into the type, or raises Unfit."""
    outer = get_origin(kind) or kind
    if outer is Annotated:
        return _reader(*get_args(kind)[:2])
    nullable = outer is UnionType  # X | None
    kind = get_args(kind)[0] if nullable else kind
    convert = _limited(_plain(kind, limits), limits, nullable)
    if nullable:
        nulls = (0, None) if limits.zero_is_null else (None,)
        return lambda value, where, notes: (
            None if value in nulls and value is not False else convert(value, where, notes)
        )
    return convert


def _plain(kind: Any, limits: Is) -> Read:
    outer = get_origin(kind) or kind
    if outer is tuple:
        inner, *others = get_args(kind)
        return _tuple(inner) if others == [...] else _fixed((inner, *others))
    if outer is dict:
        return _dict(get_args(kind)[1], limits)
    if outer in (int, float):
        return _number(outer, limits)
    if is_dataclass(outer):
        return _dataclass(outer)
    readers: dict[Any, Read] = {bool: _flag, str: _text}
    return readers.get(outer, lambda value, *_: value)  # else Any


def _flag(value: Any, where: str, _: Notes | None) -> bool:
    if type(value) is not bool:
        raise Unfit("must be true or false", where)
    return value


def typed(kind: type[T], value: Any, where: str = "", notes: Notes | None = None) -> T:
    """A value of a file as that type; `where` is its path there. Raises Unfit. With `notes`, drops
    unreadable entries and optional members, and notes each."""
    convert: Read = _reader(kind)  # type: ignore[arg-type]  # types have hashes
    result: T = convert(value, where, notes)
    return result


def bytes_of(path: Path) -> bytes:
    """A whole file. Raises BadRecord without a path, also if the file is too large, or not a
    regular one: reading a pipe would block."""
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            raise BadRecord("is not a regular file")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise BadRecord(f"cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise BadRecord(f"has more than {MOST_BYTES} bytes")
    return data


def read_json(data: bytes) -> Any:
    """A JSON text as a value; NaN and infinity become None. Raises BadRecord without a path."""
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode()
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError as error:
        raise BadRecord("is nested too deeply") from error
    except ValueError as error:
        detail = " ".join(str(error).split())
        raise BadRecord(f"is not complete JSON ({detail}); was it cut off?") from error


def read_if_there(kind: type[T], path: Path, schema: int, name: str, advice: str) -> T | None:
    """A JSON file of that schema as that type; None without a file. Raises BadRecord, a line that
    ends in `advice`."""
    if not path.exists():
        return None
    try:
        document = read_json(bytes_of(path))
        if type(document) is not dict or document.get("schema") != schema:
            raise BadRecord(f"is {name} of schema {schema}")
        return typed(kind, document)
    except BadRecord as problem:
        raise BadRecord(f"{path}: {problem}; {advice}") from problem
