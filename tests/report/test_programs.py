"""Each command as a process: it starts from any folder, and says in one line why it fails."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ENVIRONMENT, EXPERIMENTS, one_line, process, run

FAILS = {
    "render": (["none", "--output", "out"], 2, "none: cannot be read"),
    "compare": (["none", "--output", "out"], 2, "none: cannot be read"),
    "publish": (["none", "--results", "out"], 2, "none/record.json: cannot be read"),
    "verify": (["none"], 2, "none/verdicts.json: cannot be read"),
    "lint": (["none"], 2, "none/README.md: cannot be read"),
    "collect": (["recheck", "--output", "probes.json"], 2, "experiments: is no folder; --exp"),
}


@pytest.mark.parametrize("command", FAILS)
def test_fails_in_one_line(command: str, tmp_path: Path) -> None:
    arguments, code, why = FAILS[command]
    assert why in one_line(process(command, *arguments, cwd=tmp_path), code)
    assert list(tmp_path.iterdir()) == []


def test_so_does_what_writes_the_tables_of_best(tmp_path: Path) -> None:
    (tmp_path / "gpu").mkdir()
    (tmp_path / "gpu" / "record.json").write_text("{")
    words = [sys.executable, str(EXPERIMENTS.parent / "kernels/best.py"), "--results", "."]
    result = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=ENVIRONMENT)
    assert "record.json: is not complete JSON" in one_line(result, 2)


@pytest.mark.parametrize("command", FAILS)
def test_wrong_arguments_are_shown_with_the_usage(command: str) -> None:
    result = run(command, "--no-such-flag")
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith(f"usage: recheck-report {command} ")


def test_nothing_is_published_without_a_place(tmp_path: Path) -> None:
    """Whose evidence it is nobody can guess: least of all that it is of the renderer's tree."""
    result = run("publish", tmp_path)
    assert result.returncode == 2 and "required: --results" in result.stderr


def test_claims_are_those_of_the_folder_at_hand(tmp_path: Path) -> None:
    verify = [sys.executable, "-m", "recheck_report", "verify", str(tmp_path)]
    for place, why in ((tmp_path, "experiments: is no folder"), (EXPERIMENTS.parent, "")):
        (tmp_path / "verdicts.json").write_text(
            '{"schema": 1, "claims": [], "record": '
            '{"gpu": null, "commit": null, "started": "", "schema": 4}}'
        )
        result = subprocess.run(verify, capture_output=True, text=True, cwd=place, env=ENVIRONMENT)
        assert why in (one_line(result, 2) if why else result.stderr)
        assert result.returncode == (2 if why else 0)
