"""Renders a record into a self-contained report folder: README.md, charts/*.svg, record.json,
verdicts.json, and probes.json and accuracy.json where they are beside the record.

Exit code 3: it is written, and --strict found an incorrect or failed case in it. Nothing is written
before every file of the report exists in memory.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path

from recheck_report import templates
from recheck_report.anchors import slug
from recheck_report.charts import Chart, accuracy_charts, charts, claims_chart
from recheck_report.claims import verdicts_json
from recheck_report.claims.measured import Measured, read, read_gpu
from recheck_report.commands import Failed, experiments_option
from recheck_report.commands.output import MARK, write
from recheck_report.formatting import cell, shape_label, significant
from recheck_report.model.record import (
    AUDIT,
    MEMORY_LEVELS,
    SPECIAL,
    Experiment,
    Record,
    compressed,
)
from recheck_report.progress import doing
from recheck_report.queries import COMPUTE, MEMORY
from recheck_report.sections import (
    gpus,
    listings,
    machine,
    memory,
    provenance,
    self_audit,
    tables,
    verdicts,
)
from recheck_report.sections.accuracy import HowAccurate, how_accurate
from recheck_report.sections.family import close_family
from recheck_report.sections.findings import Finding, findings
from recheck_report.sections.verdicts import View
from recheck_report.statistics.family import comparisons
from recheck_report.statistics.paired import LEVEL


@dataclass(frozen=True)
class Section:
    """One experiment of one record, ready for the template."""

    title: str
    anchor: str
    problem: str
    headline: str
    metric: str
    other_arithmetic: bool
    split: bool
    other_problems: list[str]
    table: tables.Headline
    view: View  # of the verdicts, which the findings name
    findings: list[Finding]
    charts: list[Chart]
    accurate: HowAccurate | None
    accuracy_charts: list[Chart]
    then: list[tables.Table]
    matrices: list[tables.Matrix]
    not_passed: list[list[str]]


@dataclass(frozen=True)
class Foundations:
    """What the numbers of one record rest on: its self-audit, its machine, its provenance."""

    sentence: str
    audit: list[list[str]]
    charts: list[Chart]
    ceilings: list[list[str]]
    machine: list[list[str]]
    memory: list[list[str]]
    memory_charts: list[Chart]
    suspects: list[list[str]]
    brands: list[str]
    dropped: list[list[str]]
    throttled: str
    overhead: list[str]
    family: int  # comparisons that the claims and the findings make
    resolution: str
    not_passed: list[list[str]]


@dataclass(frozen=True)
class Beside:
    """A committed record, shown where the record itself has no GPU result."""

    heading: str
    anchor: str
    record: Record
    view: View
    sections: list[Section]
    foundations: Foundations
    listed: listings.Listed | None


@dataclass(frozen=True)
class Across:
    """The claims on this record and on those of other GPUs."""

    columns: list[str]
    rows: list[list[str]]
    differing: list[str]


def _section(own: Measured, view: View, experiment: Experiment) -> Section:
    record, prefix = view.record, view.prefix
    cases, known = record.of(experiment), own.known.figures_of(experiment.name)
    accurate = how_accurate(own, experiment, prefix)
    studied = own.accuracy if accurate and not accurate.why_not else None
    return Section(
        title=cell(experiment.title),
        anchor=f"{prefix}{experiment.name}",
        problem=cell(experiment.problem),
        headline=shape_label(experiment.headline),
        metric=" or ".join(dict.fromkeys(case.error.metric for case in cases if case.error))
        or "not known",
        other_arithmetic=any(not case.fp32 and not case.split for case in cases),
        split=any(case.split for case in cases),
        other_problems=tables.other_problems(record, experiment),
        table=tables.Headline(record, experiment, prefix),
        view=view,
        findings=findings(own, experiment, prefix),
        charts=charts(own, experiment, prefix),
        accurate=accurate,
        accuracy_charts=accuracy_charts(studied, own.known.predictions, prefix) if studied else [],
        then=tables.then_and_here(record, experiment, known, prefix),
        matrices=tables.matrices(record, experiment, prefix),
        not_passed=tables.not_passed(record, experiment),
    )


def _sections(own: Measured, view: View) -> list[Section]:
    found, all_of_them = [], view.record.ordinary
    for at, experiment in enumerate(all_of_them, 1):
        with doing(f"section {at} of {len(all_of_them)}"):
            found.append(_section(own, view, experiment))
    return found


def _foundations(own: Measured, prefix: str) -> Foundations:
    """To be made after the verdicts, whose comparisons it counts."""
    record = own.record
    known, audit = comparisons(record), record.experiment(AUDIT)
    levels = record.experiment(MEMORY_LEVELS)
    ceilings = []
    for metric in (COMPUTE, MEMORY):
        ceiling = record.ceilings.get(metric.ceiling)
        if ceiling:
            value = f"{significant(ceiling.value / metric.scale)} {metric.unit}"
            ceilings.append([metric.ceiling_label, value, cell(ceiling.source)])
    special = [each for each in map(record.experiment, SPECIAL) if each]
    return Foundations(
        sentence=self_audit.sentence(record, known.audit),
        audit=self_audit.table(known.audit),
        charts=charts(own, audit, prefix) if audit and known.audit.audited else [],
        ceilings=ceilings,
        machine=machine.table(record, prefix),
        memory=memory.table(record, prefix),
        memory_charts=charts(own, levels, prefix) if levels and record.of(levels) else [],
        suspects=[[f"`{name}`", cell(why)] for name, why in machine.suspects(record).items()],
        brands=provenance.brands(record, own.probes),
        dropped=provenance.dropped(record),
        throttled=provenance.throttled(record),
        overhead=provenance.overhead(record),
        family=len(known.family),
        resolution=self_audit.resolution_text(known.resolution),
        not_passed=[row for each in special for row in tables.not_passed(record, each)],
    )


def _tails(record: Record) -> str:
    """How far the 95th percentile lies above the median: in half of the cases, and at worst."""
    found = []
    for case in record.cases:
        if case.seconds and len(case.samples) >= 20:
            high = sorted(case.samples)[-(-19 * len(case.samples) // 20) - 1]
            found.append((high / case.seconds.median - 1, case.id))
    if not found:
        return ""
    found.sort()
    half, (worst, name) = found[len(found) // 2][0], found[-1]
    return (
        f"in half of the {len(found)} cases with 20 samples or more it lies at most "
        f"{significant(100 * half, 2)} % above the median, at worst "
        f"{significant(100 * worst, 2)} % (`{name}`)"
    )


def _beside(records: list[Measured]) -> list[Beside]:
    shown: dict[str, Beside] = {}
    for each in records:
        env, key = each.record.environment, slug(each.gpu)
        while key in shown:
            key += "-again"
        commit, day = (env.git.commit or "unknown")[:7], env.started[:10]
        heading = cell(f"Committed record: {each.gpu}, commit {commit}, {day}")
        with doing(heading):
            view = View(each, f"{key}-")
            sections = _sections(each, view)
            foundations = _foundations(each, f"{key}-")
        listed = listings.listed(each, f"{key}-")
        place = f"beside-{key}"
        shown[key] = Beside(heading, place, each.record, view, sections, foundations, listed)
    return list(shown.values())


def _across(own: Measured, others: list[Measured]) -> Across | None:
    """The claims across GPUs; None if there is no GPU of another model."""
    if not others or not own.known.claims:
        return None
    records = [own, *gpus.ordered(others)]
    claims = [judged.claim for judged in own.judgement.claims]
    rows = gpus.rows(records, claims, "")
    return Across(gpus.columns(records), rows, gpus.differing(records, claims))


def render(own: Measured, beside: list[Measured]) -> dict[str, bytes]:
    """Every file of the report by its path in the folder; depends on nothing but the records,
    their probes and the claims.

    Each record of `beside` has a GPU. Where the record itself has none it gets a section of its
    own, else a column of the table of the claims across GPUs.
    """
    record = own.record
    shown = [each for each in beside if not record.gpu_measured or each.gpu != own.gpu]
    with doing("verdicts"):
        for each in (own, *shown):
            close_family(each)
        view = View(own)
    sections = _sections(own, view)
    with doing("foundations"):
        foundations = _foundations(own, "")
    table = _across(own, shown) if record.gpu_measured else None
    others = _beside(shown) if not record.gpu_measured else []
    timed = [case.seconds for case in record.cases if case.seconds]
    says = [each for section in sections for each in section.findings if view.says(each)]
    chart, env = claims_chart(own), record.environment
    text = templates.render(
        "report.md.j2",
        mark=MARK,
        record=record,
        probes=own.probes,
        view=view,
        claims_chart=chart,
        here=f"{env.gpu.name}, {env.cpu}" if env.gpu else env.cpu,
        verdict_columns=verdicts.COLUMNS,
        compact_columns=verdicts.COMPACT,
        then_columns=verdicts.THEN,
        errata_columns=verdicts.ERRATA,
        sources_columns=verdicts.SOURCES,
        listed=listings.listed(own),
        listings_columns=listings.COLUMNS,
        changes_columns=verdicts.CHANGES,
        across=table,
        sections=sections,
        beside=others,
        foundations=foundations,
        environment=[*provenance.rows(env), provenance.tools(own.probes)],
        cubins=provenance.cubins(env),
        overhead_columns=provenance.OVERHEAD,
        audit_columns=self_audit.COLUMNS,
        audit_numbers=self_audit.NUMBERS,
        machine_columns=machine.COLUMNS,
        machine_numbers=machine.NUMBERS,
        memory_columns=memory.COLUMNS,
        memory_numbers=memory.NUMBERS,
        method_columns=provenance.METHOD_COLUMNS,
        method_rows=provenance.method(record),
        # the form of older schemas defines the interval
        confidence=f"{100 * (record.method.confidence if record.method else 1 - LEVEL):g} %",
        level=f"{100 * LEVEL:g} %",
        tails=_tails(record),
        says=says,
        named=view.named(says),
        absent=[cell(each.title) for each in record.experiments if not record.of(each)],
        marked=any(case.problem for case in record.cases),
        discarded=sum(seconds.discarded for seconds in timed),
        kept=sum(seconds.samples for seconds in timed),
    )
    files = compressed(own.files) | {"verdicts.json": verdicts_json(record, own.judgement)}
    drawn = [chart]
    for below in (foundations, *(other.foundations for other in others)):
        drawn += [*below.charts, *below.memory_charts]
    for section in (*sections, *(s for other in others for s in other.sections)):
        drawn += [*section.charts, *section.accuracy_charts]
    files |= {f"charts/{each.name}": each.svg for each in drawn if each.svg}
    return {**files, "README.md": text.encode()}


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("record", type=Path, help="record.json, or a folder that holds one")
    add("--output", type=Path, required=True, metavar="DIR", help="the report folder to write")
    many = "records of other GPUs, or where this has no GPU"
    add("--beside", type=Path, nargs="*", action="extend", default=[], metavar="RECORD", help=many)
    add("--strict", action="store_true", help="exit 3 if a case is incorrect or failed")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    with doing("reading"):
        own = read(options.record, options.experiments)
        beside = [read_gpu(path, options.experiments) for path in options.beside]
    write(render(own, beside), options.output)
    print(options.output / "README.md")
    count = own.record.count()
    wrong = count["incorrect"] + count["failed"]
    if options.strict and wrong:
        raise Failed(f"{wrong} cases are incorrect or failed: the report says which and why", 3)
    return 0
