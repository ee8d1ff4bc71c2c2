"""Holds records against the first of them: README.md says how times and verdicts differ.

A record may have probes.json beside it, and need not have a GPU. Every record keeps a column of its
own in the table of claims, labelled with what sets it apart. Exit code 2: a record is not in form.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recheck_report.claims.measured import read
from recheck_report.commands import experiments_option
from recheck_report.commands.output import write
from recheck_report.say.pages import compare
from recheck_report.write import markdown


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    says = "record.json, or its folder; the others are held against the first"
    add("records", type=Path, nargs="+", metavar="RECORD", help=says)
    add("--output", type=Path, required=True, metavar="DIR", help="the folder to write")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    records = [read(path, options.experiments) for path in options.records]
    files = {"README.md": markdown.page(compare.page(records))}
    write(files, options.output, compare.MARK)
    print(options.output / "README.md")
    return 0
