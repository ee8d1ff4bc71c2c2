"""Measures this GPU for a pull request: builds, tests, counts, measures the full matrix, and packs
all of it into one file, which `receive` takes over as evidence.

It is run in the source tree, at a commit that the repository has. Whatever would have the file
refused in the end, as far as it shows before, is said at once. Each step says how long it took, and
one that was interrupted goes on with --resume. What is not there to be asked, such as Nsight
Compute, is “not measured”, which is no hindrance; a GPU is.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import platform
import re
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from recheck_report.collect.programs import execute
from recheck_report.commands import Failed

BUILD = Path("build", "release")  # of the preset
STATE = BUILD / "contribution.json"
OUTCOMES = BUILD / "contribution_tests.xml"  # of CTest
MEASURED = "measured"  # as the target `report` has it
JOURNAL = BUILD / MEASURED / "record.journal.jsonl"
MAIN = "origin/HEAD"  # the main branch of what was cloned
NEXT = """Put that file into reports/incoming/ on a branch of its own, and open a pull request with
it alone: CONTRIBUTING.md, “A new GPU in one hour”, says what happens to it there."""
NOTHING = "nothing can be contributed from here: "


def no_gpu() -> str | None:
    """Why CUDA finds no device, before minutes go into a build; None if it finds one."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "there is no NVIDIA driver (libcuda.so.1)"
    count = ctypes.c_int(0)
    if (error := cuda.cuInit(0)) or (error := cuda.cuDeviceGetCount(ctypes.byref(count))):
        return f"the NVIDIA driver finds no GPU that CUDA can use (error {error})"
    return None if count.value else "the NVIDIA driver finds no GPU"


def head() -> str:
    """The commit that is checked out; raises Failed where its record would be refused."""
    if not Path("CMakePresets.json").is_file():
        raise Failed(
            "run it in the folder that holds CMakePresets.json, the root of the source tree"
        )
    commit = execute("git", "rev-parse", "HEAD")
    if commit.code:
        raise Failed(f"{NOTHING}this source tree is in no git repository; clone it")
    if changed := execute("git", "status", "--porcelain").out.splitlines():
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise Failed(f"{NOTHING}there are changes ({changed[0][3:]}{more}); commit or remove them")
    found = commit.out.strip()
    # where nothing was ever cloned there is nothing to compare with
    if not execute("git", "rev-parse", "--verify", "--quiet", MAIN).code and (
        execute("git", "merge-base", "--is-ancestor", found, MAIN).code
    ):
        what = f"the main branch as it was fetched ({MAIN}) has no {found[:7]}"
        raise Failed(f"{NOTHING}{what}; check out one of its commits, or fetch")
    return found


@dataclass
class State:
    """What was done at a commit, kept in a file so that --resume can go on; `pack` reads it too."""

    commit: str
    tools: dict[str, str | None]
    done: list[str] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)  # {name, seconds}, as begun
    tests: dict[str, Any] = field(default_factory=dict)

    def took(self, name: str, seconds: float) -> None:
        """Adds that to a step, and saves all."""
        if not self.begun(name):
            self.steps.append({"name": name, "seconds": 0.0})
        own = next(each for each in self.steps if each["name"] == name)
        own["seconds"] = round(own["seconds"] + seconds, 1)
        STATE.parent.mkdir(parents=True, exist_ok=True)
        temporary = STATE.with_suffix(".new")
        temporary.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")
        os.replace(temporary, STATE)

    def begun(self, name: str) -> bool:
        return any(each["name"] == name for each in self.steps)


def anew(commit: str) -> State:
    cmake = re.search(r"version (\S+)", execute("cmake", "--version").out)
    return State(
        commit, {"cmake": cmake[1] if cmake else None, "python": platform.python_version()}
    )


def earlier(commit: str) -> State:
    """What an earlier run at this commit has left; raises Failed if there is none."""
    try:
        found = State(**json.loads(STATE.read_bytes()))
    except (OSError, ValueError, TypeError) as error:
        raise Failed(f"{STATE}: there is nothing to resume; run without --resume") from error
    if found.commit != commit:
        what = f"was begun at {found.commit[:7]}, and this is {commit[:7]}"
        raise Failed(f"{STATE}: {what}; check that out, or run without --resume")
    return found


def do(*words: str | Path, folder: Path = Path()) -> None:
    """Runs a program, which speaks for itself; raises Failed if it fails."""
    command = [str(word) for word in words]
    try:
        # with standard output as ours, what is printed to the user keeps its order
        ended = subprocess.run(command, cwd=folder, check=False)
    except OSError as error:
        raise Failed(f"{words[0]}: {error.strerror}") from error
    if ended.returncode in (130, -2):
        raise KeyboardInterrupt
    if ended.returncode:
        raise Failed(
            f"{command[0]} failed with exit code {ended.returncode}: see above, then --resume"
        )


def build(state: State) -> None:
    do("cmake", "--preset", "release")
    cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    if not re.search(r"^CMAKE_CUDA_COMPILER:\w+=(?!OFF$|.*NOTFOUND$).", cache, re.M):
        raise Failed(
            f"{NOTHING}CMake found no CUDA Toolkit: install it, or set CUDACXX to its nvcc"
        )
    do("cmake", "--build", "--preset", "release")


def tests(state: State) -> None:
    """Every row at every awkward shape, every mutant, compute-sanitizer's tools."""
    results = ("--output-junit", OUTCOMES.resolve())
    do("ctest", "--preset", "release", "--label-regex", "^gpu$", *results)
    passed, skipped = 0, []
    for case in ElementTree.parse(OUTCOMES).iter("testcase"):
        if case.get("status") == "run":
            passed += 1
        else:
            skipped.append(case.get("name", ""))
    if not passed:
        raise Failed(
            f"{NOTHING}no GPU test could be tried; ctest --preset release -L gpu -V says why"
        )
    state.tests = {"passed": passed, "skipped": skipped}


def probes(state: State) -> None:
    do("cmake", "--build", "--preset", "release", "--target", "probes")


def accuracy(state: State) -> None:
    do("cmake", "--build", "--preset", "release", "--target", "accuracy")


def measure(state: State) -> None:
    resume = ["--resume"] if state.begun("full matrix") and left(state.commit) else []
    program = (BUILD / "experiments" / "recheck").resolve()
    do(program, f"--output={MEASURED}", *resume, folder=BUILD)


def left(commit: str) -> bool:
    """Whether there is something of a run at this commit to go on behind."""
    if JOURNAL.exists():
        return True
    try:
        own = json.loads((BUILD / MEASURED / "record.json").read_bytes())
        return bool(own["environment"]["git"]["commit"] == commit)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def pack(state: State) -> None:
    # what draws is in the build's Python, where CMake had to install it
    own = BUILD / "python" / "bin" / "python"
    python = own if own.exists() else sys.executable
    words = ("pack", BUILD / MEASURED, "--about", STATE, "--output", BUILD)
    do(python, "-m", "recheck_report", *words)


STEPS: dict[str, Callable[[State], None]] = {
    "build": build,
    "tests": tests,
    "probes": probes,
    "accuracy": accuracy,
    "full matrix": measure,
    "pack": pack,
}


def options(parser: argparse.ArgumentParser) -> None:
    says = "go on behind the steps that are done, and within the full matrix"
    parser.add_argument("--resume", action="store_true", help=says)


def run(options: argparse.Namespace) -> int:
    commit = head()
    if why := no_gpu():
        raise Failed(f"{NOTHING}{why}")
    state = earlier(commit) if options.resume else anew(commit)
    if not options.resume and JOURNAL.exists():
        raise Failed(f"{JOURNAL} is of a run that was killed: go on with --resume, or remove it")
    for name, step in STEPS.items():
        if name in state.done:
            continue
        print(f"contribute: {name}", file=sys.stderr, flush=True)
        start = time.monotonic()
        try:
            step(state)
            state.done += [name] if name != "pack" else []  # which may be packed again
        except KeyboardInterrupt:
            print(f"contribute: interrupted in {name}; go on with --resume", file=sys.stderr)
            raise
        finally:
            state.took(name, time.monotonic() - start)
    for each in state.steps:
        print(f"{each['name']:12}{each['seconds']:8.0f} s")
    print(NEXT)
    return 0
