#!/usr/bin/env python3
"""Rehearses, on the GPU at hand, what earlier GPUs would run.

    python3 tests/rehearsal/rehearsal.py --output FILE [--folder DIR] [--architectures 75,80,...]

For each architecture it builds Recheck as PTX for that one alone, which the driver compiles for
this GPU, and runs the GPU's tests: every row through the gate, the mutants, `best`. Then, on the
build for CHOICES and on the one that records are made with (--native), `best` is timed beside every
row that runs there, at random products of matrices; on the latter beside the vendor's library too.
Writes rehearsal.json, of which reports/README.md has the form. One that was cut off goes on behind
the last build whose tests had passed. Exit code 1: a test has failed, or is not there on one of the
builds. Exit code 2: nothing could be rehearsed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
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
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = 2
ARCHITECTURES = (75, 80, 86, 89, 90)
CHOICES = 80  # the build on which `best` is held against all rows
TARGETS = ("recheck", "recheck_best", "recheck_tests")
# these compare times, or look at power or at what memory is left, which others of our processes
# would spoil
FILTER = "gpu*:-*SecondTranscription*:gpu_Dispatch*:*takes_memory*:*Power*:*CouldSkip*"
ROWS, MUTANTS = ("Gate", "Launches", "Repeat"), ("Mutant", "Unspoiled", "Race")
PER_CASE, SHAPES = 0.005, 200
# where `best`, or the row that it takes, has less than that of the fastest row's speed, it may be
# by chance, as the least of many short measurements is too low: they are timed a second time, with
# so many times the budget, of which a row takes what its samples need
DOUBTED, MORE = 0.95, 10
TINY = "48x32x16"
MOST_FLOPS, MOST_ELEMENTS = 4e9, 1 << 26  # of a product, and of one of its matrices
MOST_SECONDS = 600  # for the tests of one process
CACHE_BYTES = str((1 << 32) - 1)  # of what the driver compiles: the most that it takes


class Impossible(Exception):
    """Nothing can be rehearsed; str() is one line for the user."""


# the tests


@dataclass(frozen=True)
class Listed:
    """A test as GoogleTest names it, and what its outcome says something about."""

    full: str

    @property
    def subject(self) -> tuple[str, str]:
        """The kind, and the name: of a row or mutant that of all its tests."""
        suite, _, rest = self.full.partition(".")
        own = suite.split("/")[-1]
        for kind, suites in (("row", ROWS), ("mutant", MUTANTS)):
            if own in suites and "/" in rest:
                return kind, rest.split("/", 1)[1]
        return "other", f"{suite.removeprefix('gpu_').removeprefix('gpu/')}.{rest}"


@dataclass(frozen=True)
class Result:
    status: str  # passed, not_run or failed
    reason: str | None


LOST = Result("failed", "was listed, and has no result")


def listed(program: Path) -> list[Listed]:
    """The GPU's tests of a program."""
    command = [str(program), "--gtest_list_tests", f"--gtest_filter={FILTER}"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found, suite = [], ""
    for line in text.splitlines():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            found.append(Listed(suite + name.strip()))
        elif name.endswith("."):
            suite = name
    return found


def dealt(tests: list[Listed], hands: int) -> list[list[Listed]]:
    """The tests in about equal parts. Those of neighbouring rows stay together: a process has the
    driver compile a kernel file when it first launches one of its kernels."""
    order = {subject: at for at, subject in enumerate(dict.fromkeys(t.subject for t in tests))}
    tests = sorted(tests, key=lambda test: order[test.subject])
    ends = [len(tests) * hand // hands for hand in range(hands + 1)]
    parts = [tests[begin:end] for begin, end in zip(ends, ends[1:], strict=False)]
    return [part for part in parts if part]


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


def finished_in(output: str) -> tuple[dict[str, Result], str | None]:
    """Of a process that has died: the results that it still printed, and the test it died in."""
    words = {"OK": "passed", "SKIPPED": "not_run", "FAILED": "failed"}
    found: dict[str, Result] = {}
    running = None
    for word, name in re.findall(r"^\[ +(RUN|OK|SKIPPED|FAILED) +\] (\S+)", output, re.M):
        name = name.rstrip(",")
        if word == "RUN":
            running = name
        elif name == running:
            reason = None if word == "OK" else "its process died before it could say why"
            found[name] = Result(words[word], reason)
            running = None
    return found, running


def ended(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    return f"signal {signal.Signals(-code).name}"


def ended_with(
    command: list[str], env: dict[str, str], folder: Path, output: IO[bytes]
) -> int | None:
    """The exit code of a process; None if it had to be stopped."""
    try:
        return subprocess.run(
            command, env=env, cwd=folder, check=False, stdout=output, stderr=subprocess.STDOUT,
            timeout=MOST_SECONDS,
        ).returncode  # fmt: skip
    except subprocess.TimeoutExpired:
        return None


def run_part(
    program: Path, part: list[Listed], env: dict[str, str], log: Path
) -> dict[str, Result]:
    """Runs these tests in one process, or in several, if one dies."""
    found: dict[str, Result] = {}
    left = [test.full for test in part]
    report = log.with_suffix(".xml")
    while left:
        report.unlink(missing_ok=True)
        # a flag file, as all names together may be longer than a command line
        flags = log.with_suffix(".flags")
        flags.write_text("--gtest_filter=" + ":".join(left) + "\n", encoding="utf-8")
        command = [str(program), f"--gtest_flagfile={flags}", f"--gtest_output=xml:{report}"]
        said_by = log.with_suffix(".part")
        with said_by.open("wb") as file:
            code = ended_with([*command, "--gtest_color=no"], env, log.parent, file)
        text = said_by.read_text(encoding="utf-8", errors="replace")
        with log.open("a", encoding="utf-8") as file_of_all:
            file_of_all.write(text)
        if report.exists():
            return found | results_of(report.read_bytes())
        said, running = finished_in(text)
        if running is None:
            running = next((name for name in left if name not in said), left[0])
        how = f"was stopped after {MOST_SECONDS} s" if code is None else f"ended with {ended(code)}"
        said[running] = Result("failed", f"its process {how}")
        found |= said
        left = [name for name in left if name not in said]
    return found


def together(results: Iterable[Result]) -> dict[str, Any]:
    """One outcome of several tests: failed if one did, else passed if one did."""
    known = list(results)
    for status in ("failed", "passed", "not_run"):
        of_it = [result for result in known if result.status == status]
        if of_it:
            return {"status": status, "tests": len(known), "reason": of_it[0].reason}
    return {"status": "failed", "tests": 0, "reason": "has no test in this build"}


def outcomes(builds: Sequence[tuple[list[Listed], dict[str, Result]]]) -> list[dict[str, Any]]:
    """What became of each row, mutant and other test on each build. What one build lists and
    another does not has failed there, and so has what was listed and has no result."""
    subjects = dict.fromkeys(test.subject for tests, _ in builds for test in tests)
    by_subject: list[dict[tuple[str, str], list[Result]]] = []
    for tests, results in builds:
        own: dict[tuple[str, str], list[Result]] = {}
        for test in tests:
            own.setdefault(test.subject, []).append(results.get(test.full, LOST))
        by_subject.append(own)
    return [
        {
            "name": name,
            "kind": kind,
            "outcomes": [together(own.get((kind, name), [])) for own in by_subject],
        }
        for kind, name in subjects
    ]


# random products


def products(count: int, seed: int) -> list[tuple[int, int, int]]:
    """Random products, in the order of their work: m, n and k log-uniform from 1 to 8192; of every
    five one is thin and one has few outputs and a deep sum; every third has whole tiles of 16.
    16x16x1000000 is one of them."""
    chance = random.Random(seed)

    def extent(most: int) -> int:
        # random() is the same in every version of Python
        return max(1, min(most, int(most ** chance.random() + 0.5)))

    found = {(16, 16, 1000000): None} if count else {}
    while len(found) < count:
        kind, m, n, k = len(found) % 5, extent(8192), extent(8192), extent(8192)
        if kind == 0:
            thin = extent(16)
            m, n = (thin, n) if chance.random() < 0.5 else (m, thin)
        elif kind == 1:
            m, n, k = extent(128), extent(128), 1024 * extent(128)
        if len(found) % 3 == 0:
            m, n, k = (-(-each // 16) * 16 for each in (m, n, k))
        if 2.0 * m * n * k <= MOST_FLOPS and max(m * n, m * k, k * n) <= MOST_ELEMENTS:
            found[m, n, k] = None
    return sorted(found, key=lambda product: (product[0] * product[1] * product[2], product))


def seed_of(commit: str) -> int:
    return int(commit[:6], 16) if re.match("[0-9a-f]{6}", commit) else 0


def asked(program: Path, *words: str) -> list[str]:
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Impossible(f"{program.name}: {one_line(done.stderr)}")
    return done.stdout.splitlines()


def measured(
    program: Path, folder: Path, env: dict[str, str], rows: Sequence[str], shapes: Sequence[str],
    per_case: float,
) -> dict[str, Any]:  # fmt: skip
    """The record of these rows of the products of matrices at these shapes, cold; without rows of
    all."""
    command = [str(program), "--experiment=matmul", "--regime=cold"]
    command += [f"--strategy={','.join(rows)}"] if rows else []
    command += [f"--shape={','.join(shapes)}", f"--per-case={per_case}", f"--output={folder}"]
    shutil.rmtree(folder, ignore_errors=True)  # of a rehearsal that was killed
    done = subprocess.run(command, env=env, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Impossible(f"{program.name}: {one_line(done.stderr[-1000:])}")
    record: dict[str, Any] = json.loads((folder / "record.json").read_text(encoding="utf-8"))
    return record


Times = dict[tuple[str, str], float]  # by row and shape


def medians(record: dict[str, Any]) -> Times:
    found = {}
    for case in record["cases"]:
        if case["seconds"]:
            _, row, shape, _ = case["id"].split("/")
            found[row, shape] = float(case["seconds"]["median"])
    return found


def doubted(
    times: Times, rows: Sequence[str], shapes: Sequence[str], taken: dict[str, str]
) -> dict[str, list[str]]:
    """The products at which the fastest row is well ahead of `best`, or of the row that `best`
    takes, if that was timed: the same kernel, so that luck hides no slow choice either. And the
    rows that may be the fastest there: those no slower than the slower of these two."""
    found = {}
    for shape in shapes:
        timed = {row: times[row, shape] for row in rows if (row, shape) in times}
        own = [times[row, shape] for row in ("best", taken[shape]) if (row, shape) in times]
        if ("best", shape) in times and timed and min(timed.values()) < DOUBTED * max(own):
            found[shape] = [row for row, seconds in timed.items() if seconds <= max(own)]
    return found


def choices(
    architecture: int | None, programs: Path, folder: Path, env: dict[str, str], commit: str,
    count: int, seed: int,
) -> tuple[dict[str, Any], list[str]]:  # fmt: skip
    """`best` against all rows of IEEE fp32 at random products, and what went wrong."""
    known = measured(programs / "recheck", folder, env, [], [TINY], PER_CASE)
    if known["environment"]["git"]["commit"] != commit:
        raise Impossible(f"{programs / 'recheck'} is of another commit: build it again")
    best = asked(programs / "recheck_best", "--rungs")
    # the library has code of its own for this GPU, so only what is made for it is held against that
    roles = ("rung",) if architecture else ("rung", "baseline")
    # of sweeps the points that best may take
    rows = [
        row["name"]
        for row in known["strategies"]
        if (row["target"], row["arithmetic"]) == ("gpu", "fp32")
        and row["role"] in roles
        and row["name"] != "best"
        and (not row["sweep"] or row["name"] in best)
    ]
    shapes = ["x".join(map(str, product)) for product in products(count, seed)]
    taken = dict(
        line.split() for line in asked(programs / "recheck_best", "--shape=" + ",".join(shapes))
    )
    record = measured(programs / "recheck", folder, env, ["best", *rows], shapes, PER_CASE)
    cases, times, first = record["cases"], medians(record), dict[str, float]()
    again = doubted(times, rows, shapes, taken)
    if again:
        near = ["best", *(row for row in rows if any(row in own for own in again.values()))]
        record = measured(programs / "recheck", folder, env, near, list(again), MORE * PER_CASE)
        for shape, own in again.items():
            first[shape] = min(times[row, shape] for row in own) / times["best", shape]
        # what has no time now has none: never one of each kind side by side
        times = {at: own for at, own in times.items() if at[0] not in near or at[1] not in again}
        times |= medians(record)
        cases += record["cases"]
    wrong = [
        f"{case['id']}: {case['status']}: {case['reason']}"
        for case in cases
        if case["status"] in ("incorrect", "failed")
    ]
    rows = [row for row in rows if any((row, shape) in times for shape in shapes)]
    found = {
        "architecture": architecture,
        "seed": seed,
        "regime": "cold",
        "rows": rows,
        "shapes": [
            {
                **dict(zip("mnk", map(int, shape.split("x")), strict=True)),
                "choice": taken[shape],
                "best": times.get(("best", shape)),
                "seconds": [times.get((row, shape)) for row in rows],
                "first": first.get(shape),
            }
            for shape in shapes
        ],
    }
    return found, wrong


# builds


@dataclass(frozen=True)
class Built:
    architecture: int
    folder: Path
    seconds: float

    @property
    def tests(self) -> Path:
        return self.folder / "tests"

    @property
    def programs(self) -> Path:
        return self.folder / "experiments"

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
    configure = [
        cmake,
        "-S",
        str(ROOT),
        "-B",
        str(folder),
        "-G",
        "Ninja",
        "-D",
        "CMAKE_BUILD_TYPE=Release",
    ]
    configure += ["-D", f"CMAKE_CUDA_ARCHITECTURES={architecture}-virtual", *more]
    compile_all = [cmake, "--build", str(folder), "--target", *TARGETS]
    folder.parent.mkdir(parents=True, exist_ok=True)
    log = folder.with_suffix(".log")
    with log.open("w", encoding="utf-8") as file:
        for command in (configure, compile_all):
            if subprocess.run(command, env=env, stdout=file, stderr=file, check=False).returncode:
                raise Impossible(f"PTX for {architecture} could not be built: see {log}")
    return Built(architecture, folder, time.monotonic() - start)


def rehearse(built: Built, processes: int) -> tuple[list[Listed], dict[str, Result], float]:
    """All tests on one build, and how long they took."""
    start = time.monotonic()
    program, folder = built.tests / "recheck_tests", built.folder / "rehearsal"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.log"):
        old.unlink()
    tests, found = listed(program), dict[str, Result]()
    with ThreadPoolExecutor(processes) as pool:
        running = [
            pool.submit(run_part, program, part, built.env, folder / f"{at}.log")
            for at, part in enumerate(dealt(tests, processes))
        ]
        for each in running:
            found |= each.result()
    return tests, found, time.monotonic() - start


def rehearsed(
    built: Built, processes: int, machine: dict[str, Any]
) -> tuple[list[Listed], dict[str, Result], float]:
    """The same, as an earlier rehearsal has left it behind if the program and the machine are still
    the same and no test had failed."""
    kept = built.folder / "rehearsed.json"
    program = (built.tests / "recheck_tests").stat()
    about = {**machine, "program": [program.st_size, program.st_mtime_ns]}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        then = json.loads(kept.read_text(encoding="utf-8"))
        if then["about"] == about:
            known = {name: Result(*result) for name, result in then["results"].items()}
            return [Listed(name) for name in then["tests"]], known, float(then["seconds"])
    tests, found, seconds = rehearse(built, processes)
    if all(found.get(test.full, LOST).status != "failed" for test in tests):
        results = {name: [own.status, own.reason] for name, own in found.items()}
        names = [test.full for test in tests]
        then = {"about": about, "tests": names, "results": results, "seconds": seconds}
        replace(kept, json.dumps(then))
    return tests, found, seconds


def replace(path: Path, text: str) -> None:
    """Writes a file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(text, encoding="utf-8")
    unfinished.replace(path)


def probed(built: Built) -> dict[str, Any]:
    """What a record of the build says of machine and code."""
    record = measured(
        built.programs / "recheck", built.folder / "probe", built.env, ["tile16"], [TINY], PER_CASE
    )
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
    architectures, folder = sorted(set(arguments.architectures)), arguments.folder.resolve()
    if arguments.shapes and CHOICES not in architectures:
        raise Impossible(f"random products need the build for {CHOICES}: add it, or --shapes 0")
    builds, results, found, wrong = [], [], list[dict[str, Any]](), list[str]()
    machine: dict[str, Any] = {}
    chosen_on = None
    with ThreadPoolExecutor(1) as builder:
        # the next build goes on while this one's tests run
        coming = [
            builder.submit(
                build, each, folder / str(each), arguments.cmake, arguments.define, arguments.prefix
            )
            for each in architectures
        ]
        for each in coming:
            built = each.result()
            environment = probed(built)
            gpu, git = environment["gpu"], environment["git"]
            machine = {
                "gpu": gpu["name"],
                "uuid_hash": gpu["uuid_hash"],
                "driver": environment["driver"],
                "commit": git["commit"],
                "dirty": git["dirty"],
                "nvcc": environment["nvcc"],
            }
            tests, outcome, seconds = rehearsed(built, arguments.processes, machine)
            results.append((tests, outcome))
            builds.append(
                {
                    "architecture": built.architecture,
                    "build_seconds": round(built.seconds, 1),
                    "test_seconds": round(seconds, 1),
                }
            )
            took = f"built in {built.seconds:.0f} s, tested in {seconds:.0f} s"
            counts = counted(outcomes(results), len(results) - 1)
            print(f"{built.architecture}: {counts}; {took}", flush=True)
            if built.architecture == CHOICES:
                chosen_on = built
    # others for each commit: `best` is fitted to those of earlier ones
    seed = arguments.seed if arguments.seed is not None else seed_of(machine["commit"])
    # nothing is built any more while times are taken
    tries: list[tuple[int | None, Path, Path, dict[str, str]]] = []
    if arguments.shapes and chosen_on is not None:
        tries.append((CHOICES, chosen_on.programs, chosen_on.folder / "choices", chosen_on.env))
    if arguments.shapes and arguments.native is not None:
        tries.append((None, arguments.native.resolve(), folder / "choices", dict(os.environ)))
    for tried in tries:
        one, more = choices(*tried, machine["commit"], arguments.shapes, seed)
        found.append(one)
        wrong += more
    rehearsal = {
        "schema": SCHEMA,
        "environment": machine,
        "builds": builds,
        "tests": outcomes(results),
        "choices": found,
    }
    replace(arguments.output, json.dumps(rehearsal, indent=1, ensure_ascii=False) + "\n")
    wrong = [*failures(rehearsal), *wrong]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Rehearses what earlier GPUs would run.")
    parser.add_argument("--output", type=Path, required=True, metavar="FILE")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build/rehearsal", metavar="DIR", help="of the builds"
    )
    parser.add_argument(
        "--architectures",
        type=lambda text: [int(each) for each in text.split(",")],
        default=list(ARCHITECTURES),
        metavar="LIST",
        help="compute capabilities, such as 75,80",
    )
    parser.add_argument("--processes", type=int, default=16, help="that share the GPU's tests")
    parser.add_argument("--shapes", type=int, default=SHAPES, help="random products; 0: none")
    parser.add_argument("--seed", type=int, help="of the products; else from the commit")
    parser.add_argument(
        "--native", type=Path, metavar="DIR", help="the programs that records are made with"
    )
    parser.add_argument("--cmake", default="cmake", help="the program that builds")
    parser.add_argument("--define", action="append", default=[], help="a word for CMake")
    parser.add_argument(
        "--prefix",
        action="append",
        default=[],
        metavar="DIR",
        help="where CMake finds packages too",
    )
    try:
        return run(parser.parse_args(argv))
    except Impossible as why:
        print(f"error: {why}", file=sys.stderr)
    except OSError as problem:
        print(f"error: {problem.filename}: {problem.strerror}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
