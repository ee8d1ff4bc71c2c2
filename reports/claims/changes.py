"""The log of changed checks: experiments/changes.toml, as typed values."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from record import read_toml

from claims.load import EXPERIMENTS, VERDICTS, BadClaim, load_claims

CHANGES = EXPERIMENTS / "changes.toml"
CAUSES = ("check", "transcription", "open choice")


@dataclass(frozen=True)
class Change:
    """What decided a claim before, and why that was changed."""

    claim: str
    date: str  # "2026-11-21"
    commit: str  # the last that had the old check
    asked: str  # what that asked, in one line
    verdict: str  # what it came to, on the evidence committed then
    because: str
    reason: str


_FORMS = {
    "date": r"\d{4}-\d\d-\d\d",
    "commit": r"[0-9a-f]{40}",
    "verdict": "|".join(VERDICTS),
    "because": "|".join(CAUSES),
}


@cache
def load_changes(path: Path = CHANGES) -> tuple[Change, ...]:
    """The entries of the log, in their order; raises BadClaim."""
    document = read_toml(path, BadClaim)
    tables = document.get("change", [])
    if set(document) - {"change"} or type(tables) is not list:
        raise BadClaim(f"{path}: holds more than [[change]] tables")
    claims, names = {claim.id for claim in load_claims()}, [each.name for each in fields(Change)]
    found = []
    for at, table in enumerate(tables):
        where = f"{path}: change number {at + 1}"
        if type(table) is not dict or set(table) != set(names):
            raise BadClaim(f"{where}: must have the fields {', '.join(names)}, and no others")
        for name, text in table.items():
            if type(text) is not str or not text.isprintable() or not text:
                raise BadClaim(f"{where}: field {name} must be one line of text")
            if not re.fullmatch(_FORMS.get(name, ".*"), text):
                raise BadClaim(f"{where}: field {name}: {text!r} is not in form")
        if table["claim"] not in claims:
            raise BadClaim(f"{where}: field claim: there is no {table['claim']}")
        found.append(Change(**table))
    return tuple(found)
