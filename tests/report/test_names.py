"""Names that nothing has: refused where a record is certain, "not measured" where it may be older.

With the article of tests/outside, as its user has it: a folder of claims, and a record.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, REPORTS, run
from recheck_report.claims import load_collection
from recheck_report.claims.names import Tables, faults
from recheck_report.model.case import Source
from recheck_report.model.read import load

OUTSIDE = EXPERIMENTS.parent / "tests" / "outside"
EVIDENCE = OUTSIDE / "results" / "nvidia-h200"


@pytest.fixture
def article(tmp_path: Path) -> Path:
    """A user's folder of claims, for a test to spoil."""
    return shutil.copytree(OUTSIDE / "claims", tmp_path / "article" / "claims")


@pytest.fixture
def record(tmp_path: Path) -> Callable[..., Path]:
    """The committed record as if it were of that commit, and with that plan."""

    def write(commit: str | None, preset: str = "full") -> Path:
        folder = shutil.copytree(EVIDENCE, tmp_path / "measured")
        document = json.loads((folder / "record.json").read_text())
        document["environment"]["git"] |= {"commit": commit, "dirty": False}
        document["plan"]["preset"] = preset
        (folder / "record.json").write_text(json.dumps(document))
        return folder

    return write


def _repository(folder: Path) -> str:
    """Makes the folder a repository, and returns its commit."""
    git = ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    words = [*git, "rev-parse", "HEAD"]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()


def _spoil(article: Path, old: str, new: str, file: str = "claims.toml") -> None:
    path = article / "reduction" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


SLIP = ("reduction/kernel2/4194304/cold", "reduction/kernle2/4194304/cold")
REFUSED = "claim reduction.2: field check[0].other: there is no row reduction/kernle2; there are "


def _rendered(record: Path, article: Path) -> tuple[int, str, str]:
    out = record.parent / "report"
    done = run("render", record, "--output", out, "--experiments", article)
    said = json.loads((out / "verdicts.json").read_text()) if done.returncode == 0 else {}
    reasons = {each["id"]: each["reason"] for each in said.get("claims", ())}
    return done.returncode, done.stderr, reasons.get("reduction.2") or ""


def test_what_is_committed_names_nothing_that_is_not_there() -> None:
    for folder, report in (
        (EXPERIMENTS, EXPERIMENTS.parent / "reports/results/nvidia-h100-80gb-hbm3"),
        (OUTSIDE / "claims", EVIDENCE),
    ):
        assert [*faults(load_collection(folder), Tables.of(load(report)[0]))] == []


def test_a_slip_is_refused_by_a_full_run_of_the_same_commit(
    article: Path, record: Callable[..., Path]
) -> None:
    _spoil(article, *SLIP)
    code, line, _ = _rendered(record(_repository(article.parent)), article)
    assert code == 2 and REFUSED in line and "mend the name, or measure again" in line
    assert f"{article}/reduction/claims.toml: " in line and line.count("\n") == 1


@pytest.mark.parametrize("commit", [None, "unknown"])
def test_so_it_is_by_one_of_no_commit(
    commit: str | None, article: Path, record: Callable[..., Path]
) -> None:
    _spoil(article, *SLIP)
    code, line, _ = _rendered(record(commit), article)
    assert code == 2 and REFUSED in line


def test_a_record_of_another_commit_truly_lacks_the_row(
    article: Path, record: Callable[..., Path]
) -> None:
    _spoil(article, *SLIP)
    _repository(article.parent)
    code, _, why = _rendered(record("0" * 40), article)
    assert code == 0 and why == f"the record holds no case {SLIP[1]}; nearest is {SLIP[0]}"


def test_so_does_a_record_of_a_part(article: Path, record: Callable[..., Path]) -> None:
    _spoil(article, *SLIP)
    code, _, why = _rendered(record("unknown", "quick"), article)
    assert code == 0 and why == f"the record holds no case {SLIP[1]}; nearest is {SLIP[0]}"


def test_the_examples_of_the_documentation_are_a_collection(tmp_path: Path) -> None:
    text = (REPORTS / "README.md").read_text(encoding="utf-8")
    for name, example in re.findall(r"^```toml\n# (\S+)\n(.*?)^```", text, re.M | re.S):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(example, encoding="utf-8")
    known = load_collection(tmp_path)
    assert len(known.claims) == len(known.changes) == len(known.listings) == 1
    assert len(known.errata) == 2 and known.figures["scan"].figure
    source = Source("smith", "", "")
    rows = dict.fromkeys(("scan/kernel1", "scan/kernel2", "scan/kernel2_blocks128"), source)
    cases = frozenset(f"{row}/4194304/cold" for row in rows)
    tables = Tables({"scan": ("elements",)}, rows, cases)
    assert [*faults(known, tables)] == []
    tables = replace(tables, rows=rows | {"scan/kernel1": Source("ours", "", "")})
    assert [*faults(known, tables)] == []
