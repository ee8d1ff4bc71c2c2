"""Copies a rendered report to DIR/<gpu>/ as committed evidence, or refuses.

Evidence must come from a clean, finished Release run of the full matrix on a GPU, no case wrong,
and its files must be exactly what the renderer makes of its record. Exit code 1: refused, with one
line that says why; what was published before stays.
"""

from __future__ import annotations

import argparse
import os
import re
import tempfile
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.claims import load_collection
from recheck_report.claims.measured import Measured, read, read_gpu
from recheck_report.claims.names import Tables, faults
from recheck_report.commands import Failed, experiments_option
from recheck_report.commands.output import foreign
from recheck_report.commands.render import render
from recheck_report.contribution.source import BadSource, NoRepository, Source
from recheck_report.history.runs import HISTORY, History, added, of
from recheck_report.history.runs import load as load_history
from recheck_report.history.search import NoRuptures, searched
from recheck_report.model.record import RECORD, Record, load
from recheck_report.model.typed import BadRecord
from recheck_report.progress import doing
from recheck_report.sections.machine import suspects
from recheck_report.statistics.family import comparisons
from recheck_report.statistics.ratio import COARSEST

COPIED = ("rung", "baseline")  # the roles that may be timed end to end


def narrowed(record: Record) -> str | None:
    """What makes this less than the full matrix at the full budget, or None."""
    # no shell leaves a quote about a flag: whoever writes one hides it
    for word in re.sub(r"[\"'\\]", "", record.environment.command).split():
        # the rest of a path with a space in it is no flag; nor do these two leave anything out
        if word.startswith("-") and word != "--resume" and not word.startswith("--output="):
            full = "evidence is the full matrix: run recheck without it"
            return f"it was measured with {word}; {full}"
    plan = record.plan
    if not plan.full:
        return f"its preset is {plan.preset}; evidence is the full matrix"
    if plan.dropped:
        first = plan.dropped[0]
        what = f"{first.experiment} at {first.shape} ({first.reason})"
        return f"its plan left out {what}; evidence is the full matrix"
    for experiment in record.experiments:
        rows = record.strategies(experiment)
        if not rows:
            return f"it holds no case of {experiment.name}; evidence is the full matrix"
        if experiment not in record.ordinary:
            continue  # a row of these has a shape and a regime of its own
        # some experiments have no end to end, and inner loops are NVIDIA's; what has it has it for
        # every row that solves the problem and is no point of a sweep
        copied = any(case.regime == "end_to_end" for case in record.of(experiment))
        for row in rows:
            regimes = ["cold", "hot"] if row.target == "gpu" else ["hot"]
            if row.sweep:
                regimes = ["cold"]  # some plans are swept in no other regime
            elif copied and row.target == "gpu" and row.role in COPIED:
                regimes.append("end_to_end")
            for regime in regimes:
                if not record.find(experiment, row.strategy, experiment.headline, regime):
                    case = f"{experiment.name}/{row.strategy}/{experiment.headline}/{regime}"
                    return f"it lacks {case}; evidence is the full matrix"
    return None


def unfit(record: Record) -> str | None:
    """Why nobody should believe this record's times, or None."""
    env = record.environment
    if env.gpu is None or not record.gpu_measured:
        return f"it holds no GPU result ({record.no_gpu_because})"
    if env.build_type != "Release":
        return f"it comes from a {env.build_type} build; use Release"
    if env.device_debug:
        return "its device code was built with -G"
    if not env.git.known:
        return "it was measured from a tree in no git repository; commit it and measure again"
    if env.git.dirty:
        return "it was measured with uncommitted changes; commit them and measure again"
    if record.finished is None:
        return "its run did not finish"
    if env.gpus_at_once > 1:
        return f"{env.gpus_at_once} GPUs were measured at once; measure this one by itself"
    if env.gpu.mig:
        return "it was measured on a part of the GPU (MIG); measure the whole of it"
    if env.mps:
        return "it was measured while MPS was on, by which others share the GPU; turn it off"
    if env.other_processes:
        return f"{env.other_processes} other processes were on the GPU; measure without them"
    return None


def refusal(record: Record) -> str | None:
    """Why this record is no evidence, or None."""
    count = record.count()
    if why := unfit(record):
        return why
    for status in ("incorrect", "failed"):
        if count[status]:
            first = next(case for case in record.cases if case.status == status)
            return f"{count[status]} cases are {status}, first {first.id}: {first.reason}"
    if comparisons(record).resolution > COARSEST:
        return (
            "its self-audit cannot tell a kernel from itself to "
            f"{100 * COARSEST:g} %; measure again on a quiet machine"
        )
    for name, why in suspects(record).items():
        return f"suspect times: {len(suspects(record))}, first {name}: {why}"
    return narrowed(record)


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
        if (folder / name).read_bytes() != files[name]:
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
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".publish-") as scratch:
        new, old = Path(scratch, "new"), Path(scratch, "old")
        for name, data in files.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes(data)
        if target.exists():
            os.rename(target, old)
        try:
            os.rename(new, target)
        except OSError:
            if old.exists():
                os.rename(old, target)
            raise


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
    why = refusal(own.record) or next(names, None) or untraceable(own.record, options.results)
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
    with doing("history"):
        history, note = continued(own.record, target)
    if history and (own.history is None or history.json() != own.history.json()):
        files = render(own.with_history(history), [])
    if theirs := foreign(files, target):
        raise Failed(f"{target}: {theirs[0]} is of no report and would be lost; move it away")
    publish(files, target)
    print(target, *note, sep="\n")
    return 0
