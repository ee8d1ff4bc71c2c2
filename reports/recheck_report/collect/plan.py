"""What to collect for checks, and the names that a program has."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from recheck_report.claims import expression
from recheck_report.claims.collection import Collection
from recheck_report.claims.names import Tables
from recheck_report.collect.programs import cases_of, execute
from recheck_report.record.counters import ATTRIBUTES, COSTS, COUNTERS, LAUNCHES, LIMITS, is_metric
from recheck_report.record.read import RECORD, load
from recheck_report.record.record import Record
from recheck_report.record.typed import BadRecord

# row and regime of a case that every program has, for trials
TINY = ("machine/launch/1", "hot")


@dataclass
class Wanted:
    """The needed counters of each case and tests, in the order of the claims."""

    cases: dict[str, set[str]] = field(default_factory=dict)
    code: set[str] = field(default_factory=set)  # cases whose machine code is read
    attributes: bool = False  # whether a check needs one
    tests: dict[str, None] = field(default_factory=dict)


def wanted(collection: Collection, headlines: Mapping[str, str], part: str | None = None) -> Wanted:
    """What a collection needs; `headlines`: the shape of each experiment's tables. `part`: only for
    "claims" and stories, or the "rest", which only the whole matrix shows."""
    wanted = Wanted()
    if part != "claims":
        for listing in collection.listings:
            for case in listing.reworded(headlines.get(listing.experiment, "")).values():
                wanted.cases.setdefault(case, set()).add("registers")
                wanted.code.add(case)
    if part == "rest":
        return wanted
    for _, check in collection.asked:
        if check.form == "count":
            names = expression.names(check.expression or "0")
            names = {name for name in names if name in (*COUNTERS, LAUNCHES) or is_metric(name)}
            for case in filter(None, (check.of, check.per)):
                wanted.cases.setdefault(case, set()).update(names)
        elif check.form == "test":
            wanted.tests[check.test] = None
        elif check.form in ("attribute", "arithmetic"):
            # other names are in the record
            names = {check.name, *expression.names(check.expression or "0")}
            wanted.attributes |= not names.isdisjoint(ATTRIBUTES)
    for name, shape in headlines.items():
        for pair in collection.settings.pairs(name):
            for row in (pair.row, pair.without):
                wanted.cases.setdefault(f"{name}/{row}/{shape}/cold", set()).update(COSTS)
    steps = (step for story in collection.stories.values() for step in story.steps)
    for case in (step.binds for step in steps if step.binds):
        wanted.cases.setdefault(case, set()).update(LIMITS)
    return wanted


def _record(*words: str, **variables: str) -> Record:
    """The record of a program of experiments. Raises BadRecord."""
    with tempfile.TemporaryDirectory() as folder:
        ended = execute(*words, f"--output={folder}", **variables)
        if not (Path(folder) / RECORD).exists():
            said = (ended.err.strip().splitlines() or ["no record"])[-1]
            raise BadRecord(f"{words[0]} measures nothing here: {said}")
        try:
            return load(Path(folder))[0]
        except BadRecord as error:
            raise BadRecord(f"{words[0]} wrote no record: {error}") from error


def environment(recheck: str, **variables: str) -> Record:
    """The record of a program's smallest case, with the machine and all experiments."""
    experiment, strategy, shape = TINY[0].split("/")
    flags = [f"--experiment={experiment}", f"--strategy={strategy}", f"--shape={shape}"]
    return _record(recheck, *flags, f"--regime={TINY[1]}", "--per-case=0.02", **variables)


def tables(recheck: str, record: Record) -> Tables:
    """The names that a program has; `record`: any of its records. Raises BadRecord."""
    # a record with every row, at the smallest shape; it sees no GPU, so it takes no time
    shapes = {"x".join("1" * len(experiment.axes)) for experiment in record.experiments}
    flags = [f"--shape={','.join(sorted(shapes))}", "--per-case=0.0001"]
    rows = Tables.from_record(_record(recheck, *flags, CUDA_VISIBLE_DEVICES=""))
    return replace(rows, cases=cases_of(recheck))
