#!/usr/bin/env python3
"""Compares the harness's medians with Nsight Compute's gpu__time_duration for the same launches.

    python3 tests/agreement.py RECHECK NCU FOLDER

Kernels of 60 µs and more must agree within 3 %. The exit code is 1 if one does not, and 77 with a
reason if the comparison is impossible.
"""

from __future__ import annotations

import csv
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

# short, medium, long
CASES = {
    "matvec/block_per_row/8192x8192/cold": "block_per_row_kernel",
    "transpose/naive/8192x8192/cold": "naive_kernel",
    "matmul/tile16/4096x4096x4096/cold": "tile_kernel",
}
LIMIT = 0.03
SKIPPED = 77


def measure(recheck: str, folder: Path) -> dict[str, float]:
    """The harness's own medians, in seconds."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cases.txt").write_text("\n".join(CASES))
    command = [recheck, f"--cases={folder / 'cases.txt'}", f"--output={folder}"]
    subprocess.run(command, check=True, capture_output=True)
    record = json.loads((folder / "record.json").read_text())
    if record["environment"]["gpu"] is None:
        print(f"not measured: {record['environment']['gpu_reason']}")
        raise SystemExit(SKIPPED)
    for row in record["cases"]:
        if row["seconds"] is None:
            raise SystemExit(f"{row['id']}: {row['status']}: {row['reason']}")
    return {row["id"]: float(row["seconds"]["median"]) for row in record["cases"]}


def profile(recheck: str, ncu: str, case: str, kernel: str, folder: Path) -> float:
    """Nsight Compute's time for the same launches, in seconds."""
    experiment, strategy, shape, regime = case.split("/")
    command = [ncu, "--csv", "--metrics", "gpu__time_duration.sum", "--print-units", "base"]
    # leave the clock as in the harness; both flush the caches
    command += ["--clock-control", "none", "--kernel-name", f"regex:^{kernel}"]
    # proofs, on integers and on reals, come first
    command += ["--launch-skip", "8", "--launch-count", "30"]
    command += [recheck, f"--experiment={experiment}", f"--strategy={strategy}"]
    # Nsight Compute slows each launch down, and a forked process's most of all
    command += [f"--shape={shape}", f"--regime={regime}", "--per-case=4", f"--output={folder}"]
    environment = os.environ | {"RECHECK_NO_RESCUE": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if "ERR_NVGPUCTRPERM" in result.stdout + result.stderr:
        print("not measured: Nsight Compute may not read the GPU's counters here")
        raise SystemExit(SKIPPED)
    lines = [line for line in result.stdout.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    durations = [
        float(row["Metric Value"].replace(",", "")) * 1e-9
        for row in rows
        if row["Metric Name"] == "gpu__time_duration.sum"
    ]
    if len(durations) < 10:
        raise SystemExit(f"{case}: Nsight Compute saw {len(durations)} launches: {result.stderr}")
    return statistics.median(durations)


def main(recheck: str, ncu: str, folder: str) -> int:
    if not ncu or ncu.endswith("NOTFOUND"):
        print("not measured: ncu was not found")
        return SKIPPED
    bad = 0
    medians = measure(recheck, Path(folder))
    for case, kernel in CASES.items():
        own = medians[case]
        other = profile(recheck, ncu, case, kernel, Path(folder) / "profiled")
        apart = own / other - 1
        wrong = abs(apart) > LIMIT
        bad += wrong
        verdict = "too far apart" if wrong else "agrees"
        print(f"{case}: {own * 1e6:.2f} µs, ncu {other * 1e6:.2f} µs, {apart:+.2%}: {verdict}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
