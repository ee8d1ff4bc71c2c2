"""The report as a whole: the same bytes for the same record, nothing hidden, nothing lost."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from conftest import Report, linked, process, text_of, tree
from records import Json, bend, few, h100


def test_the_environment_does_not_change_a_report(report: Report, tmp_path: Path) -> None:
    """Hash seed, working folder, time zone and character set have no effect."""
    report(few())
    other = tmp_path / "elsewhere"
    other.mkdir()
    env = {"PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo", "LC_ALL": "C", "SOURCE_DATE_EPOCH": "1"}
    env |= {"HOME": str(other), "PYTHONWARNINGS": "error", "PYTHONOPTIMIZE": "2", "PYTHONUTF8": "0"}
    result = process("render", tmp_path / "input", "--output", "out", cwd=other, env=env)
    assert (result.returncode, result.stderr) == (0, "")
    assert tree(other / "out") == tree(tmp_path / "report")


def test_a_report_has_exactly_the_files_that_it_links(report: Report, tmp_path: Path) -> None:
    files = report(few())
    assert files["record.json"] == (tmp_path / "input" / "record.json").read_bytes()
    linked(files)
    links = {link.split("#")[0] for link in re.findall(r"\]\(([^)\s]+)\)", text_of(files))}
    assert links - {""} == set(files)


def test_an_experiment_named_like_a_page_has_a_page_of_its_own(report: Report) -> None:
    for name in ("claims", "claims_experiment"):
        record: Json = json.loads(json.dumps(few()).replace('"matmul', f'"{name}'))
        files = report(record)
        assert f"{name}_experiment.md" in files
        assert "# Matrix" not in files.get("claims.md", b"").decode()
        linked(files)


@pytest.mark.parametrize(
    "path,value",
    [
        ("environment.git", {"commit": "a" * 40, "dirty": True, "diff": None}),
        ("environment.code", "ptx"),
        ("finished", None),
    ],
)
def test_unreliable_times_give_a_warning_at_the_top(
    path: str, value: object, report: Report
) -> None:
    """The golden `odd` has the others."""
    record = h100("matmul/cublas/4096x")
    assert b"[!WARNING]" not in report(record)["README.md"]
    first = report(bend(record, path, value))["README.md"].decode().split("\n## ")[0]
    assert first.count("> [!WARNING]") == 1
