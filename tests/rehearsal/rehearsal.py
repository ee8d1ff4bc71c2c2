#!/usr/bin/env python3
"""Rehearses, on the GPU at hand, what earlier GPUs would run.

    python3 tests/rehearsal/rehearsal.py --output FILE [--folder DIR] [--architectures 75,80,...]

For each architecture it builds Recheck as PTX for that one alone, which the driver compiles for
this GPU, and runs the GPU's tests: every row through the gate, and the mutants. Writes
rehearsal.json, of which reports/README.md has the form. Exit code 1: a test has failed, or is not
there on one of the builds. Exit code 2: nothing could be rehearsed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = 2
ARCHITECTURES = (75, 80, 86, 89, 90)
# not those that compare times, or look at power or at free memory: our other processes spoil these
FILTER = "gpu*:-*SecondTranscription*:*takes_memory*:*Power*"
ROWS, MUTANTS = ("Gate", "Launches", "Repeat"), ("Mutant", "Unspoiled", "Race")
MOST_SECONDS = 600  # for the tests of one process
CACHE_BYTES = str((1 << 32) - 1)  # of what the driver compiles: the most that it takes


class Impossible(Exception):
    """Nothing can be rehearsed; str() is one line for the user."""


def subject(test: str) -> tuple[str, str]:
    """What a test says something about: the kind, and the name, of a row or mutant that of all its
    tests."""
    suite, _, rest = test.partition(".")
    for kind, suites in (("row", ROWS), ("mutant", MUTANTS)):
        if suite.split("/")[-1] in suites and "/" in rest:
            return kind, rest.split("/", 1)[1]
    return "other", f"{suite.removeprefix('gpu_').removeprefix('gpu/')}.{rest}"


@dataclass(frozen=True)
class Result:
    status: str  # passed, not_run or failed
    reason: str | None


LOST = Result("failed", "was listed, and has no result")


def listed(program: Path) -> list[str]:
    """The GPU's tests of a program."""
    command = [str(program), "--gtest_list_tests", f"--gtest_filter={FILTER}"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found, suite = [], ""
    for line in text.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            found.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return found


def dealt(tests: list[str], hands: int) -> list[list[str]]:
    """The tests in about equal parts. Those of neighbouring rows stay together: a process has the
    driver compile a kernel file when it first launches one of its kernels."""
    order = list(dict.fromkeys(map(subject, tests)))
    tests = sorted(tests, key=lambda test: order.index(subject(test)))
    ends = [len(tests) * hand // hands for hand in range(hands + 1)]
    return [tests[begin:end] for begin, end in pairwise(ends) if begin < end]


def one_line(text: str) -> str:
    """What a test says, without the place in the source that it begins with."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and re.fullmatch(r"\S+:\d+", lines[0]):
        lines = lines[1:]
    return " ".join(lines)[:1000] or "without a reason"


def results_of(xml: bytes) -> dict[str, Result]:
    """The results in GoogleTest's XML, by the tests' full names."""
    found = {}
    for case in ElementTree.fromstring(xml).iter("testcase"):
        failure, skipped = case.find("failure"), case.find("skipped")
        if failure is not None:
            result = Result("failed", one_line(failure.get("message", "")))
        elif skipped is not None or case.get("result") == "skipped":
            said = skipped.get("message", "") if skipped is not None else ""
            result = Result("not_run", one_line(said))
        elif case.get("result") == "completed":
            result = Result("passed", None)
        else:
            continue
        found[f"{case.get('classname')}.{case.get('name')}"] = result
    return found


def run_part(program: Path, part: list[str], env: dict[str, str], log: Path) -> dict[str, Result]:
    """Runs these tests in one process. If it dies, all of them have failed."""
    report, flags = log.with_suffix(".xml"), log.with_suffix(".flags")
    report.unlink(missing_ok=True)
    # a flag file, as all names together may be longer than a command line
    names = ":".join(part)
    flags.write_text(f"--gtest_filter={names}\n", encoding="utf-8")
    command = [str(program), f"--gtest_flagfile={flags}", f"--gtest_output=xml:{report}"]
    try:
        with log.open("wb") as file:
            code = subprocess.run(
                [*command, "--gtest_color=no"], env=env, cwd=log.parent, check=False, stdout=file,
                stderr=subprocess.STDOUT, timeout=MOST_SECONDS,
            ).returncode  # fmt: skip
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        why = f"the process of {len(part)} tests ended with {how}: see {log}"
    except subprocess.TimeoutExpired:
        why = f"the process of {len(part)} tests was stopped after {MOST_SECONDS} s: see {log}"
    if report.exists():
        return results_of(report.read_bytes())
    return {test: Result("failed", why) for test in part}


def together(results: Iterable[Result]) -> dict[str, Any]:
    """One outcome of several tests: failed if one did, else passed if one did."""
    known = list(results)
    for status in ("failed", "passed", "not_run"):
        of_it = [result for result in known if result.status == status]
        if of_it:
            return {"status": status, "tests": len(known), "reason": of_it[0].reason}
    return {"status": "failed", "tests": 0, "reason": "has no test in this build"}


def outcomes(builds: Sequence[tuple[list[str], dict[str, Result]]]) -> list[dict[str, Any]]:
    """What became of each row, mutant and other test on each build. What one build lists and
    another does not has failed there, and so has what was listed and has no result."""
    subjects = dict.fromkeys(subject(test) for tests, _ in builds for test in tests)
    of: list[dict[tuple[str, str], list[Result]]] = []
    for tests, results in builds:
        own: dict[tuple[str, str], list[Result]] = {}
        for test in tests:
            own.setdefault(subject(test), []).append(results.get(test, LOST))
        of.append(own)
    return [
        {
            "name": name,
            "kind": kind,
            "outcomes": [together(own.get((kind, name), ())) for own in of],
        }
        for kind, name in subjects
    ]


@dataclass(frozen=True)
class Built:
    architecture: int
    folder: Path
    seconds: float

    @property
    def env(self) -> dict[str, str]:
        """Of its processes: what the driver compiles lies in a folder of its own."""
        own = {"CUDA_CACHE_PATH": str(self.folder / "jit"), "CUDA_CACHE_MAXSIZE": CACHE_BYTES}
        return os.environ | own


def build(
    architecture: int, folder: Path, cmake: str, more: Sequence[str], prefixes: Sequence[str]
) -> Built:
    """Recheck as PTX for one architecture, its log in `folder`.log."""
    own = os.environ.get("CMAKE_PREFIX_PATH")
    env = os.environ | {"CMAKE_PREFIX_PATH": ":".join([*prefixes, *([own] if own else [])])}
    start = time.monotonic()
    configure = [cmake, "-S", str(ROOT), "-B", str(folder), "-G", "Ninja", *more]
    configure += ["-D", "CMAKE_BUILD_TYPE=Release"]
    configure += ["-D", f"CMAKE_CUDA_ARCHITECTURES={architecture}-virtual"]
    compile_all = [cmake, "--build", str(folder), "--target", "recheck", "recheck_tests"]
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix(".log")
    with log.open("w", encoding="utf-8") as file:
        for command in (configure, compile_all):
            if subprocess.run(command, env=env, stdout=file, stderr=file, check=False).returncode:
                raise Impossible(f"PTX for {architecture} could not be built: see {log}")
    return Built(architecture, folder, time.monotonic() - start)


def rehearse(built: Built, processes: int) -> tuple[list[str], dict[str, Result], float]:
    """All tests on one build, and how long they took."""
    start = time.monotonic()
    program, folder = built.folder / "tests/recheck_tests", built.folder / "rehearsal"
    folder.mkdir(exist_ok=True)
    tests, found = listed(program), dict[str, Result]()
    with ThreadPoolExecutor(processes) as pool:
        running = [
            pool.submit(run_part, program, part, built.env, folder / f"{at}.log")
            for at, part in enumerate(dealt(tests, processes))
        ]
        for each in running:
            found |= each.result()
    return tests, found, time.monotonic() - start


def probed(built: Built) -> dict[str, Any]:
    """What a record of the build says of machine and code."""
    folder = built.folder / "probe"
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier rehearsal
    command = [str(built.folder / "experiments/recheck"), "--experiment=matmul", "--regime=cold"]
    command += ["--strategy=tile16", "--shape=48x32x16", "--per-case=0.005", f"--output={folder}"]
    done = subprocess.run(command, env=built.env, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Impossible(f"recheck: {one_line(done.stderr[-1000:])}")
    record = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    environment: dict[str, Any] = record["environment"]
    if environment["gpu"] is None:
        raise Impossible(f"there is nothing to rehearse on: {environment['gpu_reason']}")
    if environment["code"] != "ptx":
        raise Impossible(f"the build for {built.architecture} has {environment['code']}, not PTX")
    return environment


def counted(tests: list[dict[str, Any]], at: int) -> str:
    found = []
    for kind, words in (("row", "rows"), ("mutant", "mutants"), ("other", "other tests")):
        own = [each["outcomes"][at]["status"] for each in tests if each["kind"] == kind]
        parts = [f"{own.count('passed')} passed", f"{own.count('not_run')} not run"]
        found.append(f"{words}: {', '.join(parts)}, {own.count('failed')} failed")
    return "; ".join(found)


def failures(rehearsal: dict[str, Any]) -> Iterator[str]:
    for test in rehearsal["tests"]:
        for own, outcome in zip(rehearsal["builds"], test["outcomes"], strict=True):
            if outcome["status"] == "failed":
                yield f"{own['architecture']}: {test['kind']} {test['name']}: {outcome['reason']}"


def run(arguments: argparse.Namespace) -> int:
    builds, results, machine = [], [], dict[str, Any]()
    more = (arguments.cmake, arguments.define, arguments.prefix)
    with ThreadPoolExecutor(1) as builder:
        # the next build goes on while this one's tests run
        coming = [
            builder.submit(build, each, arguments.folder.resolve() / str(each), *more)
            for each in sorted(set(arguments.architectures))
        ]
        for each in coming:
            built = each.result()
            environment = probed(built)
            gpu, git = environment["gpu"], environment["git"]
            machine = {"gpu": gpu["name"], "uuid_hash": gpu["uuid_hash"]}
            machine |= {"driver": environment["driver"], "nvcc": environment["nvcc"]}
            machine |= {"commit": git["commit"], "dirty": git["dirty"]}
            tests, outcome, seconds = rehearse(built, arguments.processes)
            results.append((tests, outcome))
            times = {"build_seconds": round(built.seconds, 1), "test_seconds": round(seconds, 1)}
            builds.append({"architecture": built.architecture, **times})
            counts = counted(outcomes(results), len(results) - 1)
            took = f"built in {built.seconds:.0f} s, tested in {seconds:.0f} s"
            print(f"{built.architecture}: {counts}; {took}", flush=True)
    rehearsal = {"schema": SCHEMA, "environment": machine, "builds": builds}
    rehearsal |= {"tests": outcomes(results), "choices": []}  # choices: of earlier rehearsals
    unfinished = arguments.output.with_name(arguments.output.name + ".part")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    unfinished.write_text(json.dumps(rehearsal, indent=1, ensure_ascii=False) + "\n", "utf-8")
    unfinished.replace(arguments.output)
    wrong = list(failures(rehearsal))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Rehearses what earlier GPUs would run.")
    option, default = parser.add_argument, ROOT / "build/rehearsal"
    option("--output", type=Path, required=True, metavar="FILE")
    option("--folder", type=Path, default=default, metavar="DIR", help="of the builds")
    option(
        "--architectures", type=lambda text: [int(each) for each in text.split(",")],
        default=list(ARCHITECTURES), metavar="LIST", help="compute capabilities, such as 75,80",
    )  # fmt: skip
    option("--processes", type=int, default=16, help="that share the GPU's tests")
    option("--cmake", default="cmake", help="the program that builds")
    option("--define", action="append", default=[], help="a word for CMake")
    found = "where CMake finds packages too"
    option("--prefix", action="append", default=[], metavar="DIR", help=found)
    try:
        return run(parser.parse_args(argv))
    except Impossible as why:
        print(f"error: {why}", file=sys.stderr)
    except OSError as problem:
        print(f"error: {problem.filename}: {problem.strerror}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
