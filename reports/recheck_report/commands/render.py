"""Renders a record into a report folder: README.md with the answers, pages for the claims, the
experiments and the method, charts/*.svg, cases.csv, record.json, verdicts.json and probes.json.

Every record becomes a report, which marks odd values. Files are written only once all of them exist
in memory.

example: recheck-report render build/release/measured --output report --beside reports/results/*
"""

from __future__ import annotations

import argparse
import html
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from recheck_report.anchors import CASES, CHANGES, CLAIMS, ERRATA, LOSSES, METHOD, README, page
from recheck_report.charts import charts
from recheck_report.claims.collection import Collection
from recheck_report.claims.documents import SOURCES
from recheck_report.claims.measured import Measured, read, read_gpu
from recheck_report.commands import experiments_option
from recheck_report.commands.output import write
from recheck_report.fallback import or_placeholder
from recheck_report.files import git, slug
from recheck_report.formatting import NONE
from recheck_report.record.read import RECORD, load, locate
from recheck_report.record.typed import BadRecord, printable
from recheck_report.say.answer import Peak, fastest_rows, losses_page, lost
from recheck_report.say.claim import verdicts_json
from recheck_report.say.nodes import Page, Text, blocks, of_report, text
from recheck_report.say.pages import MARK, documents, harnesses, without
from recheck_report.say.pages.claims import page as claims_page
from recheck_report.say.pages.experiment import cases_csv, experiment_page
from recheck_report.say.pages.first_page import answer_blocks, first_page
from recheck_report.say.pages.method import method_page
from recheck_report.say.standings import losses
from recheck_report.say.warnings import causes
from recheck_report.write import markdown
from recheck_report.write.page import page as html_page

MOST_RUNS = 4  # records that report.html is compared with


def peak_of(report: Measured, folder: Path, link: str, experiments: Path) -> Peak | None:
    """The peak collection's results on this GPU model. `folder` holds a report for each model, and
    `link` is its path from this report. Its own claims, in `experiments`/peak, correct its ratios
    as they do in its own report."""
    name = slug(report.gpu)
    if not name or report.record.environment.gpu is None or not (folder / name / RECORD).is_file():
        return None
    own = experiments / "peak"
    if (own / SOURCES).is_file():
        peak = read(folder / name, own)
    else:
        peak = Measured(load(folder / name)[0], Collection(folder, {}), {})
    if peak.record.environment == report.record.environment:
        return None  # this is the report on them
    folder_of_peak = f"{link}/{name}/"

    def linked(row: tuple[Text, ...], kernel: int) -> tuple[Text, ...]:
        return tuple(
            of_report(cell, folder_of_peak if at == kernel else "") for at, cell in enumerate(row)
        )

    ordinary = peak.record.ordinary
    rows = {
        each.name: [linked(row, 1) for row in fastest_rows(peak, each) if row[3].plain != NONE]
        for each in ordinary
    }
    losing = {each.name: [linked(row, 2) for row in losses(peak, each)] for each in ordinary}
    return Peak(rows, losing, folder_of_peak) if any(rows.values()) else None


def harnesses_of(report: Measured, folders: Iterable[Path]) -> dict[str, bytes]:
    """The page on other harnesses and its data, from the first folder with this GPU model."""
    for folder in folders:
        try:
            numbers = harnesses.load(folder)
        except BadRecord as problem:  # the report needs no such page
            print(f"left out: {problem}", file=sys.stderr)
            continue
        if numbers and numbers.environment.gpu == report.gpu:
            data = (folder / harnesses.FILE).read_bytes()
            page = markdown.page(harnesses.page(numbers, README))
            return {harnesses.FILE: data, harnesses.PAGE: page}
    return {}


def render(
    report: Measured,
    beside: list[Measured],
    peak: Peak | None = None,
    more: dict[str, bytes] | None = None,
) -> dict[str, bytes]:
    """Every file of the report, by path. It depends only on the records, their probes and the
    claims. `more`: further files of the report. Each record of `beside` has a GPU, and gets a
    column in the table of claims across GPUs."""
    record, pages, drawn = report.record, dict[str, Page](), charts(report)
    others = [other for other in beside if other.gpu != report.gpu]

    def add(name: str, title: str, make: Callable[..., Page], *given: object) -> None:
        """Makes a page, or one with the reason why it could not be made."""
        pages[name] = or_placeholder(
            lambda: make(report, *given), lambda why: Page(MARK, text(title), blocks(without(why)))
        )

    for experiment in record.ordinary:
        shown = drawn.get(experiment.name, [])
        add(page(experiment), experiment.title, experiment_page, experiment, shown)
    add(METHOD, "method", method_page)
    if lost(report, peak):
        add(LOSSES, "losses", losses_page, peak)
    drawing = next(iter(drawn.get("", ())), None)
    if drawing:
        add(CLAIMS, "claims", claims_page, others, drawing)
    if report.judgement.errata or report.collection.listings:
        add(ERRATA, "errata", documents.errata_page)
    if report.changed_verdicts:
        add(CHANGES, "changes", documents.changes_page)
    answer = or_placeholder(lambda: answer_blocks(report, peak), lambda why: blocks(without(why)))
    runs = [run for run in beside if run.record.environment != record.environment]
    files = {"verdicts.json": verdicts_json(record, report.judgement), **(more or {})}
    files |= {CASES: cases_csv(record), **report.compressed}
    files |= {f"charts/{each.name}": each.svg for of in drawn.values() for each in of if each.svg}
    files["report.html"] = or_placeholder(
        lambda: html_page(report, pages, answer, runs[:MOST_RUNS], drawn.get("", ())),
        lambda why: f"{MARK}<p>{html.escape(without(why).plain)}</p>\n".encode(),
    )
    # last, as it links all other files
    names = pages.keys() | files.keys()
    add(README, "Recheck", first_page, names, others, answer, drawing)
    return files | {name: markdown.page(made) for name, made in pages.items()}


def placed(path: Path, experiments: Path, output: Path) -> Measured:
    """A record with GPU results, and the address of its report, if it has one, from `output`."""
    other, shown = read_gpu(path, experiments), locate(path).parent / README
    return replace(other, address=os.path.relpath(shown, output)) if shown.is_file() else other


def lasting(target: Path, experiments: Path) -> Path | None:
    """The report's folder, if links from it to kernels last: the claims' repository holds it, and
    does not ignore it."""
    target = target.resolve()
    near = next(path for path in (target, *target.parents) if path.is_dir())
    try:
        roots = {git(path, "rev-parse", "--show-toplevel").stdout for path in (near, experiments)}
        ignored = not git(near, "check-ignore", "-q", str(target)).returncode
    except OSError:
        return None
    return target if len(roots) == 1 and roots != {""} and not ignored else None


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("record", type=Path, help="record.json, or its folder")
    add("--output", type=Path, required=True, metavar="DIR", help="the report folder to write")
    many = "records of other GPUs, each a column on the claims' page"
    add("--beside", type=Path, nargs="*", action="extend", default=[], metavar="RECORD", help=many)
    add("--bundle", type=Path, metavar="FILE", help="also write the report as one zip file")
    says = "reports on kernels beyond the documents, a folder for each GPU (default: ../peak)"
    add("--peak", type=Path, metavar="DIR", help=says)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    report = read(options.record, options.experiments)
    report = replace(report, folder=lasting(options.output, options.experiments))
    beside = [placed(path, options.experiments, options.output) for path in options.beside]
    link = os.path.relpath(options.peak, options.output) if options.peak else "../peak"
    # committed reports have it in the folder of all reports
    folder = options.peak or locate(options.record).parent.parent / "peak"
    peak = or_placeholder(
        lambda: peak_of(report, folder, link, options.experiments), lambda _: None
    )
    folders = (locate(path).parent for path in (options.record, *options.beside))
    files = render(report, beside, peak, harnesses_of(report, folders))
    write(files, options.output)
    if options.bundle:
        folder = options.output.resolve()
        shutil.make_archive(str(options.bundle.with_suffix("")), "zip", folder.parent, folder.name)
    for cause in causes(report):
        print(printable(cause.remark.text.plain))
    print(options.output / README)
    return 0
