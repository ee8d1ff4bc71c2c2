"""A collection of claims outside this tree: every command treats it like our own."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, OUTSIDE, Report, git, linked, one_line, run, sourced, text_of
from conftest import tree as files_of
from recheck_report.claims.collection import load_collection
from records import few, h100, keep

THEIRS = OUTSIDE / "results" / "nvidia-h200"


@pytest.fixture
def article(tmp_path: Path) -> Path:
    return shutil.copytree(OUTSIDE / "claims", tmp_path / "article" / "claims")


def test_a_kernel_names_its_file_and_links_to_it_at_the_record_s_commit(
    report: Report, tmp_path: Path
) -> None:
    for folder in ("kernels", ".git"):
        (tmp_path / folder).mkdir()
    for name in ("kernels/tile", "kernels/tile16", "all"):
        (tmp_path / f"{name}.cu").touch()
    claims = sourced(tmp_path, "S0", "S1", "S2", "vendor")
    rest = (claims / "sources.toml").read_text()
    repository = 'repository = "https://host/us"\ncode.matmul = ["kernels", "all.cu"]\n'
    (claims / "sources.toml").write_text(repository + rest)
    commit = few()["environment"]["git"]["commit"]
    page = report(few(), "--experiments", claims)["matmul.md"].decode()
    for name in ("kernels/tile16.cu", "all.cu"):  # of tile16, and of kernels without their own
        assert f"[`{name}`](https://host/us/blob/{commit}/{name})" in page
    (claims / "sources.toml").write_text(repository.partition("\n")[2] + rest)
    load_collection.cache_clear()
    page = report(few(), "--experiments", claims)["matmul.md"].decode()
    assert "this report knows no address" in page and "`kernels/tile16.cu`" in page
    (tmp_path / ".git").rmdir()
    git(tmp_path, "init", "-q")
    page = report(few(), "--experiments", claims)["matmul.md"].decode()
    assert "[`kernels/tile16.cu`](../kernels/tile16.cu)" in page


def test_a_report_needs_no_claims(report: Report, tmp_path: Path) -> None:
    """The collection is about other experiments than the record, or empty."""
    for claims in (OUTSIDE / "claims", sourced(tmp_path, "S0", "S1", "S2")):
        files = report(few(), "--experiments", claims)
        linked(files)
        assert json.loads(files["verdicts.json"])["claims"] == []
        assert "claims.md" not in files and "matmul.md" in files


def test_a_part_of_our_own_run_shows_the_claims_of_that_part(report: Report) -> None:
    files = report(h100("transpose/", "audit/"))
    linked(files)
    ours = load_collection(EXPERIMENTS)
    own = [each.id for each in ours.claims if each.experiment == "transpose"]
    assert [each["id"] for each in json.loads(files["verdicts.json"])["claims"]] == own
    left = len(ours.claims) - len(own)
    assert f"{left} claims are left out" in text_of(files)
    errata = set(re.findall(r'<a id="erratum-(e\d+)"></a>', text_of(files)))
    assert errata and len(errata) < len(ours.errata)


def test_publish_and_verify_judge_their_claims(
    report: Report, article: Path, tmp_path: Path
) -> None:
    own = ("--experiments", article)
    report(THEIRS, *own)
    results = tmp_path / "results"
    assert run("publish", tmp_path / "report", "--results", results, *own).returncode == 0
    assert files_of(results / "nvidia-h200") == files_of(tmp_path / "report")
    options = (tmp_path / "report", "--expected", results, *own)
    found = run("verify", *options)
    assert found.returncode == 0 and "every verdict as expected" in found.stdout
    document = json.loads((THEIRS / "record.json").read_bytes())
    for case in document["cases"]:
        for end in ("median", "low", "high") if "/kernel2/" in case["id"] else ():
            case["seconds"][end] *= 9
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow/record.json").write_text(json.dumps(document))
    changed = run("verify", tmp_path / "slow", "--expected", results, *own)
    assert changed.returncode == 1
    assert re.search(r"^reduction\.\d+: was holds, is fails here: ", changed.stdout, re.M)
    # compared with evidence of another article, it does not judge that article's claims
    shutil.rmtree(results / "nvidia-h200")
    keep(results / "nvidia-h200", few())
    other = run("verify", *options)
    assert other.returncode == 0 and "is of other experiments (matmul)" in other.stdout


def test_records_with_other_experiments_are_compared(report: Report, tmp_path: Path) -> None:
    """Each record has verdicts only on the claims about its own experiments."""
    paths = [keep(tmp_path / e, h100(f"{e}/")) for e in ("matmul", "matvec")]
    assert run("compare", *paths, "--output", tmp_path / "out").returncode == 0
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in text.split("\n") if line.startswith("| C")]
    assert {tuple("**" in cell for cell in row[1:3]) for row in rows} == {
        (True, False),
        (False, True),
    }
    # --beside adds no claims about experiments that the first record lacks
    paths[1].joinpath("record.json").write_text(
        paths[1].joinpath("record.json").read_text().replace("NVIDIA H100", "NVIDIA L4")
    )
    files = report(paths[0], "--beside", paths[1])
    linked(files)
    assert not re.search(r"\[C4\d\]\(", files["claims.md"].decode())


@pytest.mark.parametrize("program", ["render", "compare", "publish", "verify"])
def test_a_folder_without_sources_is_refused_in_one_line(program: str, tmp_path: Path) -> None:
    places = {"render": "--output", "compare": "--output", "publish": "--results"}
    options = (places[program], tmp_path / "out") if program in places else ()
    record = keep(tmp_path / "input", few())
    for folder, why in (
        (tmp_path, "holds no sources.toml"),
        (tmp_path / "none", "is not a folder"),
    ):
        line = one_line(run(program, record, *options, "--experiments", folder), 2)
        says = f"{folder}: {why}; --experiments names one with sources.toml in it"
        assert line == f"error: {says}\n" and not (tmp_path / "out").exists()
