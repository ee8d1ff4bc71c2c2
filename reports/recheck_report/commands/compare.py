"""Sets the verdicts of any number of records side by side: README.md and charts/*.svg.

A record may have probes.json beside it. No GPU is needed. Every record keeps a column of its own,
labelled with what sets it apart.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recheck_report.charts import compared_chart
from recheck_report.claims.measured import Measured, read_gpu
from recheck_report.commands import experiments_option
from recheck_report.commands.output import COMPARISON_MARK, write
from recheck_report.formatting import cell
from recheck_report.progress import doing
from recheck_report.sections import gpus, provenance
from recheck_report.sections.family import close_family
from recheck_report.templates import render


def compare(records: list[Measured]) -> dict[str, bytes]:
    """Every file by its path in the folder; depends on nothing but the records and the claims."""
    records = gpus.ordered(records)
    names = gpus.names(records)
    for name, each in zip(names, records, strict=True):
        with doing(f"verdicts on {name}"):
            close_family(each)
            _ = each.judgement  # made once, and kept
    claims = gpus.claims(records)
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
        differing=gpus.differing(records, claims),
        columns=gpus.columns(records),
        rows=gpus.rows(records, claims),
        charts=charts,
    )
    files = {f"charts/{chart.name}": chart.svg for chart in charts if chart.svg}
    return {**files, "README.md": text.encode()}


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("records", type=Path, nargs="+", metavar="RECORD", help="record.json, or its folder")
    add("--output", type=Path, required=True, metavar="DIR", help="the folder to write")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    records = []
    for at, path in enumerate(options.records, 1):
        with doing(f"reading record {at} of {len(options.records)}"):
            records.append(read_gpu(path, options.experiments))
    write(compare(records), options.output, COMPARISON_MARK)
    print(options.output / "README.md")
    return 0
