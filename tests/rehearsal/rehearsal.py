#!/usr/bin/env python3
"""Runs the GPU's tests as earlier GPUs would run them, on the GPU at hand.

    python3 tests/rehearsal/rehearsal.py [--folder DIR] [--architectures 75,80,...]

For each architecture it builds the tests as PTX for that one alone, which the driver compiles for
this GPU, and runs every row and every mutant through the gate. It prints a line for each
architecture, and one for each test that failed. Exit code 1: a test failed, or its process died.
Exit code 2: nothing could be rehearsed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ARCHITECTURES = (75, 80, 86, 89, 90)
# without what looks at the pace of seconds, which others of our processes spoil
FILTER = "gpu*:-*Power*"
PROGRAMS = {"recheck_tests": "tests", "peak_tests": "tests/peak"}  # and their folders
CACHE_BYTES = str((1 << 32) - 1)  # of what the driver compiles: the most that it takes


class Impossible(Exception):
    """Nothing can be rehearsed; str() is one line for the user."""


def build(architecture: int, folder: Path, cmake: str, words: Sequence[str]) -> list[Path]:
    """Builds the tests as PTX for one architecture; returns the programs."""
    code = f"-DCMAKE_CUDA_ARCHITECTURES={architecture}-virtual"
    log = folder / "build.log"
    folder.mkdir(parents=True, exist_ok=True)
    steps = [
        [cmake, "--preset", "peak", "-S", str(ROOT), "-B", str(folder), code, *words],
        [cmake, "--build", str(folder), "--target", *PROGRAMS],
    ]
    with log.open("wb") as file:
        for step in steps:
            done = subprocess.run(step, cwd=ROOT, stdout=file, stderr=file, check=False)
            if done.returncode:
                raise Impossible(f"the build for {architecture} failed: see {log}")
    return [folder / place / name for name, place in PROGRAMS.items()]


def run(program: Path, folder: Path, processes: int) -> dict[str, str]:
    """Runs a program's tests in so many processes; returns what became of each: "" if it passed,
    "skipped", or why it failed."""
    env = os.environ | {"CUDA_CACHE_PATH": str(folder / "cache"), "CUDA_CACHE_MAXSIZE": CACHE_BYTES}
    running = []
    for index in range(processes):
        report = folder / f"{program.name}_{index}.xml"
        report.unlink(missing_ok=True)
        words = [str(program), f"--gtest_filter={FILTER}", f"--gtest_output=xml:{report}"]
        words.append(f"--shard={index}/{processes}")
        with report.with_suffix(".log").open("wb") as log:
            running.append((report, subprocess.Popen(words, env=env, stdout=log, stderr=log)))
    found: dict[str, str] = {}
    for report, process in running:
        code = process.wait()
        if report.exists():
            found |= dict(outcomes(report.read_bytes()))
        else:
            name = f"{program.name}, process {report.stem}"
            log_file = report.with_suffix(".log")
            found[name] = f"ended with {code} before its last test: see {log_file}"
    return found


def outcomes(xml: bytes) -> Iterator[tuple[str, str]]:
    """The tests of GoogleTest's XML, each with "", "skipped", or why it failed."""
    for case in ElementTree.fromstring(xml).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        failure = case.find("failure")
        if failure is not None:
            yield name, " ".join(failure.get("message", "").split())[:1000] or "failed"
        elif case.find("skipped") is not None or case.get("result") == "skipped":
            yield name, "skipped"
        elif case.get("result") == "completed":
            yield name, ""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Runs the GPU's tests as earlier GPUs would.")
    add = parser.add_argument
    folder = ROOT / "build/rehearsal"
    add("--folder", type=Path, default=folder, metavar="DIR", help="of the builds")
    listed = ",".join(map(str, ARCHITECTURES))
    add("--architectures", default=listed, metavar="LIST", help=f"default: {listed}")
    add("--processes", type=int, default=16, help="that share the GPU's tests")
    add("--cmake", default="cmake", help="the program that builds")
    add("words", nargs="*", help="more words for CMake, such as -DCMAKE_CUDA_COMPILER=...")
    options = parser.parse_args(argv)
    failed = 0
    try:
        for architecture in map(int, options.architectures.split(",")):
            folder, start = options.folder.resolve() / str(architecture), time.monotonic()
            found: dict[str, str] = {}
            for program in build(architecture, folder, options.cmake, options.words):
                found |= run(program, folder, options.processes)
            skipped = sum(each == "skipped" for each in found.values())
            wrong = {name: why for name, why in found.items() if why not in ("", "skipped")}
            passed = len(found) - skipped - len(wrong)
            if not passed and not wrong:
                raise Impossible(f"no test of {architecture} ran: is there a GPU?")
            counts = f"{passed} passed, {skipped} not run, {len(wrong)} failed"
            print(f"{architecture}: {counts}; {time.monotonic() - start:.0f} s", flush=True)
            for name, why in wrong.items():
                print(f"{architecture}: {name}: {why}", file=sys.stderr)
            failed += len(wrong)
    except (Impossible, ValueError) as why:
        print(f"error: {why}", file=sys.stderr)
        return 2
    except OSError as problem:
        print(f"error: {problem.filename}: {problem.strerror}", file=sys.stderr)
        return 2
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
