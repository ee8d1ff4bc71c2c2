"""Each command as a process: it starts from any folder, and fails with one line."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ENVIRONMENT, EXPERIMENTS, one_line, process, run, words_of
from recheck_report.cli import COMMANDS
from records import bend, few, h100, keep

FAILS = {
    "render": (["none", "--output", "out"], 2, "none: cannot be read"),
    "compare": (["none", "--output", "out"], 2, "none: cannot be read"),
    "publish": (["none", "--results", "out"], 2, "none/record.json: cannot be read"),
    "verify": (["none"], 2, "none: cannot be read"),
    "fleet": (["none", "--output", "out"], 2, "none: is not a folder; the target fleet_run"),
}


@pytest.mark.parametrize("command", FAILS)
def test_fails_in_one_line(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, code, why = FAILS[command]
    monkeypatch.chdir(tmp_path)
    assert why in one_line(run(command, *arguments), code)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example_and_the_exit_codes(command: str) -> None:
    said = run(command, "--help").stdout
    example = re.search(r"^example: recheck-report (.*)$", said, re.MULTILINE)
    assert example and example[1].startswith(f"{command} ")
    # the example uses only existing options
    assert set(re.findall(r"--\w+", example[1])) <= set(re.findall(r"^  (--\w+)", said, re.M))
    assert re.findall(r"^ +(\d+)  \w", said, re.M) == ["0", "1", "2", "130"]
    assert max(map(len, said.split("\n"))) <= 100


@pytest.mark.parametrize("command", COMMANDS)
def test_wrong_arguments_are_one_line(command: str) -> None:
    result = run(command, "--no-such-flag")
    assert result.returncode == 2 and result.stdout == ""
    assert re.fullmatch(r"error: [^\n]+--help lists the options\n", result.stderr)


def test_the_build_has_a_command_for_its_own_packages(tmp_path: Path) -> None:
    program = Path(os.environ.get("RECHECK", "")).absolute().parents[1] / "recheck-report"
    if not program.is_file():
        pytest.skip("RECHECK does not say where the build is")
    words = [str(program), "verify", str(tmp_path / "not there")]
    # from any folder and in any environment
    bare = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    result = subprocess.run(words, cwd=tmp_path, env=bare, capture_output=True, text=True)
    assert result.returncode == 2 and result.stderr.startswith("error: ")
    assert "not there" in result.stderr and not any(tmp_path.iterdir())


def test_claims_are_those_of_the_current_folder(tmp_path: Path) -> None:
    verify = [sys.executable, "-m", "recheck_report", "verify", str(tmp_path)]
    for place, why in ((tmp_path, "experiments: is not a folder"), (EXPERIMENTS.parent, "")):
        keep(tmp_path, h100("none"))
        result = subprocess.run(verify, capture_output=True, text=True, cwd=place, env=ENVIRONMENT)
        assert why in (one_line(result, 2) if why else result.stderr)
        assert result.returncode == (2 if why else 0)


# standard output


def test_a_full_standard_output(record: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("/dev/full does not exist")
    words = [sys.executable, "-m", "recheck_report", *words_of("verify", record)]
    env = {**os.environ, **ENVIRONMENT, "PYTHONUNBUFFERED": ""}
    with Path("/dev/full").open("w") as full:
        found = subprocess.run(words, env=env, stdout=full, stderr=subprocess.PIPE, text=True)
    assert found.returncode == 1
    assert found.stderr == "error: standard output: cannot be written: No space left on device\n"


def test_an_ascii_terminal_gets_question_marks(tmp_path: Path) -> None:
    record = keep(tmp_path, bend(few(), "environment.gpu.name", "Ω"))
    found = process("verify", record, env={"PYTHONIOENCODING": "ascii"})
    assert found.returncode == 0 and "?" in found.stdout and not found.stderr


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return keep(tmp_path / "input", few())
