"""The programs that CTest and `collect` start: a failing test is never reported as skipped, nor a
run without tests as passed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ENVIRONMENT, REPORTS, built
from recheck_report.collect import programs

TESTS = REPORTS.parent / "tests"
SHARDS = {"GTEST_TOTAL_SHARDS": "4", "GTEST_SHARD_INDEX": "3"}
CHOOSING: tuple[dict[str, str], ...] = (
    SHARDS,
    {"GTEST_FILTER": "-*"},
    {"GTEST_REPEAT": "0"},
    {"TESTBRIDGE_TEST_ONLY": "x"},
    {"TEST_PREMATURE_EXIT_FILE": "/nowhere/x"},
)


def _end(*words: object, **env: str) -> subprocess.CompletedProcess[str]:
    own = os.environ | ENVIRONMENT | env
    return subprocess.run([*map(str, words)], env=own, capture_output=True, text=True)


@pytest.fixture
def tests() -> str:
    return built("recheck_tests")


@pytest.mark.parametrize("env", CHOOSING, ids=lambda env: next(iter(env)))
def test_the_environment_does_not_select_googletest_tests(tests: str, env: dict[str, str]) -> None:
    for words in (["--gtest_list_tests"], ["--gtest_filter=Matvec*:DocumentsTolerance*"]):
        said = [_end(tests, *words, **more).stdout for more in ({}, env)]
        names = [re.findall(r"OK \] (\S+)|^  (\w\S+)", each, re.M) for each in said]
        assert names[0] == names[1] and len(names[0]) > 3


def test_a_run_without_tests_fails(tests: str) -> None:
    assert _end(tests, "--gtest_filter=none").returncode == 1
    assert _end(tests, "--gtest_filter=ProductErrorBound*", "--shard=0/2").returncode == 0
    assert _end(tests, "--gtest_filter=ProductErrorBound*", "--shard=2/2").returncode == 1


def test_collect_removes_variables_that_select_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GTEST_TOTAL_SHARDS", "TESTBRIDGE_TEST_ONLY", "BENCHMARK_FILTER", "KEPT"):
        monkeypatch.setenv(name, "here")
    assert re.findall(r"(\w+)=here", programs.execute("env").out) == ["KEPT"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import pytest\ndef test_one(): pytest.skip()\ndef test_two(): pass", 0),
        ("import pytest\npytestmark = pytest.mark.skip\ndef test_one(): pass", 77),
        ("def test_one():\n    print('1 skipped in 1 s\\nnot measured: x')\n    assert False", 1),
    ],
)
def test_pytest_exits_with_77_if_all_is_skipped(text: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(text)
    words = (sys.executable, TESTS / "run_pytest.py", tmp_path)
    assert _end(*words, PYTEST_ADDOPTS="-k none", PYTEST_PLUGINS="none").returncode == code


@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("skip('no tool')", 77),
        ("message('not measured: no tool')", 0),
        ("file(TOUCH $ENV{RECHECK_SKIPPED})\nmessage(FATAL_ERROR 'not measured: no tool')", 1),
    ],
)
def test_a_script_that_fails_is_not_skipped(script: str, code: int, tmp_path: Path) -> None:
    path = tmp_path / "script.cmake"
    path.write_text(f"include({TESTS}/skip.cmake)\n{script}\n".replace("'", '"'))
    assert _end("sh", TESTS / "skippable.sh", "cmake", "-P", path).returncode == code
