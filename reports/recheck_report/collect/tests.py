"""Outcomes of GoogleTest tests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from recheck_report.collect import programs
from recheck_report.collect.programs import Ended, execute

NO_TESTS = "not measured: the program of tests was not found"


# reasons for failures that are not the test's subject
TROUBLE = re.compile(r"out of (?:host |device )?memory|bad_alloc|cudaErrorMemoryAllocation")


@dataclass(frozen=True)
class Result:
    """A test in GoogleTest's output: OK, FAILED, SKIPPED, or RUN if it never ended."""

    state: str
    why: str = ""  # the line before a skip, or the unrelated reason of a failure


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


def listed(tests: str) -> set[str]:
    """The names of all tests of a program; empty if it fails."""
    suite, names = "", set()
    ended = execute(tests, "--gtest_list_tests")
    for line in ended.out.splitlines() if ended.code == 0 else ():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            names.add(suite + name.strip())
        else:
            suite = name
    return names


def outcome(result: str, count: int = 0) -> dict[str, Any]:
    return {"reason": None, "outcome": result, "count": count}


def no_outcome(reason: str) -> dict[str, Any]:
    return {"reason": reason, "outcome": None, "count": 0}


def run_tests(tests: str, names: Iterable[str], *under: str) -> tuple[Ended, dict[str, Result]]:
    ended = execute(*under, tests, "--gtest_filter=" + ":".join(names), "--gtest_color=no")
    return ended, parse_output(ended.out)


NO_TEST = "not measured: this build lacks the test, as it does those of kernels without CUDA"


def gates(tests: str, names: list[str]) -> dict[str, dict[str, Any]]:
    """The outcome of each test, by name: all in one process, and a new one after each crash."""
    outcomes: dict[str, dict[str, Any]] = {}
    left = list(names)
    while left:
        ended, results = run_tests(tests, left)
        outcomes |= _outcomes(ended, {name: results[name] for name in left if name in results})
        rest = [name for name in left if name not in outcomes]
        complete = "Global test environment tear-down" in ended.out
        if complete or len(rest) == len(left):
            how = f"not measured: the program of tests ended with {ended.how}"
            reason = NO_TEST if complete else how
            return outcomes | {name: no_outcome(reason) for name in rest}
        left = rest
    return outcomes


def _outcomes(ended: Ended, results: dict[str, Result]) -> dict[str, dict[str, Any]]:
    """The outcomes of tests in one process."""
    states = {result.state for result in results.values()}
    failed, skipped = "FAILED" in states, "OK" not in states
    usual = ended.code == 0 or (ended.code == 1 and failed) or (ended.code == 77 and skipped)
    # a crash after the tests invalidates all of them
    crashed = not usual and "RUN" not in states
    died = "took more than " if ended.code is None else "ended its process, "
    died += f"{programs.SECONDS} s" if ended.code is None else ended.how

    def outcome_of(result: Result) -> dict[str, Any]:
        match result.state:
            case "SKIPPED":
                return no_outcome(result.why or "not measured: the test was skipped")
            case "RUN":
                return no_outcome(f"not measured: {died}")
            case "OK" if crashed:
                return no_outcome(f"not measured: passed, then its process had {ended.how}")
            case "FAILED" if result.why:
                return no_outcome(f"not measured: the test had trouble: {result.why}")
        return outcome("pass" if result.state == "OK" else "fail")

    return {name: outcome_of(result) for name, result in results.items()}
