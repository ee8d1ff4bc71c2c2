"""The verdicts and times of a record in a terminal, and whether they are the expected ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import process, run
from recheck_report.commands.verify import differences
from recheck_report.formatting import margin as shown
from recheck_report.record.typed import typed
from recheck_report.record.verdicts import Verdicts
from recheck_report.statistics.variation import known
from synthetic import SMALL, Json, keep, make_record, scale, spoil

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

ROWS = ["s1_kernel_0", "s0_tiles", "tile16", "cublas", "cpu_serial"]


def _record(*changes: tuple[str, float], gpu: str = "NVIDIA H200") -> Json:
    made = make_record(SMALL, strategies=ROWS)
    made["environment"]["gpu"]["name"] = gpu
    for pattern, factor in changes:
        made = scale(made, pattern, factor)
    return made


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Puts a record into a folder."""
    tmp_path.joinpath("results").mkdir()
    return lambda record, *folders: keep(tmp_path.joinpath(*folders, "record.json"), record)


def _verify(tmp_path: Path, code: int) -> list[str]:
    """What it says below the claims."""
    result = run("verify", tmp_path / "report", "--expected", tmp_path / "results")
    assert result.returncode == code and result.stderr == "", result.stdout + result.stderr
    assert "\x1b" not in result.stdout
    claims, below = result.stdout.split("\n\n")
    assert re.search(r"^C12  (holds|depends|fails here|undecided|not measured) ", claims, re.M)
    return below.rstrip("\n").split("\n")


def test_as_expected(put: Callable[..., Path], tmp_path: Path) -> None:
    put(_record(), "report")
    put(_record(), "results", "nvidia-h200")
    put(_record(("/s0_tiles/", 9.0), gpu="NVIDIA L4"), "results", "nvidia-l4")
    path = tmp_path / "results" / "nvidia-h200" / "record.json"
    summary, verdict = _verify(tmp_path, 0)
    assert re.match(r"\d of \d\d claims hold, .*: NVIDIA H200$", summary)
    assert re.match(r"every verdict as expected, and none of \d+ cases of rungs slower: ", verdict)
    assert verdict.endswith(f": {path}")


def test_a_verdict_that_differs_is_a_line(put: Callable[..., Path], tmp_path: Path) -> None:
    # by less than a rung has to be slower to be named
    put(_record(("/s0_tiles/1024", 0.80)), "report")
    put(_record(("/s0_tiles/1024", 0.77)), "results", "nvidia-h200")
    _, line, count = _verify(tmp_path, 1)
    assert re.match(r"C12: was holds, is depends: 1\.9", line)
    assert count.startswith("not as expected: 1 verdict; of ")


def test_a_slower_rung_is_a_line(put: Callable[..., Path], tmp_path: Path) -> None:
    put(_record(("/tile16/", 1.2), ("/tile16/4096x4096x4096/cold", 1.5), ("/cublas/", 2)), "report")
    put(_record(), "results", "nvidia-h200")
    _, line, count, advice = _verify(tmp_path, 1)
    about = (
        r"slower: matmul/tile16 at 4096³, cold: 19\.6 ms, then 35\.4 ms: "
        r"1\.80 times as long \[1\.[78]\d+, 1\.8\d+\]; two runs differ by up to ([\d.]+ %); "
        r"so are \d of its 11 other cases"
    )
    found = re.fullmatch(about, line)
    assert found and found[1] == shown(known().noise("cold, 1 ms and more"))
    assert count.startswith("not as expected: 1 slower rung; of ")  # a library is no rung
    assert "measure again" in advice


def test_less_than_two_runs_differ_by_is_no_regression(
    put: Callable[..., Path], tmp_path: Path
) -> None:
    # within the margin; on the CPU; faster; end to end
    noise = (("/tile16/", 1.04), ("/cpu_serial/", 2.0), ("/s1_kernel_0/8", 0.5))
    put(_record(*noise, ("/tile16/1024x1024x1024/end_to_end", 1.5)), "report")
    put(_record(), "results", "nvidia-h200")
    below = _verify(tmp_path, 0)
    assert below[1].startswith("every verdict as expected, and none of")


def test_a_rung_without_its_times_is_named(put: Callable[..., Path], tmp_path: Path) -> None:
    broken = spoil(_record(), "/tile16/2048x", "incorrect", "wrong at [3, 4]")
    broken = spoil(broken, "/cpu_serial/", "not_run", "too slow")  # a CPU may be
    broken["cases"] = [c for c in broken["cases"] if c["strategy"] not in ("cublas", "s1_kernel_0")]
    put(_record(), "results", "nvidia-h200")
    put(broken, "report")
    found = [line for line in _verify(tmp_path, 1) if line.startswith("gone: ")]
    assert found[0].startswith("gone: matmul/s1_kernel_0 at ")
    assert re.search(r", now not in the record; so \d+ more of its cases$", found[0])
    assert re.match(
        r"gone: matmul/tile16 at 2048³, \w+: .*, now incorrect: wrong at \[3, 4\]; so 2", found[1]
    )
    assert len(found) == 2
    # what a run of less than everything leaves out is not gone, what it got wrong is
    broken["plan"]["preset"] = "quick"
    put(broken, "report")
    found = [line for line in _verify(tmp_path, 1) if line.startswith("gone: ")]
    assert [line.split(" at ")[0] for line in found] == ["gone: matmul/tile16"]


def test_a_gpu_on_which_everything_fails_is_no_machine_without_one(
    put: Callable[..., Path], tmp_path: Path
) -> None:
    put(spoil(_record(), "/", "failed", "launch: no kernel image is available"), "report")
    put(_record(), "results", "nvidia-h200")
    lines = _verify(tmp_path, 1)
    assert sum("now failed: launch: no kernel image" in line for line in lines) == 4
    # nor is one that was killed before its first case
    put({**_record(), "cases": [], "finished": None}, "report")
    result = run("verify", tmp_path / "report", "--expected", tmp_path / "results")
    assert result.returncode == 1 and "now not in the record" in result.stdout


@pytest.mark.parametrize("gpu", ["NVIDIA L4", "…"])
def test_of_another_gpu_nothing_is_expected(
    gpu: str, put: Callable[..., Path], tmp_path: Path
) -> None:
    put(_record(("/s0_tiles/", 2.0), gpu=gpu), "report")
    put(_record(), "results", "nvidia-h200")
    put(_record(), "results")
    line = f"no expectation for {gpu}: publish the report to make it one"
    assert _verify(tmp_path, 0)[1:] == [line]


def test_without_a_gpu_nothing_is_expected(put: Callable[..., Path], tmp_path: Path) -> None:
    put(make_record(SMALL, False, ROWS), "report")
    put(_record(), "results", "nvidia-h200")
    result = run("verify", tmp_path / "report", "--expected", tmp_path / "results")
    assert result.returncode == 0
    assert result.stdout.endswith("no GPU\nno expectation for a machine without a GPU\n")


def test_a_rendered_report_is_read(report: Callable[..., str], tmp_path: Path) -> None:
    report(make_record(SMALL, strategies=["s1_kernel_0", "s0_tiles"]))
    first = run("verify", tmp_path / "report", "--expected", tmp_path)
    assert first.returncode == 0 and re.search(r"^C12  depends +1\.57", first.stdout, re.M)
    # wherever the program is called from
    again = process("verify", tmp_path / "report", "--expected", tmp_path, cwd="/")
    assert (again.returncode, again.stdout) == (0, first.stdout)
