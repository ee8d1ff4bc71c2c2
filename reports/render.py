#!/usr/bin/env python3
"""Renders a record into a self-contained report folder: README.md, charts/*.svg, record.json.

    python3 reports/render.py RECORD --output DIR [--beside RECORD ...]

Exit code 0: DIR holds the report. 1: it could not be written. 2: the input is no record. 3: it is
written, and --strict found an incorrect or failed case in it. Every error is one line, and nothing
is written before every file of the report exists in memory.
"""

from __future__ import annotations

import argparse
import logging
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import machine
import provenance
import self_audit
import tables
from comparison import LEVEL, comparisons
from figures import figures
from findings import Finding, findings
from folder import MARK, CannotWrite, write
from quantities import cell, shape_label, significant
from record import AUDIT, MACHINE, BadRecord, Experiment, Record, load, locate
from series import COMPUTE, MEMORY


@dataclass(frozen=True)
class Section:
    """One experiment of one record, ready for the template."""

    title: str
    anchor: str
    problem: str
    headline: str
    metric: str
    other_arithmetic: bool
    other_problems: list[str]
    table: tables.Headline
    findings: list[Finding]
    charts: list[Any]
    then: list[tables.Table]
    matrices: list[tables.Matrix]
    not_passed: list[list[str]]


@dataclass(frozen=True)
class Foundations:
    """What the numbers of one record rest on: its self-audit, its machine, its provenance."""

    sentence: str
    audit: list[list[str]]
    charts: list[Any]
    ceilings: list[list[str]]
    machine: list[list[str]]
    suspects: list[list[str]]
    brands: list[str]
    dropped: list[list[str]]
    throttled: str
    overhead: list[str]
    family: int  # comparisons that the findings make
    resolution: str
    not_passed: list[list[str]]


@dataclass(frozen=True)
class Beside:
    """A committed record, shown where the record itself has no GPU result."""

    heading: str
    anchor: str
    record: Record
    sections: list[Section]
    foundations: Foundations


def slug(name: str) -> str:
    """ "NVIDIA H200" -> "nvidia-h200": letters, digits and single hyphens only."""
    plain = (c if c.isascii() and c.isalnum() else " " for c in name.lower())
    return "-".join("".join(plain).split())


def _section(record: Record, experiment: Experiment, prefix: str) -> Section:
    from charts import charts

    cases = record.of(experiment)
    return Section(
        title=cell(experiment.title),
        anchor=f"{prefix}{experiment.name}",
        problem=cell(experiment.problem),
        headline=shape_label(experiment.headline),
        metric=" or ".join(dict.fromkeys(case.error.metric for case in cases if case.error))
        or "not known",
        other_arithmetic=any(not case.fp32 for case in cases),
        other_problems=tables.other_problems(record, experiment),
        table=tables.Headline(record, experiment, prefix),
        findings=findings(record, experiment, prefix),
        charts=charts(record, experiment, prefix),
        then=tables.then_and_here(record, experiment, figures(experiment.name), prefix),
        matrices=tables.matrices(record, experiment, prefix),
        not_passed=tables.not_passed(record, experiment),
    )


def _foundations(record: Record, prefix: str) -> Foundations:
    """To be made after the findings, whose comparisons it counts."""
    from charts import charts

    known, audit = comparisons(record), record.experiment(AUDIT)
    ceilings = []
    for metric in (COMPUTE, MEMORY):
        ceiling = record.ceilings.get(metric.ceiling)
        if ceiling:
            value = f"{significant(ceiling.value / metric.scale)} {metric.unit}"
            ceilings.append([metric.ceiling_label, value, cell(ceiling.source)])
    special = [each for each in map(record.experiment, (AUDIT, MACHINE)) if each]
    return Foundations(
        sentence=self_audit.sentence(record, known.audit),
        audit=self_audit.table(known.audit),
        charts=charts(record, audit, prefix) if audit and known.audit.audited else [],
        ceilings=ceilings,
        machine=machine.table(record),
        suspects=[[f"`{name}`", cell(why)] for name, why in machine.suspects(record).items()],
        brands=provenance.brands(record),
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


def _beside(records: list[Record]) -> list[Beside]:
    shown: dict[str, Beside] = {}
    for record in records:
        env = record.environment
        assert env.gpu is not None  # main() lets no other record in
        key = slug(env.gpu.name)
        while key in shown:
            key += "-again"
        commit, day = (env.git.commit or "unknown")[:7], env.started[:10]
        heading = cell(f"Committed record: {env.gpu.name}, commit {commit}, {day}")
        sections = [_section(record, each, f"{key}-") for each in record.ordinary]
        foundations = _foundations(record, f"{key}-")
        shown[key] = Beside(heading, f"beside-{key}", record, sections, foundations)
    return list(shown.values())


def render(record: Record, raw: bytes, beside: list[Record]) -> dict[str, bytes]:
    """Every file of the report by its path in the folder; depends on nothing but the records.

    Each record of `beside` has a GPU and gets a section of its own.
    """
    import jinja2

    sections = [_section(record, each, "") for each in record.ordinary]
    foundations = _foundations(record, "")
    others = _beside(beside)
    timed = [case.seconds for case in record.cases if case.seconds]
    jinja = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    jinja.filters["cell"] = cell
    text = jinja.get_template("report.md.j2").render(
        mark=MARK,
        record=record,
        sections=sections,
        beside=others,
        foundations=foundations,
        environment=provenance.rows(record.environment),
        cubins=provenance.cubins(record.environment),
        overhead_columns=provenance.OVERHEAD,
        audit_columns=self_audit.COLUMNS,
        audit_numbers=self_audit.NUMBERS,
        machine_columns=machine.COLUMNS,
        machine_numbers=machine.NUMBERS,
        level=f"{100 * LEVEL:g} %",
        tails=_tails(record),
        absent=[cell(each.title) for each in record.experiments if not record.of(each)],
        marked=any(case.problem for case in record.cases),
        discarded=sum(seconds.discarded for seconds in timed),
        kept=sum(seconds.samples for seconds in timed),
    )
    # macros leave runs of blank lines behind; one is enough for Markdown
    lines = [line.rstrip() for line in text.strip().split("\n")]
    text = "\n".join(a for a, b in zip(lines, [*lines[1:], "."], strict=True) if a or b) + "\n"
    files = {"record.json": raw}
    drawn = [*sections, foundations]
    drawn += [each for other in others for each in (*other.sections, other.foundations)]
    for section in drawn:
        files |= {f"charts/{chart.name}": chart.svg for chart in section.charts if chart.svg}
    return {**files, "README.md": text.encode()}


def need_packages() -> None:
    """Ends the program with one line if a package of requirements.txt is missing."""
    # its remarks on font caches and configuration files are no concern of a report's reader
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as error:
        name, requirements = error.name or "matplotlib", Path(__file__).parent / "requirements.txt"
        fail(f"Python package {name} is missing: pip install -r {requirements}", 1)


def fail(message: str, code: int) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(code)


def main() -> None:
    parser = argparse.ArgumentParser(description="Renders a record into a report folder.")
    add = parser.add_argument
    add("record", type=Path, help="record.json, or a folder that holds one")
    add("--output", type=Path, required=True, metavar="DIR", help="the report folder to write")
    many = {"nargs": "*", "action": "extend", "default": [], "metavar": "RECORD"}
    add("--beside", type=Path, help="shown if the record itself has no GPU result", **many)
    add("--strict", action="store_true", help="exit 3 if a case is incorrect or failed")
    arguments = parser.parse_args()
    try:
        record, raw = load(arguments.record)
        beside = []
        for path in arguments.beside if not record.gpu_measured else []:
            other, _ = load(path)
            if other.environment.gpu is None or not other.gpu_measured:
                raise BadRecord(f"{locate(path)}: has no measured GPU case to show; leave it out")
            beside.append(other)
        need_packages()
        write(render(record, raw, beside), arguments.output)
    except BadRecord as error:
        fail(str(error), 2)
    except CannotWrite as error:
        fail(str(error), 1)
    except OSError as error:
        fail(f"{error.filename or arguments.output}: cannot be written: {error.strerror}", 1)
    print(arguments.output / "README.md")
    wrong = record.count()["incorrect"] + record.count()["failed"]
    if arguments.strict and wrong:
        fail(f"{wrong} cases are incorrect or failed: the report says which and why", 3)


if __name__ == "__main__":
    main()
