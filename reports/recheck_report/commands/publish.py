"""Renders a report's record and puts it into DIR/<gpu>/ as committed evidence, or refuses.

Evidence comes from a clean tree, from a Release build, and from a commit of the branch, and nothing
falsifies all of its times. Exit code 1: refused, with one line that says why; what was published
before stays.
"""

from __future__ import annotations

import argparse
import os
import subprocess
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.claims.measured import read
from recheck_report.commands import Failed, experiments_option
from recheck_report.commands.output import write
from recheck_report.commands.render import harnesses_of, peak_of, render
from recheck_report.record.read import RECORD, load
from recheck_report.record.record import Record
from recheck_report.say.provenance import unfit


def untraceable(record: Record, results: Path) -> str | None:
    """Why its commit is none of the branch that the results are on, or None; of results in no
    repository nobody can tell."""
    folder = results.resolve()
    while not folder.is_dir():  # the first evidence makes it
        folder = folder.parent
    git = record.environment.git
    if not git.has_commit:
        return "git knew no commit of its sources when it was built; see to that and measure again"
    try:
        if why := _git(folder, "rev-parse", "--git-dir")[1]:
            return None if "not a git repository" in why else f"git in {folder} fails: {why}"
        absent = _git(folder, "merge-base", "--is-ancestor", git.commit or "", "HEAD")[1]
        shallow = _git(folder, "rev-parse", "--is-shallow-repository")[0] == "true"
    except OSError as error:
        return f"git does not run: {error.strerror}; install it"
    if absent is not None and shallow:
        remedy = "run git fetch --unshallow, and publish again"
        return f"{folder} is a shallow clone, which may lack its commit {git.commit}; {remedy}"
    if absent is not None:
        return f"its commit {git.commit} is not in the history of {folder}; measure at one that is"
    return None


def _git(folder: Path, *words: str) -> tuple[str, str | None]:
    """What git answers, and why it fails, or None; no variable of a user's or a hook's has an
    effect. Raises OSError where there is no git."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | {"LC_ALL": "C"}
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *words]
    done = subprocess.run(
        command, capture_output=True, check=False, text=True, errors="replace", env=env
    )
    return done.stdout.strip(), done.stderr.strip() if done.returncode else None


def other_evidence(record: Record, results: Path, target: Path) -> str | None:
    """Why evidence of this record does not belong there, or None."""
    if (results / RECORD).exists():
        return f"--results: {results} is a report itself; name the folder of all reports"
    if not (target / RECORD).exists():
        return None
    names = [{each.name for each in r.ordinary} for r in (record, load(target)[0])]
    if names[0] & names[1]:
        return None
    return f"{target} is evidence of other experiments, {', '.join(sorted(names[1]))}; name another"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", type=Path, help="a report's folder, or a record's")
    # of which tree it is evidence nobody can guess
    says = "the published reports, a folder for each GPU"
    parser.add_argument("--results", type=Path, required=True, metavar="DIR", help=says)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    record = load(options.report / RECORD)[0]
    # before the claims: a record of no commit is refused for that, not for a row that it lacks
    if why := unfit(record) or untraceable(record, options.results):
        raise Failed(f"{options.report}: not published: {' '.join(why.split())}")
    own = read(options.report / RECORD, options.experiments)
    if not slug(own.gpu):
        raise Failed(f"{options.report}: not published: {own.gpu!r} makes no folder's name")
    target = options.results / slug(own.gpu)
    if elsewhere := other_evidence(own.record, options.results, target):
        raise Failed(elsewhere)
    others = harnesses_of(own, [options.report, target])
    files = render(own, [], peak_of(own, options.results / "peak", "../peak"), others)
    write(files, target)
    print(target)
    return 0
