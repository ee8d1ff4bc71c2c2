#!/usr/bin/env python3
"""Runs quick, as users run it, on a machine in bad shape: each run has to end in a report.

    python3 tests/rough/rough.py BUILD [--output DIR] [--flags="--per-case=0.2"] [CONDITION ...]

BUILD is a build folder with the targets recheck, rough_load and recheck_python_packages. Needs a
GPU. Conditions, by default all: quiet, shared (another process computes on the GPU half of the
time), second (another recheck runs at the same time), busy (a busy loop on every core), counters
(Nsight Compute is not permitted to count), blocking (CUDA_LAUNCH_BLOCKING=1: refused, then forced).

A condition fails if a command does not exit with 0, there is no report, a row is incorrect, or the
report's top does not name the cause where times suffered. Exit code: how many conditions failed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

# what the report's top has to say
CAUSES = {
    "quiet": None,
    "shared": "another process used the GPU",
    "second": "another process used the GPU",
    "busy": "other programs used the CPUs",
    "counters": None,
    "blocking": "CUDA_LAUNCH_BLOCKING",
}
SUFFERED = "Disturbed times"
SPIN = "while True: pass"
# what Nsight Compute prints where counters are for administrators
NO_PERMISSION = """#!/bin/sh
echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU \\
Performance Counters on the target device 0."
exit 1
"""


@contextlib.contextmanager
def running(*commands: list[str]) -> Iterator[None]:
    """These processes, for as long as the context lasts."""
    processes = [subprocess.Popen(each, stdout=subprocess.DEVNULL) for each in commands]
    try:
        time.sleep(2 if commands else 0)
        yield
    finally:
        for each in processes:
            each.kill()
            each.wait()


class Rough:
    def __init__(self, build: Path, output: Path, flags: list[str]) -> None:
        self.output, self.flags = output, flags
        self.recheck = build / "experiments" / "recheck"
        self.load = build / "tests" / "rough_load"
        self.report = build / "recheck-report"
        self.experiments = Path(__file__).resolve().parents[2] / "experiments"

    def call(self, log: Path, *command: object, **variables: str) -> int:
        """The exit code of a command, whose output goes to a file."""
        with log.open("a") as file:
            words = [str(each) for each in command]
            both = {"stdout": file, "stderr": subprocess.STDOUT}
            env = os.environ | variables
            return subprocess.run(words, env=env, check=False, **both).returncode  # type: ignore[call-overload,no-any-return]

    def quick(self, name: str, *flags: str, ncu: object = "", **variables: str) -> list[str]:
        """What is wrong with a quick run and its report; nothing if both are right."""
        folder, log = self.output / name, self.output / f"{name}.log"
        words: list[object] = ["measure", self.recheck, "--quick", "--measured", folder]
        words += ["--report", folder / "report", "--experiments", self.experiments]
        words += ["--ncu", ncu, "--flags", *self.flags, *flags]
        if code := self.call(log, self.report, *words, **variables):
            return [f"recheck-report exits with {code}; see {log}"]
        cases = json.loads((folder / "record.json").read_text())["cases"]
        found = [
            f"incorrect: {c['id']}: {c['reason']}" for c in cases if c["status"] == "incorrect"
        ]
        top = (folder / "report" / "README.md").read_text().split("\n## ")[0]
        cause = CAUSES.get(name.split("-")[0])
        if cause and cause not in top:
            found.append(f"the report's top does not say: {cause}")
        if not cause and SUFFERED in top:
            found.append(next(line for line in top.splitlines() if SUFFERED in line))
        return found

    def summary(self, name: str) -> str:
        """Counts of a record's cases."""
        file = self.output / name / "record.json"
        if not file.exists():
            return "no record"
        cases = json.loads(file.read_text())["cases"]
        status = Counter(each["status"] for each in cases)
        disturbed = Counter(each["disturbed"] for each in cases if each["disturbed"])
        aside = sum((each["seconds"] or {}).get("discarded", 0) for each in cases)
        return f"{dict(status)}, disturbed {dict(disturbed)}, {aside} samples set aside"

    def try_one(self, name: str) -> list[str]:
        if name == "shared":
            with running([str(self.load), "4", "4"]):
                return self.quick(name)
        if name == "busy":
            with running(*[[sys.executable, "-c", SPIN]] * (os.cpu_count() or 1)):
                return self.quick(name)
        if name == "second":
            words = [sys.executable, __file__, str(self.recheck.parents[1]), "second-other"]
            words += ["--output", str(self.output), f"--flags={' '.join(self.flags)}"]
            other = subprocess.Popen(words)
            found = self.quick(name)
            return found + (["the other recheck failed"] if other.wait() else [])
        if name == "counters":
            return self.without_counters(name)
        if name == "blocking":
            log, folder = self.output / f"{name}.log", self.output / name
            asked: list[object] = [self.recheck, "--experiment=machine", f"--output={folder}"]
            code = self.call(log, *asked, CUDA_LAUNCH_BLOCKING="1")
            if code != 2 or "--force" not in log.read_text():
                return [f"it is not refused with a way out, exit code {code}; see {log}"]
            return self.quick(name, "--force", CUDA_LAUNCH_BLOCKING="1")
        return self.quick(name)

    def without_counters(self, name: str) -> list[str]:
        """Counters are refused while they are collected; the report says so and has the rest."""
        folder, stub = self.output / name, self.output / "ncu"
        folder.mkdir(parents=True, exist_ok=True)
        stub.write_text(NO_PERMISSION)
        stub.chmod(0o755)
        found = self.quick(name, ncu=stub)
        if "may not read" not in (folder / "probes.json").read_text():
            found.append("probes.json does not say that counting is not permitted")
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("conditions", nargs="*", default=list(CAUSES), metavar="CONDITION")
    parser.add_argument("--output", type=Path, default=Path("rough"))
    parser.add_argument("--flags", default="", help="more flags of recheck")
    options = parser.parse_args()
    for each in options.conditions:
        if each.split("-")[0] not in CAUSES:
            parser.error(f"unknown condition {each}: there are {', '.join(CAUSES)}")
    options.output.mkdir(parents=True, exist_ok=True)
    rough = Rough(options.build.resolve(), options.output.resolve(), options.flags.split())
    failed = 0
    for name in options.conditions:
        start = time.monotonic()
        wrong = rough.try_one(name)
        failed += bool(wrong)
        verdict = "FAILED" if wrong else "ok"
        print(f"{name}: {verdict} after {time.monotonic() - start:.0f} s: {rough.summary(name)}")
        for line in wrong:
            print(f"  {line}")
        sys.stdout.flush()
    return failed


if __name__ == "__main__":
    sys.exit(main())
