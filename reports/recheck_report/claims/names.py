"""Whether there is what a collection names: cases, rows, counters, algorithms, documents.

Claims are held against the tables of a program, which `collect` asks for, or of a record. A case
that a record lacks may be a slip of the pen, which may not pass for "not measured", or newer than
the record, for which that is the truth. It is a slip if the record is a full run that finished, and
is not of another commit than the folder of claims. A record from a tree that is in no repository
never counts as older. A counter or an axis that no table has is always a slip.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass

from recheck_report.claims import expression
from recheck_report.claims.checks import Check
from recheck_report.claims.collection import Collection
from recheck_report.claims.sources import ALWAYS, SOURCES
from recheck_report.claims.toml import list_or_nearest
from recheck_report.record.case import Source
from recheck_report.record.counters import COUNTERS, LAUNCHES, is_metric
from recheck_report.record.record import Record


@dataclass(frozen=True)
class Tables:
    """The names that a program or a record has."""

    axes: dict[str, tuple[str, ...]]  # of each experiment
    rows: dict[str, Source]  # by experiment/strategy
    cases: frozenset[str]  # their ids
    whole: bool = True  # a program's; a record's may be older than some rows
    parts: frozenset[str] = frozenset()  # rows that are parts of others' launches

    @classmethod
    def from_record(cls, record: Record) -> Tables:
        axes = {experiment.name: experiment.axes for experiment in record.experiments}
        rows = {f"{case.experiment}/{case.strategy}": case.source for case in record.cases}
        return cls(axes, rows, frozenset(record.by_id), whole=False)

    def lacking(self, name: str) -> str:
        """Which part of a row's name or a case's id nothing has, and what it might be; empty if
        there is such a row or case."""
        experiment, strategy, *rest = name.split("/")
        row = f"{experiment}/{strategy}"
        if experiment not in self.axes:
            return f"there is no experiment {experiment}; {list_or_nearest(self.axes, experiment)}"
        if row not in self.rows:
            names = [row.split("/")[1] for row in self.rows if row.startswith(f"{experiment}/")]
            return f"there is no row {row}; {list_or_nearest(names, strategy)}"
        if not rest or name in self.cases:
            return ""
        cases = (case.split("/")[2:] for case in sorted(self.cases) if case.startswith(f"{row}/"))
        regimes: dict[str, list[str]] = {}
        for shape, regime in cases:
            regimes.setdefault(shape, []).append(regime)
        shape, regime = rest
        if shape not in regimes:
            return f"{row} has no shape {shape}; {list_or_nearest(regimes, shape)}"
        nearest = list_or_nearest(regimes[shape], regime)
        return f"{row} has no regime {regime} at {shape}; {nearest}"


def complete(record: Record) -> bool:
    """Whether it holds every case of its tables."""
    plan = record.plan
    return plan.full and not plan.dropped and record.finished is not None


def older(record: Record, claims: Collection) -> bool:
    """Whether its tables may be others than those which the claims are about."""
    if not record.environment.git.has_commit:
        return False
    words = ["git", "-c", "safe.directory=*", "-C", str(claims.folder), "rev-parse", "HEAD"]
    try:
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError:
        return True  # unknown without git
    return ended.stdout.strip() != record.environment.git.commit


def uncounted(claims: Collection, tables: Tables) -> Iterator[str]:
    """A line for each check that counts what no counter has, nor an axis, or launches that are not
    those which counters are of."""
    for address, check in claims.asked:
        axes = tables.axes.get(check.of.split("/")[0])
        if check.form != "count" or not axes:
            continue
        where = f"{claims.folder / address}: field {check.place}"
        for key, name in (("of", check.of), ("per", check.per)):
            if name and not name.endswith("/cold") and not tables.lacking(name):
                why = "is not counted: counters are of launches with flushed caches; say cold"
                yield f"{where}.{key}: {name} {why}"
        for name in sorted(expression.names(check.expression) - {*axes, *COUNTERS, LAUNCHES}):
            if not is_metric(name):
                counters = list_or_nearest((*COUNTERS, LAUNCHES), name)
                no_axis = f"and no such axis; {list_or_nearest(axes, name)}"
                yield f"{where}.expression: there is no counter {name}; {counters}; {no_axis}"


def missing(claims: Collection, tables: Tables) -> Iterator[str]:
    """A line for each name that does not exist: file, table, field, valid names. Claims about
    experiments without tables are skipped, unless all are: another program may have these."""
    folder, about = claims.folder, {claim.experiment for claim in claims.claims}
    elsewhere = about - tables.axes.keys()
    for experiment in sorted(elsewhere) if elsewhere == about else ():
        yield f"{folder / experiment}: {tables.lacking(f'{experiment}/')}"
    for experiment, where, name in _references(claims, tables):
        ours = experiment in ("", *tables.axes) and name.split("/")[0] not in elsewhere
        if ours and (why := tables.lacking(name)):
            yield f"{folder / where}: {why}"
    for row, source in tables.rows.items():
        documents = (*claims.sources, *claims.settings.own, *ALWAYS)
        if source.document not in documents:
            why = f"row {row} is of {source.document}"
            nearest = list_or_nearest(documents, source.document)
            yield f"{folder / SOURCES}: no source has that id: {why}; {nearest}"
    ids = [claim.id for claim in claims.claims]
    algorithms = [source.algorithm for source in tables.rows.values() if source.algorithm]
    for erratum in claims.errata if not elsewhere else ():
        names = (erratum.document, *ids, *algorithms, *tables.rows)
        for name in erratum.concerns:
            if name not in names:
                why = f"{name} is no claim, algorithm, row or its document"
                where = f"{folder / erratum.address}: field concerns"
                yield f"{where}: {why}; {list_or_nearest(names, name)}"


def _references(claims: Collection, tables: Tables) -> Iterator[tuple[str, str, str]]:
    """Every row and case that a collection names: the experiment that the place is about, or none;
    the place; the name. A step whose row a record lacks is left out, as its report does."""
    steps = [
        (story, step)
        for story in claims.stories.values()
        for step in story.steps
        if tables.whole or f"{story.experiment}/{step.row}" in tables.rows
    ]
    asking = [(claim.experiment, claim.address, claim.asked) for claim in claims.claims]
    asking += [("", erratum.address, erratum.check) for erratum in claims.errata]
    asking += [(story.experiment, story.address(step), step.check) for story, step in steps]
    for experiment, address, checks in asking:
        for check in checks:
            for key, name in _cases(check):
                yield experiment, f"{address}: field {check.place}.{key}", name
    for story, step in steps:
        address = story.address(step)
        yield story.experiment, f"{address}: field row", f"{story.experiment}/{step.row}"
        if step.binds:
            yield story.experiment, f"{address}: field binds", step.binds
    for experiment, figures in claims.figures.items():
        for at, figure in enumerate(figures.figure):
            name = f"{experiment}/{figure.strategy}/{figure.shape}/{figure.regime}"
            yield experiment, f"{experiment}/figures.toml: field figure[{at}]", name
    for listing in claims.listings:
        for row in (listing.row, listing.general):
            yield listing.experiment, f"listings.toml: listing {listing.row}", row


def _cases(check: Check) -> Iterator[tuple[str, str]]:
    """The cases that a check names, each behind its field."""
    named = [("cases", name) for name in check.cases]
    named += [(key, getattr(check, key)) for key in ("of", "per", "roof")]
    for shape in check.shapes or ("",):
        named += zip(("base", "other"), check.at(shape), strict=True)
    return ((key, name) for key, name in named if "/" in name)  # a roof may be a ceiling


def faults(claims: Collection, tables: Tables) -> Iterator[str]:
    yield from uncounted(claims, tables)
    yield from missing(claims, tables)


def slips(claims: Collection, record: Record) -> Iterator[str]:
    """The faults that are certain, whatever commit the record is of; none where it is damaged, as
    what it lacks is then no slip."""
    if record.unread:
        return
    tables = Tables.from_record(record)
    yield from uncounted(claims, tables)
    lacking = [*missing(claims, tables)] if complete(record) else []
    if lacking and not older(record, claims):
        yield from lacking
