"""What compute-sanitizer's racecheck says of a test."""

from __future__ import annotations

import re
from typing import Any

from recheck_report.collect import programs
from recheck_report.collect.ncu import POISON
from recheck_report.collect.tests import no_outcome, outcome, run_tests

NO_SANITIZER = "not measured: compute-sanitizer was not found"


def races(tests: str, sanitizer: str, name: str) -> dict[str, Any]:
    """What compute-sanitizer's racecheck says of one test: a summary is of a whole process."""
    watch = (sanitizer, "--tool", "racecheck", "--kernel-name-exclude", f"kns={POISON}")
    ended, seen = run_tests(tests, [name], *watch)
    if ended.code is None:
        return no_outcome(f"not measured: racecheck took more than {programs.SECONDS} s")
    test = seen.get(name)
    if test and test.state == "SKIPPED":
        return no_outcome(test.why or "not measured: the test was skipped")
    text = ended.out + "\n" + ended.err
    summary = re.search(r"RACECHECK SUMMARY: (\d+) hazards? displayed", text)
    if test and summary and int(summary[1]) > 0:
        return outcome("hazards", int(summary[1]))
    # no hazards is an answer only where everything ran as it should
    trouble = re.search(r"^=+ (?!.*SUMMARY)(.*(?:[Ee]rror|not supported).*)", text, re.MULTILINE)
    if trouble:
        return no_outcome(f"not measured: compute-sanitizer: {trouble[1].strip()}")
    if "Running 0 tests" in text:
        return no_outcome("not measured: the program of tests has no such test")
    if not test or not summary:
        return no_outcome(f"not measured: racecheck gave no summary, exit code {ended.code}")
    if test.state != "OK":
        return no_outcome("not measured: no hazards, but the test failed under racecheck")
    return outcome("clean")
