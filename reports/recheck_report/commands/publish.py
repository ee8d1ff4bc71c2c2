"""Renders a report's record and puts it into DIR/<gpu>/ as committed evidence, or refuses.

Evidence comes from a clean tree, from a Release build, and from a commit of the branch, and nothing
falsifies all of its times. Exit code 1: refused, with one line that says why; what was published
before stays.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.claims.measured import read
from recheck_report.commands import Failed, experiments_option
from recheck_report.commands.output import foreign
from recheck_report.commands.render import peak_of, render
from recheck_report.model.read import RECORD, load
from recheck_report.model.record import Record
from recheck_report.progress import doing
from recheck_report.sections.provenance import unfit

MEDIANS = "medians.json"  # of earlier runs of the GPU model, which no record holds


def untraceable(record: Record, results: Path) -> str | None:
    """Why its commit is none of the branch that the results are on, or None; of results in no
    repository nobody can tell."""
    folder = results.resolve()
    while not folder.is_dir():  # the first evidence makes it
        folder = folder.parent
    git = record.environment.git
    if not git.known:
        return "it was measured from a tree in no git repository; commit it and measure again"
    if not _git(folder, "rev-parse", "HEAD"):
        return None
    if not _git(folder, "merge-base", "--is-ancestor", git.commit or "", "HEAD"):
        return f"its commit {git.commit} is not in the history of {folder}; measure at one that is"
    return None


def _git(folder: Path, *words: str) -> bool:
    """Whether git says yes; raises OSError where there is none."""
    command = ["git", "-c", "safe.directory=*", "-C", str(folder), *words]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


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


def publish(files: dict[str, bytes], target: Path) -> None:
    """Replaces the folder as a whole; until the new one stands complete, the old one stays."""
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = tempfile.mkdtemp(dir=target.parent, prefix=".publish-")
    new, old = Path(scratch, "new"), Path(scratch, "old")
    try:
        for name, data in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(data)
        if target.exists():
            os.rename(target, old)
        os.rename(new, target)
    finally:
        # Ctrl-C may come at any line, and here once more: the old one is never in what is removed
        if old.exists() and not target.exists():
            os.rename(old, target)
        shutil.rmtree(scratch, ignore_errors=True)


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", type=Path, help="a report's folder, or a record's")
    # of which tree it is evidence nobody can guess
    says = "the published reports, a folder for each GPU"
    parser.add_argument("--results", type=Path, required=True, metavar="DIR", help=says)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    with doing("reading"):
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
    files = render(own, [], peak_of(own, options.results / "peak", "../peak"))
    if (frozen := target / MEDIANS).is_file():
        files[MEDIANS] = frozen.read_bytes()
    if theirs := foreign(files, target):
        raise Failed(f"{target}: {theirs[0]} is of no report and would be lost; move it away")
    publish(files, target)
    print(target)
    return 0
