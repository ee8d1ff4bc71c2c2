"""Explains why other harnesses give other numbers: a page next to other_harnesses.json.

example: recheck-report harnesses build/release/other_harnesses
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recheck_report.commands import Failed
from recheck_report.files import replace
from recheck_report.say.pages import harnesses
from recheck_report.write import markdown


def options(parser: argparse.ArgumentParser) -> None:
    says = f"a folder with {harnesses.FILE}, as the target other_harnesses makes it"
    parser.add_argument("folder", type=Path, help=says)


def run(options: argparse.Namespace) -> int:
    numbers = harnesses.load(options.folder)
    if numbers is None:
        raise Failed(f"{options.folder}: has no {harnesses.FILE}; build other_harnesses first", 2)
    path = options.folder / harnesses.PAGE
    replace({path: markdown.page(harnesses.page(numbers))})
    print(path)
    return 0
