"""Texts and blocks as HTML. Links between pages become places of the one file that holds all."""

from __future__ import annotations

import base64
import html
import re
from collections.abc import Callable, Iterable
from itertools import groupby

from recheck_report.anchors import DOCUMENTS
from recheck_report.say import nodes
from recheck_report.say.glossary import MARKS

SENTENCE = 60  # letters in a cell of a column that needs width
_SIGN = re.compile(f"[{''.join(MARKS)}]")


# where the pages of a report stand in the file that holds all
_VIEWS = {"claims.md": "claims", "cases.csv": "cases", "README.md": "summary",
          "losses.md": "summary&section=losses",
          DOCUMENTS: "evidence&section=documents"}  # fmt: skip


def place(to: str) -> str | None:
    """The place in the file that a link leads to, as `#view=…`; None if it is elsewhere."""
    page, _, name = to.partition("#")
    if page == "report.html" or name.startswith(("claim-", "erratum-")):
        return f"#{name}"
    if view := _VIEWS.get(to) or _VIEWS.get(page):
        return f"#view={view}"
    if page in ("", "method.md", "errata.md", "changes.md"):
        return f"#view=evidence{f'&section={name}' if name else ''}"
    if experiment := re.fullmatch(r"([a-z0-9_]+)\.md", page):
        own = experiment[1]
        return f"#view={own}{f'&section={own}-{name}' if name else ''}"
    # another report, or an address
    other = page.endswith("/report.html") and ":" not in page
    return to if other or to.startswith(("https://", "http://")) else None


class Writer:
    """`case_place`: the address of a case by its id, or None for an unknown case; `prefix`: of its
    anchors, as pages have some of the same names."""

    def __init__(self, case_place: Callable[[str], str | None], prefix: str = "") -> None:
        self.case_place, self.prefix = case_place, prefix
        self.heading = "Table"  # above what is written now

    def inline(self, of: nodes.Text, linked: bool = True) -> str:
        """One text. `linked`: False inside a control or a link, where links are invalid."""
        return "".join(self._part(part, linked) for part in of.parts)

    def _part(self, part: nodes.Part, linked: bool) -> str:
        match part:
            case str():
                return _SIGN.sub(_tooltip, html.escape(part))
            case nodes.Code():
                to = self.case_place(part.text) if linked else None
                return _linked(f"<code>{html.escape(part.text)}</code>", to)
            case nodes.Strong():
                return f"<strong>{self.inline(part.inside, linked)}</strong>"
            case nodes.Emphasis():
                return f"<em>{self.inline(part.inside, linked)}</em>"
            case nodes.Link():
                to = place(part.to) if linked else None
                return _linked(self.inline(part.inside, linked and to is None), to)
            case nodes.Anchor():
                return f'<a id="{html.escape(self.prefix + part.name)}"></a>'
            case nodes.Break():
                return "<br>"

    def page(self, of: nodes.Page) -> str:
        says = f"<p>{self.inline(of.says)}</p>\n" if of.says else ""
        return f"<h1>{self.inline(of.title)}</h1>\n{says}{self.blocks(of.blocks)}"

    def blocks(self, of: tuple[nodes.Block, ...]) -> str:
        """Blocks one below the other; neighbouring charts are side by side where there is room."""
        parts = []
        for are_charts, some in groupby(of, lambda block: isinstance(block, nodes.Picture)):
            inner = "\n".join(map(self._block, some))
            parts.append(f'<div class="charts">\n{inner}\n</div>' if are_charts else inner)
        return "\n".join(parts)

    def _block(self, of: nodes.Block) -> str:
        match of:
            case nodes.Paragraph():
                return f"<p>{self.inline(of.text)}</p>"
            case nodes.Bullets():
                return self._bullets(of)
            case nodes.Table():
                return self.table(of)
            case nodes.Note():
                kind = "warning" if of.warning else "note"
                return f'<p class="{kind}">{self.inline(of.text)}</p>'
            case nodes.Quote():
                return f"<blockquote><p>{self.inline(of.text)}</p></blockquote>"
            case nodes.Picture():
                return self._picture(of)
            case nodes.Listing():
                return f'<pre tabindex="0"><code>{html.escape(of.text)}</code></pre>'
            case nodes.Fold():
                head = f"<summary>{self.inline(of.summary, linked=False)}</summary>"
                return f'<details class="fold">{head}\n{self.blocks(of.blocks)}\n</details>'
            case nodes.Section():
                self.heading = of.title.plain
                place = f' id="{html.escape(self.prefix + of.anchor)}"' if of.anchor else ""
                head = f"<h{of.level}>{self.inline(of.title)}</h{of.level}>"
                return f"<section{place}>{head}\n{self.blocks(of.blocks)}\n</section>"

    def _picture(self, of: nodes.Picture) -> str:
        """A chart as an image within the file; it scrolls where it would be too small to read."""
        if of.why_not:
            return f'<p class="note">{html.escape(f"{of.title}: not drawn: {of.why_not}.")}</p>'
        data = base64.b64encode(of.svg).decode()
        return f'''<figure tabindex="0"><img src="data:image/svg+xml;base64,{data}" \
alt="{html.escape(of.alt)}"></figure>'''

    def _bullets(self, of: nodes.Bullets) -> str:
        items = []
        for item in of.items:
            head, rest = item if isinstance(item, tuple) else (item, None)
            inner = f"\n{self._bullets(rest)}" if rest else ""
            items.append(f"<li>{self.inline(head)}{inner}</li>")
        return "<ul>\n" + "\n".join(items) + "\n</ul>"

    def table(self, of: nodes.Table, marks: Iterable[str] = ()) -> str:
        """A table in a frame that scrolls; `marks`: attributes of each row. On a narrow screen the
        cells of one with several columns of sentences are stacked, each with its heading."""
        wide = {at for row in of.rows for at, cell in enumerate(row) if len(cell.plain) > SENTENCE}
        looks = [
            ' class="number"' if at in of.numbers else ' class="wide"' * (at in wide)
            for at in range(len(of.columns))
        ]
        stacked = not of.numbers and len(wide) > 1
        names = [html.escape(name.plain) if stacked else "" for name in of.columns]
        heads = zip(looks, of.columns, strict=True)
        head = "".join(
            f"<th scope=col{look}>{self.inline(name)}</th>" if name else "<td></td>"
            for look, name in heads
        )
        marks_of_rows = [*marks] or [""] * len(of.rows)
        rows = (
            f"<tr{mark}>{self._cells(row, looks, names)}</tr>"
            for row, mark in zip(of.rows, marks_of_rows, strict=True)
        )
        name = html.escape(of.title or self.heading)
        caption = f"<caption>{name}</caption>" if of.title not in ("", self.heading) else ""
        frame = f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">'
        body = "\n".join(rows)
        head = f"{caption}<thead><tr>{head}</tr></thead>"
        look = " class=stack" * stacked
        return f"{frame}<table{look}>{head}<tbody>\n{body}\n</tbody></table></div>"

    def _cells(self, row: tuple[nodes.Text, ...], looks: list[str], names: list[str]) -> str:
        cells = ""
        for at, (cell, look, name) in enumerate(zip(row, looks, names, strict=True)):
            kind, about = ("td", name and f' data-of="{name}"') if at else ("th", " scope=row")
            cells += f"<{kind}{about}{look}>{self.inline(cell)}</{kind}>"
        return cells


def _tooltip(sign: re.Match[str]) -> str:
    return f'<abbr title="{html.escape(MARKS[sign[0]].capitalize())}">{sign[0]}</abbr>'


def _linked(inside: str, to: str | None) -> str:
    if not to:
        return inside
    away = ' rel="noreferrer noopener"' if to.startswith("http") else ""
    return f'<a href="{html.escape(to)}"{away}>{inside}</a>'
