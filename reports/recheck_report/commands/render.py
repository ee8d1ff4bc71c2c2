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
from functools import partial
from pathlib import Path
from typing import Any

from recheck_report import templates
from recheck_report.anchors import CASES, CHANGES, CLAIMS, ERRATA, METHOD, README, page, slug
from recheck_report.charts import Chart, charts, claims_chart
from recheck_report.claims import Collection, verdicts_json
from recheck_report.claims.measured import Measured, read, read_gpu
from recheck_report.commands import experiments_option
from recheck_report.commands.harnesses import page as harnesses_page
from recheck_report.commands.output import MARK, write
from recheck_report.fallback import caught
from recheck_report.formatting import cell, shape_label
from recheck_report.record.read import RECORD, load, locate
from recheck_report.record.record import MEMORY_LEVELS, SPECIAL, Experiment
from recheck_report.record.typed import BadRecord, printable
from recheck_report.say import (
    documents,
    glossary,
    gpus,
    harnesses,
    listings,
    machine,
    memory,
    odd,
    provenance,
    self_audit,
    sentences,
    story,
    summary,
    sustained,
    tables,
)
from recheck_report.say.causes import causes
from recheck_report.say.times import cases_csv
from recheck_report.say.verdicts import SUMMARY, View
from recheck_report.say.views import Peak, title
from recheck_report.statistics import variation
from recheck_report.statistics.ratio import LEVEL
from recheck_report.write.page import page as html_page


def _without(why: str) -> str:
    """What a reader is told in the place of a part of the report."""
    return f"This section could not be made: {cell(why)}."


def _page(own: Measured, template: str, **values: Any) -> bytes:
    text = templates.render(
        template,
        mark=MARK,
        title=cell(title(own.record)),
        record=own.record,
        known=own.known,
        one=documents.one_title(own),
        called=documents.called(own),
        view=View(own),
        printed=documents.printed(own),
        gaps_columns=tables.GAPS,
        **values,
    )
    return text.encode()


def _whole(title: str, make: Callable[[], bytes]) -> bytes:
    """A page; in the place of one that could not be made, why."""
    return caught(make, lambda why: f"{MARK}\n# {title}\n\n{_without(why)}\n".encode())


def _experiment_page(own: Measured, experiment: Experiment, drawn: list[Chart]) -> bytes:
    record = own.record
    cases = record.of(experiment)
    metrics = dict.fromkeys(case.error.metric for case in cases if case.error)
    return _page(
        own,
        "experiment.md.j2",
        name=cell(experiment.title),
        problem=cell(experiment.problem),
        headline=shape_label(experiment.headline),
        ranked=record.ranked_by(experiment),
        winner=summary.winner(own, experiment),
        metric=" or ".join(metrics) or "not known",
        other_arithmetic=any(not case.fp32 and not case.split for case in cases),
        split=any(case.split for case in cases),
        other_problems=tables.other_problems(record, experiment),
        rows=tables.Headline(own, experiment),
        drawn=drawn,
        story=story.tell(own, experiment),
        then=[
            *sustained.table(own, experiment),
            *tables.then_and_here(record, experiment, own.known.figures_of(experiment.name)),
        ],
        not_passed=tables.not_passed(record, experiment),
    )


def _claims_page(own: Measured, chart: Chart, others: list[Measured]) -> bytes:
    claims = [judged.claim for judged in own.judgement.claims]
    records = [own, *gpus.ordered(others)] if others and claims else []
    return _page(
        own,
        "claims.md.j2",
        family=len(own.comparisons.family),
        borrowed=own.comparisons.borrowed,
        probes=own.probes,
        chart=chart,
        errata_of=partial(documents.errata_of, own),
        columns=gpus.columns(records) if records else [],
        rows=gpus.rows(records, claims, linked=True) if records else [],
        differing=gpus.differing(records, claims),
    )


def _errata_page(own: Measured) -> bytes:
    algorithms = {case.source.algorithm for case in own.record.cases} - {""}
    return _page(
        own,
        "errata.md.j2",
        errata=documents.errata(own),
        errata_columns=documents.ERRATA,
        algorithms=any(algorithms & {*e.erratum.concerns} for e in own.judgement.errata),
        sources=documents.sources(own),
        sources_columns=documents.SOURCES,
        listed=listings.listed(own),
        listings_columns=listings.COLUMNS,
    )


def _method_page(own: Measured, drawn: list[Chart]) -> bytes:
    record, known = own.record, own.comparisons
    timed = [case.seconds for case in record.cases if case.seconds]
    special = [each for each in map(record.experiment, SPECIAL) if each]
    audit = self_audit.sentence(record, known.audit)
    return _page(
        own,
        "method.md.j2",
        glossary=glossary.rows(record),
        trust=caught(
            lambda: summary.trust(own), lambda why: [["The rest of this table", _without(why)]]
        ),
        audit=audit,
        audit_columns=self_audit.COLUMNS,
        audit_rows=self_audit.table(known.audit),
        audit_numbers=self_audit.NUMBERS,
        run_to_run=self_audit.run_to_run(record),
        run_to_run_columns=self_audit.RUN_TO_RUN,
        variation=known.variation,
        fewest=variation.ENOUGH,
        machine=machine.table(record),
        machine_columns=machine.COLUMNS,
        machine_numbers=machine.NUMBERS,
        memory=memory.table(record),
        memory_columns=memory.COLUMNS,
        memory_numbers=memory.NUMBERS,
        drawn=drawn,
        suspects=[[f"`{name}`", cell(why)] for name, why in own.suspects.items()],
        odd=odd.values(record),
        odd_columns=odd.COLUMNS,
        not_passed=[row for each in special for row in tables.not_passed(record, each)],
        family=len(known.family),
        borrowed=known.borrowed,
        resolution=self_audit.resolution_text(known.resolution),
        regimes={case.regime for case in record.cases},
        drained=sentences.drained(own),
        spent=provenance.spent(record),
        environment=provenance.environment(own),
        dropped=provenance.dropped(record),
        program=provenance.program(record.environment),
        # the form of older schemas defines the interval
        confidence=f"{100 * (record.method.confidence or 1 - LEVEL):g} %",
        level=f"{100 * LEVEL:g} %",
        set_aside=sum(len(samples) for case in record.cases for _, samples in case.raw.set_aside),
        discarded=sum(seconds.discarded for seconds in timed),
        kept=sum(seconds.samples for seconds in timed),
    )


def _readme(own: Measured, files: dict[str, bytes], others: bool, peak: Peak | None) -> bytes:
    """The first page; `files` are the others of the folder, to which it may lead; `others`: whether
    the claims' page has other GPUs' verdicts."""
    record, view = own.record, View(own)
    absent = [cell(each.title) for each in record.experiments if not record.of(each)]
    left_out = [view.left_out] if view.left_out else []
    left_out += [f"Not in this record: {', '.join(absent)}."] if absent else []
    if many := len(record.plan.dropped):
        shapes = "1 shape" if many == 1 else f"{many} shapes"
        left_out.append(f"Left out by the plan: {shapes}, [which and why]({METHOD}#left-out).")
    brands, says = provenance.brands(own), peak.says if peak else {}
    beyond = "; ".join(
        f"{cell(each.title)} at {shape_label(each.headline)}: {says[each.name]}"
        for each in record.ordinary
        if each.name in says
    )
    return _page(
        own,
        "readme.md.j2",
        left_out=left_out,
        brands=brands,
        notes=provenance.notes(own),
        answer=caught(lambda: summary.answer(own, brands), lambda why: [_without(why)]),
        # in full where no other page has them
        documents=(documents.cited if ERRATA in files else documents.sources)(own),
        documents_columns=documents.CITED if ERRATA in files else documents.SOURCES,
        rows=view.rows,
        columns=SUMMARY,
        others=others,
        peak=f"**Beyond the documents**: {beyond}. [The report]({peak.folder}{README})."
        if peak and beyond
        else "",
        links=[
            ", ".join(f"[{cell(e.title)}]({page(e)})" for e in record.ordinary)
            + ": charts, every row",
            *(text for name, text in _LINKS.items() if name in files),
        ],
    )


_LINKS = {
    CLAIMS: f"[Claims]({CLAIMS}): each with its quote, checks and evidence",
    ERRATA: f"[Errata]({ERRATA}): errors as printed, what is right, the listings",
    CHANGES: f"[Changes]({CHANGES}): checks changed after the first evidence",
    harnesses.PAGE: f"[Why your number differs]({harnesses.PAGE}): the same kernels by nvbench, "
    "Triton, CuPy, Nsight Compute",
    METHOD: f"[Method]({METHOD}): words explained, trust, the machine; "
    f"[how to repeat it]({METHOD}#reproduce-it)",
    "report.html": "[report.html](report.html): every case and sample, offline; "
    "[did my GPU differ?](report.html#view=compare)",
    CASES: f"[{CASES}]({CASES}): every time and rate",
}


def peak_of(own: Measured, folder: Path, link: str) -> Peak | None:
    """What the peak collection's report of this GPU model says; `folder` holds a report for each
    model, and `link` leads to it from the report that says so."""
    name = slug(own.gpu)
    if not name or own.record.environment.gpu is None or not (folder / name / RECORD).is_file():
        return None
    record, _ = load(folder / name)
    figures = summary.figures(Measured(record, Collection(folder, {}), {}))
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
            return {harnesses.FILE: data, harnesses.PAGE: harnesses_page(found, README)}
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
            text = _experiment_page(own, experiment, own_charts)
            drawn.extend(own_charts)
            return text

        files[page(experiment)] = _whole(cell(experiment.title), made)
    levels = record.experiment(MEMORY_LEVELS)
    of_method = charts(own, levels) if levels and record.of(levels) else []
    files[METHOD] = _whole("method", lambda: _method_page(own, of_method))
    drawn += of_method
    if own.judgement.claims:
        drawn.append(chart := claims_chart(own))
        files[CLAIMS] = _whole("claims", lambda: _claims_page(own, chart, others))
    if own.judgement.errata or own.known.listings:
        files[ERRATA] = _whole("errata", lambda: _errata_page(own))
    if changed := documents.changes(own):
        columns = documents.CHANGES
        files[CHANGES] = _whole(
            "changes", lambda: _page(own, "changes.md.j2", columns=columns, rows=changed)
        )
    files[CASES] = cases_csv(record)
    files |= own.compressed | {f"charts/{each.name}": each.svg for each in drawn if each.svg}
    files["report.html"] = caught(
        lambda: html_page(own, peak),
        lambda why: f"{MARK}<p>{html.escape(_without(why))}</p>\n".encode(),
    )
    # the last: it leads to what is there
    files[README] = _whole(
        "Recheck", lambda: _readme(own, files, bool(others and own.judgement.claims), peak)
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
    peak = caught(lambda: peak_of(own, folder, link), lambda _: None)
    folders = (locate(path).parent for path in (options.record, *options.beside))
    files = render(own, beside, peak, harnesses_of(own, folders))
    write(files, options.output)
    if options.bundle:
        folder = options.output.resolve()
        shutil.make_archive(str(options.bundle.with_suffix("")), "zip", folder.parent, folder.name)
    for cause in causes(own):
        print(printable(cause.says))
    print(options.output / README)
    return 0
