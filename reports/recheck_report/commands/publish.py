"""Copies a rendered report to DIR/<gpu>/ as committed evidence, or refuses.

Evidence must come from a clean, finished Release run of the full matrix on a GPU, no case wrong, no
number beyond what such a machine can do (contribution/evidence.py), and its files must be exactly
what the renderer makes of its record. Exit code 1: refused, with one line that says why; what was
published before stays.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.claims import load_collection
from recheck_report.claims.measured import Measured, read, read_gpu
from recheck_report.claims.names import Tables, faults
from recheck_report.commands import Failed, experiments_option
from recheck_report.commands.output import foreign
from recheck_report.commands.render import render
from recheck_report.contribution.beside import refuted
from recheck_report.contribution.evidence import refusal
from recheck_report.contribution.source import BadSource, NoRepository, Source
from recheck_report.history.runs import HISTORY, History, added, of, repeated
from recheck_report.history.runs import load as load_history
from recheck_report.history.search import NoRuptures, searched
from recheck_report.model.record import RECORD, Record, load
from recheck_report.model.typed import BadRecord
from recheck_report.progress import doing


def untraceable(record: Record, results: Path) -> str | None:
    """Why nobody could measure it again where it is published, or None: a report says which commit
    to check out."""
    try:
        Source(results, record.environment.git.commit or "", "HEAD")
    except NoRepository:
        return None
    except BadSource as why:
        return str(why)
    return None


def mismatch(folder: Path, files: dict[str, bytes]) -> str | None:
    """The first file that is not what a fresh render of the record gives, or None."""
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    for name in sorted(there | set(files)):
        if name not in files:
            return f"{name} is no part of the report"
        if name not in there:
            return f"{name} is missing; render the record again"
        path = folder / name
        # a huge one need not be read
        if path.stat().st_size != len(files[name]) or path.read_bytes() != files[name]:
            return f"{name} differs from a fresh render of its record; render it again"
    return None


def committed(own: Measured, results: Path) -> list[Measured]:
    """The published records of other GPUs, which a report may show beside its own."""
    folder = own.known.folder
    found = [read_gpu(path, folder) for path in sorted(results.glob("*/record.json"))]
    return [each for each in found if each.gpu != own.gpu]


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


def kept(results: Path) -> Iterator[tuple[Path, History]]:
    """The times of all that is evidence there, by the folders that hold them."""
    for folder in sorted(path.parent for path in results.glob(f"*/{RECORD}")):
        yield folder, of(load(folder)[0])
    for path in sorted(results.glob(f"*/{HISTORY}")):
        if found := load_history(path):
            yield path.parent, found


def continued(record: Record, target: Path) -> tuple[History | None, list[str]]:
    """The history of the evidence there with this record, and what there is to say of it; None
    where this is the only run. What was published before there was a history is a run of it."""
    found = load_history(target)
    try:
        if (target / RECORD).exists():
            found = added(found, of(load(target)[0]))
        found = added(found, of(record))
    except BadRecord as error:
        raise BadRecord(f"{target / HISTORY}: {error}") from error
    if len(found.runs) == 1:
        return None, []
    try:
        return searched(found), []
    except NoRuptures as why:
        return found, [f"note: the run is in {HISTORY}, its change points are not: {why}"]


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
    parser.add_argument("report", type=Path, help="a folder that `render` wrote")
    # of which tree it is evidence nobody can guess
    says = "the published reports, a folder for each GPU"
    parser.add_argument("--results", type=Path, required=True, metavar="DIR", help=says)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    with doing("reading"):
        own = read(options.report / "record.json", options.experiments)
    # evidence answers what is asked today, whatever commit it is of
    names = faults(load_collection(options.experiments), Tables.of(own.record))
    why = refusal(own.record) or refuted(own) or next(names, None)
    why = why or untraceable(own.record, options.results)
    files = {} if why else render(own, [])
    why = why or mismatch(options.report, files)
    others = committed(own, options.results) if why and files else []
    if others and not mismatch(options.report, render(own, others)):
        why = None  # it shows other GPUs as well, and evidence stands for itself
    if why:
        raise Failed(f"{options.report}: not published: {' '.join(why.split())}")
    target = options.results / slug(own.gpu)
    if elsewhere := other_evidence(own.record, options.results, target):
        raise Failed(elsewhere)
    for folder, known in kept(options.results):
        if again := repeated(of(own.record), known):
            what = f"{folder} has its times already, {again}; measure again"
            raise Failed(f"{options.report}: not published: {what}")
    with doing("history"):
        history, note = continued(own.record, target)
    if history and (own.history is None or history.json() != own.history.json()):
        files = render(own.with_history(history), [])
    if theirs := foreign(files, target):
        raise Failed(f"{target}: {theirs[0]} is of no report and would be lost; move it away")
    publish(files, target)
    print(target, *note, sep="\n")
    return 0
