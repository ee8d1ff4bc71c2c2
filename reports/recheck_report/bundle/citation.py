"""CITATION.cff of a report, version 1.2.0 of the Citation File Format: the report itself, the
software that made it, and the documents that it judges."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from recheck_report.bundle.identity import SOFTWARE, SOFTWARE_AUTHORS, SOFTWARE_LICENSE, day, title
from recheck_report.claims import Source
from recheck_report.claims.measured import Measured
from recheck_report.sections.appendix import abstract

CITATION = "CITATION.cff"
MARK = "# Written by Recheck from record.json; rendering again replaces it."
NOBODY = "anonymous"  # the format's own word where no author is known


def citation(own: Measured) -> bytes:
    env, about = own.record.environment, own.known.attribution
    known = {
        "cff-version": "1.2.0",
        "message": "If you use this report or its data, please cite it as below.",
        "title": title(own),
        "abstract": abstract(own),
        "type": "dataset",
        "authors": [{"name": name} for name in about.authors or (NOBODY,)],
        "version": env.git.commit,
        "date-released": day(own.record),
        "license": about.license,
        "repository-code": about.url,
        "references": [
            {
                "type": "software",
                "title": SOFTWARE,
                "authors": [{"name": SOFTWARE_AUTHORS}],
                "version": env.version,
                "license": SOFTWARE_LICENSE,
            },
            *map(_document, own.known.sources.values()),
        ],
    }
    return "\n".join([MARK, *_lines(known), ""]).encode()


def _document(source: Source) -> dict[str, Any]:
    years = re.findall(r"\b\d{4}\b", source.year)
    # a text that names several years is no year
    year = years[0] if len(set(years)) == 1 else ""
    notes = (
        f"in English: {source.english}" if source.english else "",
        f"found: {source.found}",
        f"dated {source.year}" if source.year and source.year != year else "",
    )
    return {
        "type": source.type or "generic",
        "title": source.title or source.name,
        "authors": [{"name": source.author or NOBODY}],
        "year": year,
        "url": source.url,
        "notes": "; ".join(filter(None, notes)),
    }


def _lines(members: dict[str, Any], indent: str = "") -> Iterator[str]:
    """YAML of texts, and of lists of such; what is empty is left out. A text is written as JSON,
    which is YAML as well and needs no other rule of escaping."""
    for key, value in members.items():
        if isinstance(value, str) and value:
            yield f"{indent}{key}: {json.dumps(value, ensure_ascii=False)}"
        elif value:
            yield f"{indent}{key}:"
            for each in value:
                first, *rest = _lines(each, indent + "    ")
                yield f"{indent}  - {first.lstrip()}"
                yield from rest
