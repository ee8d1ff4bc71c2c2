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
from recheck_report.commands.compare import compare
from recheck_report.commands.output import COMPARISON_MARK, write
from recheck_report.fleet.runs import JOB, Job, load_runs
from recheck_report.formatting import NONE, prose
from recheck_report.record.typed import printable
from recheck_report.say import gpus
from recheck_report.say.times import code, count
from recheck_report.templates import render

MARK = "<!-- Written by Recheck from the jobs of a fleet; collecting again replaces it. -->"
JOBS = ["place", "GPU", "node", "job", "run", "what came back", "where it is"]


def newest(jobs: list[Job]) -> list[Job]:
    """Of each place the last job with a whole record; `jobs` are in order of time."""
    return [*{job.key: job for job in jobs if job.record and not job.problem}.values()]


def missing(jobs: list[Job]) -> list[Job]:
    """Those that brought no whole record, and no later one from the same place did."""
    found: dict[tuple[str, ...], list[Job]] = {}
    for job in jobs:
        found[job.key] = [*found.get(job.key, []), job] if job.problem else []
    return [job for own in found.values() for job in own]


def _line(job: Job) -> str:
    return f"{job.where}: {job.problem}".removeprefix(": ")


def _rows(jobs: list[Job], used: list[Job], lost: list[Job]) -> list[list[str]]:
    rows = []
    for job in jobs:
        state = f"whole; {prose(job.remark)}" if job.remark else "whole"
        if job in lost:
            state = f"**missing**: {prose(job.problem)}"
        elif job not in used:
            state = f"{prose(job.problem) or state}; a later record from there counts"
        test = "" if job.test == JOB else f", {job.test}"
        model = job.model or ("CPU" if job.record else NONE)
        about = (f"{job.place or NONE}{test}", model, job.node or NONE, job.job or NONE, job.run)
        there = job.folder and job.folder.is_dir()
        rows.append(
            [*map(prose, about), state, code(printable(str(job.folder))) if there else NONE]
        )
    return rows


def _names(jobs: list[Job], records: list[Measured]) -> list[str]:
    """One for each record: the machine, and where of the fleet it is."""
    found = []
    for each, job in zip(records, jobs, strict=True):
        test = "" if job.test == JOB else job.test
        found.append(", ".join(filter(None, [gpus.machine(each), job.place, test, job.node])))
    return found


def page(jobs: list[Job], used: list[Job], records: list[Measured]) -> str:
    lost = missing(jobs)
    return render(
        "fleet.md.j2",
        mark=MARK,
        whole=count(len(used), "whole record"),
        jobs=count(sum(bool(job.place) for job in jobs), "job"),
        missing=[prose(_line(job)) for job in lost],
        job_columns=JOBS,
        job_rows=_rows(jobs, used, lost),
        compared=bool(records),
    )


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", type=Path, metavar="RUNS", help="the folder of the runs, or of one run")
    add("--output", type=Path, required=True, metavar="DIR", help="the folder to write")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    jobs = load_runs(options.runs)
    lost = missing(jobs)
    for job in lost:
        print(f"missing: {printable(_line(job))}", file=sys.stderr)
    used = newest(jobs)
    # the first is what `compare` holds the others against
    used.sort(key=lambda job: not (job.record and job.record.gpu_measured))
    records = [read(job.folder, options.experiments) for job in used if job.folder]
    files = {"README.md": page(jobs, used, records).encode()}
    write(files, options.output, MARK)
    if records:
        compared = compare(records, _names(used, records))
        write(compared, options.output / "compare", COMPARISON_MARK)
    print(options.output / "README.md")
    return 3 if lost else 0
