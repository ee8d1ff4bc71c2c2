"""Pages as Markdown, the dialect of code hosts."""

from __future__ import annotations

import re
from functools import cache

from recheck_report.say import nodes

# what Markdown would read as more than text: emphasis, code, strike-through, a link's middle, and
# addresses, which code hosts turn into links
_MARKS = re.compile(
    r"(?<!\s)\*|\*(?!\s)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|[~`]|(?<=\])\(|\\(?=[^\w\s])"
    r"|:(?=//)|(?<=[wW]{3})\."
)
# what would begin a heading, a quote, a list, a rule or a link's definition at the start of a block
_BEGINS = re.compile(r"([#>+=-]|\d+[.)](?=\s)|\[[^\]]*\]:)")
# code hosts find tags, entities and e-mail addresses even after a backslash. An invisible comment
# separates the two halves of an address
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "|": "\\|", "@": "@<!-- -->"})


@cache
def _escaped(literal: str) -> str:
    """The text, escaped: no link, image, tag, code or emphasis, and no end of a cell."""
    return _MARKS.sub(r"\\\g<0>", literal.replace("\n", " ")).translate(_ENTITIES)


def _part(part: nodes.Part) -> str:
    match part:
        case str():
            return _escaped(part)
        case nodes.Code():
            return "`" + part.text.replace("`", "'").replace("|", "\\|") + "`"
        case nodes.Strong():
            return f"**{markdown(part.inside)}**"
        case nodes.Emphasis():
            return f"*{markdown(part.inside)}*"
        case nodes.Link():
            return f"[{markdown(part.inside)}]({part.to})"
        case nodes.Anchor():
            return f'<a id="{part.name}"></a>'
        case nodes.Break():
            return "<br>"


def markdown(of: nodes.Text) -> str:
    """A text in one line."""
    return "".join(map(_part, of.parts))


def _first(of: nodes.Text) -> str:
    """A text that begins a block."""
    line = markdown(of)
    literal = of.parts and isinstance(of.parts[0], str) and _BEGINS.match(line)
    return f"\\{line}" if literal else line


def _cells(row: tuple[nodes.Text, ...]) -> str:
    return f"| {' | '.join(map(markdown, row))} |"


def _bullets(of: nodes.Bullets, indent: str = "") -> list[str]:
    lines = []
    for item in of.items:
        head, rest = item if isinstance(item, tuple) else (item, None)
        lines.append(f"{indent}- {_first(head)}")
        lines += ["", *_bullets(rest, f"{indent}  ")] if rest else []
    return lines


def _block(of: nodes.Block) -> list[str]:
    """The lines of a block."""
    match of:
        case nodes.Paragraph():
            return [_first(of.text)]
        case nodes.Bullets():
            return _bullets(of)
        case nodes.Table():
            rule = " | ".join(f"---{':' * (at in of.numbers)}" for at in range(len(of.columns)))
            return [_cells(of.columns), f"| {rule} |", *map(_cells, of.rows)]
        case nodes.Note():
            return [f"> [!{'WARNING' if of.warning else 'NOTE'}]", f"> {_first(of.text)}"]
        case nodes.Quote():
            return [f"> {_first(of.text)}"]
        case nodes.Picture(why_not=""):
            return [f"![{_escaped(of.alt)}](charts/{of.name})"]
        case nodes.Picture():
            why = nodes.text(f"{of.title}: not drawn: {of.why_not}.")
            return [_part(nodes.Emphasis(why))]
        case nodes.Listing():
            return [f"```{of.language}", of.text, "```"]
        case nodes.Fold():
            head = f"<details><summary>{markdown(of.summary)}</summary>"
            return [head, "", *_lines(of.blocks), "", "</details>"]
        case nodes.Section():
            place = f'<a id="{of.anchor}"></a>' if of.anchor else ""
            head = f"{'#' * of.level} {place}{markdown(of.title)}"
            return [head, "", *_lines(of.blocks)]


def _lines(of: tuple[nodes.Block, ...]) -> list[str]:
    lines: list[str] = []
    for item in of:
        lines += ["", *_block(item)] if lines else _block(item)
    return lines


def page(of: nodes.Page) -> bytes:
    """A whole file."""
    lines = [of.mark, f"# {markdown(of.title)}", ""]
    back = f"[Back to the summary]({of.back})" if of.back else ""
    if head := " ".join(filter(None, (markdown(of.says), back and f"{back}."))):
        lines += [head, ""]
    sections = [item for item in of.blocks if isinstance(item, nodes.Section) and item.anchor]
    if back and sections:
        lines += [f"- [{markdown(section.title)}](#{section.anchor})" for section in sections]
        lines.append("")
    lines += [*_lines(of.blocks), *(["", back] if back else [])]
    return ("\n".join(lines).rstrip() + "\n").encode()
