"""Renders a record into a self-contained report folder: README.md, which answers on one screen, a
page for the claims, for each experiment and for the method, charts/*.svg, record.json,
verdicts.json, and probes.json and accuracy.json where they are beside the record.

A record always becomes a report: what is odd in it is said there. Nothing is written before every
file of the report exists in memory.
"""

from __future__ import annotations

import argparse
import html
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from recheck_report import templates
from recheck_report.anchors import BESIDE, CLAIMS, METHOD, README, page, slug
from recheck_report.charts import Chart, accuracy_charts, charts, claims_chart
from recheck_report.claims import Collection, verdicts_json
from recheck_report.claims.measured import Measured, read, read_gpu
from recheck_report.commands import experiments_option, outside
from recheck_report.commands.output import MARK, write
from recheck_report.formatting import cell, shape_label, significant
from recheck_report.model.read import RECORD, load, locate
from recheck_report.model.record import MEMORY_LEVELS, SPECIAL, Experiment
from recheck_report.net import caught
from recheck_report.page import page as html_page
from recheck_report.progress import doing
from recheck_report.queries import COMPUTE, MEMORY
from recheck_report.sections import (
    glossary,
    gpus,
    listings,
    machine,
    memory,
    odd,
    provenance,
    self_audit,
    story,
    summary,
    tables,
    verdicts,
)
from recheck_report.sections.accuracy import HowAccurate, how_accurate
from recheck_report.sections.sentences import limits
from recheck_report.sections.verdicts import View
from recheck_report.statistics import variation
from recheck_report.statistics.paired import LEVEL


@dataclass(frozen=True)
class Section:
    """One experiment, ready for the templates."""

    experiment: Experiment
    title: str
    problem: str
    headline: str
    metric: str
    other_arithmetic: bool
    split: bool
    other_problems: list[str]
    table: tables.Headline
    limits: list[str]  # what counters say of some cases
    charts: list[Chart]
    story: story.Telling | None
    accurate: HowAccurate | None
    accuracy_charts: list[Chart]
    then: list[tables.Table]
    matrices: list[tables.Matrix]
    not_passed: list[list[str]]


@dataclass(frozen=True)
class Foundations:
    """What the numbers rest on: the self-audit, the machine, the provenance."""

    sentence: str
    audit: list[list[str]]
    ceilings: list[list[str]]
    machine: list[list[str]]
    memory: list[list[str]]
    memory_charts: list[Chart]
    suspects: list[list[str]]
    throttled: str
    family: int  # comparisons that the claims, stories and listings make
    resolution: str
    not_passed: list[list[str]]


@dataclass(frozen=True)
class Beside:
    """A report of another record, in a folder of this one's."""

    title: str
    folder: str
    counts: str  # of its verdicts; empty without a claim


@dataclass(frozen=True)
class Across:
    """The claims on this record and on those of other GPUs."""

    columns: list[str]
    rows: list[list[str]]
    differing: list[str]


def _section(own: Measured, view: View, experiment: Experiment) -> Section:
    record = view.record
    cases, known = record.of(experiment), own.known.figures_of(experiment.name)
    accurate = how_accurate(own, experiment)
    studied = own.accuracy if accurate and not accurate.why_not else None
    telling = story.tell(own, experiment)
    return Section(
        experiment,
        title=cell(experiment.title),
        problem=cell(experiment.problem),
        headline=shape_label(experiment.headline),
        metric=" or ".join(dict.fromkeys(case.error.metric for case in cases if case.error))
        or "not known",
        other_arithmetic=any(not case.fp32 and not case.split for case in cases),
        split=any(case.split for case in cases),
        other_problems=tables.other_problems(record, experiment),
        table=tables.Headline(own, experiment),
        limits=limits(own, experiment),
        charts=charts(own, experiment),
        story=telling,
        accurate=accurate,
        accuracy_charts=accuracy_charts(studied) if studied else [],
        then=tables.then_and_here(record, experiment, known),
        matrices=tables.matrices(own, experiment),
        not_passed=tables.not_passed(record, experiment),
    )


@dataclass(frozen=True)
class Broken:
    """In the place of a section that could not be made, why."""

    experiment: Experiment
    title: str
    problem: str
    why: str


def _sections(own: Measured, view: View) -> list[Section | Broken]:
    found: list[Section | Broken] = []
    all_of_them = view.record.ordinary
    for at, experiment in enumerate(all_of_them, 1):
        with doing(f"section {at} of {len(all_of_them)}"):
            about = experiment, cell(experiment.title), cell(experiment.problem)
            whole: Callable[[], Section | Broken] = partial(_section, own, view, experiment)
            found.append(caught(whole, partial(Broken, *about)))
    return found


def _without(why: str) -> str:
    """What a reader is told in the place of a part of the report."""
    return f"This section could not be made: {cell(why)}."


def _foundations(own: Measured) -> Foundations:
    """To be made after the verdicts, whose comparisons it counts."""
    record = own.record
    known = own.comparisons
    levels = record.experiment(MEMORY_LEVELS)
    ceilings = []
    for metric in (COMPUTE, MEMORY):
        ceiling = record.ceilings.get(metric.ceiling)
        if ceiling:
            value = f"{significant(ceiling.value / metric.scale)} {metric.unit}"
            ceilings.append([metric.ceiling_label, value, cell(ceiling.source)])
    special = [each for each in map(record.experiment, SPECIAL) if each]
    return Foundations(
        sentence=self_audit.sentence(record, known.audit) + self_audit.between_processes(known),
        audit=self_audit.table(known.audit),
        ceilings=ceilings,
        machine=machine.table(record),
        memory=memory.table(record),
        memory_charts=charts(own, levels) if levels and record.of(levels) else [],
        suspects=[[f"`{name}`", cell(why)] for name, why in own.suspects.items()],
        throttled=provenance.throttled(record),
        family=len(known.family),
        resolution=self_audit.resolution_text(known.resolution),
        not_passed=[row for each in special for row in tables.not_passed(record, each)],
    )


def _beside(records: list[Measured]) -> tuple[list[Beside], dict[str, bytes]]:
    """A whole report of each record, in a folder of its own, and their files."""
    shown: dict[str, Beside] = {}
    files: dict[str, bytes] = {}
    for each in records:
        env, key = each.record.environment, slug(each.gpu)
        while key in shown:
            key += "-again"
        folder = f"{BESIDE}/{key}"
        title = f"{each.gpu}, commit {env.git.short}, {env.started[:10]}"
        with doing(folder):
            files |= {f"{folder}/{name}": data for name, data in render(each, []).items()}
        counts = View(each).counts if each.known.claims else ""
        shown[key] = Beside(cell(title), folder, counts)
    return list(shown.values()), files


def _across(own: Measured, others: list[Measured]) -> Across | None:
    """The claims across GPUs; None if there is no GPU of another model."""
    if not others or not own.known.claims:
        return None
    records = [own, *gpus.ordered(others)]
    claims = [judged.claim for judged in own.judgement.claims]
    rows = gpus.rows(records, claims, linked=True)
    return Across(gpus.columns(records), rows, gpus.differing(records, claims))


@dataclass(frozen=True)
class Report:
    """All that is known of one record, from which its pages are made."""

    own: Measured
    view: View
    sections: list[Section | Broken]
    foundations: Foundations
    across: Across | None
    beside: list[Beside]
    peak: str  # on kernels beyond the documents; empty where nothing is known

    @property
    def whole(self) -> list[Section]:
        """The sections that could be made."""
        return [each for each in self.sections if isinstance(each, Section)]

    @property
    def charts(self) -> list[Chart]:
        found = [*self.foundations.memory_charts]
        for section in self.whole:
            found += [*section.charts, *section.accuracy_charts]
        return found

    def page(self, template: str, **values: Any) -> bytes:
        """A page; in the place of one that could not be made, why."""
        return caught(
            lambda: self._page(template, **values),
            lambda why: f"{MARK}\n# {template.partition('.')[0]}\n\n{_without(why)}\n".encode(),
        )

    def _page(self, template: str, **values: Any) -> bytes:
        env = self.own.record.environment
        text = templates.render(
            template,
            mark=MARK,
            title=cell(env.gpu.name if env.gpu else f"{env.cpu}, without a GPU"),
            record=self.own.record,
            view=self.view,
            foundations=self.foundations,
            gaps_columns=tables.GAPS,
            **values,
        )
        return text.encode()


def _experiment_page(report: Report, section: Section | Broken) -> bytes:
    if isinstance(section, Broken):
        return f"{MARK}\n# {section.title}\n\n{_without(section.why)}\n".encode()
    return report.page("experiment.md.j2", section=section)


def _claims_page(report: Report, chart: Chart) -> bytes:
    own, env = report.own, report.own.record.environment
    return report.page(
        "claims.md.j2",
        probes=own.probes,
        family=report.foundations.family,
        claims_chart=chart,
        here=f"{env.gpu.name}, {env.cpu}" if env.gpu else env.cpu,
        claims_columns=verdicts.COLUMNS,
        then_columns=verdicts.THEN,
        errata_columns=verdicts.ERRATA,
        sources_columns=verdicts.SOURCES,
        changes_columns=verdicts.CHANGES,
        listings_columns=listings.COLUMNS,
        listed=listings.listed(own),
        across=report.across,
    )


def _method_page(report: Report) -> bytes:
    own, record = report.own, report.own.record
    timed = [case.seconds for case in record.cases if case.seconds]
    return report.page(
        "method.md.j2",
        environment=[*provenance.rows(record.environment), provenance.tools(own.probes)],
        cubins=provenance.cubins(record.environment),
        audit_columns=self_audit.COLUMNS,
        audit_numbers=self_audit.NUMBERS,
        machine_columns=machine.COLUMNS,
        machine_numbers=machine.NUMBERS,
        memory_columns=memory.COLUMNS,
        memory_numbers=memory.NUMBERS,
        method_columns=provenance.METHOD_COLUMNS,
        method_rows=provenance.method(record),
        glossary=glossary.rows(record),
        run_to_run=self_audit.run_to_run(record) if record.gpu_measured else [],
        run_to_run_columns=self_audit.RUN_TO_RUN,
        run_to_run_of=variation.known().gpu,
        regimes={case.regime for case in record.cases},
        # recheck, or the program of another collection
        dropped=provenance.dropped(record),
        program=provenance.program(record.environment),
        # the form of older schemas defines the interval
        confidence=f"{100 * (record.method.confidence or 1 - LEVEL):g} %",
        level=f"{100 * LEVEL:g} %",
        loaded=provenance.loaded(record),
        odd=odd.values(record),
        odd_columns=odd.COLUMNS,
        set_aside=sum(len(samples) for case in record.cases for _, samples in case.raw.set_aside),
        discarded=sum(seconds.discarded for seconds in timed),
        kept=sum(seconds.samples for seconds in timed),
    )


def _shown(own: Measured, section: Section | Broken) -> dict[str, Any]:
    """What the first page shows of an experiment."""
    about = {
        "anchor": section.experiment.name,
        "title": section.title,
        "problem": section.problem,
        "page": page(section.experiment),
    }
    nothing: dict[str, Any] = {"charts": [], "columns": [], "rows": [],
                               "library_wins": False, "open": False}  # fmt: skip

    def whole(section: Section) -> dict[str, Any]:
        columns, rows = summary.winners(own, section.experiment)
        return {
            "winner": summary.winner(own, section.experiment),
            "charts": [c for c in section.charts if c.svg][:1],
            "columns": columns,
            "rows": rows,
            "library_wins": any(cell.startswith("**") for row in rows for cell in row),
            "open": any(summary.OPEN in cell for row in rows for cell in row),
        }

    if isinstance(section, Broken):
        return about | nothing | {"winner": _without(section.why)}
    return about | caught(lambda: whole(section), lambda why: nothing | {"winner": _without(why)})


def _readme(report: Report, files: dict[str, bytes]) -> bytes:
    """The first page; `files` are the others of the folder, to which it may lead."""
    own, record, view = report.own, report.own.record, report.view
    absent = [cell(each.title) for each in record.experiments if not record.of(each)]
    left_out = [view.left_out] if view.left_out else []
    left_out += [f"Not in this record: {', '.join(absent)}."] if absent else []
    if many := len(record.plan.dropped):
        shapes = "1 shape" if many == 1 else f"{many} shapes"
        left_out.append(f"Left out by the plan: {shapes}, [which and why]({METHOD}#left-out).")
    brands = provenance.brands(own)
    experiments = [_shown(own, section) for section in report.sections]
    return report.page(
        "readme.md.j2",
        left_out=left_out,
        brands=brands,
        answer=caught(lambda: summary.answer(own, brands), lambda why: [_without(why)]),
        trust=caught(
            lambda: summary.trust(own), lambda why: [["The rest of this table", _without(why)]]
        ),
        documents=view.cited,
        documents_columns=verdicts.CITED,
        claims=[summary.claim(each) for each in own.judgement.claims],
        claims_columns=summary.CLAIMS,
        experiments=experiments,
        beside=report.beside,
        peak=report.peak,
        links=_links(report, files),
    )


# what other parts of the report have made
_MORE = {
    "report.html": "[report.html](report.html), one file to open from a copy of this folder: every "
    "case and sample; [did my GPU differ?](report.html#view=compare)"
}


def _links(report: Report, files: dict[str, bytes]) -> list[str]:
    """Where the rest stands: a line for each page, as far as it is there."""
    found = []
    if CLAIMS in files:
        found.append(f"[Every claim in detail]({CLAIMS}): quotes, checks, evidence, errata")
    for each in report.sections:
        found.append(f"[{each.title}]({page(each.experiment)}): every row, shape and chart")
    found.append(
        f"[How it was measured]({METHOD}): self-audit, machine, environment, glossary, how to "
        "measure again"
    )
    if report.across:
        found.append(f"[Other GPUs]({CLAIMS}#other-gpus): the same claims on each")
    found += [text for name, text in _MORE.items() if name in files]
    return found


def peak_of(own: Measured, folder: Path, link: str) -> str:
    """What the peak collection's report of this GPU model says in a line; `folder` holds a report
    for each model, and `link` leads to it from the report that says so."""
    name = slug(own.gpu)
    if not name or own.record.environment.gpu is None or not (folder / name / RECORD).is_file():
        return ""
    record, _ = load(folder / name)
    peak = Measured(record, Collection(folder, {}), {})
    said = "; ".join(summary.figures(peak))
    return (
        f"**Beyond the documents**: {said}. [The report]({link}/{name}/{README})." if said else ""
    )


def render(own: Measured, beside: list[Measured], peak: str = "") -> dict[str, bytes]:
    """Every file of the report by its path in the folder; depends on nothing but the records,
    their probes and the claims.

    Each record of `beside` has a GPU. Where the record itself has none it gets a report of its
    own in a folder of this one, else a column of the table of the claims across GPUs.
    """
    record = own.record
    shown = [each for each in beside if not record.gpu_measured or each.gpu != own.gpu]
    with doing("verdicts"):
        view = View(own)
    sections = _sections(own, view)
    with doing("foundations"):
        foundations = _foundations(own)
    across = _across(own, shown) if record.gpu_measured else None
    others, files = _beside(shown) if not record.gpu_measured else ([], {})
    report = Report(own, view, sections, foundations, across, others, peak)
    chart = claims_chart(own)
    files |= own.compressed | {"verdicts.json": verdicts_json(record, own.judgement)}
    files |= {f"charts/{each.name}": each.svg for each in [chart, *report.charts] if each.svg}
    with doing("report.html"):
        files["report.html"] = caught(
            lambda: html_page(own),
            lambda why: f"{MARK}<p>{html.escape(_without(why))}</p>\n".encode(),
        )
    with doing("pages"):
        if not view.empty:
            files[CLAIMS] = _claims_page(report, chart)
        for section in sections:
            files[page(section.experiment)] = _experiment_page(report, section)
        files[METHOD] = _method_page(report)
        files[README] = _readme(report, files)  # the last: it leads to what is there
    return files


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("record", type=Path, help="record.json, or a folder that holds one")
    add("--output", type=Path, required=True, metavar="DIR", help="the report folder to write")
    many = "records of other GPUs, or where this has no GPU"
    add("--beside", type=Path, nargs="*", action="extend", default=[], metavar="RECORD", help=many)
    add("--bundle", type=Path, metavar="FILE", help="also write the report as one zip file")
    says = "reports on kernels beyond the documents, a folder for each GPU (default: ../peak)"
    add("--peak", type=Path, metavar="DIR", help=says)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    if options.bundle:
        outside(options.bundle, options.output)
    with doing("reading"):
        own = read(options.record, options.experiments)
        beside = [read_gpu(path, options.experiments) for path in options.beside]
    link = os.path.relpath(options.peak, options.output) if options.peak else "../peak"
    # evidence has it among the other evidence
    folder = options.peak or locate(options.record).parent.parent / "peak"
    peak = caught(lambda: peak_of(own, folder, link), lambda _: "")
    files = render(own, beside, peak)
    write(files, options.output)
    if options.bundle:
        folder = options.output.resolve()
        shutil.make_archive(str(options.bundle.with_suffix("")), "zip", folder.parent, folder.name)
    print(options.output / README)
    return 0
