"""Makes the table of how much two runs of the same code differ, from records of several runs.

The table comes with the package (statistics/variation.json): `compare`, `verify` and the page take
their margins from it. No GPU is needed. Only a table is replaced, and as a whole; another FILE ends
with exit code 1. Exit code 2: no two of the records are of one GPU model and have device code in
common.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from recheck_report.commands import Failed
from recheck_report.files import replace
from recheck_report.formatting import margin
from recheck_report.model.record import load
from recheck_report.model.typed import BadRecord, bytes_of, read_json
from recheck_report.progress import doing
from recheck_report.queries import DISPATCH
from recheck_report.sections.another import whether
from recheck_report.statistics.variation import PROCESS, Variation, derive, table_json


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("records", type=Path, nargs="+", metavar="RECORD", help="record.json, or its folder")
    add("--output", type=Path, required=True, metavar="FILE", help="the JSON file to write")


def _is_table(path: Path) -> bool:
    try:
        found = read_json(bytes_of(path))
    except (BadRecord, OSError):
        return False
    return isinstance(found, dict) and "models" in found


def run(options: argparse.Namespace) -> int:
    if os.path.lexists(options.output) and not _is_table(options.output):
        raise Failed(f"{options.output}: is no table of `variation`; name another --output")
    records = []
    for at, path in enumerate(options.records, 1):
        with doing(f"reading record {at} of {len(options.records)}"):
            records.append(load(path)[0])
    found = [each for each in derive(records, DISPATCH) if each.levels]
    if not found:
        raise Failed("no two of these records are of one GPU model and the same device code", 2)
    replace(options.output, table_json(found))
    for each in found:
        show(each)
    return 0


def show(found: Variation) -> None:
    """Prints what is known of a GPU model."""
    print(f"{found.gpu}: {len(found.records)} runs")
    for level in found.levels:
        print(f" another {level.level}: {level.pairs} pairs with the same device code")
        for what, own in (("medians", level.medians), ("ratios", level.ratios)):
            for one in own.classes:
                print(
                    f"  {what}: {one.name:22} {one.count:7}, half within "
                    f"{margin(one.half)}, 97 of 100 within {margin(one.predicted)}, "
                    f"999 of 1000 within {margin(one.margin)}"
                )
            if held := own.held_out:
                print(
                    f"  {what}: of a {'run' if level.level == PROCESS else 'GPU'} that is left "
                    f"out {100 * held.share:.1f} % lie where the others predict them; "
                    f"{100 * held.worst:.1f} % in the worst class, {held.kind}; "
                    f"{100 * held.least:.1f} % of the worst"
                )
        if seeds := level.seeds:
            print(
                f" another process, by seed: {seeds.same_pairs} pairs of one seed, "
                f"{seeds.other_pairs} of two"
            )
            of_two = {one.name: one for one in seeds.other}
            for one in seeds.same:
                if other := of_two.get(one.name):
                    print(
                        f"  medians: {one.name:22} half within {margin(one.half)} with one seed, "
                        f"{margin(other.half)} with two"
                    )
            print(f"  {whether(seeds)}")
