"""Reads accuracy.json, schema 1: how far each row's product of matrices is from float64's.

experiments/matmul/accuracy_run.cpp makes it on the machine that measured, and it is kept beside the
record; accuracy_large.json is the same of a larger product, where a library has no reason to split
sums. Errors are numbers without a unit, but for `absolute`, which has the elements' own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from recheck_report.model import companions
from recheck_report.model.record import ALLOWED, BadRecord, Record

SCHEMA = 1
EXPERIMENT = "matmul"  # that it is about
LIBRARY = "cublas"  # whose errors the others are held against
LEAST_K = 512  # from which on a split row may be no worse
GUARDED = ("exp6n",)  # beyond what splitting holds: only the bound is asked of what falls back
TOLERANCE = 1e-3  # the documents', on each element's absolute error (C21)
PROMOTION = 64  # where a row does not say how many elements of K are summed before promotion


class BadAccuracy(BadRecord):
    """The file is not in form; str() is one line for the user."""


@dataclass(frozen=True)
class Origin(companions.Origin):
    gpu_reason: str | None
    cpu: str
    blas: str | None
    seed: int


@dataclass(frozen=True)
class Distribution:
    name: str
    says: str
    special: bool  # has no errors: a row passes, or it does not


@dataclass(frozen=True)
class Row:
    strategy: str
    role: str
    target: str
    arithmetic: str
    sweep: bool
    parameters: dict[str, int]

    @property
    def split(self) -> bool:
        return self.arithmetic == "split"

    @property
    def family(self) -> str:
        """The row of whose sweep of promotion intervals this is a point; itself, if of none."""
        return re.sub(r"_promot(?:ion|e_?)(?:\d+|none)$", "", self.strategy)

    @property
    def promotion(self) -> int:
        """Elements of K that a tensor core sums before the sum is added in fp32; 0: all of them."""
        return self.parameters.get("promotion", PROMOTION)


@dataclass(frozen=True)
class Result:
    strategy: str
    distribution: str
    k: int
    status: str
    reason: str | None
    frobenius: float | None = None
    componentwise: float | None = None  # largest, of |A||B|
    median: float | None = None  # of the elements' relative errors
    absolute: float | None = None  # largest

    @property
    def measured(self) -> bool:
        """Whether it has errors; those beyond their bound are errors too, and marked."""
        return self.frobenius is not None

    @property
    def why_not(self) -> str:
        return f"{self.status.replace('_', ' ')}: {self.reason}"


@dataclass(frozen=True, eq=False)
class Accuracy:
    schema: int
    environment: Origin
    m: int
    n: int
    distributions: tuple[Distribution, ...]
    rows: tuple[Row, ...]
    results: tuple[Result, ...]

    def foreign(self, record: Record) -> str | None:
        """Why this is not about the code and machine of that record; None if it is."""
        return self.environment.foreign(record, "the study of accuracy")

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, int], Result]:
        return {(each.strategy, each.distribution, each.k): each for each in self.results}

    def find(self, strategy: str, distribution: str, k: int) -> Result | None:
        return self._by_key.get((strategy, distribution, k))

    def errors(self, strategy: str, distribution: str, k: int) -> Result | None:
        """The same, if it has errors."""
        found = self.find(strategy, distribution, k)
        return found if found and found.measured else None

    @property
    def ordinary(self) -> list[Distribution]:
        return [each for each in self.distributions if not each.special]

    @property
    def special(self) -> list[Distribution]:
        return [each for each in self.distributions if each.special]

    @cached_property
    def ks(self) -> list[int]:
        """The lengths of the sums at which errors were asked for."""
        ordinary = {each.name for each in self.ordinary}
        return sorted({each.k for each in self.results if each.distribution in ordinary})


def load_accuracy(path: Path, name: str = companions.ACCURACY) -> Accuracy | None:
    """The study of that name in a report folder or beside a record; None where there is none.

    Raises BadAccuracy with one line that names the file, the field and what to do.
    """
    strange, again = "this is not Recheck's study of accuracy", "measure the accuracy"
    return companions.read(Accuracy, path, name, SCHEMA, strange, again, BadAccuracy, _check)


def _check(accuracy: Accuracy) -> None:
    """What the types alone do not say; raises BadRecord."""
    rows = {row.strategy for row in accuracy.rows}
    special = {each.name: each.special for each in accuracy.distributions}
    for name in (*rows, *special):
        if not re.fullmatch(r"[a-z0-9_]+", name):
            raise BadRecord(f"field rows: the name {name!r} may hold only a-z, 0-9 and _")
    seen = set()
    for at, each in enumerate(accuracy.results):
        where = f"field results[{at}]."
        if each.strategy not in rows:
            raise BadRecord(f"{where}strategy: {each.strategy} is not among the rows")
        if each.distribution not in special:
            raise BadRecord(f"{where}distribution: {each.distribution} is not among them")
        if each.status not in ALLOWED["status"]:
            raise BadRecord(f"{where}status must be one of {', '.join(ALLOWED['status'])}")
        if (each.status == "passed") != (each.reason is None):
            raise BadRecord(f"{where}reason must say why it did not pass, and nothing else")
        errors = (each.frobenius, each.componentwise, each.median, each.absolute)
        if each.status == "passed" and None in errors and not special[each.distribution]:
            raise BadRecord(f"{where}frobenius: a passed result has all four errors")
        if any(error is not None and error < 0 for error in errors):
            raise BadRecord(f"{where}frobenius: an error cannot be below 0")
        if errors.count(None) not in (0, 4):
            raise BadRecord(f"{where}frobenius: a result has four errors or none")
        key = (each.strategy, each.distribution, each.k)
        if key in seen:
            raise BadRecord(f"{where}strategy: {'/'.join(map(str, key))} appears twice")
        seen.add(key)
