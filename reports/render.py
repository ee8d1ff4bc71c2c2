#!/usr/bin/env python3
"""Renders a record into a self-contained report folder: README.md, charts/*.svg, record.json,
verdicts.json, and probes.json and accuracy.json where they are beside the record.

    python3 reports/render.py RECORD --output DIR [--beside RECORD ...] [--experiments FOLDER]

Exit code 0: DIR holds the report. 1: it could not be written. 2: the input is no record, or the
claims are not in form. 3: it is written, and --strict found an incorrect or failed case in it.
Every error is one line, and nothing is written before every file of the report exists in memory.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import across
import layout
import listings
import machine
import memory
import provenance
import self_audit
import tables
import verdicts
from claims import verdicts_json
from comparison import LEVEL, comparisons
from findings import Finding, findings
from folder import MARK, write
from how_accurate import HowAccurate, how_accurate
from measured import Measured, read, read_gpu
from places import slug
from program import errors, experiments_option, fail, need_packages
from progress import doing
from quantities import cell, shape_label, significant
from record import AUDIT, MEMORY_LEVELS, SPECIAL, Experiment, Record, compressed
from series import COMPUTE, MEMORY
from verdicts import View

if TYPE_CHECKING:
    from charts import Chart


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
    from charts import charts

    record, prefix = view.record, view.prefix
    cases, known = record.of(experiment), own.known.figures_of(experiment.name)
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
        accurate=how_accurate(own, experiment, prefix),
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
    from charts import charts

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
    others = [each for each in others if each.gpu != own.gpu]
    if not others or not own.known.claims:
        return None
    records = [own, *across.ordered(others)]
    claims = [judged.claim for judged in own.judgement.claims]
    rows = across.rows(records, claims, "")
    return Across(across.columns(records), rows, across.differing(records, claims))


def render(own: Measured, beside: list[Measured]) -> dict[str, bytes]:
    """Every file of the report by its path in the folder; depends on nothing but the records,
    their probes and the claims.

    Each record of `beside` has a GPU. Where the record itself has none it gets a section of its
    own, else a column of the table of the claims across GPUs.
    """
    from charts import claims_chart

    record = own.record
    with doing("verdicts"):
        view = View(own)
    sections = _sections(own, view)
    with doing("foundations"):
        foundations = _foundations(own, "")
    table = _across(own, beside) if record.gpu_measured else None
    others = _beside(beside) if not record.gpu_measured else []
    timed = [case.seconds for case in record.cases if case.seconds]
    says = [each for section in sections for each in section.findings if view.says(each)]
    chart, env = claims_chart(own), record.environment
    text = layout.render(
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
    charts = [chart]
    for each in (foundations, *(other.foundations for other in others)):
        charts += [*each.charts, *each.memory_charts]
    for section in (*sections, *(s for other in others for s in other.sections)):
        charts += [*section.charts, *(section.accurate.charts if section.accurate else [])]
    files |= {f"charts/{each.name}": each.svg for each in charts if each.svg}
    return {**files, "README.md": text.encode()}


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Renders a record into a report folder.")
    add = parser.add_argument
    add("record", type=Path, help="record.json, or a folder that holds one")
    add("--output", type=Path, required=True, metavar="DIR", help="the report folder to write")
    many = "records of other GPUs, or where this has no GPU"
    add("--beside", type=Path, nargs="*", action="extend", default=[], metavar="RECORD", help=many)
    add("--strict", action="store_true", help="exit 3 if a case is incorrect or failed")
    experiments_option(parser)
    arguments = parser.parse_args(argv)
    with errors(arguments.output):
        with doing("reading"):
            own = read(arguments.record, arguments.experiments)
            beside = [read_gpu(path, arguments.experiments) for path in arguments.beside]
        need_packages()
        write(render(own, beside), arguments.output)
    print(arguments.output / "README.md")
    count = own.record.count()
    wrong = count["incorrect"] + count["failed"]
    if arguments.strict and wrong:
        fail(f"{wrong} cases are incorrect or failed: the report says which and why", 3)


if __name__ == "__main__":
    # what is read and drawn lives to the end of so short a run: to look for cycles only costs time
    gc.disable()
    main()
