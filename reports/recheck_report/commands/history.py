"""Keeps the times of a GPU model's runs in DIR/<gpu>/history.json, and looks for change points.

Without an option it prints what is known: the runs, and where a rung's time changed. --add takes
records over, each to the history of its own GPU model and a record of the same run once, and looks
for change points, for which it needs the package ruptures; with no record it only looks again.
--check holds records against their histories: each rung against the level that it had last. What
`verify` does against one published record, this does against several runs of it: one run that
strays neither hides a slower rung nor makes one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.commands import Failed
from recheck_report.commands.publish import unfit
from recheck_report.commands.verify import slower
from recheck_report.files import replace
from recheck_report.formatting import duration, margin, shape_label
from recheck_report.history.runs import HISTORY, History, added, load, of
from recheck_report.history.search import NoRuptures, searched
from recheck_report.history.steps import ENOUGH, Step, expected, steps
from recheck_report.model.record import RECORD, Record
from recheck_report.model.record import load as load_record
from recheck_report.model.typed import BadRecord
from recheck_report.progress import doing
from recheck_report.sections.times import Pair, count, words

MOST = 10  # change points that are printed of a GPU model


def options(parser: argparse.ArgumentParser) -> None:
    says = "record.json, or its folder"
    parser.add_argument("records", type=Path, nargs="*", metavar="RECORD", help=says)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--add", action="store_true", help="take the records over, and look again")
    what.add_argument("--check", action="store_true", help="say which rungs of them are slower")
    says = "the published reports, a folder for each GPU"
    parser.add_argument("--results", type=Path, required=True, metavar="DIR", help=says)


def run(options: argparse.Namespace) -> int:
    if options.records and not (options.add or options.check):
        raise Failed("records are there to --add or to --check: say which", 2)
    if not options.add and not options.results.is_dir():
        raise Failed(f"{options.results} is no folder of published reports", 2)
    if options.check and not options.records:
        raise Failed("--check: name the record that is to be compared with its history", 2)
    records = []
    for at, path in enumerate(options.records, 1):
        with doing(f"reading record {at} of {len(options.records)}"):
            records.append((path, load_record(path)[0]))
    for path, record in records:
        if why := unfit(record):
            raise Failed(f"{path}: belongs into no history: {why}")
    if options.check:
        # every one of them, even behind one that is slower
        return max([_check(record, options.results) for _, record in records])
    if options.add:
        _add(records, options.results)
    found = sorted(options.results.glob(f"*/{HISTORY}"))
    if not found:
        print(f"no history: {options.results} has no */{HISTORY}; --add makes one of records")
    for path in found:
        history = load(path)
        assert history is not None
        _print(history, path)
    return 0


def _file(gpu: str, results: Path) -> Path:
    if not slug(gpu):
        raise Failed(f"the GPU's name {gpu!r} makes no folder's", 2)
    return results / slug(gpu) / HISTORY


def _known(gpu: str, results: Path) -> History | None:
    path = _file(gpu, results)
    found = load(path)
    if found and found.gpu != gpu:
        raise BadRecord(f"{path}: is of {found.gpu}, and not of {gpu}; move it away")
    return found


def _model(record: Record) -> str:
    assert record.environment.gpu is not None
    return record.environment.gpu.name


def _add(records: list[tuple[Path, Record]], results: Path) -> None:
    """Nothing is written before every history is whole."""
    found = {path: load(path) for path in results.glob(f"*/{HISTORY}")} if not records else {}
    for at, record in records:
        path = _file(_model(record), results)
        known, new = found.get(path) or _known(_model(record), results), of(record)
        try:
            found[path] = added(known, new)
        except BadRecord as error:
            raise BadRecord(f"{path}: {error} ({at})") from error
    written = {}
    for path, history in found.items():
        assert history is not None
        try:
            with doing(f"looking for change points of {history.gpu}"):
                written[path] = searched(history).json()
        except NoRuptures as why:
            raise Failed(f"nothing is written: {why}") from why
    for path, data in written.items():
        if path.exists() and path.read_bytes() == data:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, data)
        if (path.parent / RECORD).exists():
            folder = path.parent
            print(f"{path}: its report is older: recheck-report render {folder} --output {folder}")


def _print(history: History, path: Path) -> None:
    all_steps = steps(history)
    rungs = [each for each in all_steps if each.role == "rung"]
    first, last = history.runs[0], history.runs[-1]
    runs = f"{count(len(history.runs), 'run')}, {first.started[:10]} to {last.started[:10]}"
    print(f"{history.gpu}: {runs}, {count(len(history.cases), 'case')}: {path}")
    if history.searched < len(history.runs):
        print(f"  not looked for in the last {_late(history)}: history --add")
    print(f"  {count(len(all_steps), 'change point')}, {len(rungs)} of rungs")
    for each in rungs[:MOST]:
        print(f"  {_told(history, each)}")
    if len(rungs) > MOST:
        print(f"  and {len(rungs) - MOST} more of rungs")


def _late(history: History) -> str:
    late = len(history.runs) - history.searched
    return f"{late} runs" if late > 1 else "run"


def _told(history: History, step: Step) -> str:
    _, _, shape, regime = step.id.split("/")
    before, after = history.runs[step.before].short, history.runs[step.after].short
    change = f"{duration(step.was.median)}, then {duration(step.now.median)}"
    return (
        f"{step.row} at {shape_label(shape)}, {regime.replace('_', ' ')}, {before} to {after}: "
        f"{change}: {words(step.ratio)}; two runs differ by up to {margin(step.margin)}; "
        f"changed: {step.between.words}"
    )


def _check(record: Record, results: Path) -> int:
    """Says which rungs of a record are slower than before; returns the exit code."""
    gpu = _model(record)
    history = _known(gpu, results)
    if history is None:
        print(f"no history of {gpu}: {_file(gpu, results)} is not there; --add makes it")
        return 0
    old, margins = expected(history, record)
    pair = Pair(old, record, margins)
    rungs = sum(each.new.role == "rung" for each in pair.changes)
    held = f"{count(rungs, 'case')} of rungs, each against {ENOUGH} runs or more of its last level"
    if not rungs:
        print(f"not enough runs: no case of this record has {ENOUGH} at its last level: {gpu}")
        return 0
    for line in slower(pair):
        print(line)
    worse = pair.rows("slower", rungs=True)
    if not worse:
        print(f"nothing is slower than in its history: {held}: {gpu}")
        return 0
    print(f"slower than in their history: {count(len(worse), 'rung')}; of {held}: {gpu}")
    return 1
