#!/usr/bin/env python3
"""Sets the verdicts of any number of records side by side: README.md and charts/*.svg.

    python3 reports/compare.py RECORD... --output DIR [--experiments FOLDER]

A RECORD is a record.json or a folder that holds one, with probes.json beside it where there is
one. No GPU is needed. Every record keeps a column of its own, labelled with what sets it apart.
Exit code 0: DIR holds the comparison. 1: it could not be written. 2: an input is no record of a
GPU, or the claims are not in form. Every error is one line.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import across
import provenance
from folder import COMPARISON_MARK, write
from measured import Measured, read_gpu
from program import errors, experiments_option, need_packages
from progress import doing
from quantities import cell


def compare(records: list[Measured]) -> dict[str, bytes]:
    """Every file by its path in the folder; depends on nothing but the records and the claims."""
    from charts import compared_chart
    from layout import render

    records = across.ordered(records)
    names = across.names(records)
    for name, each in zip(names, records, strict=True):
        with doing(f"verdicts on {name}"):
            _ = each.judgement  # made once, and kept
    claims = across.claims(records)
    charts, experiments = [], dict.fromkeys(claim.experiment for claim in claims)
    for at, experiment in enumerate(experiments, 1):
        with doing(f"chart {at} of {len(experiments)}"):
            charts.append(compared_chart(records, names, experiment))
    brands = [
        [cell(name), text]
        for name, each in zip(names, records, strict=True)
        for text in provenance.brands(each.record, each.probes)
    ]
    text = render(
        "compare.md.j2",
        mark=COMPARISON_MARK,
        names=[cell(name) for name in names],
        brands=brands,
        differing=across.differing(records, claims),
        columns=across.columns(records),
        rows=across.rows(records, claims),
        charts=charts,
    )
    files = {f"charts/{chart.name}": chart.svg for chart in charts if chart.svg}
    return {**files, "README.md": text.encode()}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Sets the verdicts of records side by side.")
    add = parser.add_argument
    add("records", type=Path, nargs="+", metavar="RECORD", help="record.json, or its folder")
    add("--output", type=Path, required=True, metavar="DIR", help="the folder to write")
    experiments_option(parser)
    arguments = parser.parse_args(argv)
    with errors(arguments.output):
        records = []
        for at, path in enumerate(arguments.records, 1):
            with doing(f"reading record {at} of {len(arguments.records)}"):
                records.append(read_gpu(path, arguments.experiments))
        need_packages()
        write(compare(records), arguments.output, COMPARISON_MARK)
    print(arguments.output / "README.md")


if __name__ == "__main__":
    main()
