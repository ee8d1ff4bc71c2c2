"""Each program as a process: it starts from any folder, and says in one line why it fails."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import one_line, process

FAILS = {
    "render.py": (["none", "--output", "out"], 2, "none: cannot be read"),
    "compare.py": (["none", "--output", "out"], 2, "none: cannot be read"),
    "publish.py": (["none"], 2, "none/record.json: cannot be read"),
    "verify.py": (["none"], 2, "none/verdicts.json: cannot be read"),
    "lint.py": (["none"], 2, "none/README.md: cannot be read"),
    "best.py": (["--results", "."], 2, "record.json: is not complete JSON"),
    "../experiments/harness/probes.py": (
        ["recheck", "tests", "--experiments", "none", "--output", "probes.json"],
        2,
        "none: ",
    ),
}


@pytest.mark.parametrize("program", FAILS)
def test_fails_in_one_line(program: str, tmp_path: Path) -> None:
    arguments, code, why = FAILS[program]
    (tmp_path / "gpu").mkdir()
    (tmp_path / "gpu" / "record.json").write_text("{")
    assert why in one_line(process(program, *arguments, cwd=tmp_path), code)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gpu"]


@pytest.mark.parametrize("program", FAILS)
def test_wrong_arguments_are_shown_with_the_usage(program: str) -> None:
    result = process(program, "--no-such-flag")
    assert result.returncode == 2 and result.stdout == ""
    assert result.stderr.startswith(f"usage: {Path(program).name} ")
