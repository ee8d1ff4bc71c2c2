"""Outcomes of tests under compute-sanitizer's racecheck."""

from __future__ import annotations

import re
from typing import Any

from recheck_report.collect import programs
from recheck_report.collect.tests import NO_TEST, no_outcome, outcome, run_tests

NO_SANITIZER = "not measured: compute-sanitizer was not found"
NOT_BELIEVED = "not measured: racecheck finds no hazard where there is one"
# a kernel of the harness that writes to all of shared memory
LEFT_OUT = "kns=poison_shared_kernel"
# words in its lines about incomplete checking
TROUBLE = "[Ee]rror|not supported|[Uu]nsupported|[Uu]nable to|[Ff]ailed to|terminated before"
# a test of a kernel that has hazards
KNOWN = "gpu/Race.RunsAtASmallSize/matmul_s0_first_barrier_missing"


def races(tests: str, sanitizer: str, name: str) -> dict[str, Any]:
    """The outcome of one test under racecheck, in its own process, as summaries are per process."""
    watch = (sanitizer, "--tool", "racecheck", "--kernel-name-exclude", LEFT_OUT)
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
    # without hazards, everything else must be in order
    trouble = re.search(rf"^=+ (?!.*SUMMARY)(.*(?:{TROUBLE}).*)", text, re.MULTILINE)
    if trouble:
        return no_outcome(f"not measured: compute-sanitizer: {trouble[1].strip()}")
    if "Running 0 tests" in text:
        return no_outcome(NO_TEST)
    if not test or not summary:
        return no_outcome(f"not measured: racecheck gave no summary, {ended.how}")
    if test.state != "OK":
        return no_outcome("not measured: no hazards, but the test failed under racecheck")
    if ended.code != 0:
        return no_outcome(f"not measured: no hazards, but racecheck ended with {ended.how}")
    return outcome("clean")


def blind(of_known: dict[str, Any]) -> str | None:
    """Why racecheck cannot be believed, or None: it must find the known hazards."""
    reason: str | None = of_known["reason"]
    return reason or (None if of_known["outcome"] == "hazards" else NOT_BELIEVED)
