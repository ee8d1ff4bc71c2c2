"""Markdown that older code made, as a text: goes when all of it returns texts."""

from __future__ import annotations

import re

from recheck_report.say.nodes import Anchor, Break, Code, Emphasis, Link, Part, Strong, Text, text

_INLINE = re.compile(
    r"`([^`]*)`|\*\*((?:[^*\\]|\\.|\*(?!\*))+)\*\*|\*([^*\s](?:[^*\\]|\\.)*)\*"
    r"|\[((?:[^\[\]\\]|\\.)*)\]\(([^)\s]*)\)|(<br>)|<a id=\"([^\"]*)\"></a>|(<!-- -->)"
    r"|&(amp|lt|gt|#64);|\\([^a-zA-Z0-9\s])"
)
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "#64": "@"}


def from_markdown(source: str) -> Text:
    parts: list[Part] = []
    last = 0
    for match in _INLINE.finditer(source):
        parts += [source[last : match.start()], _part(match)]
        last = match.end()
    return text(*parts, source[last:])


def _part(match: re.Match[str]) -> Part:
    verbatim, strong, emphasis, label, to, newline, anchor, _, entity, escaped = match.groups()
    if verbatim is not None:
        return Code(verbatim.replace("\\|", "|"))
    if strong is not None:
        return Strong(from_markdown(strong))
    if emphasis is not None:
        return Emphasis(from_markdown(emphasis))
    if label is not None:
        return Link(from_markdown(label), to)
    if newline:
        return Break()
    if anchor is not None:
        return Anchor(anchor)
    return _ENTITIES[entity] if entity else escaped or ""
