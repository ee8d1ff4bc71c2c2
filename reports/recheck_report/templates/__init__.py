"""Runs a template of this folder: the same values always give the same text."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from recheck_report.formatting import VERDICTS, cell


@cache
def _environment() -> jinja2.Environment:
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters["cell"] = cell
    jinja.globals["words"] = list(VERDICTS)
    jinja.filters["sections"] = _sections
    return jinja


def _sections(text: str) -> list[tuple[str, str]]:
    """The anchors and titles of a page's sections."""
    return re.findall(r'^## <a id="([^"]+)"></a>(.+)$', text, re.M)


def render(template: str, **values: Any) -> str:
    text = _environment().get_template(template).render(**values)
    # macros leave runs of blank lines behind; one is enough for Markdown
    lines = [line.rstrip() for line in text.strip().split("\n")]
    return "\n".join(a for a, b in zip(lines, [*lines[1:], "."], strict=True) if a or b) + "\n"
