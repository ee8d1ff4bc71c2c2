"""What the page's numbers rest on, as sentences and tables in Markdown: self-audit, what was not
run, the machine, the method, the documents. The page shows them one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recheck_report.claims.measured import Measured
from recheck_report.say import listings, machine, memory, odd, provenance, self_audit, tables
from recheck_report.say.documents import CHANGES, SOURCES, changes, sources
from recheck_report.say.nodes import Table, Text, code

Json = dict[str, Any]


def of(own: Measured) -> list[Json]:
    """The parts in their order, each with a heading, a sentence and tables."""
    record, known = own.record, own.comparisons
    listed = listings.listed(own)
    suspects: list[list[Text | str]] = [[code(name), why] for name, why in own.suspects.items()]
    told = str(self_audit.sentence(record, known.audit))
    return [
        _part("What this run can tell", told, _shown(self_audit.pairs_table(known.audit))),
        _part("Not run, and suspect", "Cases without a time, and times that are too good.",
              _table("Suspect times", ["case", "why"], suspects),
              _shown(odd.values(record)),
              _shown(tables.not_passed(record, record.experiments)),
              _shown(provenance.dropped(record))),
        _part("The machine", "What it gives at best, and what the run was made with.",
              _shown(machine.ceilings(record)),
              _shown(memory.by_level(record)),
              _shown(provenance.environment(own))),
        _part("The documents", "Where the claims are from, and what changed in their checks.",
              _table("The documents", SOURCES, sources(own)),
              _table("The documents' listings", listings.COLUMNS, listed.rows if listed else []),
              _table("Changed checks", CHANGES, changes(own))),
    ]  # fmt: skip


def _shown(table: Table) -> Json:
    columns = [str(each) for each in table.columns]
    rows = [[str(cell) for cell in row] for row in table.rows]
    return {"title": table.title, "columns": columns, "rows": rows, "numbers": [*table.numbers]}


def _part(heading: str, says: str, *shown: Json) -> Json:
    return {"heading": heading, "says": says, "tables": [each for each in shown if each["rows"]]}


def _table(
    name: str,
    columns: list[str],
    rows: Sequence[Sequence[Text | str]],
    numbers: range | None = None,
) -> Json:
    cells = [list(map(str, row)) for row in rows]
    return {"title": name, "columns": columns, "rows": cells, "numbers": list(numbers or ())}
