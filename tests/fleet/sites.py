"""Sites to run the fleet's suite on, and replacements for `recheck` there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPORTS, built

TREE = REPORTS.parent
COMMITTED = REPORTS / "results" / "nvidia-h200"
H200, OTHER = "NVIDIA H200", "Simulated GPU"
# CPU rows only; LONG leaves enough time to interrupt a run
SHORT = "--experiment=matvec --strategy=cpu_serial,s3_sse --shape=512x512 --per-case=0.02"
SHAPES = ",".join(f"{size}x{size}" for size in range(500, 1000, 16))
LONG = f"--experiment=matvec --strategy=cpu_serial,s3_sse --shape={SHAPES}"


def reframe() -> Path:
    """Skips the test if ReFrame is not installed."""
    found = Path(os.environ.get("RECHECK_FLEET_PYTHON", "none")).with_name("reframe")
    if not found.is_file():
        pytest.skip("not measured: ReFrame is not installed; the target fleet_python does it")
    return found


def script(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in ("#!/bin/sh", *lines)))
    path.chmod(0o755)
    return path


def measuring(path: Path, flags: str) -> Path:
    """Runs `recheck` for some rows and prints its process id."""
    return script(path, 'echo "process $$"', f'exec {built("recheck")} {flags} "$@"')


def replaying(path: Path, record: Path) -> Path:
    """A replacement for `recheck` that returns an existing record."""
    return script(
        path,
        "for word; do case $word in --output=*) to=${word#--output=} ;; esac; done",
        'echo "GPU $CUDA_VISIBLE_DEVICES"',
        f'test -z "$to" || {{ mkdir -p "$to" && cp {record}/* "$to"; }}',
    )


def other(folder: Path) -> Path:
    """The committed record, as of a fictitious GPU."""
    shutil.copytree(COMMITTED, folder, ignore=lambda *_: {"charts", "probes.json"})
    record = json.loads((folder / "record.json").read_bytes())
    record["environment"]["gpu"] |= {"name": OTHER, "uuid_hash": "0" * 16}
    (folder / "record.json").write_text(json.dumps(record))
    return folder


def cut(folder: Path) -> Path:
    """The committed record without its end."""
    shutil.copytree(COMMITTED, folder, ignore=lambda *_: {"charts"})
    text = (folder / "record.json").read_bytes()
    (folder / "record.json").write_bytes(text[: len(text) // 2])
    return folder


def committed(folder: Path) -> Path:
    folder.mkdir()
    for name in ("record.json", "samples.jsonl.bz2"):
        shutil.copy(COMMITTED / name, folder)
    return folder


def gpu(model: str) -> dict[str, Any]:
    """A partition's description of its GPU."""
    return {
        "features": ["gpu"],
        "devices": [{"type": "gpu", "model": model, "arch": "sm_90", "num_devices": 1}],
    }


def site(path: Path, partitions: Iterable[dict[str, Any]], programs: dict[str, Path]) -> Path:
    """A site's configuration; each program is an environment's `recheck`."""
    common = {"launcher": "local", "max_jobs": 1}
    environments = [
        {"name": name, "features": ["cuda", "cpu"], "extras": {"recheck": str(program)}}
        for name, program in programs.items()
    ]
    system = {
        "name": "site",
        "hostnames": [".*"],
        "partitions": [common | each for each in partitions],
    }
    found = {"systems": [system], "environments": environments}
    path.write_text(f"site_configuration = {found!r}\n")
    return path


def start(site: Path, output: Path, *more: str, env: Any = None) -> subprocess.Popen[str]:
    """ReFrame as the target fleet_run starts it."""
    fleet = TREE / "experiments/fleet"
    words = [reframe(), "-C", fleet / "settings.py", "-C", site, "-c", fleet / "suite.py"]
    return subprocess.Popen(
        [*map(str, words), *(more or ["--run", "--exec-policy=serial"])],
        env={**os.environ, "RECHECK_FLEET": str(output), **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(run: subprocess.Popen[str]) -> str:
    said, _ = run.communicate(timeout=400)
    return said
