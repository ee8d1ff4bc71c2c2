"""The verdicts and times of a record in a terminal, and whether they are the expected ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import process, run
from recheck_report.commands.verify import differences
from recheck_report.formatting import margin as shown
from recheck_report.model.typed import typed
from recheck_report.model.verdicts import Verdicts
from recheck_report.statistics.variation import known
from synthetic import SMALL, Json, keep, make_record, scale, spoil

pytestmark = pytest.mark.usefixtures("no_variation")

CLAIMS: dict[str, tuple[str, Json | None, str | None]] = {
    "C11": ("holds", {"value": 2893.0, "low": 2835.0, "high": 2994.0, "unit": "×"}, None),
    "C14": ("fails here", {"value": 1.069, "low": 1.068, "high": 1.070, "unit": "×"}, None),
    "C21": ("undecided", {"value": 2.62e-3, "low": 2.6e-3, "high": 2.7e-3, "unit": "s"}, None),
    "C28": ("not measured", None, "there is no probes.json beside the record"),
    "C29": ("fails here", None, None),
}


def _document(**verdicts: str) -> dict[str, Any]:
    claims: list[Json] = []
    for name, (usual, measured, reason) in CLAIMS.items():
        verdict = verdicts.get(name, usual)
        unmeasured = verdict == "not measured"
        claims.append(
            {
                "id": name,
                "verdict": verdict,
                "measured": None if unmeasured else measured,
                "expected": "what the checks ask",
                "evidence": [],
                "reason": reason or "nobody knows" if unmeasured else None,
            }
        )
    origin = {
        "gpu": "NVIDIA H200",
        "commit": "a" * 40,
        "started": "2026-11-21T03:00:00Z",
        "schema": 3,
    }
    return {"schema": 2, "record": origin, "claims": claims}


def _verdicts(document: Json) -> Verdicts:
    return typed(Verdicts, document)


def test_each_difference_is_a_line() -> None:
    own = _verdicts(_document())
    expected = _document(C14="holds", C28="holds")
    # what only one of the two is judged by is no difference between them
    expected["claims"] = [each for each in expected["claims"] if each["id"] != "C11"]
    expected["claims"].append({**expected["claims"][0], "id": "C67"})
    assert differences(own, _verdicts(expected)) == [
        "C14: was holds, is fails here: 1.07 times as fast [1.07, 1.07]",
        "C28: was holds, is not measured: there is no probes.json beside the record",
    ]


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ("undecided", "fails here", []),
        ("undecided", "holds", []),
        ("undecided", "not measured", ["C21: was undecided, is not measured"]),
        ("holds", "undecided", ["C21: was holds, is undecided"]),
    ],
)
def test_what_was_undecided_may_be_decided(was: str, now: str, said: list[str]) -> None:
    own, expected = (_verdicts(_document(C21=verdict)) for verdict in (now, was))
    found = differences(own, expected)
    assert [line.split(": ", 2)[0:2] for line in found] == [each.split(": ") for each in said]


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
