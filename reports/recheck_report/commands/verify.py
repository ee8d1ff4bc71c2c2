"""Prints the verdicts of a report, and compares them with those expected of its GPU.

DIR holds published reports, a folder for each GPU model: DIR/<gpu>/verdicts.json is what a GPU of
that model is expected to say; an inconclusive verdict there is met by any that was measured. Exit
code 0: every verdict is as expected, or nobody has published any. 1: some differ, each on a line.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.claims import load_collection
from recheck_report.claims.toml import in_order
from recheck_report.commands import Failed, experiments_option
from recheck_report.formatting import NONE
from recheck_report.model.verdicts import Verdict, Verdicts, load_verdicts
from recheck_report.sections.verdicts import WORDS, number, summary

COLORS = {"holds": "32", "fails": "31", "inconclusive": "33", "not_measured": "2"}


def lines(found: Verdicts, titles: dict[str, str], width: int | None, color: bool) -> list[str]:
    """A line for each claim, in columns; cut off at `width` characters, if there is one."""
    table = [
        [each.id, WORDS[each.verdict], _effect(each), titles.get(each.id, "")]
        for each in found.claims
    ]
    widths = [max(map(len, column), default=0) for column in zip(*table, strict=True)]
    printed = []
    for each, row in zip(found.claims, table, strict=True):
        cells = [text.ljust(size) for text, size in zip(row, widths, strict=False)]
        line = "  ".join(cells).rstrip()
        if width and len(line) > width:
            line = line[: max(0, width - 1)] + "…"
        if color:
            # the verdict stands behind the id and two blanks; the line is cut already
            start = widths[0] + 2
            end = start + len(row[1])
            paint = f"\x1b[{COLORS[each.verdict]}m{line[start:end]}\x1b[0m"
            line = line[:start] + paint + line[end:] if len(line) > start else line
        printed.append(line)
    return printed


def differences(found: Verdicts, expected: Verdicts) -> list[str]:
    """A line for each claim whose verdict is not as expected."""
    here, there, printed = found.by_id, expected.by_id, []
    for name in sorted(here.keys() | there.keys(), key=in_order):
        new, old = here.get(name), there.get(name)
        was, now = (WORDS[each.verdict] if each else "absent" for each in (old, new))
        if new is None or old is None:
            printed.append(f"{name}: was {was}, is {now}")
        elif old.verdict == "inconclusive" and new.verdict in ("holds", "fails"):
            continue  # what nobody could tell is no expectation
        elif new.verdict != old.verdict:
            why = _effect(new) if new.measured else new.reason or "no reason given"
            printed.append(f"{name}: was {was}, is {now}: {why}")
    return printed


def _effect(judged: Verdict) -> str:
    found = judged.measured
    return number(found.value, found.low, found.high, found.unit) if found else NONE


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", type=Path, help="a folder that `render` wrote")
    says = "the published reports, a folder for each GPU"
    parser.add_argument("--expected", type=Path, metavar="DIR", help=says)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    folder = options.expected
    if folder and not folder.is_dir():
        raise Failed(f"--expected: {folder} is no folder; name that of the published reports", 2)
    found = load_verdicts(options.report / "verdicts.json")
    titles = {each.id: each.title for each in load_collection(options.experiments).claims}
    gpu = found.record.gpu
    place = slug(gpu or "")
    path = folder / place / "verdicts.json" if folder and place else None
    expected = load_verdicts(path) if path and path.exists() else None
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    color = terminal and not os.environ.get("NO_COLOR")
    for line in lines(found, titles, width, color):
        print(line)
    counts = {v: sum(each.verdict == v for each in found.claims) for v in WORDS}
    print(f"\n{summary(counts)}: {gpu or 'no GPU'}")
    if expected is None:
        publish = f"no expectation for {gpu}: publish the report to make it one"
        if folder:
            print(publish if gpu else "no expectation for a machine without a GPU")
        return 0
    changed = differences(found, expected)
    for line in changed:
        print(line)
    if changed:
        some = f"{len(changed)} verdict{'s' if len(changed) > 1 else ''}"
        print(f"{some} not as expected: {path}")
        return 1
    print(f"every verdict as expected: {path}")
    return 0
