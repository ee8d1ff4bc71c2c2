"""The verdicts and times of a record in a terminal, and whether they are the expected ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import GPU as FOLDER
from conftest import Report, process, run
from recheck_report.commands.verify import differences
from recheck_report.record.typed import typed
from recheck_report.record.verdicts import Verdicts
from records import Json, few, keep, no_gpu, scale, spoil, without

pytestmark = pytest.mark.usefixtures("no_variation")


def _verdicts(**claims: str) -> Verdicts:
    """Of these claims; each was measured as 1.5 times as fast, but where nothing was."""
    ratio = {"value": 1.5, "low": 1.4, "high": 1.6, "unit": "×"}
    origin = {"gpu": "NVIDIA H200", "commit": "a" * 40, "started": "2026-11-21T03:00:00Z"}
    found: list[Json] = []
    for name, verdict in claims.items():
        no = verdict == "not measured"
        claim = {"id": name, "verdict": verdict, "expected": "what the checks ask", "evidence": []}
        found.append(
            claim | {"measured": None if no else ratio, "reason": "nobody knows" if no else None}
        )
    return typed(Verdicts, {"schema": 2, "record": origin | {"schema": 3}, "claims": found})


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("undecided", "fails here", None),
        ("undecided", "holds", None),
        ("holds", "undecided", "is undecided: 1.50 times as fast [1.40, 1.60]"),
        ("undecided", "not measured", "is not measured: nobody knows"),
    ],
)
def test_each_difference_is_a_line(was: str, now: str, said: str | None) -> None:
    """What was undecided may be decided, and what only one is judged by is no difference."""
    own, expected = _verdicts(C21=now, C11="holds"), _verdicts(C21=was, C67="holds")
    assert differences(own, expected) == ([f"C21: was {was}, {said}"] if said else [])


# whole records

GPU = "NVIDIA H100 80GB HBM3"


def _record(*changes: tuple[str, float], gpu: str = GPU) -> Json:
    made = few()
    made["plan"]["preset"] = "full"
    made["environment"]["git"]["commit"] = "a" * 40
    made["environment"]["gpu"]["name"] = gpu
    for pattern, factor in changes:
        made = scale(made, pattern, factor)
    return made


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Puts a record into a folder."""
    tmp_path.joinpath("results").mkdir()
    return lambda record, *folders: keep(tmp_path.joinpath(*folders), record)


def _verify(tmp_path: Path, code: int) -> list[str]:
    """What it says below the claims."""
    result = run("verify", tmp_path / "report", "--expected", tmp_path / "results")
    assert result.returncode == code and result.stderr == "", result.stdout + result.stderr
    assert "\x1b" not in result.stdout
    claims, below = result.stdout.split("\n\n")
    assert re.search(r"^C12 +(holds|depends|fails here|undecided|not measured) ", claims, re.M)
    return below.rstrip("\n").split("\n")


def test_as_expected(put: Callable[..., Path], tmp_path: Path) -> None:
    put(_record(), "report")
    put(_record(), "results", FOLDER)
    put(_record(("/s0_tiles/", 9.0), gpu="NVIDIA L4"), "results", "nvidia-l4")
    path = tmp_path / "results" / FOLDER
    summary, verdict = _verify(tmp_path, 0)
    assert re.match(rf"\d+ of \d\d claims hold, .*: {GPU}$", summary)
    assert re.match(r"every verdict as expected, and none of \d+ cases of rungs slower: ", verdict)
    assert verdict.endswith(f": {path / 'record.json'}")


def test_a_verdict_that_differs_is_a_line(put: Callable[..., Path], tmp_path: Path) -> None:
    put(_record(("/s0_tiles/", 0.1)), "report")
    put(_record(), "results", FOLDER)
    lines = _verify(tmp_path, 1)
    assert any(line.startswith("C12: was depends, is holds: ") for line in lines)


def test_a_slower_rung_is_a_line(put: Callable[..., Path], tmp_path: Path) -> None:
    put(_record(("/tile16/", 1.2), ("/tile16/4096x4096x4096/cold", 1.5), ("/cublas/", 2)), "report")
    put(_record(), "results", FOLDER)
    (line,) = (line for line in _verify(tmp_path, 1) if line.startswith("slower: "))
    found = re.match(r"slower: matmul/tile16 at 4096³, cold: .* 1\.80 times as long \[", line)
    assert found and re.search(r"; so are \d of its \d+ other cases$", line)  # a library is no rung


def test_less_than_two_runs_differ_by_is_no_regression(
    put: Callable[..., Path], tmp_path: Path
) -> None:
    # within the margin; on the CPU; faster; end to end
    noise = (("/tile16/", 1.04), ("/s1_cpu/", 2.0), ("/s1_kernel_0/8", 0.5))
    put(_record(*noise, ("/tile16/1024x1024x1024/end_to_end", 1.5)), "report")
    put(_record(), "results", FOLDER)
    below = _verify(tmp_path, 0)
    assert below[1].startswith("every verdict as expected, and none of")


def test_a_rung_without_its_times_is_named(put: Callable[..., Path], tmp_path: Path) -> None:
    broken = spoil(_record(), "/tile16/2048x", "incorrect", "wrong at [3, 4]")
    broken = spoil(broken, "/s1_cpu/", "not_run", "too slow")  # a CPU may be
    broken = without(without(broken, "/cublas/"), "/s1_kernel_0/")
    put(_record(), "results", FOLDER)

    def gone() -> list[str]:
        put(broken, "report")
        return [line for line in _verify(tmp_path, 1) if line.startswith("gone: ")]

    first, second = gone()
    assert first.startswith("gone: matmul/s1_kernel_0 at ") and "now not in the record" in first
    assert second.startswith("gone: matmul/tile16 at 2048³") and "wrong at [3, 4]" in second
    # what a run of less than everything leaves out is not gone, what it got wrong is
    broken["plan"]["preset"] = "quick"
    assert [line.split(" at ")[0] for line in gone()] == ["gone: matmul/tile16"]


def test_a_gpu_on_which_everything_fails_is_no_machine_without_one(
    put: Callable[..., Path], tmp_path: Path
) -> None:
    put(spoil(_record(), "/", "failed", "launch: no kernel image is available"), "report")
    put(_record(), "results", FOLDER)
    lines = _verify(tmp_path, 1)
    assert sum("now failed: launch: no kernel image" in line for line in lines) > 2
    # nor is one that was killed before its first case
    put({**_record(), "cases": [], "finished": None}, "report")
    result = run("verify", tmp_path / "report", "--expected", tmp_path / "results")
    assert result.returncode == 1 and "now not in the record" in result.stdout


@pytest.mark.parametrize("gpu", ["NVIDIA L4", "…"])
def test_of_another_gpu_nothing_is_expected(
    gpu: str, put: Callable[..., Path], tmp_path: Path
) -> None:
    put(_record(("/s0_tiles/", 2.0), gpu=gpu), "report")
    put(_record(), "results", FOLDER)
    put(_record(), "results")
    line = f"no expectation for {gpu}: publish the report to make it one"
    assert _verify(tmp_path, 0)[1:] == [line]


def test_without_a_gpu_nothing_is_expected(put: Callable[..., Path], tmp_path: Path) -> None:
    put(no_gpu(), "report")
    put(_record(), "results", FOLDER)
    result = run("verify", tmp_path / "report", "--expected", tmp_path / "results")
    assert result.returncode == 0
    assert result.stdout.endswith("no GPU\nno expectation for a machine without a GPU\n")


def test_a_rendered_report_is_read_from_anywhere(report: Report, tmp_path: Path) -> None:
    report(few())
    first = run("verify", tmp_path / "report", "--expected", tmp_path)
    assert first.returncode == 0 and re.search(r"^C12 +depends ", first.stdout, re.M)
    again = process("verify", tmp_path / "report", "--expected", tmp_path, cwd="/")
    assert (again.returncode, again.stdout) == (0, first.stdout)
