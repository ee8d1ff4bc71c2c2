"""What json and tomllib have read, as values of our types; what is none is refused in one line.

A type is a dataclass, tuple, dict, str, float, int or bool, or one of these or None. With the form
of a published schema, a value also has to lie where that allows: its `enum`, `pattern`, `minimum`,
and so on. What ties members to each other is left to whoever reads them. Nothing here may grow with
what a stranger writes: texts, lists, numbers and files have bounds.
"""

from __future__ import annotations

import codecs
import json
import math
import re
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from itertools import chain
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

T = TypeVar("T")
Form = dict[str, Any]  # a schema, or a part of one
Reader = Callable[[Any], T]

MOST_BYTES = 1 << 26  # of a file; a full run's largest has 5 MB
MOST_CHARACTERS = 10_000  # of one text
MOST_ENTRIES = 100_000  # of one list or object; a full run has 3000 cases
MOST_NUMBER, MOST_INTEGER = 1e300, 2**63 - 1


class BadRecord(Exception):
    """The input is no file that this program can read; str() is one line for the user."""


class Unfit(Exception):
    """A value that is not of its type; its path in the file grows from the inside out."""

    def __init__(self, what: str) -> None:
        self.what, self.path = what, ""

    def at(self, step: str) -> Unfit:
        dot = "." if self.path and not self.path.startswith("[") else ""
        self.path = f"{step}{dot}{self.path}"
        return self

    def __str__(self) -> str:
        return f"field {' '.join(self.path.split()) or 'at the top'} {self.what}"


def printable(text: str) -> str:
    """A stranger's words as one line that no terminal takes for a command."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


def _text(value: Any) -> str:
    if type(value) is not str:
        raise Unfit("must be a string")
    if len(value) > MOST_CHARACTERS:
        raise Unfit(f"must have at most {MOST_CHARACTERS} characters")
    # a reason becomes a table cell and a chart's text, so line breaks and control codes go
    if value.isprintable() and "  " not in value and value.strip() == value:
        return value
    return printable(value)


def _of(kind: type, what: str) -> Reader[Any]:
    def read(value: Any) -> Any:
        if type(value) is not kind:
            raise Unfit(f"must be {what}")
        if isinstance(value, list | dict) and len(value) > MOST_ENTRIES:
            raise Unfit(f"must have at most {MOST_ENTRIES} entries")
        return value

    return read


_list, _object, _flag = _of(list, "a list"), _of(dict, "an object"), _of(bool, "true or false")


def _within(form: Form) -> tuple[float, float, str]:
    """The least and the most that a form allows a number to be, and what it says of these."""
    least, above = (form.get(key) for key in ("minimum", "exclusiveMinimum"))
    most, below = (form.get(key) for key in ("maximum", "exclusiveMaximum"))
    says = [f"at least {least}"] if least is not None else []
    says += [f"above {above}"] if above is not None else []
    says += [f"at most {most:g}" if most > MOST_CHARACTERS else f"at most {most}"] if most else []
    says += [f"below {below:g}"] if below is not None else []
    low = -math.inf if least is None else least
    low = low if above is None else math.nextafter(above, math.inf)
    high = math.inf if most is None else most
    return low, high if below is None else math.nextafter(below, 0), " and ".join(says)


def _number(kind: type, form: Form) -> Reader[Any]:
    low, high, says = _within(form)
    most, what = (MOST_INTEGER, "an integer") if kind is int else (MOST_NUMBER, "a finite number")
    # json reads 1e999 as infinity, and to Python a bool is an int; neither is a measurement
    kinds = (int,) if kind is int else (int, float)

    def read(value: Any) -> Any:
        if type(value) not in kinds or not -most <= value <= most:
            raise Unfit(f"must be {what}")
        if not low <= value <= high:
            raise Unfit(f"must be {says}")
        return value

    return read


def _limited(read: Reader[Any], form: Form) -> Reader[Any]:
    """With what a form asks of a text, or of how many there are."""
    allowed, pattern = form.get("enum"), form.get("pattern")
    least = form.get("minLength", form.get("minItems"))
    if not (allowed or pattern or least):
        return read
    known = ", ".join(each for each in allowed or () if each)
    match = re.compile(pattern or "").search

    def limited(value: Any) -> Any:
        found = read(value)
        if allowed and found not in allowed:
            raise Unfit(f"must be {'null or ' if None in allowed else ''}one of {known}")
        if pattern and not match(found):
            raise Unfit(f"must be {form.get('says', f'of the form {pattern}')}")
        if least and len(found) < least:
            raise Unfit("must not be empty")
        return found

    return limited


def _left_out(unfit: Unfit, unread: list[str] | None) -> None:
    """Notes what could not be read, where somebody keeps such notes; else raises it."""
    if unread is None:
        raise unfit from None
    unread.append(str(unfit))


def _tuple(inner: Any, form: Form, unread: list[str] | None) -> Reader[Any]:
    items = form.get("items")
    convert = reader(inner, items if isinstance(items, dict) else {}, unread=unread)
    nullable = get_origin(inner) is UnionType
    numbers: dict[Any, set[type]] = {int: {int}, float: {int, float}}
    number = numbers.get(get_args(inner)[0] if nullable else inner)

    def read(value: Any) -> Any:
        listed = _list(value)
        # most of a record are its samples, so lists of numbers take a short way: their extremes
        kinds = set(map(type, listed))
        if number and kinds and kinds - ({type(None)} if nullable else set()) <= number:
            there = [each for each in listed if each is not None] if nullable else listed
            try:
                for extreme in (min(there), max(there)) if there else ():
                    convert(extreme)
                return tuple(listed)
            except Unfit:
                pass  # which of them it is, the long way says
        # and so do blocks of samples
        blocks = inner == tuple[int, ...] and kinds == {list}
        if blocks and set(map(type, chain.from_iterable(listed))) <= {int}:
            return tuple(map(tuple, listed))
        found: list[Any] = []
        for at, each in enumerate(listed):
            try:
                found.append(convert(each))
            except Unfit as unfit:
                _left_out(unfit.at(f"[{at}]"), unread)
        return tuple(found)

    return read


def _dict(inner: Any, form: Form, unread: list[str] | None) -> Reader[Any]:
    more = form.get("additionalProperties")
    convert = reader(inner, more if isinstance(more, dict) else {}, unread=unread)
    own = {name: reader(inner, each) for name, each in form.get("properties", {}).items()}
    name_of = _limited(_text, form.get("propertyNames", {}))

    def read(value: Any) -> Any:
        found = {}
        for name, each in _object(value).items():
            try:
                if (shown := name_of(name)) in found:  # but for what nobody sees
                    raise Unfit("is there twice")
                found[shown] = own.get(name, convert)(each)
            except Unfit as unfit:
                _left_out(unfit.at(name[:100]), unread)
        return found

    return read


def _dataclass(kind: type, form: Form, unread: list[str] | None) -> Reader[Any]:
    """Members that the class does not know are ignored. One with a default may be missing, or null
    where its type has no null."""
    known: list[tuple[str, Reader[Any], bool, bool]] = []

    def learn() -> None:
        hints, forms = get_type_hints(kind), form.get("properties", {})
        for each in fields(kind):
            convert = reader(hints[each.name], forms.get(each.name, {}), unread=unread)
            needed = each.default is MISSING and each.default_factory is MISSING
            nullable = get_origin(hints[each.name]) is UnionType
            known.append((each.name, convert, needed, nullable))

    def read(value: Any) -> Any:
        if type(value) is kind:  # which has been read before
            return value
        if not known:  # only now, as a class may hold others of its kind
            learn()
        there, own = _object(value), {}
        for name, convert, needed, nullable in known:
            if not needed and (name not in there or (there[name] is None and not nullable)):
                continue
            try:
                if name not in there:
                    raise Unfit("is missing")
                own[name] = convert(there[name])
            except Unfit as unfit:
                _left_out(unfit.at(name), None if needed else unread)
        return kind(**own)

    return read


def reader(
    kind: Any,
    form: Form | None = None,
    check: Callable[[Any], None] | None = None,
    unread: list[str] | None = None,
) -> Reader[Any]:
    """What turns a value of a file into the type `kind` within that form, or raises Unfit; and so
    does `check`, for what ties its members to each other. With `unread`, an optional member or an
    entry that cannot be read is left out, and said there."""
    outer, form = get_origin(kind) or kind, form or {}
    if check:
        convert, also = reader(kind, form, unread=unread), check

        def both(value: Any) -> Any:
            found = convert(value)
            also(found)
            return found

        return both
    if outer is UnionType:  # X | None
        convert = reader(get_args(kind)[0], form, unread=unread)
        return lambda value: None if value is None else convert(value)
    if outer is tuple:
        return _limited(_tuple(get_args(kind)[0], form, unread), form)
    if outer is dict and get_args(kind)[1] is not Any:
        return _dict(get_args(kind)[1], form, unread)
    if outer in (int, float):
        return _number(outer, form)
    if is_dataclass(kind):
        return _dataclass(kind, form, unread)  # type: ignore[arg-type]  # it is a class, no instance
    if outer is Any:
        return lambda value: value
    return _limited({str: _text, dict: _object, bool: _flag}[outer], form)


def checked(read: Reader[T], value: Any, where: str = "") -> T:
    """What a reader makes of a value; where is its path in the file, for the line of BadRecord."""
    try:
        return read(value)
    except Unfit as unfit:
        raise BadRecord(str(unfit.at(where) if where else unfit)) from None


def typed(kind: type[T], value: Any, where: str = "", form: Form | None = None) -> T:
    """The same for one value; whoever reads many makes one reader for all."""
    read: Reader[T] = reader(kind, form)
    return checked(read, value, where)


def bytes_of(path: Path) -> bytes:
    """A whole file; raises OSError, and BadRecord if it is too large, or a pipe, which would keep
    its reader waiting."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise BadRecord(f"{path}: is no regular file")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise BadRecord(f"has more than {MOST_BYTES} bytes")
    return data


def read_json(data: bytes) -> Any:
    """What a JSON text says; raises BadRecord without the file's name. NaN and infinity are null: a
    number that is none is as good as one that is missing."""
    try:
        text = data.removeprefix(codecs.BOM_UTF8).decode()
        return json.loads(text, parse_constant=lambda _: None)
    except RecursionError as error:
        raise BadRecord("is nested too deeply") from error
    except ValueError as error:
        detail = " ".join(str(error).split())
        raise BadRecord(f"is not complete JSON ({detail}); was it cut off?") from error


def read_toml(path: Path, error: type[BadRecord] = BadRecord) -> dict[str, Any]:
    """Raises `error` with one line that names the file."""
    try:
        return tomllib.loads(bytes_of(path).removeprefix(codecs.BOM_UTF8).decode())
    except BadRecord as problem:
        raise error(f"{path}: {problem}") from problem
    except OSError as problem:
        raise error(f"{path}: cannot be read: {problem.strerror}") from problem
    except (ValueError, RecursionError) as problem:
        raise error(f"{path}: is no TOML: {' '.join(str(problem).split())}") from problem
