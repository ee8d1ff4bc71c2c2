#!/usr/bin/env python3
"""Writes the tables that `best` chooses by: for each GPU and shape the rung that was fastest.

    PYTHONPATH=reports python3 kernels/best.py [--results DIR] [--kernels DIR]

Reads the committed records DIR/*/record.json (default: reports/results). Beside every
DIR/<experiment>/best.cu (default: kernels/) it writes the tables that the file includes: best.inc
for rows that take their matrix by rows, best_column_major.inc for those that take it by columns,
each the fastest cold case of the rows that best.cu lists as choices; behind a row that not every
GPU runs, the fastest of those that more do, for a GPU that nobody has measured. Exit code 1: a
table cannot be written. Exit code 2: a record cannot be read.
"""

from __future__ import annotations

import argparse
import math
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from recheck_report.model.record import BadRecord, Case, Experiment, Record, load

ROOT = Path(__file__).resolve().parents[1]


def choices(source: str) -> dict[str, float]:
    """The choices that best.cu lists, and what they need: {.name = "tile16", .least = 75, ..."""
    listed = re.findall(r'\{\.name = "(\w+)",\s+\.least = (\d+),(\s+\.most =)?', source)
    # what runs on one architecture alone needs more than all that others do too
    return {name: math.inf if only else int(least) for name, least, only in listed}


def fastest(
    record: Record, experiment: Experiment, needs: dict[str, float], layout: str
) -> Iterator[Case]:
    """At each shape, by ascending work as they were timed, the fastest cold case of these rows, and
    behind it the fastest of those that need less."""
    by_columns = layout == "column_major"
    for shape in record.shapes(experiment):
        found = [record.find(experiment, name, shape, "cold") for name in needs]
        timed = [
            case
            for case in found
            if case and case.seconds and (case.layout == "column_major") == by_columns
        ]
        least = None
        for case in sorted(timed, key=lambda case: case.time.median):
            if least is None or needs[case.strategy] < least:
                yield case
                least = needs[case.strategy]


def table(records: list[Record], experiment: str, needs: dict[str, float], layout: str) -> str:
    lines = [
        "// Written by kernels/best.py from the committed records; publishing writes it again.",
        f"// {{compute capability, multiprocessors}}, shape, the fastest row: {experiment}, cold.",
    ]
    for record in records:
        gpu = record.environment.gpu
        known = next((each for each in record.experiments if each.name == experiment), None)
        if gpu is None or known is None:
            continue
        model = f"{{{round(10 * float(gpu.compute_capability))}, {gpu.sm_count}}}"
        for case in fastest(record, known, needs, layout):
            extents = ", ".join(map(str, case.shape.values()))
            lines.append(f'{{{model}, {{{extents}}}, "{case.strategy}"}},')
    return "\n".join(lines) + "\n"


def tables(records: list[Record], kernels: Path) -> dict[Path, str]:
    """What each table should hold, by its path."""
    found = {}
    for source in sorted(kernels.glob("*/best.cu")):
        text = source.read_text(encoding="utf-8")
        for layout, name in (("row_major", "best.inc"), ("column_major", "best_column_major.inc")):
            if f'"{name}"' in text:
                path = source.with_name(name)
                found[path] = table(records, source.parent.name, choices(text), layout)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Writes the tables that `best` chooses by.")
    parser.add_argument("--results", type=Path, default=ROOT / "reports/results", metavar="DIR")
    parser.add_argument("--kernels", type=Path, default=ROOT / "kernels", metavar="DIR")
    arguments = parser.parse_args(argv)
    try:
        records = [load(path)[0] for path in sorted(arguments.results.glob("*/record.json"))]
        for path, text in tables(records, arguments.kernels).items():
            if path.exists() and path.read_text(encoding="utf-8") == text:
                continue
            path.write_text(text, encoding="utf-8")
            print(path)
    except BadRecord as error:
        return _say(str(error), 2)
    except OSError as error:
        return _say(f"{error.filename}: cannot be written: {error.strerror}", 1)
    return 0


def _say(line: str, code: int) -> int:
    print(f"error: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
