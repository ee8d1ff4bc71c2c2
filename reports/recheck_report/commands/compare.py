"""Holds records against the first of them: README.md says how times and verdicts differ.

A record may have probes.json beside it, and need not have a GPU. Every record keeps a column of its
own in the table of claims, labelled with what sets it apart. Exit code 2: a record is not in form.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from recheck_report.claims.measured import Measured, read
from recheck_report.commands import experiments_option
from recheck_report.commands.output import COMPARISON_MARK, write
from recheck_report.formatting import prose
from recheck_report.say import gpus, times
from recheck_report.templates import render

MOST = 10  # rows in a table of two models, where nearly all differ


def _view(first: Measured, other: Measured, pair: times.Pair, names: tuple[str, str]) -> Any:
    """What compare.md.j2 shows of two records; by the names of its variables."""
    was, now = gpus.labels_of(first, other, names)
    alike = gpus.alike(first, other)
    titles = ("slower", "faster") if alike else (f"slower on {now}", f"faster on {now}")
    return {
        "title": f"{now}, against {was}",
        "answer": gpus.answer(first, other, pair, (was, now)),
        "changed": pair.tables(*titles, times.STRONGEST if alike else MOST),
        "changed_columns": [*times.CHANGED[:3], was, now, *times.CHANGED[5:]],
        "alone": [
            f"{times.count(len(some), 'case')} timed by {who} alone."
            for who, some in ((was, pair.lost), (now, pair.gained))
            if some
        ],
        "turned": gpus.turned(first, other),
        "turned_columns": gpus.TURNED,
    }


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
        for text in gpus.brands(each)
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
    return {"README.md": text.encode()}


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
