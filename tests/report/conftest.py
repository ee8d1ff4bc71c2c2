"""Runs the renderer as a user does: as a program, on files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

REPORTS = Path(__file__).parents[2] / "reports"
sys.path.insert(0, str(REPORTS))
# the tests leave no files in the source tree
sys.dont_write_bytecode = True


def run(program: str, *arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    """reports/<program> with these arguments; options go to subprocess.run."""
    options["env"] = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **options.get("env", {})}
    command = [sys.executable, str(REPORTS / program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def one_line(result: subprocess.CompletedProcess[str], code: int) -> str:
    """The single line of standard error of a run that must end with `code`."""
    assert result.returncode == code, result.stderr
    assert result.stderr.count("\n") == 1 and result.stdout == "", result.stderr
    return result.stderr


def tree(folder: Path) -> dict[str, bytes]:
    """Every file under a folder; hidden leftovers of a failed write would show here."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


# rows of the golden report's study: one of each kind
ACCURACY = ["cpu_serial", "tile16", "full_strip16", "cublas", "cublas_tf32", "split_fp16x3"]
ACCURACY += ["split_fp16x3_promote128", "split_fp16x3_promote_none", "split_bf16x6"]


@pytest.fixture(scope="session")
def golden(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the report that golden.md is the README.md of, rendered once."""
    from measured import read
    from render import render
    from synthetic import make_full, pack, spoil, unpack
    from synthetic_accuracy import make_accuracy, make_larger
    from synthetic_claims import make_probes

    record = spoil(make_full(small=True), "/tile8_depth8/2048x", "failed", "launch: a | b <c>")
    folder = tmp_path_factory.mktemp("golden")
    unpack(pack(record), folder)
    (folder / "probes.json").write_text(json.dumps(make_probes(record)), encoding="utf-8")
    accuracy = make_accuracy(record, ACCURACY)
    (folder / "accuracy.json").write_text(json.dumps(accuracy), encoding="utf-8")
    larger = make_larger(record, ["tile16", "cublas", "split_fp16x3", "split_bf16x6"])
    (folder / "accuracy_large.json").write_text(json.dumps(larger), encoding="utf-8")
    return render(read(folder), [])


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Writes a record to a file of its own."""

    def write(record: Any, name: str = "record.json") -> Path:
        path = tmp_path / "input" / name
        path.parent.mkdir(exist_ok=True)
        text = record if isinstance(record, str) else json.dumps(record)
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def report(save: Callable[..., Path], tmp_path: Path) -> Callable[..., str]:
    """Renders a record to tmp_path/report and returns its README.md."""

    def render(record: Any, *beside: Any) -> str:
        paths = [save(other, f"beside{at}.json") for at, other in enumerate(beside)]
        options = ["--beside", *paths] if paths else []
        result = run("render.py", save(record), "--output", tmp_path / "report", *options)
        assert result.returncode == 0, result.stderr
        return (tmp_path / "report" / "README.md").read_text(encoding="utf-8")

    return render
