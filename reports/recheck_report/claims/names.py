"""Whether there is what a collection names: cases, rows, counters, algorithms, documents.

Claims are held against tables: those of a program, which `collect` asks for, or those of a record.
Where a record has no such case, two things look alike: a slip of the pen, which may not pass for
"not measured", and a record that is older than the case, for which that is the truth. These tell
them apart, in this order:

- The record is no full run, or did not finish: it says nothing of what else there is.
- It is of a commit, and not of that of the folder of claims: its tables may be older (or newer)
  than the claims, so the claim is not measured, "as the record holds no such case". Evidence that
  was committed last year is so.
- Otherwise there is no such case: the record has all cases of its tables, and nothing says that
  these are not the tables which the claims are about. A record from a tree that is in no repository
  is of no commit, so it never counts as older.

A counter or an axis is the same at every commit: one that no table has is always a slip.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from recheck_report.claims import expression
from recheck_report.claims.checks import Check
from recheck_report.claims.collection import Collection
from recheck_report.claims.sources import ALWAYS, SOURCES
from recheck_report.claims.story import Step, Story
from recheck_report.claims.toml import there
from recheck_report.record.case import Source
from recheck_report.record.counters import COUNTERS, LAUNCHES, is_metric
from recheck_report.record.record import Record


@dataclass(frozen=True)
class Tables:
    """What there is to be named."""

    axes: dict[str, tuple[str, ...]]  # of each experiment
    rows: dict[str, Source]  # by experiment/strategy
    cases: frozenset[str]  # their ids
    whole: bool = True  # a program's; a record's may be older than some rows
    parts: frozenset[str] = frozenset()  # rows that are parts of others' launches

    @classmethod
    def of(cls, record: Record) -> Tables:
        axes = {each.name: each.axes for each in record.experiments}
        rows = {f"{case.experiment}/{case.strategy}": case.source for case in record.cases}
        return cls(axes, rows, frozenset(record.by_id), whole=False)

    def no_case(self, name: str) -> str | None:
        """Which part of a case's id nothing has, and what there is; None if there is the case."""
        if name in self.cases:
            return None
        experiment, strategy, shape, regime = name.split("/")
        if experiment not in self.axes:
            return f"there is no experiment {experiment}; {there(self.axes, experiment)}"
        row = f"{experiment}/{strategy}"
        if why := self.no_row(row):
            return why
        own = [case.split("/")[2:] for case in sorted(self.cases) if case.startswith(f"{row}/")]
        shapes = dict.fromkeys(each for each, _ in own)
        if shape not in shapes:
            return f"{row} has no shape {shape}; {there(shapes, shape)}"
        regimes = [each for known, each in own if known == shape]
        return f"{row} has no regime {regime} at {shape}; {there(regimes, regime)}"

    def tell(self, story: Story, step: Step) -> bool:
        """Whether a step has to be right here."""
        return self.whole or f"{story.experiment}/{step.row}" in self.rows

    def no_row(self, name: str) -> str | None:
        experiment, _, strategy = name.partition("/")
        own = [row.partition("/")[2] for row in self.rows if row.startswith(f"{experiment}/")]
        return None if strategy in own else f"there is no row {name}; {there(own, strategy)}"


def complete(record: Record) -> bool:
    """Whether it holds every case of its tables."""
    plan = record.plan
    return plan.full and not plan.dropped and record.finished is not None


def older(record: Record, folder: Path) -> bool:
    """Whether its tables may be others than those which the claims of that folder are about."""
    if not record.environment.git.known:
        return False
    words = ["git", "-c", "safe.directory=*", "-C", str(folder), "rev-parse", "HEAD"]
    try:
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError:
        return True  # without git nobody knows
    return ended.stdout.strip() != record.environment.git.commit


def _about(known: Collection, tables: Tables) -> Collection:
    """What of a collection is about experiments that have tables: another program may have the
    others. Errata stay. Of a record, a step whose row it lacks is left out, as its report does."""
    stories = {
        name: replace(story, steps=tuple(each for each in story.steps if tables.tell(story, each)))
        for name, story in known.stories.items()
        if name in tables.axes
    }
    return replace(
        known,
        claims=tuple(each for each in known.claims if each.experiment in tables.axes),
        listings=tuple(each for each in known.listings if each.experiment in tables.axes),
        figures={name: each for name, each in known.figures.items() if name in tables.axes},
        stories=stories,
    )


def uncounted(known: Collection, tables: Tables) -> Iterator[str]:
    """What counts of what no counter has, nor an axis, and of launches that are not those that
    counters are of: a line for each, as below."""
    for address, check in known.asked:
        axes = tables.axes.get(check.of.split("/")[0])
        if check.form == "count" and axes:
            for key, name in (("of", check.of), ("per", check.per)):
                if name and not name.endswith("/cold") and not tables.no_case(name):
                    what = f"{name} is not counted: counters are of launches with flushed caches"
                    yield f"{known.folder / address}: field {check.place}.{key}: {what}; say cold"
            names = (*axes, *COUNTERS, LAUNCHES)
            for name in sorted(expression.names(check.expression) - {*names}):
                if is_metric(name):
                    continue
                what = f"there is no counter {name}; {there((*COUNTERS, LAUNCHES), name)}"
                what += f"; and no such axis; {there(axes, name)}"
                yield f"{known.folder / address}: field {check.place}.expression: {what}"


def missing(known: Collection, tables: Tables) -> Iterator[str]:
    """What is named and not there, a line for each: file, table, field, and what there is."""
    about = {each.experiment for each in known.claims}
    elsewhere = about - tables.axes.keys()
    for name in sorted(elsewhere) if elsewhere == about else ():  # none is this program's
        yield f"{known.folder / name}: there is no experiment {name}; {there(tables.axes, name)}"
    own, folder = _about(known, tables), known.folder
    for address, check in own.asked:
        for key, name in _cases(check):
            if name.split("/")[0] not in elsewhere and (why := tables.no_case(name)):
                yield f"{folder / address}: field {check.place}.{key}: {why}"
    for experiment, story in own.stories.items():
        for step in story.steps:
            named = [("row", tables.no_row(f"{experiment}/{step.row}"))]
            named += [("binds", tables.no_case(step.binds))] if step.binds else []
            for key, why in named:
                if why:
                    yield f"{folder / story.address(step)}: field {key}: {why}"
    for experiment, figures in own.figures.items():
        for at, each in enumerate(figures.figure):
            name = f"{experiment}/{each.strategy}/{each.shape}/{each.regime}"
            if why := tables.no_case(name):
                yield f"{folder / experiment}/figures.toml: field figure[{at}]: {why}"
    for listing in own.listings:
        for row in (listing.row, listing.general):
            if why := tables.no_row(row):
                yield f"{folder}/listings.toml: listing {listing.row}: {why}"
    for row, source in tables.rows.items():
        names = (*known.sources, *known.settings.own, *ALWAYS)
        if source.document not in names:
            what = f"row {row} is of {source.document}; {there(names, source.document)}"
            yield f"{folder / SOURCES}: no source has that id: {what}"
    if not elsewhere:
        yield from _unconcerned(known, tables)


def _cases(check: Check) -> Iterator[tuple[str, str]]:
    """The cases that a check names, each behind its field."""
    named = [("cases", name) for name in check.cases]
    named += [(key, getattr(check, key)) for key in ("of", "per", "roof")]
    for shape in check.shapes or ("",):
        named += zip(("base", "other"), check.at(shape), strict=True)
    return ((key, name) for key, name in named if "/" in name)  # a roof may be a ceiling


def _unconcerned(known: Collection, tables: Tables) -> Iterator[str]:
    claims = [claim.id for claim in known.claims]
    algorithms = [each.algorithm for each in tables.rows.values() if each.algorithm]
    for erratum in known.errata:
        names = (erratum.document, *claims, *algorithms, *tables.rows)
        for name in erratum.concerns:
            if name not in names:
                what = f"{name} is no claim, algorithm, row or its document; {there(names, name)}"
                yield f"{known.folder / erratum.address}: field concerns: {what}"


def faults(known: Collection, tables: Tables) -> Iterator[str]:
    yield from uncounted(known, tables)
    yield from missing(known, tables)


def slips(known: Collection, record: Record) -> Iterator[str]:
    """The faults that are certain, whatever commit the record is of; none where it is damaged, as
    what it lacks is then no slip."""
    if record.unread:
        return
    tables = Tables.of(record)
    yield from uncounted(known, tables)
    found = [*missing(known, tables)] if complete(record) else []
    if found and not older(record, known.folder):
        yield from found
