"""verify: a record's verdicts and times in a terminal, compared with the expected ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import GPU as FOLDER
from conftest import run
from records import Json, few, keep, matching, scale, set_time, spoil, without

pytestmark = pytest.mark.usefixtures("no_variation")


GPU = "NVIDIA H100 80GB HBM3"


def _record(*changes: tuple[str, float], gpu: str = GPU) -> Json:
    made = few()
    made["plan"]["preset"] = "full"
    made["environment"]["git"]["commit"] = "a" * 40
    made["environment"]["gpu"]["name"] = gpu
    for pattern, factor in changes:
        made = scale(made, pattern, factor)
    return made


Verify = Callable[..., list[str]]


@pytest.fixture
def verify(tmp_path: Path) -> Verify:
    """The lines that verify prints about a record, compared with an expected one."""

    def run_with(record: Json, code: int, expected: Json | None = None) -> list[str]:
        keep(tmp_path / "report", record)
        keep(tmp_path / "results" / FOLDER, expected or _record())
        result = run("verify", tmp_path / "report", "--expected", tmp_path / "results")
        assert result.returncode == code and result.stderr == "", result.stdout + result.stderr
        return result.stdout.rstrip("\n").split("\n")

    return run_with


def test_a_verdict_that_differs_is_a_line(verify: Verify) -> None:
    lines = verify(_record(("/s0_tiles/", 0.1)), 1)
    assert any(line.startswith("C12: was depends, is holds: ") for line in lines)


def test_a_verdict_may_be_decided_and_must_not_become_undecided(verify: Verify) -> None:
    unsure = _record()
    for case in matching(unsure, "/1024x1024x1024/cold"):
        median = case["seconds"]["median"]
        set_time(case, median, median / 5, median * 5)
    for record, expected, code in ((_record(), unsure, 0), (unsure, _record(), 1)):
        lines = verify(record, code, expected)
        turned = [line for line in lines if re.match(r"C\d\d: was ", line)]
        assert bool(turned) == bool(code)
        assert all(", is undecided: " in line for line in turned)


def test_a_slower_kernel_is_a_line(verify: Verify) -> None:
    slow = (("/tile16/", 1.2), ("/tile16/4096x4096x4096/cold", 1.5), ("/cublas/", 2))
    (line,) = (line for line in verify(_record(*slow), 1) if line.startswith("slower: "))
    found = re.match(r"slower: matmul/tile16 at 4096³, cold: .* 1\.80.*× slower \[", line)
    assert found and re.search(r"; so are \d of its \d+ other cases$", line)  # without cublas


def test_differences_within_run_to_run_noise_are_not_regressions(verify: Verify) -> None:
    # within the noise; on the CPU; faster; end to end
    noise = (("/tile16/", 1.04), ("/s1_cpu/", 2.0), ("/s1_kernel_0/8", 0.5))
    below = verify(_record(*noise, ("/tile16/1024x1024x1024/end_to_end", 1.5)), 0)
    assert below[1].startswith("every verdict as expected, and none of")


def test_a_kernel_without_its_times_is_named(verify: Verify) -> None:
    broken = spoil(_record(), "/tile16/2048x", "incorrect", "wrong at [3, 4]")
    broken = spoil(broken, "/s1_cpu/", "not_run", "too slow")  # allowed on a CPU
    broken = without(without(broken, "/cublas/"), "/s1_kernel_0/")

    def gone() -> list[str]:
        return [line for line in verify(broken, 1) if line.startswith("gone: ")]

    first, second = gone()
    assert first.startswith("gone: matmul/s1_kernel_0 at ") and "now not in the record" in first
    assert second.startswith("gone: matmul/tile16 at 2048³") and "wrong at [3, 4]" in second
    # cases outside a quick run are not missing; wrong results count
    broken["plan"]["preset"] = "quick"
    assert [line.split(" at ")[0] for line in gone()] == ["gone: matmul/tile16"]


def test_a_gpu_on_which_everything_fails_differs_from_no_gpu(verify: Verify) -> None:
    lines = verify(spoil(_record(), "/", "failed", "launch: no kernel image is available"), 1)
    assert sum("now failed: launch: no kernel image" in line for line in lines) > 2
    # so does a run that was killed before its first case
    lines = verify({**_record(), "cases": [], "finished": None}, 1)
    assert any("now not in the record" in line for line in lines)


@pytest.mark.parametrize("gpu", ["NVIDIA L4", "…"])
def test_another_gpu_has_no_expectations(gpu: str, verify: Verify, tmp_path: Path) -> None:
    keep(tmp_path / "results", _record())
    line = f"no expectation for {gpu}: publish the report to make it one"
    assert verify(_record(("/s0_tiles/", 2.0), gpu=gpu), 0)[1:] == [line]
