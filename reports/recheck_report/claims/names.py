"""Checks that every name in a collection exists: cases, rows, counters, algorithms, documents.

Names are looked up in the tables of a program, which `collect` asks for, or of a record. A case
that a record lacks may be a typing error, which must not pass for "not measured", or may be newer
than the record. It is an error if the record is a finished full run of the commit of the claims'
folder; a record from outside any repository counts as such. A counter or an axis that no table has
is always an error.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain

from recheck_report.claims import expression
from recheck_report.claims.collection import Collection
from recheck_report.claims.documents import ALWAYS, SOURCES
from recheck_report.files import git
from recheck_report.record.case import Row
from recheck_report.record.counters import COUNTERS, LAUNCHES, is_metric
from recheck_report.record.record import Record
from recheck_report.record.regimes import REGIMES
from recheck_report.record.typed import list_or_nearest


@dataclass(frozen=True)
class Tables:
    """The names that a program or a record has."""

    axes: dict[str, tuple[str, ...]]  # by experiment
    rows: dict[str, Row]  # by experiment/strategy
    cases: frozenset[str]  # ids
    tests: frozenset[str] = frozenset()  # empty: not known

    @classmethod
    def from_record(cls, record: Record) -> Tables:
        axes = {experiment.name: experiment.axes for experiment in record.experiments}
        rows: dict[str, Row] = {f"{c.experiment}/{c.strategy}": c for c in record.cases}
        return cls(axes, rows, frozenset(record.by_id))

    def lacking(self, name: str) -> str:
        """Which part of a row's name or a case's id is unknown, and valid names; empty if the row
        or case exists."""
        experiment, strategy, *rest = name.split("/")
        row = f"{experiment}/{strategy}"
        if experiment not in self.axes:
            return f"unknown experiment {experiment}; {list_or_nearest(self.axes, experiment)}"
        if row not in self.rows:
            names = [row.split("/")[1] for row in self.rows if row.startswith(f"{experiment}/")]
            return f"unknown row {row}; {list_or_nearest(names, strategy)}"
        # first calls run only if named: any row with an end-to-end time may have them
        if rest and rest[-1] in REGIMES and REGIMES[rest[-1]].only_if_named:
            name = f"{row}/{rest[0]}/end_to_end"
        if not rest or name in self.cases:
            return ""
        lacks, cases = "/".join(rest), (case for case in self.cases if case.startswith(f"{row}/"))
        nearest = list_or_nearest(sorted(case.removeprefix(f"{row}/") for case in cases), lacks)
        return f"{row} has no case {lacks}; {nearest}, or add its shape to those timed"


def faults(collection: Collection, tables: Tables) -> Iterator[str]:
    """A line for each wrong name."""
    untested = _untested(collection, sorted(tables.tests)) if tables.tests else ()
    return chain(_uncounted(collection, tables), _missing(collection, tables), untested)


def slips(collection: Collection, record: Record) -> Iterator[str]:
    """The wrong names that a record proves, a line each; none if parts of it are unreadable."""
    if record.unread:
        return
    tables, plan = Tables.from_record(record), record.plan
    # a record may be older than a row, and its report leaves the step out
    stories = {name: story.with_rows(tables.rows) for name, story in collection.stories.items()}
    collection = replace(collection, stories=stories)
    yield from _uncounted(collection, tables)
    complete = plan.full and not plan.dropped and record.finished is not None
    missing = [*_missing(collection, tables)] if complete else []
    if missing and not _older(record, collection):
        yield from missing


def _older(record: Record, collection: Collection) -> bool:
    """Whether the record may be of another commit than the collection; unknown without git."""
    commit = record.environment.git.commit if record.environment.git.has_commit else None
    with suppress(OSError):
        return commit not in (None, git(collection.folder, "rev-parse", "HEAD").stdout.strip())
    return commit is not None


def _uncounted(collection: Collection, tables: Tables) -> Iterator[str]:
    """A line for each count whose case has no counters, and for each unknown counter or axis."""
    for address, check in collection.asked:
        axes = tables.axes.get(check.of.split("/")[0])
        if check.form != "count" or not axes:
            continue
        where = f"{collection.folder / address}: field {check.place}"
        for key, name in (("of", check.of), ("per", check.per)):
            if name and not name.endswith("/cold") and not tables.lacking(name):
                yield f"{where}.{key}: {name} is not counted: name a cold case of a GPU's row"
        for name in sorted(expression.names(check.expression) - {*axes, *COUNTERS, LAUNCHES}):
            if not is_metric(name):
                counters = list_or_nearest((*COUNTERS, LAUNCHES), name)
                no_axis = f"and no such axis; {list_or_nearest(axes, name)}"
                yield f"{where}.expression: unknown counter {name}; {counters}; {no_axis}"


def _untested(collection: Collection, tests: list[str]) -> Iterator[str]:
    """A line for each test that a check names and the program lacks."""
    for address, check in collection.asked:
        kind, _, name = check.test.partition(":")
        if kind in ("gate", "racecheck") and name not in tests:
            what = f"unknown test {name}; {list_or_nearest(tests, name)}"
            yield f"{collection.folder / address}: field {check.place}.test: {what}"


def _missing(collection: Collection, tables: Tables) -> Iterator[str]:
    """A line for each name that does not exist: file, table, field, valid names. Skips claims about
    experiments without tables, which another program may have, unless all claims are."""
    folder, experiments = collection.folder, {claim.experiment for claim in collection.claims}
    absent = experiments - tables.axes.keys()
    for experiment in sorted(absent) if absent == experiments else ():
        yield f"{folder / experiment}: {tables.lacking(f'{experiment}/')}"
    for experiment, where, name in _references(collection):
        present = experiment in ("", *tables.axes) and name.split("/")[0] not in absent
        if present and (why := tables.lacking(name)):
            yield f"{folder / where}: {why}"
    documents = (*collection.sources, *collection.settings.own, *ALWAYS)
    sources = {name: row.source for name, row in tables.rows.items()}
    for row, source in sources.items():
        if source.document not in documents:
            why = f"row {row} is of {source.document}"
            nearest = list_or_nearest(documents, source.document)
            yield f"{folder / SOURCES}: no source has that id: {why}; {nearest}"
    ids = [claim.id for claim in collection.claims]
    algorithms = [source.algorithm for source in sources.values() if source.algorithm]
    for erratum in collection.errata if not absent else ():
        names = (erratum.document, *ids, *algorithms, *tables.rows)
        for name in erratum.concerns:
            if name not in names:
                why = f"{name} is not a claim, algorithm, row or its document"
                where = f"{folder / erratum.address}: field concerns"
                yield f"{where}: {why}; {list_or_nearest(names, name)}"


def _references(collection: Collection) -> Iterator[tuple[str, str, str]]:
    """Every row and case that a collection names: its experiment, or an empty text for errata; the
    place of the reference; the name."""
    for address, check in collection.asked:
        experiment = address.partition("/")[0] if "/" in address else ""
        for name in check.ids:
            yield experiment, f"{address}: field {check.place}", name
    for story in collection.stories.values():
        for step in story.steps:
            address = story.address(step)
            yield story.experiment, f"{address}: field row", f"{story.experiment}/{step.row}"
            if step.binds:
                yield story.experiment, f"{address}: field binds", step.binds
    for experiment, figures in collection.figures.items():
        for at, figure in enumerate(figures.figure):
            name = f"{experiment}/{figure.strategy}/{figure.shape}/{figure.regime}"
            yield experiment, f"{experiment}/figures.toml: field figure[{at}]", name
    for experiment in collection.settings.removed:
        for pair in collection.settings.pairs(experiment):
            for row in (pair.row, pair.without):
                yield experiment, f"{SOURCES}: field removed.{experiment}", f"{experiment}/{row}"
    for listing in collection.listings:
        reworded = (f"{listing.experiment}/{name}" for name in listing.wordings)
        for row in (listing.row, listing.general, *reworded):
            yield listing.experiment, f"listings.toml: listing {listing.row}", row
