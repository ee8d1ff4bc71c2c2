"""Holds records against the first of them: README.md and times.csv say how times
and verdicts differ.

A record may have probes.json beside it, and need not have a GPU. Every record keeps a column of its
own in the table of claims, labelled with what sets it apart. Exit code 2: a record is not in form.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from recheck_report.claims.measured import Measured, read
from recheck_report.commands import experiments_option
from recheck_report.commands.output import COMPARISON_MARK, TIMES, write
from recheck_report.formatting import prose
from recheck_report.model.record import Record
from recheck_report.sections import gpus, times
from recheck_report.statistics.variation import MARGIN
from recheck_report.templates import render

MOST = 10  # rows in a table of two models, where nearly all differ


def _view(first: Measured, other: Measured, pair: times.Pair, names: tuple[str, str]) -> Any:
    """What compare.md.j2 shows of two records; by the names of its variables."""
    was, now = gpus.labels_of(first, other, names)
    alike = gpus.alike(first, other)
    titles = ("slower", "faster") if alike else (f"slower on {now}", f"faster on {now}")
    gpu_of = (each.record.environment.gpu for each in (first, other))
    models = {gpu.name for gpu in gpu_of if gpu}
    gained = times.count(len(pair.gained), "case")
    return {
        "title": f"{now}, against {was}",
        "answer": gpus.answer(first, other, pair, (was, now)),
        "changed": pair.tables(*titles, times.STRONGEST if alike else MOST),
        "changed_columns": [*times.CHANGED[:3], was, now, *times.CHANGED[5:]],
        "alike": alike,
        "groups": pair.groups(),
        "groups_columns": times.GROUPS,
        "lost": pair.lost_rows(),
        "lost_title": f"Timed by {was} alone",
        "lost_columns": times.LOST,
        "gained": f"{gained} timed by {now} alone: times.csv has them." if pair.gained else "",
        "turned": gpus.turned(first, other),
        "turned_columns": gpus.TURNED,
        "only_one": gpus.listed(gpus.only_one(first, other)),
        "cases": times.count(len(pair.changes), "case"),
        "expected": round((1 - MARGIN) * len(pair.changes)),
        "basis": times.basis(models),
        "margins": pair.margins(),
        "margins_columns": times.MARGINS,
    }


def _otherwise(first: Record, each: Record) -> list[str]:
    """That the GPU's samples were taken otherwise than in the first record, in a line."""
    queued = [own.method.queued_samples if own.method else None for own in (first, each)]
    if queued[0] == queued[1] or not (first.gpu_measured and each.gpu_measured):
        return []
    counts = " and ".join(str(count or "a block of them") for count in queued)
    return [
        "**Sampled otherwise than the first record** (how many samples the GPU had in its queue at "
        f"a time: {counts}): on some hosts several in the queue made short times up to 1 µs longer."
    ]


def compare(records: list[Measured], names: list[str] | None = None) -> dict[str, bytes]:
    """Every file by its path in the folder; depends on nothing but the records, their order, their
    names and the claims. Each record is held against the first."""
    names = names or gpus.names(records)
    claims = gpus.claims(records)
    first, *others = records
    pairs = [times.Pair(first, each) for each in others]
    views = [
        _view(first, each, pair, (names[0], name))
        for each, pair, name in zip(others, pairs, names[1:], strict=True)
    ]
    brands = [
        [prose(name), text]
        for name, each in zip(names, records, strict=True)
        for text in [*gpus.brands(each), *_otherwise(first.record, each.record)]
    ]
    judged = gpus.decided(records, claims)
    hidden = len(claims) - len(judged)
    text = render(
        "compare.md.j2",
        mark=COMPARISON_MARK,
        names=[prose(name) for name in names],
        brands=brands,
        pairs=views,
        differing=gpus.differing(records, claims),
        columns=gpus.columns(records, names),
        rows=gpus.rows(records, judged),
        hidden=times.count(hidden, "claim") if hidden else "",
    )
    files: dict[str, bytes] = {}
    if pairs:
        files[TIMES] = times.times_csv(names[0], list(zip(names[1:], pairs, strict=True)))
    return {**files, "README.md": text.encode()}


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    says = "record.json, or its folder; the others are held against the first"
    add("records", type=Path, nargs="+", metavar="RECORD", help=says)
    add("--output", type=Path, required=True, metavar="DIR", help="the folder to write")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    records = [read(path, options.experiments) for path in options.records]
    write(compare(records), options.output, COMPARISON_MARK)
    print(options.output / "README.md")
    return 0
