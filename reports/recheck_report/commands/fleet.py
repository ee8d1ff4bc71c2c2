"""Compares the records from ReFrame's runs. DIR/README.md has each job, with its record or why it
has none; DIR/compare/ compares every record with the first.

RUNS is a folder of runs, as the target fleet_run leaves it, or a single run. The newest whole
record of each place counts. Nothing is copied, and no folder outside RUNS is read. Exit code 3:
written, but some jobs left no whole record; each is a line.

example: recheck-report fleet build/release/fleet/runs --output build/release/fleet/report
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from recheck_report.claims.measured import Measured, read
from recheck_report.commands import experiments_option
from recheck_report.commands.output import write
from recheck_report.fleet.runs import JOB, Job, load_runs
from recheck_report.record.typed import printable
from recheck_report.say.pages import compare, fleet
from recheck_report.write import markdown


def missing(jobs: list[Job]) -> list[Job]:
    """The jobs without a whole record, unless a later job of the same place has one."""
    lost: dict[tuple[str, ...], list[Job]] = {}
    for job in jobs:
        lost[job.key] = [*lost.get(job.key, []), job] if job.problem else []
    return [job for jobs in lost.values() for job in jobs]


def _names(jobs: list[Job], records: list[Measured]) -> list[str]:
    """A name for each record: the machine and its place in the fleet."""
    names = []
    for report, job in zip(records, jobs, strict=True):
        test = "" if job.test == JOB else job.test
        names.append(", ".join(filter(None, [compare.machine(report), job.place, test, job.node])))
    return names


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", type=Path, metavar="RUNS", help="the folder of all runs, or of one")
    add("--output", type=Path, required=True, metavar="DIR", help="the folder to write")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    jobs = load_runs(options.runs)
    lost = missing(jobs)
    for job in lost:
        print(f"missing: {printable(fleet.line(job))}", file=sys.stderr)
    # the last job with a whole record of each place: they are in order of time
    used = [*{job.key: job for job in jobs if job.record and not job.problem}.values()]
    # the first is the base of the comparison
    used.sort(key=lambda job: not (job.record and job.record.gpu_measured))
    records = [read(job.folder, options.experiments) for job in used if job.folder]
    files = {"README.md": markdown.page(fleet.page(jobs, used, lost, bool(records)))}
    write(files, options.output, fleet.MARK)
    if records:
        page = compare.page(records, _names(used, records))
        compared = {"README.md": markdown.page(page)}
        write(compared, options.output / "compare", compare.MARK)
    print(options.output / "README.md")
    return 3 if lost else 0
