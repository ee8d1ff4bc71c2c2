"""Renders a record into a self-contained report folder: README.md, which answers on one screen, a
page for the claims, for each experiment and for the method, charts/*.svg, cases.csv, record.json,
verdicts.json, and probes.json where it is beside the record.

A record always becomes a report: what is odd in it is said there. Nothing is written before every
file of the report exists in memory.
"""

from __future__ import annotations

import argparse
import html
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from recheck_report.anchors import CASES, CHANGES, CLAIMS, ERRATA, METHOD, README, page, slug
from recheck_report.charts import Chart, charts, claims_chart
from recheck_report.claims import Collection
from recheck_report.claims.measured import Measured, read, read_gpu
from recheck_report.commands import experiments_option
from recheck_report.commands.output import MARK, write
from recheck_report.fallback import or_placeholder
from recheck_report.record.read import RECORD, load, locate
from recheck_report.record.record import MEMORY_LEVELS, Experiment
from recheck_report.record.typed import BadRecord, printable
from recheck_report.say import harnesses, standings
from recheck_report.say.causes import causes
from recheck_report.say.claim import verdicts_json
from recheck_report.say.nodes import Page, blocks, text
from recheck_report.say.pages import changes as changes_page
from recheck_report.say.pages import claims as claims_page
from recheck_report.say.pages import errata as errata_page
from recheck_report.say.pages import harnesses as harnesses_page
from recheck_report.say.pages import without
from recheck_report.say.pages.experiment import experiment_page
from recheck_report.say.pages.method import method_page
from recheck_report.say.pages.readme import Peak, readme
from recheck_report.say.times import cases_csv
from recheck_report.write import markdown
from recheck_report.write.page import page as html_page


def _whole(title: str, make: Callable[[], bytes]) -> bytes:
    """A page; in the place of one that could not be made, why."""
    return or_placeholder(
        make, lambda why: markdown.page(Page(MARK, text(title), blocks(without(why))))
    )


def peak_of(own: Measured, folder: Path, link: str) -> Peak | None:
    """What the peak collection's report of this GPU model says; `folder` holds a report for each
    model, and `link` leads to it from the report that says so."""
    name = slug(own.gpu)
    if not name or own.record.environment.gpu is None or not (folder / name / RECORD).is_file():
        return None
    record, _ = load(folder / name)
    figures = standings.brief(Measured(record, Collection(folder, {}), {}))
    return Peak(figures, f"{link}/{name}/") if figures else None


def harnesses_of(own: Measured, folders: Iterable[Path]) -> dict[str, bytes]:
    """What the first of the folders that has it says of other harnesses on this GPU model."""
    for folder in folders:
        try:
            found = harnesses.load(folder)
        except BadRecord as problem:  # it is no reason to have no report
            print(f"left out: {problem}", file=sys.stderr)
            continue
        if found and found.environment.gpu == own.gpu:
            data = (folder / harnesses.FILE).read_bytes()
            page = markdown.page(harnesses_page.page(found, README))
            return {harnesses.FILE: data, harnesses.PAGE: page}
    return {}


def render(
    own: Measured,
    beside: list[Measured],
    peak: Peak | None = None,
    more: dict[str, bytes] | None = None,
) -> dict[str, bytes]:
    """Every file of the report by its path in the folder; depends on nothing but the records,
    their probes and the claims; `more` are files that it takes along.

    Each record of `beside` has a GPU, and gets a column of the table of the claims across GPUs.
    """
    record = own.record
    others = [each for each in beside if each.gpu != own.gpu]
    files = {"verdicts.json": verdicts_json(record, own.judgement), **(more or {})}
    drawn: list[Chart] = []
    for experiment in record.ordinary:

        def made(experiment: Experiment = experiment) -> bytes:
            own_charts = charts(own, experiment)
            pictures = [chart.picture for chart in own_charts]
            text = markdown.page(experiment_page(own, experiment, pictures))
            drawn.extend(own_charts)
            return text

        files[page(experiment)] = _whole(experiment.title, made)
    levels = record.experiment(MEMORY_LEVELS)
    of_method = charts(own, levels) if levels and record.cases_of(levels) else []
    pictures = [chart.picture for chart in of_method]
    files[METHOD] = _whole("method", lambda: markdown.page(method_page(own, pictures)))
    drawn += of_method
    drawing = None
    if own.judgement.claims:
        drawn.append(chart := claims_chart(own))
        drawing = chart.picture
        files[CLAIMS] = _whole(
            "claims", lambda: markdown.page(claims_page.page(own, others, drawing))
        )
    if own.judgement.errata or own.collection.listings:
        files[ERRATA] = _whole("errata", lambda: markdown.page(errata_page.page(own)))
    if own.changed_verdicts:
        files[CHANGES] = _whole("changes", lambda: markdown.page(changes_page.page(own)))
    files[CASES] = cases_csv(record)
    files |= own.compressed | {f"charts/{each.name}": each.svg for each in drawn if each.svg}
    files["report.html"] = or_placeholder(
        lambda: html_page(own, peak),
        lambda why: f"{MARK}<p>{html.escape(without(why).plain)}</p>\n".encode(),
    )
    # the last: it leads to what is there
    across = bool(others and own.judgement.claims)
    files[README] = _whole(
        "Recheck", lambda: markdown.page(readme(own, files, across, peak, drawing))
    )
    return files


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("record", type=Path, help="record.json, or a folder that holds one")
    add("--output", type=Path, required=True, metavar="DIR", help="the report folder to write")
    many = "records of other GPUs, a column each of the claims' page"
    add("--beside", type=Path, nargs="*", action="extend", default=[], metavar="RECORD", help=many)
    add("--bundle", type=Path, metavar="FILE", help="also write the report as one zip file")
    says = "reports on kernels beyond the documents, a folder for each GPU (default: ../peak)"
    add("--peak", type=Path, metavar="DIR", help=says)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    own = read(options.record, options.experiments)
    beside = [read_gpu(path, options.experiments) for path in options.beside]
    link = os.path.relpath(options.peak, options.output) if options.peak else "../peak"
    # evidence has it among the other evidence
    folder = options.peak or locate(options.record).parent.parent / "peak"
    peak = or_placeholder(lambda: peak_of(own, folder, link), lambda _: None)
    folders = (locate(path).parent for path in (options.record, *options.beside))
    files = render(own, beside, peak, harnesses_of(own, folders))
    write(files, options.output)
    if options.bundle:
        folder = options.output.resolve()
        shutil.make_archive(str(options.bundle.with_suffix("")), "zip", folder.parent, folder.name)
    for cause in causes(own):
        print(printable(cause.remark.text.plain))
    print(options.output / README)
    return 0
