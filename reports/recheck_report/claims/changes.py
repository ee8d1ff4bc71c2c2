"""The log of changed checks: changes.toml, as typed values."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from recheck_report.claims.load import load_claims
from recheck_report.claims.toml import BadClaim, Wrong, in_form, load_tables, text_of
from recheck_report.model.record import read_toml
from recheck_report.model.verdicts import VERDICTS

CHANGES = "changes.toml"
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


def _change(table: dict[str, Any], known: set[str]) -> Change:
    names = [each.name for each in fields(Change)]
    if set(table) != set(names):
        raise Wrong(f"must have the fields {', '.join(names)}, and no others")
    change = Change(**{name: text_of(table, name) for name in names})
    for name, text in vars(change).items():
        if not text:
            raise Wrong(f"field {name} must be one line of text")
    in_form(vars(change), _FORMS)
    if change.claim not in known:
        raise Wrong(f"field claim: there is no {change.claim}")
    return change


def load_changes(folder: Path) -> tuple[Change, ...]:
    """The entries of the log, in their order, none without the file; raises BadClaim."""
    path = folder / CHANGES
    if not path.exists():
        return ()
    known = {claim.id for claim in load_claims(folder)}
    return load_tables(path, read_toml(path, BadClaim), "change", lambda t: _change(t, known))
