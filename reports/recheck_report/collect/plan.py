"""What is to be collected: what checks ask for, held against the tables of the program."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recheck_report.claims import Collection, expression
from recheck_report.claims.checks import Check
from recheck_report.claims.names import Tables
from recheck_report.collect.programs import BadProgram, cases_of, execute
from recheck_report.record.case import Source
from recheck_report.record.counters import ATTRIBUTES, COUNTERS, LAUNCHES, LIMITS, is_metric
from recheck_report.record.read import RECORD
from recheck_report.record.typed import BadRecord, bytes_of, read_json

# row and regime of a case that every program has: enough to know the machine and the tools
TINY = ("machine/launch/1", "hot")


@dataclass
class Wanted:
    """The counters of each case, attributes of the device, and tests with their kind, in the order
    of the claims."""

    cases: dict[str, set[str]] = field(default_factory=dict)
    attributes: dict[str, None] = field(default_factory=dict)
    tests: dict[str, None] = field(default_factory=dict)


def deciding(known: Collection) -> Iterator[Check]:
    """The checks that verdicts rest on, at each choice, and those that a claim's text speaks of."""
    for claim in known.claims:
        for check in (*claim.check, *(each for each in claim.also if each.key)):
            yield from (each for _, each in check.over) if check.over else (check,)
    for erratum in known.errata:
        yield from erratum.check


def wanted(known: Collection) -> Wanted:
    """What the checks of a collection need."""
    found = Wanted()
    for _, check in known.asked:
        if check.form == "count":
            names = expression.names(check.expression or "0")
            names = {name for name in names if name in (*COUNTERS, LAUNCHES) or is_metric(name)}
            for case in filter(None, (check.of, check.per)):
                found.cases.setdefault(case, set()).update(names)
        elif check.form == "test":
            found.tests[check.test] = None
        elif check.form in ("attribute", "arithmetic"):
            # other names are the record's own
            known_names = sorted({check.name, *expression.names(check.expression or "0")})
            found.attributes |= dict.fromkeys(n for n in known_names if n in ATTRIBUTES)
    steps = (step for story in known.stories.values() for step in story.steps)
    for case in (step.binds for step in steps if step.binds):
        found.cases.setdefault(case, set()).update(LIMITS)
    return found


def _record(words: list[str], folder: Path, **variables: str) -> dict[str, Any]:
    """The record that a program of experiments writes into that folder; raises BadProgram."""
    ended = execute(*words, **variables)
    try:
        found: dict[str, Any] = read_json(bytes_of(folder / RECORD))
        return found
    except OSError as error:
        said = (ended.err.strip().splitlines() or ["no record"])[-1]
        raise BadProgram(f"{words[0]} measures nothing here: {said}") from error
    except BadRecord as error:
        raise BadProgram(f"{words[0]} wrote no record: {error}") from error


def environment(recheck: str, **variables: str) -> dict[str, Any]:
    """The record of the smallest case of a program, which knows the machine and all experiments."""
    experiment, strategy, shape = TINY[0].split("/")
    flags = [f"--experiment={experiment}", f"--strategy={strategy}", f"--shape={shape}"]
    with tempfile.TemporaryDirectory() as folder:
        words = [recheck, *flags, f"--regime={TINY[1]}", "--per-case=0.02", f"--output={folder}"]
        return _record(words, Path(folder), **variables)


def all_rows(recheck: str, record: dict[str, Any]) -> dict[str, Any]:
    """A record with every row of a program; `record` is one of its own. Raises BadProgram.

    Each is asked for at the smallest shape, in a run that sees no GPU and thus is over at once.
    """
    shapes = {"x".join("1" * len(each["axes"])) for each in record["experiments"]}
    with tempfile.TemporaryDirectory() as folder:
        words = [recheck, f"--shape={','.join(sorted(shapes))}", "--per-case=0.0001"]
        return _record([*words, f"--output={folder}"], Path(folder), CUDA_VISIBLE_DEVICES="")


def tables(recheck: str, record: dict[str, Any]) -> Tables:
    """What a program has to be named; `record` is one of its own. Raises BadProgram.

    Its rows are those of a run; its cases are where it lists them.
    """
    axes = {each["name"]: tuple(each["axes"]) for each in record["experiments"]}
    run = all_rows(recheck, record)
    rows = {f"{each['experiment']}/{each['name']}": each for each in run["strategies"]}
    sources = {name: Source(**each["source"]) for name, each in rows.items()}
    parts = frozenset(name for name, each in rows.items() if each.get("part_of"))
    return Tables(axes, sources, cases_of(recheck), parts=parts)
