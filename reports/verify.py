#!/usr/bin/env python3
"""Prints the verdicts of a report, and compares them with those expected of its GPU.

    python3 reports/verify.py REPORT [--expected DIR] [--experiments FOLDER]

DIR holds published reports, a folder for each GPU model: DIR/<gpu>/verdicts.json is what a GPU of
that model is expected to say; an inconclusive verdict there is met by any that was measured. Exit
code 0: every verdict is as expected, or nobody has published any. 1: some differ, each on a line.
2: DIR is no folder, or a verdicts.json or the claims, of which the titles are, cannot be read; said
in one line.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from claims import load_collection
from claims.tables import in_order
from places import slug
from program import experiments_option, fail
from record import BadRecord, typed
from verdicts import WORDS, number, summary

SCHEMA = 1  # of verdicts.json
COLORS = {"holds": "32", "fails": "31", "inconclusive": "33", "not_measured": "2"}


@dataclass(frozen=True)
class Origin:
    gpu: str | None
    commit: str | None
    started: str
    schema: int


@dataclass(frozen=True)
class Value:
    value: float
    low: float | None
    high: float | None
    unit: str


@dataclass(frozen=True)
class Verdict:
    id: str
    verdict: str
    measured: Value | None
    expected: str
    evidence: tuple[str, ...]
    reason: str | None

    @property
    def effect(self) -> str:
        found = self.measured
        return number(found.value, found.low, found.high, found.unit) if found else "–"


@dataclass(frozen=True)
class Verdicts:
    """verdicts.json, member by member."""

    schema: int
    record: Origin
    claims: tuple[Verdict, ...]

    @property
    def by_id(self) -> dict[str, Verdict]:
        return {each.id: each for each in self.claims}


def load(path: Path) -> Verdicts:
    """Reads a verdicts.json; raises BadRecord with one line that names the file and the field."""
    try:
        document = json.loads(path.read_bytes())
        if type(document) is not dict or "schema" not in document:
            raise BadRecord("has no field schema: these are no verdicts of Recheck")
        if (schema := typed(int, document["schema"], "schema")) != SCHEMA:
            raise BadRecord(f"has schema {schema}; this program reads schema {SCHEMA}")
        found = typed(Verdicts, document, "")
        for at, each in enumerate(found.claims):
            if each.verdict not in WORDS:
                raise BadRecord(f"field claims[{at}].verdict must be one of {', '.join(WORDS)}")
        if len(found.by_id) < len(found.claims):
            raise BadRecord("field claims: two have the same id")
        return found
    except OSError as error:
        raise BadRecord(f"{path}: cannot be read: {error.strerror}; render the record") from error
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path}: is not complete JSON; render the record again") from error
    except BadRecord as error:
        raise BadRecord(f"{path}: {error}; render the record again") from error


def lines(found: Verdicts, titles: dict[str, str], width: int | None, color: bool) -> list[str]:
    """A line for each claim, in columns; cut off at `width` characters, if there is one."""
    table = [
        [each.id, WORDS[each.verdict], each.effect, titles.get(each.id, "")]
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
            why = new.effect if new.measured else new.reason or "no reason given"
            printed.append(f"{name}: was {was}, is {now}: {why}")
    return printed


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Prints and checks the verdicts of a report.")
    parser.add_argument("report", type=Path, help="a folder that render.py wrote")
    results = Path(__file__).parent / "results"
    add = parser.add_argument
    add("--expected", type=Path, default=results, metavar="DIR", help="default: %(default)s")
    experiments_option(parser)
    arguments = parser.parse_args(argv)
    if not arguments.expected.is_dir():
        fail(
            f"--expected: {arguments.expected} is no folder; name that of the published reports", 2
        )
    try:
        found = load(arguments.report / "verdicts.json")
        titles = {each.id: each.title for each in load_collection(arguments.experiments).claims}
        gpu = found.record.gpu
        place = slug(gpu or "")
        path = arguments.expected / place / "verdicts.json"
        known = bool(place) and path.exists()
        expected = load(path) if known else None
    except BadRecord as error:
        fail(str(error), 2)
    terminal = sys.stdout.isatty()
    width = shutil.get_terminal_size().columns if terminal else None
    color = terminal and not os.environ.get("NO_COLOR")
    for line in lines(found, titles, width, color):
        print(line)
    counts = {v: sum(each.verdict == v for each in found.claims) for v in WORDS}
    print(f"\n{summary(counts)}: {gpu or 'no GPU'}")
    if expected is None:
        publish = f"no expectation for {gpu}: publish the report to make it one"
        print(publish if gpu else "no expectation for a machine without a GPU")
        return
    changed = differences(found, expected)
    for line in changed:
        print(line)
    if changed:
        some = f"{len(changed)} verdict{'s' if len(changed) > 1 else ''}"
        print(f"{some} not as expected: {path}")
        sys.exit(1)
    print(f"every verdict as expected: {path}")


if __name__ == "__main__":
    main()
