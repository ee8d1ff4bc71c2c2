"""Sets side by side what the jobs of ReFrame's runs brought back: DIR/README.md has each job, with
its record or why there is none, claim by GPU, and the times; DIR/compare/ holds every record
against the first.

RUNS is a folder of runs, as experiments/fleet/run.py leaves it, or one run of them. Of each place
the newest whole record counts, one of the full matrix before a narrower one.
Nothing is copied: records stay where the jobs left them. A folder outside of RUNS is not read.
Records of two commits are refused, unless --any-commit labels them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from recheck_report.claims.measured import Measured, read
from recheck_report.commands import Failed, experiments_option
from recheck_report.commands.compare import compare
from recheck_report.commands.output import COMPARISON_MARK, write
from recheck_report.fleet.runs import JOB, Job, Partition, load_runs, partitions
from recheck_report.formatting import NONE, shape_label
from recheck_report.model.typed import printable
from recheck_report.progress import doing
from recheck_report.sections import gpus
from recheck_report.sections.times import code, count, took
from recheck_report.sections.verdicts import prose
from recheck_report.templates import render

MARK = "<!-- Written by Recheck from the jobs of a fleet; collecting again replaces it. -->"


def newest(jobs: list[Job]) -> list[Job]:
    """Of each place the last job with a whole record; `jobs` are in order of time. A narrower one
    does not take the place of the full matrix."""
    found: dict[tuple[str, str], Job] = {}
    for job in jobs:
        before = found.get(job.key)
        if not job.problem and (job.full or not before or not before.full):
            found[job.key] = job
    return [*found.values()]


def missing(jobs: list[Job]) -> list[Job]:
    """Those that brought no whole record, and no later one from the same place did."""
    found: dict[tuple[str, str], list[Job]] = {}
    last = jobs[-1].run if jobs else ""
    for job in jobs:
        # a run without a job, unless another came after it
        if job.place or job.damaged or job.run == last:
            found[job.key] = [*found.get(job.key, []), job] if job.problem else []
    return [job for own in found.values() for job in own]


def _lines(jobs: list[Job], partitions: list[Partition]) -> list[str]:
    """What is missing: jobs, and partitions that were to have one."""
    lines = [f"{job.where}: {job.problem}".removeprefix(": ") for job in missing(jobs)]
    return lines + [
        f"{each.name}: no job was made for it; an environment of it needs the feature cuda (cpu, "
        "for CPU rows), and --distribute sends none to nodes that are drained or busy"
        for each in _without_job(jobs, partitions)
        if each.asked and _is_measured(each)
    ]


def _left_out(jobs: list[Job], partitions: list[Partition]) -> list[str]:
    """The partitions that nobody wanted measured, or seems not to."""
    found = []
    for each in _without_job(jobs, partitions):
        if not _is_measured(each):
            have = ", ".join(each.features) or "none"
            found.append(f"{each.name}: has neither the feature gpu nor cpu (it has {have})")
        elif not each.asked:
            found.append(f"{each.name}: the run was not asked for it")
    return found


def _doubles(used: list[Job]) -> list[str]:
    """GPUs that more than one partition has sent, whose columns are no two GPUs; and runs that are
    there more than once."""
    gpus: dict[str, list[Job]] = {}
    runs: dict[tuple[object, ...], list[Job]] = {}
    for job in used:
        assert job.what.record
        env, cases = job.what.record.environment, job.what.record.cases
        if env.gpu and (own := env.gpu.mig_uuid_hash or env.gpu.uuid_hash):
            gpus.setdefault(own, []).append(job)
            times = [case.seconds.median if case.seconds else None for case in cases]
            runs.setdefault((own, env.started, *times), []).append(job)
    lines = [
        f"{_listed(each)} are the same run, copied: move all but one of them away"
        for same in runs.values()
        if len(each := [f"{job.where} (run {job.run})" for job in same]) > 1
    ]
    first = {id(same[0]) for same in runs.values()}
    for same in gpus.values():
        # of copies, that is said
        names = [*dict.fromkeys(job.partition for job in same if id(job) in first)]
        if len(names) > 1:
            lines.append(f"{_listed(names)} are the same GPU: its UUID has one hash")
    return lines


def _listed(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _is_measured(partition: Partition) -> bool:
    return bool({"gpu", "cpu"} & {*partition.features})


def _without_job(jobs: list[Job], partitions: list[Partition]) -> list[Partition]:
    there = {job.partition for job in jobs}
    # of a run that has no job at all yet, that is said
    return [] if jobs and not jobs[-1].place else [p for p in partitions if p.name not in there]


def _one_commit(jobs: list[Job]) -> None:
    found: dict[tuple[object, ...], Job] = {}
    for job in jobs:
        assert job.what.record
        git = job.what.record.environment.git
        found.setdefault((git.commit, git.dirty, git.diff), job)
    if len(found) > 1:
        said = [
            f"{(commit or 'none')[:7]}{' with changes' if dirty else ''} ({job.where})"
            for (commit, dirty, _), job in found.items()
            if isinstance(commit, str | None)
        ]
        what = f"the records are of {len(found)} commits: {', '.join(said)}"
        raise Failed(f"{what}; measure again, or --any-commit sets them side by side")


def _rows(jobs: list[Job], used: list[Job], lost: list[Job]) -> list[list[str]]:
    rows = []
    for job in jobs:
        state = "whole" if job.full or not job.what.record else "whole, not of the full matrix"
        state += f"; {prose(job.reference)}" if job.reference else ""
        state += f"; {prose(job.resumed)}" if job.resumed else ""
        if job in lost:
            state = f"**missing**: {prose(job.problem)}"
        elif job.problem:
            state = f"{prose(job.problem)}; a later record from there counts"
        elif job not in used:
            state += "; another record from there counts"
        elif job.outside:
            state += f"; **not as expected**: {prose(job.outside)}"
        asked = job.model or ("CPU" if job.what.record else NONE)
        test = "" if job.test == JOB else f", {job.test}"
        about = (f"{job.place or NONE}{test}", asked, job.node or NONE, job.job or NONE, job.run)
        folder = code(printable(str(job.what.folder))) if job.what.folder.is_dir() else NONE
        rows.append([*map(prose, about), state, folder])
    return rows


def _times(records: list[Measured]) -> list[tuple[str, list[list[str]]]]:
    """For each experiment a row for each strategy at the headline shape that one of them timed."""
    found = []
    for experiment in {e.name: e for each in records for e in each.record.ordinary}.values():
        lines: dict[str, list[str]] = {}
        for at, own in enumerate(records):
            for case in own.record.cases:
                regime = "cold" if case.target == "gpu" else "hot"
                there = (case.experiment, case.regime, case.shape_name)
                if there == (experiment.name, regime, experiment.headline) and not case.sweep:
                    line = lines.setdefault(case.strategy, [NONE] * len(records))
                    line[at] = (
                        took(own, case) if case.seconds else prose(case.status.replace("_", " "))
                    )
        rows = [[code(name), *line] for name, line in lines.items()]
        title = f"{prose(experiment.title)}, {shape_label(experiment.headline)}"
        if rows:
            found.append((title, rows))
    return found


def _names(jobs: list[Job], records: list[Measured]) -> list[str]:
    """One for each record: the machine, and where of the fleet it is."""
    found = []
    for each, job in zip(records, jobs, strict=True):
        test = [] if job.test == JOB else [job.test]
        found.append(", ".join(filter(None, [gpus.machine(each), job.place, *test, job.node])))
    return found


def page(
    jobs: list[Job], used: list[Job], records: list[Measured], partitions: list[Partition]
) -> str:
    heads = [prose(name) for name in _names(used, records)]
    pairs = zip(heads, gpus.labels(records), strict=True)
    claims = gpus.claims(records)
    decided = {claim.id for claim in gpus.decided(records, claims)}
    hidden = [claim.id for claim in claims if claim.id not in decided]
    # the last row counts all claims, of which those that are decided are shown
    every = gpus.rows(records, claims) if records else []
    shown = [row for row, claim in zip(every, claims, strict=False) if claim.id in decided]
    lost = missing(jobs)
    return render(
        "fleet.md.j2",
        mark=MARK,
        whole=count(len(used), "whole record"),
        jobs=count(sum(bool(job.place) for job in jobs), "job"),
        missing=[prose(line) for line in _lines(jobs, partitions)],
        doubles=[prose(line) for line in _doubles(used)],
        left_out=[prose(line) for line in _left_out(jobs, partitions)],
        job_columns=["place", "GPU", "node", "job", "run", "what came back", "where it is"],
        job_rows=_rows(jobs, used, lost),
        columns=["claim", *("<br>".join([head, *own]) for head, own in pairs)],
        rows=[*shown, *every[len(claims) :]],
        hidden=f"{count(len(hidden), 'claim')}: {', '.join(hidden)}" if hidden else "",
        heads=heads,
        times=_times(records),
    )


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("runs", type=Path, metavar="RUNS", help="the folder of the runs, or of one run")
    add("--output", type=Path, required=True, metavar="DIR", help="the folder to write")
    says = "set records of several commits side by side; each is labelled with its own"
    add("--any-commit", action="store_true", help=says)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    with doing("reading what the jobs brought"):
        jobs = load_runs(options.runs)
        site = partitions(options.runs)
    lost = _lines(jobs, site)
    for line in lost:
        print(f"missing: {printable(line)}", file=sys.stderr)
    used = newest(jobs)
    for line in _doubles(used):
        print(f"warning: {printable(line)}", file=sys.stderr)
    if not options.any_commit:
        _one_commit(used)
    # the first is what `compare` holds the others against
    used.sort(key=lambda job: not (job.what.record and job.what.record.gpu_measured))
    records = [read(job.what.folder, options.experiments) for job in used]
    compared = compare(records, _names(used, records)) if records else {}
    files = {"README.md": page(jobs, used, records, site).encode()}
    write(files, options.output, MARK)
    if compared:
        write(compared, options.output / "compare", COMPARISON_MARK)
    print(options.output / "README.md")
    return 3 if lost else 0
