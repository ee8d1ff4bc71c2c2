"""Writes a report as one zip file, to forward or to publish: all its files in one folder, whose
name tells the reports of two machines apart. The folder is an RO-Crate before and after.

The files are what the renderer makes of the record in the folder. Exit code 1: FILE is something
else, and nothing is written.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recheck_report.bundle import folder_name, write_archive
from recheck_report.claims.measured import read, read_gpu
from recheck_report.commands import experiments_option, outside
from recheck_report.commands.render import render
from recheck_report.model.record import RECORD
from recheck_report.progress import doing


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("report", type=Path, help="a folder that `render` wrote")
    add("--output", type=Path, metavar="FILE", help="the zip file (default: REPORT.zip)")
    many = "what the report was rendered with"
    add("--beside", type=Path, nargs="*", action="extend", default=[], metavar="RECORD", help=many)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    folder = options.report.resolve()
    options.output = options.output or folder.with_name(f"{folder.name}.zip")
    outside(options.output, folder)
    with doing("reading"):
        own = read(options.report / RECORD, options.experiments)
        beside = [read_gpu(path, options.experiments) for path in options.beside]
    files = render(own, beside)
    write_archive(files, folder_name(own.record), options.output)
    print(options.output)
    return 0
