"""What `check` says that a report lacks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPORTS, run
from synthetic import SMALL, keep, make_record

COMMITTED = sorted((REPORTS / "results").glob("*/record.json"))


def _said(folder: Path) -> tuple[int, list[str]]:
    found = run("check", folder)
    return found.returncode, found.stdout.splitlines()


@pytest.mark.parametrize("record", COMMITTED, ids=lambda path: path.parent.name)
def test_committed_evidence_lacks_nothing(record: Path) -> None:
    """But for times that were disturbed, which decide nothing."""
    code, lines = _said(record.parent)
    others = [line for line in lines if " of its times are disturbed, " not in line]
    assert others == (["nothing is missing"] if code == 0 else [])


def _dirty(record: Any) -> None:
    record["environment"]["git"]["dirty"] = True


def _no_library(record: Any) -> None:
    record["cases"] = [each for each in record["cases"] if each["role"] != "baseline"]


def _disturbed(record: Any) -> None:
    record["cases"][0]["disturbed"] = "another process used the GPU"


@pytest.mark.parametrize(
    "spoil,says",
    [
        (_dirty, "it is no evidence: it was measured with uncommitted changes"),
        (_no_library, "no library was measured, so no speed-up has a base"),
        (_disturbed, "1 of its times are disturbed, such as "),
    ],
)
def test_each_thing_that_is_missing_is_a_line(
    spoil: Callable[[Any], None], says: str, tmp_path: Path
) -> None:
    record = make_record(SMALL)
    keep(tmp_path / "record.json", record)
    code, before = _said(tmp_path)
    # what every record of these tests lacks
    assert code == 1 and "counters and tests are missing (probes.json)" in before
    assert "the self-audit was not made" in before
    spoil(record)
    keep(tmp_path / "record.json", record)
    code, after = _said(tmp_path)
    assert code == 1 and any(line.startswith(says) for line in after)
    assert not any(line.startswith(says) for line in before)
