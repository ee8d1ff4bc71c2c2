"""Compares records with the first of them, in times and verdicts.

A record may have probes.json, and needs no GPU. Each record has a column in the table of claims. It
ends with 0 even if something became slower; `verify` fails then.

example: recheck-report compare before/record.json after/record.json --output comparison
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
    says = "record.json, or its folder; the first is the base"
    add("records", type=Path, nargs="+", metavar="RECORD", help=says)
    add("--output", type=Path, required=True, metavar="DIR", help="the folder to write")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    records = [read(path, options.experiments) for path in options.records]
    files = {"README.md": markdown.page(compare.page(records))}
    write(files, options.output, compare.MARK)
    print(options.output / "README.md")
    return 0
