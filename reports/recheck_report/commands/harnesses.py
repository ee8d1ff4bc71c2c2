"""Says why other harnesses give other numbers: from other_harnesses.json in a folder, a page next
to it, or a small table on standard output.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recheck_report.commands import Failed
from recheck_report.files import replace
from recheck_report.say import harnesses
from recheck_report.say.pages.harnesses import page
from recheck_report.write import markdown


def options(parser: argparse.ArgumentParser) -> None:
    says = f"a folder with {harnesses.FILE}, as the target other_harnesses makes it"
    parser.add_argument("folder", type=Path, help=says)
    says = "print a small table in Markdown, and write nothing"
    parser.add_argument("--short", action="store_true", help=says)


def run(options: argparse.Namespace) -> int:
    found = harnesses.load(options.folder)
    if found is None:
        raise Failed(f"{options.folder}: has no {harnesses.FILE}; build other_harnesses first", 2)
    if options.short:
        print(markdown.block(harnesses.short(found)))
        return 0
    path = options.folder / harnesses.PAGE
    replace(path, markdown.page(page(found)))
    print(path)
    return 0
