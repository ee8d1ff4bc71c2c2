"""Says why other harnesses give other numbers: from other_harnesses.json in a folder, a page next
to it, or a small table on standard output.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recheck_report.commands import Failed
from recheck_report.files import replace
from recheck_report.formatting import cell, significant
from recheck_report.say import harnesses
from recheck_report.templates import render


def page(found: harnesses.Harnesses, back: str = "") -> bytes:
    """The whole page; `back` is the page that it leads back to."""
    env = found.environment
    versions = {"driver": env.driver, "CUDA": env.cuda_runtime, **env.versions}
    text = render(
        "harnesses.md.j2",
        mark=harnesses.MARK,
        gpu=cell(env.gpu),
        back=back,
        answer=[*harnesses.answer(found)],
        columns=["µs", *map(cell, found.kernels), "what it charges for or leaves out"],
        numbers=range(1, 1 + len(found.kernels)),
        rows=harnesses.table(found),
        kernels=[
            [cell(name), f"`{cell(each.case)}`", significant(each.bytes / 2**20)]
            for name, each in found.kernels.items()
        ],
        checks=[*harnesses.checks(found)],
        versions=", ".join(f"{cell(k)} {cell(v)}" for k, v in versions.items() if v),
        env=env,
    )
    return text.encode()


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
        heading, *rows = harnesses.short(found)
        for row in (heading, ["---", *["---:"] * (len(heading) - 1)], *rows):
            print(f"| {' | '.join(row)} |")
        return 0
    path = options.folder / harnesses.PAGE
    replace(path, page(found))
    print(path)
    return 0
