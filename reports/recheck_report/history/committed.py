"""The records that a repository's history holds: newer evidence replaces older, and what two runs
differ by is known from all of them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from recheck_report.model.record import COMPRESSED, OLDEST, RECORD

# where pilots lie below their folder: GPU model, hash of the GPU's UUID, number of the process
PILOTS = f"*/*/*/{RECORD}"


def unpacked(report: Path, folder: Path) -> list[Path]:
    """Writes every record that was ever committed in a folder of evidence into a folder of its own
    below `folder`, the newest first; returns these, or the report alone where there is no history.
    Those that do not know their GPU or its code are left out, as nothing could be compared with
    them."""
    found: list[Path] = []
    seen: set[str] = set()
    name = f"./{RECORD}"
    for commit in _git(report, "log", "--format=%H", "--", name).decode().split():
        raw = _git(report, "show", f"{commit}:{name}")
        if not raw:
            continue  # the commit removed it
        document = json.loads(raw)
        own = document["environment"]
        if document["schema"] < OLDEST:
            continue  # which is read no more
        known = (own["gpu"] or {}).get("uuid_hash") and own.get("cubins")
        if not known or own["started"] in seen:
            continue
        seen.add(own["started"])
        found.append(folder / str(len(found)))
        found[-1].mkdir(parents=True)
        (found[-1] / RECORD).write_bytes(raw)
        if samples := _git(report, "show", f"{commit}:./{COMPRESSED}"):
            (found[-1] / COMPRESSED).write_bytes(samples)
    return found or [report]


def pilots(folder: Path) -> list[Path]:
    """The records of pilots that are kept there."""
    return sorted(each.parent for each in folder.glob(PILOTS))


def _git(folder: Path, *words: str) -> bytes:
    """What git says; nothing where it fails, or is not there."""
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *words]
    try:
        ended = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return b""
    return b"" if ended.returncode else ended.stdout
