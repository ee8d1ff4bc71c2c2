"""The forms of the files that Recheck writes, as JSON Schema: for each a file of this folder."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def load(name: str) -> dict[str, Any]:
    """The schema of the file of that name: record, samples (of one line), probes, accuracy
    or verdicts."""
    path = Path(__file__).with_name(f"{name}.schema.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
