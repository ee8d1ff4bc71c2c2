"""Outcomes of tests: of GoogleTest, of compute-sanitizer's racecheck, and whether nvcc compiles a
snippet of the errata. Each is an outcome, or the reason why there is none."""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from recheck_report.claims.collection import FIXED
from recheck_report.collect.programs import AT_ONCE, Ended, at_once, execute, is_program, say
from recheck_report.record.probes import Trial

# reasons for failures that are not the test's subject
TROUBLE = re.compile(r"out of (?:host |device )?memory|bad_alloc|cudaErrorMemoryAllocation")
NO_TEST = "this build lacks the test, as it does those of kernels without CUDA"
# no machine code is needed for errors; deprecated features count as refused
COMPILE = ("-ptx", "-Werror", "deprecated-declarations")
NOT_BELIEVED = "racecheck finds no hazard where there is one"
# a kernel of the harness that writes to all of shared memory
LEFT_OUT = "kns=poison_shared_kernel"
# words in racecheck's lines about incomplete checking
INCOMPLETE = "[Ee]rror|not supported|[Uu]nsupported|[Uu]nable to|[Ff]ailed to|terminated before"
# a test of a kernel that has hazards
KNOWN = "gpu/Race.RunsAtASmallSize/matmul_s0_first_barrier_missing"


def outcome(result: str, count: int = 0) -> Trial:
    return Trial(None, result, count)


def no_outcome(why: str, prefix: str = "not measured: ") -> Trial:
    return Trial(f"{prefix}{why}", None, 0)


# GoogleTest


@dataclass(frozen=True)
class Result:
    """A test in GoogleTest's output: OK, FAILED, SKIPPED, or RUN if it never ended."""

    state: str
    why: str  # the line before a skip, which is never its first, or a failure's unrelated reason


def parse_output(output: str) -> dict[str, Result]:
    """The tests in an output, by name."""
    tests: dict[str, Result] = {}
    before = trouble = ""
    for line in output.splitlines():
        if match := TROUBLE.search(line):
            trouble = match[0]
        match = re.match(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] ([\w./]+)", line)
        # the lists at the end repeat names
        if match and (match[2] not in tests or tests[match[2]].state == "RUN"):
            why = {"SKIPPED": before, "FAILED": trouble}.get(match[1], "")
            tests[match[2]] = Result(match[1], why)
            trouble = ""
        before = line.strip() or before
    return tests


def listed(tests: str) -> frozenset[str]:
    """The names of all tests of a program; empty if it fails."""
    suite, names = "", set[str]()
    ended = execute(tests, "--gtest_list_tests")
    for line in ended.out.splitlines() if ended.code == 0 else ():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            names.add(suite + name.strip())
        else:
            suite = name
    return frozenset(names)


def run_tests(tests: str, names: Iterable[str], *under: str) -> tuple[Ended, dict[str, Result]]:
    ended = execute(*under, tests, "--gtest_filter=" + ":".join(names), "--gtest_color=no")
    return ended, parse_output(ended.out)


def gates(tests: str, names: list[str]) -> dict[str, Trial]:
    """The outcome of each test, by name: all in one process, and a new one after each crash."""
    outcomes: dict[str, Trial] = {}
    left = list(names)
    while left:
        ended, results = run_tests(tests, left)
        outcomes |= _outcomes(ended, {name: results[name] for name in left if name in results})
        rest = [name for name in left if name not in outcomes]
        complete = "Global test environment tear-down" in ended.out
        if complete or len(rest) == len(left):
            why = NO_TEST if complete else f"the program of tests {ended.how}"
            return outcomes | {name: no_outcome(why) for name in rest}
        left = rest
    return outcomes


def _outcomes(ended: Ended, results: dict[str, Result]) -> dict[str, Trial]:
    """The outcomes of tests in one process."""
    states = {result.state for result in results.values()}
    failed, skipped = "FAILED" in states, "OK" not in states
    usual = ended.code == 0 or (ended.code == 1 and failed) or (ended.code == 77 and skipped)
    # a crash after the tests invalidates all of them
    crashed = not usual and "RUN" not in states

    def outcome_of(result: Result) -> Trial:
        match result.state:
            case "SKIPPED":
                return no_outcome(result.why, "")
            case "RUN":
                return no_outcome(f"its process {ended.how}")
            case "OK" if crashed:
                return no_outcome(f"passed, then its process {ended.how}")
            case "FAILED" if result.why:
                return no_outcome(f"the test had trouble: {result.why}")
        return outcome("pass" if result.state == "OK" else "fail")

    return {name: outcome_of(result) for name, result in results.items()}


# racecheck


def races(tests: str, sanitizer: str, name: str) -> Trial:
    """The outcome of one test under racecheck, in its own process, as summaries are per process."""
    watch = (sanitizer, "--tool", "racecheck", "--kernel-name-exclude", LEFT_OUT)
    ended, seen = run_tests(tests, [name], *watch)
    if ended.code is None:
        return no_outcome(f"racecheck {ended.how}")
    test = seen.get(name)
    if test and test.state == "SKIPPED":
        return no_outcome(test.why, "")
    text = ended.out + "\n" + ended.err
    summary = re.search(r"RACECHECK SUMMARY: (\d+) hazards? displayed", text)
    if test and summary and int(summary[1]) > 0:
        return outcome("hazards", int(summary[1]))
    # without hazards, everything else must be in order
    if trouble := re.search(rf"^=+ (?!.*SUMMARY)(.*(?:{INCOMPLETE}).*)", text, re.MULTILINE):
        return no_outcome(f"compute-sanitizer: {trouble[1].strip()}")
    if "Running 0 tests" in text:
        return no_outcome(NO_TEST)
    if not test or not summary:
        return no_outcome(f"racecheck gave no summary, and {ended.how}")
    if test.state != "OK":
        return no_outcome("no hazards, but the test failed under racecheck")
    return no_outcome(f"no hazards, but racecheck {ended.how}") if ended.code else outcome("clean")


# snippets


def compiled(nvcc: str, name: str, folder: Path) -> Trial:
    """Whether nvcc compiles a snippet. "refused" needs the error message that the file predicts;
    for its fixed form, any error in the file."""
    file, fixed = folder / f"{name.removesuffix(FIXED)}.cu", name.endswith(FIXED)
    try:
        said = re.findall(r"^// refused: (.+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return no_outcome(f"snippet {file.name} is missing")
    if not said:
        return no_outcome(f'{file.name} has no line "// refused: …"')
    with tempfile.TemporaryDirectory() as scratch:
        flags = [*COMPILE, *(["-DMENDED"] if fixed else [])]
        ended = execute(nvcc, *flags, "-o", Path(scratch) / "snippet.ptx", file)
    if ended.code is None or ended.crashed:
        return no_outcome(f"nvcc {ended.how}")
    if ended.code == 0:
        return outcome("compiles")
    lines = (ended.out + "\n" + ended.err).splitlines()
    errors = [line for line in lines if re.search(rf"\b{re.escape(file.name)}\b.*error", line)]
    if not errors:
        why = next((line.strip() for line in lines if "error" in line), ended.how)
        return no_outcome(f"nvcc: {why}")
    unsaid = [text for text in said if not any(text in line for line in errors)]
    if unsaid and not fixed:
        return no_outcome(f"nvcc refuses it, but does not say {unsaid[0]}")
    return outcome("refused")


def outcomes(
    keys: Iterable[str], tests: str, sanitizer: str, nvcc: str, snippets: Path, no_gpu: str | None
) -> dict[str, Trial]:
    """The outcome of each test, by key, such as "gate:A.B". `snippets`: their folder; `no_gpu`: why
    racecheck has nothing to watch, or None."""
    start, asked, built = time.monotonic(), list(keys), is_program(tests)
    # racecheck is believed only if it finds a known race
    known = f"racecheck:{KNOWN}"
    watches = built and not no_gpu and is_program(sanitizer)
    watched = watches and any(key.startswith("racecheck:") for key in asked)
    trial = [known] if watched and KNOWN in listed(tests) else []

    def outcome_of(key: str) -> Trial:
        kind, _, name = key.partition(":")
        if kind == "compile":
            ready = is_program(nvcc)
            return compiled(nvcc, name, snippets) if ready else no_outcome("nvcc was not found")
        if not built:
            return no_outcome("the program of tests was not found")
        if no_gpu:
            return no_outcome(no_gpu, "")
        if not watches:
            return no_outcome("compute-sanitizer was not found")
        return races(tests, sanitizer, name)

    def some(group: tuple[str, ...]) -> dict[str, Trial]:
        """The outcomes of one test, or of gates that share a process."""
        if built and group[0].startswith("gate:"):
            names = [key.removeprefix("gate:") for key in group]
            return {f"gate:{name}": result for name, result in gates(tests, names).items()}
        return {key: outcome_of(key) for key in group}

    passes = [key for key in asked if key.startswith("gate:")]
    groups = [tuple(passes[at::AT_ONCE]) for at in range(AT_ONCE) if passes[at::AT_ONCE]]
    # the slowest first
    others = sorted(dict.fromkeys((*trial, *asked)), key=lambda key: not key.startswith("race"))
    groups += [(key,) for key in others if key not in passes]
    results = {key: result for of in at_once(some, groups).values() for key, result in of.items()}
    if trial and results[known].outcome != "hazards":
        why = results[known] if results[known].reason else no_outcome(NOT_BELIEVED)
        results |= {key: why for key in asked if key.startswith("racecheck:")}
    for reason, count in Counter(results[key].reason for key in asked).items():
        if reason:
            say(f"{count} of {len(asked)} tests have no outcome: {reason}")
    if asked:
        say(f"outcomes of {len(asked)} tests, {time.monotonic() - start:.0f} s")
    return {key: results[key] for key in asked}
