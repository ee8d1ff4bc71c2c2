"""Says what a report or a record lacks that a stranger needs to believe it, a line each.

Exit code 1: it lacks something.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from recheck_report.claims.measured import Measured, read
from recheck_report.commands import experiments_option
from recheck_report.record.read import RECORD
from recheck_report.record.record import AUDIT, MACHINE
from recheck_report.say.provenance import unfit


def lacks(own: Measured) -> Iterator[str]:
    """What is missing, in words."""
    record, env = own.record, own.record.environment
    if why := unfit(record):
        yield f"it is no evidence: {why}"
    if not env.git.has_commit:
        yield "the commit of the source is unknown"
    if env.gpu and not env.driver:
        yield "the driver's version is unknown"
    if not env.host_compiler or (env.gpu and not env.nvcc):
        yield "the compilers' versions are unknown"
    if not any(case.raw.samples for case in record.cases):
        yield "raw samples are missing"
    if not own.probes:
        yield "counters and tests are missing (probes.json)"
    if not any(case.role == "baseline" and case.seconds for case in record.cases):
        yield "no library was measured, so no speed-up has a base"
    for name, what in ((AUDIT, "the self-audit"), (MACHINE, "the machine's ceilings")):
        if record.gpu_measured and not record.experiment(name):
            yield f"{what} were not measured" if name == MACHINE else f"{what} was not made"
    if disturbed := [case.id for case in record.cases if case.disturbed]:
        yield f"{len(disturbed)} of its times are disturbed, such as {disturbed[0]}"
    if record.plan.dropped:
        yield f"{len(record.plan.dropped)} shapes were left out by the plan"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", type=Path, help="a report's folder, or a record's")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    found = [*lacks(read(options.report / RECORD, options.experiments))]
    for line in found or ["nothing is missing"]:
        print(line)
    return 1 if found else 0
