"""What a page is made of: texts and blocks. `write/` turns them into Markdown, HTML and plain text,
and nothing reads what it wrote.

A string in a text is literal: a writer escapes it, wherever it comes from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from recheck_report.formatting import SMALL, digits, shape_label
from recheck_report.statistics.ratio import Ratio


@dataclass(frozen=True)
class Code:
    """A name or a line of code."""

    text: str


@dataclass(frozen=True)
class Strong:
    inside: Text


@dataclass(frozen=True)
class Emphasis:
    inside: Text


@dataclass(frozen=True)
class Link:
    """`to`: a page of the report with or without an anchor ("claims.md#claim-c14"), a file beside
    it, or an address."""

    inside: Text
    to: str


@dataclass(frozen=True)
class Anchor:
    """A place in a page that links lead to; it shows nothing."""

    name: str


@dataclass(frozen=True)
class Break:
    """A new line in a cell."""


Part = str | Code | Strong | Emphasis | Link | Anchor | Break


@dataclass(frozen=True)
class Text:
    """A sentence, a cell, a title: parts one after the other. Neighbouring strings are one part."""

    parts: tuple[Part, ...] = ()

    def __add__(self, other: Text | str) -> Text:
        return text(self, other)

    def __radd__(self, other: str) -> Text:
        return text(other, self)

    def __bool__(self) -> bool:
        return bool(self.parts)

    def __str__(self) -> NoReturn:
        raise TypeError("only the writers make strings of a text; `plain` is without marks")

    @property
    def plain(self) -> str:
        """The text without its marks, as a terminal or an `alt` has it."""
        return "".join(map(_plain, self.parts))

    @property
    def capitalized(self) -> Text:
        """With a capital letter at the beginning, where that is a letter of prose."""
        match self.parts:
            case (str(first), *rest):
                return Text((first[:1].upper() + first[1:], *rest))
        return self

    @property
    def unended(self) -> Text:
        """Without its full stop, to be continued."""
        match self.parts:
            case (*first, str(last)) if last.endswith("."):
                return text(*first, last.rstrip("."))
        return self

    @property
    def ended(self) -> Text:
        """With one full stop."""
        return self.unended + "." if self else self


def _plain(part: Part) -> str:
    match part:
        case str():
            return part
        case Code():
            return part.text
        case Strong() | Emphasis() | Link():
            return part.inside.plain
        case Break():
            return "; "
    return ""


def text(*parts: Text | Part) -> Text:
    """One text from strings, parts and other texts."""
    flat: list[Part] = []
    for part in (
        p for piece in parts for p in (piece.parts if isinstance(piece, Text) else (piece,))
    ):
        if isinstance(part, str) and flat and isinstance(flat[-1], str):
            flat[-1] += part
        elif part != "":
            flat.append(part)
    return Text(tuple(flat))


def code(name: str) -> Text:
    return Text((Code(name),))


def strong(*parts: Text | Part) -> Text:
    return Text((Strong(text(*parts)),))


def emphasis(*parts: Text | Part) -> Text:
    return Text((Emphasis(text(*parts)),))


def link(to: str, *parts: Text | Part) -> Text:
    return Text((Link(text(*parts), to),))


def anchor(name: str) -> Text:
    return Text((Anchor(name),))


BREAK = Text((Break(),))


def joined(between: str | Text, texts: Iterable[Text | str]) -> Text:
    """ "a, b, c"; empty texts are left out."""
    parts: list[Text | str] = []
    for item in texts:
        if item:
            parts.extend((between, item) if parts else (item,))
    return text(*parts)


def of_report(source: Text, folder: str = "") -> Text:
    """A text of another report: without links, or with those into its folder."""
    parts = (
        (replace(p, to=folder + p.to) if folder else p.inside) if isinstance(p, Link) else p
        for p in source.parts
    )
    return text(*parts)


def few(texts: Sequence[Text | str], most: int, between: str = ", ") -> Text:
    """ "C12, C14 and 3 more"."""
    rest = len(texts) - most
    return joined(between, texts[:most]) + (f" and {rest} more" if rest > 0 else "")


def prose(source: str) -> Text:
    """A text of a claims file: words between backticks are code."""
    parts = source.split("`")
    if not len(parts) % 2 or "``" in source:
        return text(source.replace("`", "'"))
    return text(*(Code(part) if at % 2 else part for at, part in enumerate(parts)))


_MARKUP = re.compile(
    r"\{(?P<value>\w+)\}|`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<emphasis>[^*]+)\*"
    r"|\[(?P<inside>[^]]+)\]\((?P<to>[^)]+)\)|<(?P<anchor>[\w-]+)>"
)


def marked(source: str, **values: Text | str) -> Text:
    """A sentence of this source code: "**Odd**: see [the method](method.md), `{name}` is {how}".

    `code`, *emphasis*, **strong**, [a link](to) and <anchor> are marks, and {name} is one of the
    values, which are literal. No text from outside may be part of `source`.
    """
    pieces: list[Text | Part] = []
    source, end = source.replace("\n", " "), 0
    for mark in _MARKUP.finditer(source):
        pieces.append(source[end : mark.start()])
        end = mark.end()
        match mark.lastgroup:
            case "value":
                value = values[mark["value"]]
                pieces.append(value if isinstance(value, Text) else text(value))
            case "code":
                pieces.append(Code(mark["code"]))
            case "strong":
                pieces.append(Strong(marked(mark["strong"], **values)))
            case "emphasis":
                pieces.append(Emphasis(marked(mark["emphasis"], **values)))
            case "to":
                pieces.append(Link(marked(mark["inside"], **values), mark["to"]))
            case "anchor":
                pieces.append(Anchor(mark["anchor"]))
    return text(*pieces, source[end:])


def label(source: str) -> Text:
    """Prose with shapes as a reader writes them: "at 1024x1024x1024" is at 1024³."""
    return prose(re.sub(r"\b\d+(x\d+)+\b", lambda shape: shape_label(shape[0]), source))


def texts(row: Iterable[Text | str]) -> tuple[Text, ...]:
    """A row of a table from texts and literal strings."""
    return tuple(map(text, row))


def speedup(ratio: Ratio, than: Text | str = "", against: float = 1.0) -> Text:
    """ "1.284× faster than `cublas` [1.280, 1.289]", "2.2 % faster than `cublas` [2.1, 2.4]";
    below 1 "1.30× slower". An end that is not the threshold `against` does not read as it."""
    how, shown, mark = (
        ("slower", ratio.inverse, 1 / against) if ratio.value < 1 else ("faster", ratio, against)
    )
    if shown.value < SMALL:
        value, interval = digits(shown, 100, 0, 100 * (mark - 1), less=100)
        value += " %"
    else:
        value, interval = digits(shown, 1, 1, mark)
        value += "×"
    return text(f"{value} {how}", " than " if than else "", than, f" {interval}")


# blocks


@dataclass(frozen=True)
class Paragraph:
    text: Text


@dataclass(frozen=True)
class Bullets:
    """A list; an item may have a list of its own below its text."""

    items: tuple[Text | tuple[Text, Bullets], ...]


@dataclass(frozen=True)
class Table:
    """Rows of texts; `numbers` are the columns to align right."""

    columns: tuple[Text, ...]
    rows: tuple[tuple[Text, ...], ...]
    numbers: frozenset[int] = frozenset()
    title: str = ""  # where no heading says what it shows


@dataclass(frozen=True)
class Note:
    """A text that stands out: a warning, or what is good to know."""

    text: Text
    warning: bool = False


@dataclass(frozen=True)
class Quote:
    text: Text


@dataclass(frozen=True)
class Picture:
    """A chart: a file of the report's folder `charts`, or why it was not drawn."""

    name: str
    title: str
    alt: str = ""
    svg: bytes = b""
    why_not: str = ""  # empty where it was drawn


@dataclass(frozen=True)
class Listing:
    """Lines of code, as they are."""

    text: str
    language: str = ""


@dataclass(frozen=True)
class Fold:
    """Blocks behind a summary, which a reader may open."""

    summary: Text
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Section:
    """A heading and its blocks; one with an anchor is in the page's list of sections."""

    title: Text
    blocks: tuple[Block, ...]
    anchor: str = ""
    level: int = 2


Block = Paragraph | Bullets | Table | Note | Quote | Picture | Listing | Fold | Section


@dataclass(frozen=True)
class Page:
    """A file of a report. `mark` says in a comment what wrote it. A page with `back` says where the
    summary is, above and below, and lists its sections."""

    mark: str
    title: Text
    blocks: tuple[Block, ...]
    says: Text = field(default_factory=Text)  # what the page answers
    back: str = ""


@dataclass(frozen=True)
class Remark:
    """A warning, or a fact about a run: `title` names it where there is no room for more; `rest`
    continues it."""

    title: str
    rest: Text
    warning: bool = True

    @property
    def note(self) -> Note:
        return Note(self.text, self.warning)

    @property
    def text(self) -> Text:
        return strong(self.title) + self.rest


def paragraph(*parts: Text | Part) -> Paragraph:
    return Paragraph(text(*parts))


def table(
    columns: Sequence[Text | str],
    rows: Iterable[Iterable[Text | str]],
    numbers: Iterable[int] = (),
    title: str = "",
) -> Table:
    return Table(texts(columns), tuple(map(texts, rows)), frozenset(numbers), title)


def blocks(*items: Block | Text | None | Iterable[Block | Text | None]) -> tuple[Block, ...]:
    """These in their order: a text is a paragraph; empty ones, and tables without rows, are left
    out."""
    made: list[Block] = []
    for item in items:
        if isinstance(item, Text):
            made += [Paragraph(item)] if item else []
        elif isinstance(item, Table):
            made += [item] if item.rows else []
        elif isinstance(item, Block):
            made.append(item)
        elif item is not None:
            made += blocks(*item)
    return tuple(made)
