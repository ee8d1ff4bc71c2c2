"""Sets side by side what the jobs of ReFrame's runs brought back: DIR/README.md has each job, with
its record or why there is none; DIR/compare/ holds every record against the first: claim by GPU,
and the times.

RUNS is a folder of runs, as experiments/fleet/run.py leaves it, or one run of them. Of each place
the newest whole record counts; what sets records apart, such as their commits, heads their columns.
Nothing is copied: records stay where the jobs left them. A folder outside of RUNS is not read.
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
from recheck_report.say import gpus
from recheck_report.say.pages import compare, fleet
from recheck_report.write import markdown


def newest(jobs: list[Job]) -> list[Job]:
    """Of each place the last job with a whole record; `jobs` are in order of time."""
    return [*{job.key: job for job in jobs if job.record and not job.problem}.values()]


def missing(jobs: list[Job]) -> list[Job]:
    """Those that brought no whole record, and no later one from the same place did."""
    found: dict[tuple[str, ...], list[Job]] = {}
    for job in jobs:
        found[job.key] = [*found.get(job.key, []), job] if job.problem else []
    return [job for own in found.values() for job in own]


def _names(jobs: list[Job], records: list[Measured]) -> list[str]:
    """One for each record: the machine, and where of the fleet it is."""
    found = []
    for each, job in zip(records, jobs, strict=True):
        test = "" if job.test == JOB else job.test
        found.append(", ".join(filter(None, [gpus.machine(each), job.place, test, job.node])))
    return found


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", type=Path, metavar="RUNS", help="the folder of the runs, or of one run")
    add("--output", type=Path, required=True, metavar="DIR", help="the folder to write")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    jobs = load_runs(options.runs)
    lost = missing(jobs)
    for job in lost:
        print(f"missing: {printable(fleet.line(job))}", file=sys.stderr)
    used = newest(jobs)
    # the first is what `compare` holds the others against
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
