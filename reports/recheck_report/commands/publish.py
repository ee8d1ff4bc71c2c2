"""Renders a report's record into DIR/<gpu>/ as committed evidence, or refuses.

Evidence comes from a clean tree, from a Release build, and from a commit of the branch, and nothing
falsifies all of its times. It is shown next to the other reports in DIR. Without --results nothing
is written: the record is only checked. Either way, each thing that a reader may miss is a line.
Exit code 1: refused, with the reason in one line; an earlier report in that folder is unchanged.

example: recheck-report publish build/release/report --results reports/results
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from recheck_report.claims.measured import Measured, read
from recheck_report.commands import Failed, experiments_option
from recheck_report.commands.output import write
from recheck_report.commands.render import harnesses_of, lasting, peak_of, placed, render
from recheck_report.files import git, slug
from recheck_report.record.read import RECORD, load
from recheck_report.record.record import AUDIT, MACHINE, Record
from recheck_report.record.typed import BadRecord

FALSIFIES = ("launch_blocking", "debug_build")  # conditions under which no time is evidence


def unfit(record: Record) -> str | None:
    """Why this record's times do not count as evidence, or None."""
    env = record.environment
    if env.gpu is None or not record.gpu_measured:
        return f"it holds no GPU result ({record.no_gpu_because})"
    if env.build_type != "Release" or env.device_debug:
        kind = "-G" if env.build_type == "Release" else env.build_type
        return f"it comes from a {kind} build; use Release"
    if env.git.dirty:
        return "it was measured with uncommitted changes; commit them and measure again"
    for condition in env.conditions:
        if condition.code in FALSIFIES:
            return f"no time of it counts: {condition.says}"
    return None if slug(record.gpu) else f"{record.gpu!r} is not usable as a folder name"


def lacks(report: Measured) -> Iterator[str]:
    """What a reader may miss in a report, each in words."""
    record, env = report.record, report.record.environment
    if not env.driver or not env.host_compiler or not env.nvcc:
        yield "the version of the driver or of a compiler is unknown"
    if not any(case.samples for case in record.cases):
        yield "raw samples are missing"
    if not report.probes:
        yield "counters and tests are missing (probes.json)"
    if not any(case.role == "baseline" and case.seconds for case in record.cases):
        yield "no library was measured, so no speed-up has a base"
    for name, what in ((AUDIT, "the self-audit is"), (MACHINE, "the machine's ceilings are")):
        if not record.experiment(name):
            yield f"{what} missing"
    if disturbed := [case.id for case in record.cases if case.disturbed]:
        yield f"{len(disturbed)} of its times are disturbed, such as {disturbed[0]}"
    if record.plan.dropped:
        yield f"the plan left out {len(record.plan.dropped)} shapes"


def untraceable(record: Record, results: Path | None) -> str | None:
    """Why the record's commit is not in the history of the results' branch, or None. Results
    outside any repository have no history, so any commit will do."""
    commit = record.environment.git.commit
    if not record.environment.git.has_commit:
        return "git knew no commit when it was built; build in a git checkout and measure again"
    if results is None:
        return None
    folder = results.resolve()
    while not folder.is_dir():  # the first evidence makes it
        folder = folder.parent
    try:
        if why := git(folder, "rev-parse", "--git-dir").stderr.strip():
            return None if "not a git repository" in why else f"git in {folder} fails: {why}"
        if not git(folder, "merge-base", "--is-ancestor", commit or "", "HEAD").returncode:
            return None
        if git(folder, "rev-parse", "--is-shallow-repository").stdout.strip() == "true":
            remedy = "run git fetch --unshallow, and publish again"
            return f"{folder} is a shallow clone, which may lack its commit {commit}; {remedy}"
    except OSError as error:
        return f"git does not run: {error.strerror}; install it"
    return f"its commit {commit} is not in the history of {folder}; measure at one that is"


def other_evidence(record: Record, results: Path, target: Path) -> str | None:
    """Why evidence of this record does not belong in the target folder, or None."""
    if (results / RECORD).exists():
        return f"--results: {results} is a report itself; name the folder of all reports"
    if not (target / RECORD).exists():
        return None
    names = [{experiment.name for experiment in r.ordinary} for r in (record, load(target)[0])]
    if names[0] & names[1]:
        return None
    return f"{target} is evidence of other experiments, {', '.join(sorted(names[1]))}; name another"


def beside(results: Path, target: Path, experiments: Path) -> Iterator[Measured]:
    """The other published reports. One that cannot be shown costs a line."""
    for path in sorted(results.glob(f"*/{RECORD}")):
        if path.parent.resolve() != target.resolve():
            try:
                yield placed(path.parent, experiments, target)
            except (BadRecord, OSError) as problem:
                print(f"left out: {problem}", file=sys.stderr)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", type=Path, help="a report's folder, or a record's")
    says = "the published reports, a folder for each GPU; without it, the report is only checked"
    parser.add_argument("--results", type=Path, metavar="DIR", help=says)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    record, results = load(options.report / RECORD)[0], options.results
    # first, so that a missing commit is reported, not a row that the record lacks
    if why := unfit(record) or untraceable(record, results):
        raise Failed(f"{options.report}: not published: {' '.join(why.split())}")
    report = read(options.report / RECORD, options.experiments)
    if results is not None:
        target = results / slug(report.gpu)
        if why := other_evidence(report.record, results, target):
            raise Failed(why)
        report = replace(report, folder=lasting(target, options.experiments))
        others = harnesses_of(report, [options.report, target])
        peak = peak_of(report, results / "peak", "../peak", options.experiments)
        write(render(report, [*beside(results, target, options.experiments)], peak, others), target)
        print(target)
    notes = [f"note: {line}" for line in lacks(report)]
    for line in notes or ([] if results else ["nothing is missing"]):
        print(line)
    return 0
