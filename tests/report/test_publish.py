"""Only a clean Release record of a commit of the branch becomes committed evidence."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from conftest import GPU, OUTSIDE, git, one_line, run, tree
from records import Json, bend, few, h100, keep, no_gpu, probes_of, without


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report that can be published; tests must not change it."""
    folder = tmp_path_factory.mktemp("rendered")
    keep(folder, few())
    result = run("render", folder, "--output", folder / "report")
    assert result.returncode == 0, result.stderr
    return folder / "report"


BLOCKING, DEBUG = (
    [{"code": code, "says": "every time holds the launch"}]
    for code in ("launch_blocking", "debug_build")
)
REFUSED: dict[str, tuple[Json, str]] = {
    "debug": (bend(few(), "environment.build_type", "Debug"), "Debug build; use Release"),
    "-G": (bend(few(), "environment.device_debug", True), "a -G build; use Release"),
    "dirty": (bend(few(), "environment.git.dirty", True), "uncommitted changes"),
    "no commit": (bend(few(), "environment.git.commit", None), "git knew no commit"),
    "no gpu": (no_gpu(), "it holds no GPU result"),
    "launch blocking": (bend(few(), "environment.conditions", BLOCKING), "no time of it counts: "),
    "a debug build": (bend(few(), "environment.conditions", DEBUG), "no time of it counts: "),
    "no name": (bend(few(), "environment.gpu.name", "…"), "is not usable as a folder name"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_record_that_cannot_be_evidence_is_refused(name: str, tmp_path: Path) -> None:
    record, why = REFUSED[name]
    # the refusal comes before anything is rendered
    keep(tmp_path / "report", record)
    result = run("publish", tmp_path / "report", "--results", tmp_path / "results")
    line = one_line(result, 1)
    assert "not published" in line and why in line
    assert not (tmp_path / "results").exists()


def test_a_report_is_published_as_it_is_over_an_older_one(rendered: Path, tmp_path: Path) -> None:
    target = tmp_path / "results" / GPU
    for _ in range(2):
        result = run("publish", rendered, "--results", tmp_path / "results")
        assert result.returncode == 0, result.stderr
        assert tree(target) == tree(rendered) and [*target.parent.iterdir()] == [target]
        charts = target / "charts"
        shutil.copy(charts / "matmul_ladder.svg", charts / "of_an_older_report.svg")


def test_a_report_is_published_beside_those_of_other_gpus(rendered: Path, tmp_path: Path) -> None:
    """One that cannot be read costs a line."""
    results = tmp_path / "results"
    keep(results / "other", bend(few(), "environment.gpu.name", "NVIDIA Other"))
    keep(results / "torn", few())
    (results / "torn" / "record.json").write_text("{")
    done = run("publish", rendered, "--results", results)
    assert done.returncode == 0 and f"left out: {results / 'torn'}" in done.stderr, done.stderr
    assert "NVIDIA Other" in (results / GPU / "claims.md").read_text()


def test_evidence_of_other_experiments_stays(rendered: Path, tmp_path: Path) -> None:
    target = shutil.copytree(OUTSIDE / "results/nvidia-h200", tmp_path / "results" / GPU)
    before, other = tree(target), "is evidence of other experiments, reduction"
    for results, why in ((target.parent, other), (target, "is a report itself")):
        assert why in one_line(run("publish", rendered, "--results", results), 1)
        assert tree(target) == before


def test_evidence_is_of_a_commit_that_can_be_checked_out(
    rendered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository with evidence must have the measured commit in its history."""
    if not shutil.which("git"):
        pytest.skip("git was not found")
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "code")
    results = tmp_path / "results"
    line = one_line(run("publish", rendered, "--results", results), 1)
    assert "is not in the history of" in line and not results.exists()

    record = few()
    record["environment"]["git"]["commit"] = git(tmp_path, "rev-parse", "HEAD")
    own = keep(tmp_path / "own", record)
    assert run("render", own, "--output", tmp_path / "report").returncode == 0
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "later")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{tmp_path}", str(shallow))
    line = one_line(run("publish", tmp_path / "report", "--results", shallow / "results"), 1)
    assert "is a shallow clone" in line and "--unshallow" in line
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    result = run("publish", tmp_path / "report", "--results", results)
    assert result.returncode == 0, result.stderr


def test_without_results_it_only_lists_what_a_report_lacks(tmp_path: Path) -> None:
    complete = run("publish", keep(tmp_path / "complete", h100(), probes_of()))
    assert complete.returncode == 0 and "note: 1 of its times are disturbed" in complete.stdout
    bare = without(without(few(), "/cublas"), "/cpu_blas")
    bare["environment"]["driver"] = None
    (keep(tmp_path / "bare", bare) / "samples.jsonl").unlink()
    notes = run("publish", tmp_path / "bare").stdout
    for lack in ("the driver", "samples", "probes.json", "no library", "self-audit", "ceilings"):
        assert lack in notes and lack not in complete.stdout
    assert not [*tmp_path.glob("*/README.md")]
