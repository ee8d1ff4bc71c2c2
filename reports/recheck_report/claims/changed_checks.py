"""The log of changed checks: changes.toml, as typed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from recheck_report.claims.load import load_claims
from recheck_report.claims.toml import Said, load_tables, one_of
from recheck_report.record.typed import Is, Strict, typed
from recheck_report.record.verdicts import (
    DEPENDS,
    FAILS_HERE,
    NOT_JUDGED,
    NOT_MEASURED,
    UNDECIDED,
    VERDICTS,
    WRONG_AS_PRINTED,
)

CHANGES = "changes.toml"
# the words of earlier evidence, and today's words for the same
EARLIER = {
    "fails": (FAILS_HERE, WRONG_AS_PRINTED),
    "inconclusive": (UNDECIDED, DEPENDS),
    "not_measured": (NOT_MEASURED, NOT_JUDGED),
}
CAUSES = ("check", "transcription", "open choice")


@dataclass(frozen=True)
class Entry(Strict):
    """An entry of the log: claims whose checks were changed for one reason."""

    date: Annotated[str, Is(pattern=r"^\d{4}-\d\d-\d\d$", form="like 2026-11-21")]
    # the last commit with the old checks
    commit: Annotated[str, Is(pattern="^[0-9a-f]{40}$", form="40 hex digits")]
    # the question of each claim's old check, in one line, by the claim
    asked: Annotated[dict[str, Said], Is(filled=True)]
    # their verdict on the evidence committed then, in the words of then
    verdict: Annotated[str, Is(one_of=(*VERDICTS, *EARLIER))]
    because: Annotated[str, Is(one_of=CAUSES)]
    reason: Said


@dataclass(frozen=True)
class ChangedCheck:
    """The old check of a claim, and why it was changed."""

    claim: str
    asked: str
    entry: Entry


def load_changed_checks(folder: Path) -> tuple[ChangedCheck, ...]:
    """The changes of the log in their order, empty without a file; raises BadClaim."""
    claims = [claim.id for claim in load_claims(folder)]
    before: dict[str, Any] = {}

    def read(table: dict[str, Any]) -> Entry:
        """An entry without a date or commit has those of the entry before."""
        before.update({key: table[key] for key in ("date", "commit") if key in table})
        entry = typed(Entry, before | table)
        for claim in entry.asked:
            one_of(claims, claim, "asked")
        return entry

    entries = load_tables(folder / CHANGES, "change", read)
    return tuple(ChangedCheck(*asked, entry) for entry in entries for asked in entry.asked.items())


def changed_verdicts(
    changes: Sequence[ChangedCheck], today: Mapping[str, str]
) -> list[ChangedCheck]:
    """The changes that changed a verdict. `today`: today's verdicts by claim; unmeasured claims do
    not count."""
    shown = []
    for at, change in enumerate(changes):
        later = (other.entry.verdict for other in changes[at + 1 :] if other.claim == change.claim)
        after = next(later, today[change.claim])
        then = change.entry.verdict
        same = (then, NOT_MEASURED, *EARLIER.get(then, ()))
        if after not in same:
            shown.append(change)
    return shown
