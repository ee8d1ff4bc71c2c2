"""Only a clean, finished Release record of a GPU becomes committed evidence."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPORTS, one_line, run, tree
from recheck_report.commands.publish import publish
from synthetic import SMALL, Json, make_full, make_record, make_reduction, scale, spoil
from synthetic_claims import make_probes

FEW = ["cpu_serial", "global16", "tile8", "tile16", "cublas"]


HEADLINE = "/4096x4096x4096/"


OUTSIDE = REPORTS.parent / "tests/outside/results/nvidia-h200"


def _uncounted(record: Json) -> Json:
    """Probes of a record; the counters that others have are of launches that nobody timed."""
    return make_probes(record) | {"counters": {}}


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report that is fit to be published; not to be changed."""
    folder, record = tmp_path_factory.mktemp("rendered"), make_record(SMALL, strategies=FEW)
    (folder / "input.json").write_text(json.dumps(record))
    (folder / "probes.json").write_text(json.dumps(_uncounted(record)))
    result = run("render", folder / "input.json", "--output", folder / "report")
    assert result.returncode == 0, result.stderr
    return folder / "report"


@pytest.fixture
def copy(rendered: Path, tmp_path: Path) -> Path:
    """The same for a test to spoil: tmp_path/report."""
    return shutil.copytree(rendered, tmp_path / "report")


@pytest.fixture(autouse=True)
def few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """These records have few of the rows that our claims name, which is not what is tried here."""
    for name in ("commands.publish.faults", "claims.measured.slips"):
        monkeypatch.setattr(f"recheck_report.{name}", lambda known, record: iter(()))


Change = Callable[[Json], Json]


def _without(pattern: str) -> Change:
    def change(record: Json) -> Json:
        record["cases"] = [case for case in record["cases"] if pattern not in case["id"]]
        return record

    return change


def _measured_with(flags: str) -> Change:
    return _set("environment", "command", value=f"recheck {flags}")


def _bounded(record: Json) -> Json:
    for case in record["cases"]:
        if case["error"]:
            case["error"]["bound"] = 0.5
    return record


def _set(*path: str | int, value: object) -> Change:
    def change(record: Json) -> Json:
        node: Any = record
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value
        return record

    return change


REFUSED: dict[str, tuple[Change, str]] = {
    "debug": (_set("environment", "build_type", value="Debug"), "Debug build"),
    "-G": (_set("environment", "device_debug", value=True), "built with -G"),
    "dirty": (_set("environment", "git", "dirty", value=True), "uncommitted changes"),
    "no commit": (_set("environment", "git", "commit", value=None), "in no git repository"),
    "unfinished": (_set("finished", value=None), "did not finish"),
    "in company": (
        _set("environment", "state", "gpus_at_once", value=2),
        "2 GPUs were measured at once",
    ),
    "no gpu": (lambda record: make_record(SMALL, False, FEW), "no GPU result (no CUDA device)"),
    "incorrect": (
        lambda record: spoil(record, "/tile8/1024x1024x1024/hot", "incorrect", "error 3 > 1"),
        "1 cases are incorrect, first matmul/tile8/1024x1024x1024/hot: error 3 > 1",
    ),
    "failed": (
        lambda record: spoil(record, "/tile8/1024x1024x1024/hot", "failed", "launch"),
        "1 cases are failed",
    ),
    "one strategy": (
        _measured_with("--output=measured --strategy=tile16,cublas"),
        "it was measured with --strategy=tile16,cublas; evidence is the full matrix: run recheck "
        "without it",
    ),
    "small budget": (_measured_with("--budget=0.1 --resume"), "measured with --budget=0.1; "),
    "own seed": (_measured_with("--seed=4"), "measured with --seed=4; "),
    "filter": (
        _measured_with("--output=a b --benchmark_filter=tile"),
        "measured with --benchmark_filter=tile; ",
    ),
    "quick": (_set("plan", "preset", value="quick"), "its preset is quick; evidence is the full"),
    "dropped": (
        _set("plan", "dropped", value=[{"experiment": "x", "shape": "9", "reason": "why"}]),
        "its plan left out x at 9 (why); evidence is the full matrix",
    ),
    "suspect": (
        lambda record: scale(record, "/cublas/4096x4096x4096/cold", 0.5),
        "suspect times: 1, first matmul/cublas/4096x4096x4096/cold: 103 TFLOP/s is more than",
    ),
    "another budget": (
        _set("environment", "budget_seconds", value=0.2),
        "its cases had 0.2 s each, and evidence has 1; measure again",
    ),
    "no name": (
        _set("environment", "gpu", "name", value="…"),
        "the GPU's name '…' makes no folder's, of at most 100 letters and digits: ask CUDA",
    ),
    "a name that looks like another": (
        _set("environment", "gpu", "name", value="NVIDIA \u041d200"),
        "the GPU's name 'NVIDIA \\u041d200' is not ASCII; measure again",
    ),
    "to come": (
        _set("finished", value="2199-01-01T00:00:00Z"),
        "its run ended at 2199-01-01T00:00:00Z, which is to come; set the clock",
    ),
    "beyond a data sheet": (
        _set("environment", "gpu", "compute_capability", value="8.9"),
        "its NVIDIA H200 has compute capability 8.9, and by the H200 data sheet it is 9.0",
    ),
    "a bound of its own": (_bounded, "has an error bound of 0.5, and is owed 3.81471e-06 at most"),
    "-G among the flags": (
        _set("environment", "flags", value="C++: -O3; CUDA: -O3 -G -std=c++20"),
        "its flags build device code with -G, and device_debug denies it; measure again",
    ),
    "no runtime": (
        _set("environment", "cuda_runtime", value=None),
        "it has times of a GPU, and no version of CUDA's driver or runtime; measure again",
    ),
    "no version of a runtime": (
        _set("environment", "cuda_runtime", value="9" * 5000),
        "it has times of a GPU, and no version of CUDA's driver or runtime; measure again",
    ),
    "a runtime beyond its driver": (
        _set("environment", "cuda_runtime", value="14.0"),
        "CUDA 14.0 runs on no driver of 13.0; measure again",
    ),
    "code of another GPU": (
        _set("environment", "arch", value="75-virtual;100a-real"),
        "its code is sass, and of 75-virtual;100a-real compute capability 9.0 runs ptx; measure",
    ),
    "code of no GPU": (
        _set("environment", "arch", value="120"),
        "its code is sass, and of 120 compute capability 9.0 runs nothing; measure again",
    ),
    "null without a reason": (
        _set("environment", "gpu", "ecc", value=None),
        "its environment.gpu.ecc is null, and unknown does not say why; measure again",
    ),
    "no headline": (
        _without(HEADLINE),
        "it lacks matmul/cpu_serial/4096x4096x4096/hot; evidence is the full matrix",
    ),
    "no headline of one row": (
        _without(f"/tile8{HEADLINE}end_to_end"),
        "it lacks matmul/tile8/4096x4096x4096/end_to_end; evidence is the full matrix",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, save: Callable[..., Path], tmp_path: Path) -> None:
    change, why = REFUSED[name]
    path = save(change(make_record(SMALL, strategies=FEW)))
    # what is no evidence is refused before anything is rendered
    path.parent.rename(tmp_path / "report")
    result = run("publish", tmp_path / "report", "--results", tmp_path / "results")
    line = one_line(result, 1)
    assert "not published" in line and why in line
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("architectures", "capability", "code"),
    [
        ("90", 90, "sass"), ("80-real", 86, "sass"), ("86-real", 80, None), ("80-real", 90, None),
        ("75", 90, "ptx"), ("75-virtual;86-real", 80, "ptx"), ("90-virtual;90a-real", 90, "sass"),
        ("90-virtual;90a-real", 100, "ptx"), ("120", 90, None), ("90a-virtual", 90, "ptx"),
        ("100a", 103, None), ("100f", 103, "sass"), ("100f-virtual", 103, "ptx"),
        ("100f", 120, None), ("all", 90, None),
    ],
)  # fmt: skip
def test_code_is_what_kernels_say(architectures: str, capability: int, code: str | None) -> None:
    """The cases of tests/kernels/code_test.cpp."""
    from recheck_report.contribution.built import code_of

    assert code_of(architectures.split(";"), capability) == code


def test_published_as_it_is(copy: Path, tmp_path: Path) -> None:
    for _ in range(2):  # again over itself
        result = run("publish", tmp_path / "report", "--results", tmp_path / "results")
        assert result.returncode == 0, result.stderr
        assert tree(tmp_path / "results" / "nvidia-h200") == tree(tmp_path / "report")
        assert [path.name for path in (tmp_path / "results").iterdir()] == ["nvidia-h200"]


def test_what_others_owe_their_authors_know(save: Callable[..., Path]) -> None:
    """An experiment of another collection has bounds of its own."""
    from recheck_report.contribution.bounds import loose
    from recheck_report.contribution.evidence import doubtful
    from recheck_report.model.record import load

    record = make_reduction()
    for case in record["cases"]:
        case["error"] = {"value": 0.1, "bound": 0.5, "metric": "error"}
    own = load(save(record))[0]
    assert doubtful(own) is None
    assert loose(own) == f"{own.cases[0].id} has an error bound of 0.5, and is owed 0 at most"


def test_the_times_of_another_run_are_not_published(copy: Path, tmp_path: Path) -> None:
    other = make_record(SMALL, strategies=FEW)
    other["environment"]["started"] = "2026-11-20T03:00:00Z"
    for name, model in (("nvidia-h200", "NVIDIA H200"), ("nvidia-l4", "NVIDIA L4")):
        other["environment"]["gpu"]["name"] = model
        (folder := tmp_path / "results" / name).mkdir(parents=True)
        (folder / "record.json").write_text(json.dumps(other))
        line = one_line(run("publish", copy, "--results", tmp_path / "results"), 1)
        assert f"not published: {folder} has its times already, those of 8 of 8 cases" in line
        shutil.rmtree(folder)


@pytest.mark.parametrize("flags", ["", "--resume", "--output=a b", "--output=a --resume"])
def test_flags_that_leave_nothing_out(flags: str, save: Callable[..., Path]) -> None:
    from recheck_report.contribution.evidence import refusal
    from recheck_report.model.record import load

    record = _measured_with(flags)(make_record(SMALL, strategies=FEW))
    assert refusal(load(save(record))[0]) is None


def test_replaces_what_was_published(copy: Path, tmp_path: Path) -> None:
    old = tmp_path / "results" / "nvidia-h200"
    shutil.copytree(copy, old)
    shutil.copy(old / "charts" / "claims.svg", old / "charts" / "of_an_older_report.svg")
    result = run("publish", tmp_path / "report", "--results", tmp_path / "results")
    assert result.returncode == 0, result.stderr
    assert tree(old) == tree(tmp_path / "report")


@pytest.mark.parametrize("name", ["README.md", "charts/claims.svg", "verdicts.json"])
def test_refused_if_edited(name: str, copy: Path, tmp_path: Path) -> None:
    path = tmp_path / "report" / name
    path.write_text(path.read_text() + " ")
    result = run("publish", tmp_path / "report", "--results", tmp_path / "results")
    assert f"{name} differs from a fresh render" in one_line(result, 1)


def test_refused_if_the_record_changed_after_rendering(copy: Path, tmp_path: Path) -> None:
    record = make_record(SMALL, strategies=FEW)
    record["wall_seconds"] -= 1.0
    (tmp_path / "report" / "record.json").write_text(json.dumps(record))
    result = run("publish", tmp_path / "report", "--results", tmp_path / "results")
    assert "README.md differs" in one_line(result, 1)


def test_refused_if_the_probes_changed_after_rendering(copy: Path, tmp_path: Path) -> None:
    path = tmp_path / "report" / "probes.json"
    probes = json.loads(path.read_bytes())
    for name, each in probes["tests"].items():
        if name.startswith("racecheck:"):
            each.update(outcome="clean", count=0)
    path.write_text(json.dumps(probes))
    result = run("publish", tmp_path / "report", "--results", tmp_path / "results")
    assert "differs from a fresh render" in one_line(result, 1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"commit": "f" * 40}, f"has commit {'f' * 40}, the record "),
        ({"dirty": True}, "probes.json is of a tree with uncommitted changes"),
        ({"uuid_hash": "f" * 16}, "probes.json is of another GPU of the model than the record"),
    ],
)
def test_refused_with_probes_of_another_run(copy: Path, changes: Json, said: str) -> None:
    """They decide nothing then, and a report that answers half of its claims is no evidence."""
    probes = json.loads((copy / "probes.json").read_bytes())
    probes["environment"] |= changes
    (copy / "probes.json").write_text(json.dumps(probes))
    again = run("render", copy / "record.json", "--output", copy)
    assert again.returncode == 0, again.stderr
    result = run("publish", copy, "--results", copy.parent / "results")
    assert said in one_line(result, 1) and not (copy.parent / "results").exists()


def test_refused_if_the_verdicts_are_missing(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "report" / "verdicts.json").unlink()
    result = run("publish", tmp_path / "report", "--results", tmp_path / "results")
    assert "verdicts.json is missing" in one_line(result, 1)


def test_bad_probes_are_one_line(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "report" / "probes.json").write_text("{")
    result = run("publish", tmp_path / "report", "--results", tmp_path / "results")
    assert "probes.json: is not complete JSON" in one_line(result, 2)


def test_a_report_beside_other_gpus_is_published_by_itself(copy: Path, tmp_path: Path) -> None:
    """What a normal run renders on a new GPU: with a column for each committed record."""
    results = tmp_path / "results"
    other = scale(make_record(SMALL, strategies=FEW), "", 1.01)
    other["environment"]["gpu"]["name"] = "NVIDIA L4"
    (results / "nvidia-l4").mkdir(parents=True)
    (results / "nvidia-l4" / "record.json").write_text(json.dumps(other))
    alone, report = tree(tmp_path / "report"), tmp_path / "report"
    beside = ["--beside", results / "nvidia-l4" / "record.json"]
    assert run("render", report, "--output", report, *beside).returncode == 0
    assert tree(report) != alone and set(tree(report)) == set(alone)
    result = run("publish", report, "--results", results)
    assert result.returncode == 0, result.stderr
    assert tree(results / "nvidia-h200") == alone
    # with another record beside it is no report of these any more
    (report / "README.md").write_text((report / "README.md").read_text() + " ")
    assert "README.md differs" in one_line(run("publish", report, "--results", results), 1)


def test_refused_if_files_are_missing_or_foreign(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "report" / "notes.txt").write_text("mine")
    result = run("publish", tmp_path / "report", "--results", tmp_path / "results")
    assert "notes.txt is no part of the report" in one_line(result, 1)
    (tmp_path / "report" / "notes.txt").unlink()
    (tmp_path / "report" / "charts" / "matmul_ladder.svg").unlink()
    result = run("publish", tmp_path / "report", "--results", tmp_path / "results")
    assert "charts/matmul_ladder.svg is missing" in one_line(result, 1)


def test_not_a_report(tmp_path: Path) -> None:
    line = one_line(run("publish", tmp_path, "--results", tmp_path / "results"), 2)
    assert "record.json: cannot be read" in line


def test_full_matrix_of_all_experiments(save: Callable[..., Path]) -> None:
    """No end to end where the experiment has none, nor for a part or a sweep; else it must be."""
    from recheck_report.contribution.evidence import refusal
    from recheck_report.model.record import load

    record = make_full(small=True)
    assert refusal(load(save(record))[0]) is None
    swept = "matvec/s3_shared_block64/8192x8192/"  # of which some are timed cold only
    assert refusal(load(save(_without(f"{swept}hot")(make_full(small=True))))[0]) is None
    for gone in (
        "matvec/shared/8192x8192/end_to_end",
        "transpose/diagonal/8192x8192/cold",
        f"{swept}cold",
    ):
        refused = refusal(load(save(_without(gone)(make_full(small=True))))[0])
        assert refused and f"it lacks {gone}; " in refused


@pytest.mark.parametrize("name", ["notes.txt", "charts/mine.svg", "README.md"])
def test_what_is_of_no_report_is_not_lost(name: str, copy: Path, tmp_path: Path) -> None:
    target = tmp_path / "results" / "nvidia-h200"
    (target / name).parent.mkdir(parents=True)
    (target / name).write_text("mine")
    result = run("publish", copy, "--results", tmp_path / "results")
    assert f"{target}: {name} is of no report and would be lost" in one_line(result, 1)
    assert tree(target) == {name: b"mine"}
    # beside a published report as well
    if name != "README.md":
        shutil.copytree(copy, target, dirs_exist_ok=True)
        assert run("publish", copy, "--results", tmp_path / "results").returncode == 1
        assert (target / name).read_text() == "mine"


def test_evidence_of_other_experiments_stays(copy: Path, tmp_path: Path) -> None:
    results = tmp_path / "results"
    published = run("publish", copy, "--results", results)
    assert published.returncode == 0, published.stderr
    target = Path(published.stdout.strip())
    shutil.rmtree(target)
    shutil.copytree(OUTSIDE, target)
    before = tree(target)
    result = run("publish", copy, "--results", results)
    assert "is evidence of other experiments, reduction" in one_line(result, 1)
    assert tree(target) == before
    result = run("publish", copy, "--results", target)
    assert "is a report itself" in one_line(result, 1)
    assert tree(target) == before


def test_evidence_is_of_a_commit_that_can_be_checked_out(rendered: Path, tmp_path: Path) -> None:
    """Where a repository holds the evidence, its history holds the code."""

    def git(*words: str) -> str:
        who = ["-c", "user.name=A", "-c", "user.email=a@b"]
        command = ["git", "-C", str(tmp_path), *who, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    if not shutil.which("git"):
        pytest.skip("git was not found")
    git("init", "-q")
    git("commit", "-q", "--allow-empty", "-m", "code")
    results = tmp_path / "results"
    line = one_line(run("publish", rendered, "--results", results), 1)
    assert "is not in the history of HEAD" in line and not results.exists()

    record = json.loads((rendered.parent / "input.json").read_text())
    record["environment"]["git"]["commit"] = git("rev-parse", "HEAD")
    own = tmp_path / "own"
    own.mkdir()
    (own / "record.json").write_text(json.dumps(record))
    (own / "probes.json").write_text(json.dumps(_uncounted(record)))
    assert run("render", own, "--output", tmp_path / "report").returncode == 0
    git("commit", "-q", "--allow-empty", "-m", "later")
    result = run("publish", tmp_path / "report", "--results", results)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "pipe"])
def test_nor_is_what_is_no_file(kind: str, copy: Path, tmp_path: Path) -> None:
    target = shutil.copytree(copy, tmp_path / "results" / "nvidia-h200")
    mine = target / "mine"
    if kind == "folder":
        mine.mkdir()
    elif kind == "pipe":
        os.mkfifo(mine)
    else:
        mine.symlink_to(copy if kind == "link" else tmp_path / "nowhere")
    result = run("publish", copy, "--results", tmp_path / "results")
    assert f"{target}: mine is of no report and would be lost" in one_line(result, 1)
    assert os.path.lexists(mine)


def test_a_linked_file_or_folder_of_evidence_is_not_lost(copy: Path, tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    target = tmp_path / "results" / "nvidia-h200"
    target.symlink_to(copy)
    said = one_line(run("publish", copy, "--results", tmp_path / "results"), 1)
    assert f"{target}: it is of no report and would be lost" in said
    target.unlink()
    shutil.copytree(copy, target)
    (target / "verdicts.json").unlink()
    (target / "verdicts.json").symlink_to(copy / "verdicts.json")
    said = one_line(run("publish", copy, "--results", tmp_path / "results"), 1)
    assert "verdicts.json is of no report" in said and (target / "verdicts.json").is_symlink()


@pytest.mark.parametrize("at", ["first", "second", "first, and again"])
def test_an_interrupt_loses_no_evidence(
    at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After whichever renaming Ctrl-C comes: the old report or the new one is there."""
    target, rename = tmp_path / "nvidia-h200", os.rename
    target.mkdir()
    (target / "README.md").write_text("old")

    def again(old: Path, new: Path) -> None:
        raise KeyboardInterrupt

    def interrupted(old: Path, new: Path) -> None:
        rename(old, new)
        if (new == target) == (at == "second"):
            monkeypatch.setattr(os, "rename", again if "again" in at else rename)
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt):
        publish({"README.md": b"new"}, target)
    if "again" in at:
        assert b"old" in tree(tmp_path).values()  # to be put back by hand
    else:
        assert tree(tmp_path) == {"nvidia-h200/README.md": b"old" if at == "first" else b"new"}
