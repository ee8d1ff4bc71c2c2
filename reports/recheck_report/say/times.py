"""What became slower or faster between two records, as a reader sees it.

`statistics/changes.py` decides; this file groups the cases by rows and says it. And all cases of
one record as CSV.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import median, quantiles

from recheck_report.claims.measured import Measured
from recheck_report.formatting import count, duration, margin, shape_label
from recheck_report.queries import metric_of
from recheck_report.record.record import Case, Record
from recheck_report.say.machine import mark
from recheck_report.say.nodes import Code, Text, code, text, texts
from recheck_report.say.ratio import speedup
from recheck_report.statistics.changes import Change, changes, lost
from recheck_report.statistics.ratio import Ratio

STRONGEST = 40  # rows in a table; the rest is counted
NAMED = 6  # rows in a cell
CHANGED = ["row", "cases", "most of all", "first", "then", "ratio", "noise"]
# an expression to a spreadsheet, if a cell begins with it
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def regime(name: str) -> str:
    return name.replace("_", " ")


def words(ratio: Ratio) -> Text:
    """ "1.067 times as fast [1.066, 1.068]"; all intervals of a comparison are by the far ends."""
    return speedup(replace(ratio, mark=""))


def row_of(case: Case) -> str:
    return f"{case.experiment}/{case.strategy}"


def kind(case: Case) -> str:
    """The regime; the CPU has but one."""
    return "CPU" if case.target == "cpu" else regime(case.regime)


def place(case: Case) -> str:
    return f"{shape_label(case.shape_name)}, {regime(case.regime)}"


def took(report: Measured, case: Case) -> Text:
    """ "293 µs", and whether nothing may be concluded from it."""
    return text(duration(case.time.median), mark(report, case))


def changed_words(change: Change) -> Text:
    """ "`matmul/tile16` at 4096³, cold: 293 µs, then 275 µs: 1.066 times as fast [1.05, 1.08]"."""
    then = f"{duration(change.old.time.median)}, then {duration(change.new.time.median)}"
    case = change.new
    return text(Code(row_of(case)), f" at {place(case)}: {then}: ", words(change.ratio))


@dataclass(frozen=True)
class Row:
    """A row of an experiment's table with the cases of it that changed one way, strongest first."""

    name: str
    changes: tuple[Change, ...]
    cases: int  # of the row that both records have a time of

    @property
    def most(self) -> Change:
        return self.changes[0]


@dataclass(frozen=True)
class Changed:
    """A table of rows that changed one way."""

    title: Text
    rows: list[tuple[Text, ...]]
    more: Text  # what of it is not shown


class Pair:
    """Two records of one or two machines; the second is held against the first."""

    def __init__(self, first: Measured, other: Measured) -> None:
        self.first, self.other = first, other
        self.old, self.new = old, new = first.record, other.record
        self.changes = changes(old, new)
        self.lost = lost(old, new)
        self.gained = lost(new, old)

    @cached_property
    def _sizes(self) -> dict[str, int]:
        sizes: dict[str, int] = {}
        for change in self.changes:
            sizes[row_of(change.new)] = sizes.get(row_of(change.new), 0) + 1
        return sizes

    def changed(self, outcome: str) -> list[Change]:
        """The cases that became slower, or faster; the strongest effect first."""
        changes = [change for change in self.changes if change.outcome == outcome]
        return sorted(changes, key=lambda change: (-change.size, change.new.id))

    def rows(self, outcome: str, rungs: bool) -> list[Row]:
        """The same by rows: of rungs, or of all others; that with the strongest effect first."""
        by_row: dict[str, list[Change]] = {}
        for change in self.changed(outcome):
            if (change.new.role == "rung") == rungs:
                by_row.setdefault(row_of(change.new), []).append(change)
        return [Row(name, tuple(changed), self._sizes[name]) for name, changed in by_row.items()]

    def tables(self, slower: Text, faster: Text, most: int = STRONGEST) -> list[Changed]:
        """Up to four, with `most` rows at most: the rungs first, slower before faster."""
        made = []
        for rungs, kind in ((True, "Rungs"), (False, "Other rows: libraries, yardsticks, parts")):
            for outcome, title in (("slower", slower), ("faster", faster)):
                if rows := self.rows(outcome, rungs):
                    lines, rest = [self._line(row) for row in rows[:most]], len(rows) - most
                    more = text(f"Not shown: {count(rest, 'row')}." if rest > 0 else "")
                    made.append(Changed(text(f"{kind}: ", title), lines, more))
        return made

    def _line(self, row: Row) -> tuple[Text, ...]:
        most = row.most
        many = f"{len(row.changes)} of {row.cases}"
        then, now = took(self.first, most.old), took(self.other, most.new)
        about = (code(row.name), many, place(most.new), then, now)
        return texts((*about, words(most.ratio), margin(most.noise)))

    @property
    def disturbed(self) -> str:
        """That cases look slower or faster only because their times were disturbed, in one
        sentence with the causes; empty if none does."""
        odd = [
            change for change in self.changes if change.unsure and change.looks != "no difference"
        ]
        if not odd:
            return ""
        causes = Counter(change.unsure for change in odd).most_common(NAMED)
        named = ", ".join(f"{why} ({times})" for why, times in causes)
        return f"{count(len(odd), 'case')} may differ only because times were disturbed: {named}"


def middle_half(changes: Sequence[Change]) -> tuple[float, float, float]:
    """Of how many times as fast they became: the quartiles."""
    values = [change.ratio.value for change in changes]
    low, _, high = quantiles(values, method="inclusive") if len(values) > 1 else values * 3
    return low, median(values), high


def cases_csv(record: Record) -> bytes:
    """Every case of a record, for spreadsheets."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("id", "status", "reason", "seconds", "low", "high", "rate", "unit"))
    for experiment in record.experiments:
        metric = metric_of(record, experiment)
        for case in record.cases_of(experiment):
            seconds = case.seconds
            ends = (seconds.median, seconds.low, seconds.high) if seconds else ()
            time = [*map(repr, ends)] or [""] * 3
            # the work that a part's record names is its whole's
            rated = case.seconds and not case.part_of
            rate = f"{metric.rate(case, case.time.median):.6g}" if rated else ""
            about = case.id, case.status, case.reason or ""
            lines.writerow(map(_cell, (*about, *time, rate, metric.unit if rated else "")))
    return text.getvalue().encode()


def _cell(text: str) -> str:
    """Safe in a spreadsheet, which would run what looks like an expression."""
    return f"'{text}" if text.startswith(_FORMULA) else text
