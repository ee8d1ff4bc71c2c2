"""Whether tests pass: GoogleTest's, by name."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from recheck_report.collect import programs
from recheck_report.collect.programs import Ended, execute

NO_TESTS = "not measured: the program of tests was not found"


# what a test fails for that says nothing of what it tests
TROUBLE = re.compile(r"out of (?:host |device )?memory|bad_alloc|cudaErrorMemoryAllocation")


@dataclass(frozen=True)
class Told:
    """What GoogleTest's output says of a test: OK, FAILED, SKIPPED or RUN, if it never ended."""

    state: str
    why: str = ""  # the last line before a skip; of a failure, what had nothing to do with it


def told(output: str) -> dict[str, Told]:
    """The tests of an output, by name."""
    found: dict[str, Told] = {}
    before = trouble = ""
    for line in output.splitlines():
        if match := TROUBLE.search(line):
            trouble = match[0]
        match = re.match(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] ([\w./]+)", line)
        # a name stands again in the lists at the end
        if match and (match[2] not in found or found[match[2]].state == "RUN"):
            why = {"SKIPPED": before, "FAILED": trouble}.get(match[1], "")
            found[match[2]] = Told(match[1], why)
            trouble = ""
        before = line.strip() or before
    return found


def listed(tests: str) -> set[str]:
    """The names of all tests of a program; none if it does not say."""
    suite, found = "", set()
    ended = execute(tests, "--gtest_list_tests")
    for line in ended.out.splitlines() if ended.code == 0 else ():
        name = line.split("#")[0].rstrip()
        if name.startswith("  "):
            found.add(suite + name.strip())
        else:
            suite = name
    return found


def outcome(result: str, count: int = 0) -> dict[str, Any]:
    return {"reason": None, "outcome": result, "count": count}


def no_outcome(reason: str) -> dict[str, Any]:
    return {"reason": reason, "outcome": None, "count": 0}


def run_tests(tests: str, names: Iterable[str], *under: str) -> tuple[Ended, dict[str, Told]]:
    ended = execute(*under, tests, "--gtest_filter=" + ":".join(names), "--gtest_color=no")
    return ended, told(ended.out)


def gates(tests: str, names: list[str]) -> dict[str, dict[str, Any]]:
    """Whether tests pass, by name: all in one process, but a fresh one behind each that crashes."""
    found: dict[str, dict[str, Any]] = {}
    left = list(names)
    while left:
        ended, seen = run_tests(tests, left)
        # a process that crashes behind its tests has proven none of them
        states = {each.state for each in seen.values()}
        failed, skipped = "FAILED" in states, "OK" not in states
        usual = ended.code == 0 or (ended.code == 1 and failed) or (ended.code == 77 and skipped)
        lost = not usual and "RUN" not in states
        for name in left:
            if name not in seen:
                continue
            test = seen[name]
            if test.state == "SKIPPED":
                found[name] = no_outcome(test.why or "not measured: the test was skipped")
            elif test.state == "RUN" and ended.code is None:
                found[name] = no_outcome(f"not measured: took more than {programs.SECONDS} s")
            elif test.state == "RUN":
                found[name] = no_outcome(f"not measured: ended its process, {ended.how}")
            elif test.state == "OK" and lost:
                found[name] = no_outcome(f"not measured: passed, then its process had {ended.how}")
            elif test.state == "FAILED" and test.why:
                found[name] = no_outcome(f"not measured: the test had trouble: {test.why}")
            else:
                found[name] = outcome("pass" if test.state == "OK" else "fail")
        rest = [name for name in left if name not in found]
        through = "Global test environment tear-down" in ended.out
        if through or len(rest) == len(left):
            why = "has no such test" if through else f"ended with {ended.how}"
            found |= {
                name: no_outcome(f"not measured: the program of tests {why}") for name in rest
            }
            break
        left = rest
    return found
