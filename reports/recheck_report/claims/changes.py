"""The log of changed checks: changes.toml, as typed values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recheck_report.claims.load import load_claims
from recheck_report.claims.toml import SAID, BadClaim, load_tables, table_of
from recheck_report.model.typed import read_toml
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


_read = table_of(
    Change,
    date={"pattern": r"^\d{4}-\d\d-\d\d$", "says": "like 2026-11-21"},
    commit={"pattern": "^[0-9a-f]{40}$", "says": "40 hex digits"},
    asked=SAID,
    verdict={"enum": VERDICTS},
    because={"enum": CAUSES},
    reason=SAID,
)


def load_changes(folder: Path) -> tuple[Change, ...]:
    """The entries of the log, in their order, none without the file; raises BadClaim."""
    path = folder / CHANGES
    if not path.exists():
        return ()
    claims = [claim.id for claim in load_claims(folder)]
    return load_tables(path, read_toml(path, BadClaim), "change", _read, claim=claims)
