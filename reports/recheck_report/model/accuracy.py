"""Reads accuracy.json, schema 2: how far each row's product of matrices is from float64's.

experiments/matmul/accuracy_run.cpp makes it on the machine that measured, and it is kept beside the
record; accuracy_large.json is the same of a larger product, where a library has no reason to split
sums. Errors are numbers without a unit, but for `absolute`, which has the elements' own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated

from recheck_report.model import companions
from recheck_report.model.record import STATUS, Record
from recheck_report.model.typed import BadRecord, Is

SCHEMA, MOST_EXTENT = 2, 2**31 - 1
KINDS = ("ordinary", "adversarial", "special")  # adversarial: errors as large as we can make them
_NAME = "^[a-z0-9_]+$"
EXPERIMENT = "matmul"  # that it is about
LIBRARY = "cublas"  # whose errors the others are held against
LEAST_K = 512  # from which on a split row may be no worse
GUARDED = ("exp6n",)  # beyond what splitting holds: only the bound is asked of what falls back
NOT_FINITE = ("infinite", "nan")  # inputs of which a split row promises nothing
TOLERANCE = 1e-3  # the documents', on each element's absolute error (C21)
ROUNDOFF = 2.0**-24  # of fp32: half a unit in the last place


class BadAccuracy(BadRecord):
    """The file is not in form; str() is one line for the user."""


@dataclass(frozen=True)
class Origin(companions.Origin):
    gpu_reason: Annotated[str | None, Is("why there is none; null with one")]
    cpu: Annotated[str, Is("model")]
    blas: Annotated[str | None, Is("the library of the CPU's BLAS; null: none")]
    seed: Annotated[int, Is("of the inputs", least=0)]


@dataclass(frozen=True)
class Distribution:
    name: Annotated[str, Is("by which results name it", pattern=_NAME)]
    says: Annotated[str, Is("for people")]
    kind: Annotated[str, Is("special: a row gets it right or wrong, with no errors", one_of=KINDS)]

    @property
    def special(self) -> bool:
        """Whether it has no errors: a row passes, or it does not."""
        return self.kind == "special"


@dataclass(frozen=True)
class Row:
    strategy: Annotated[str, Is("the row's name", pattern=_NAME)]
    role: Annotated[str, Is(one_of=("rung", "baseline", "roof", "part", "audit"))]
    target: Annotated[str, Is("where it runs", one_of=("cpu", "gpu"))]
    arithmetic: Annotated[str, Is("as in a record", one_of=("fp32", "tf32", "split"))]
    sweep: Annotated[bool, Is("whether it is one point of a parameter sweep")]
    parameters: Annotated[dict[str, Annotated[int, Is(least=0)]], Is("by name")]

    @property
    def split(self) -> bool:
        return self.arithmetic == "split"


@dataclass(frozen=True)
class Result:
    strategy: Annotated[str, Is("one of the rows")]
    distribution: Annotated[str, Is("one of the distributions")]
    k: Annotated[int, Is("length of the sums", least=1, most=MOST_EXTENT)]
    status: Annotated[str, Is("what became of it", one_of=STATUS)]
    reason: Annotated[str | None, Is("one line; null if and only if passed", filled=True)]
    # R from float64; null where there is no error
    frobenius: Annotated[float | None, Is("‖C − R‖ / ‖R‖", least=0)] = None
    componentwise: Annotated[float | None, Is("the largest |C − R| / (|A||B|)", least=0)] = None
    median: Annotated[float | None, Is("of the elements' |C − R| / |R|", least=0)] = None
    absolute: Annotated[float | None, Is("the largest |C − R|", least=0)] = None
    bound: Annotated[float | None, Is("what componentwise may be", least=0)] = None

    @property
    def of_bound(self) -> float | None:
        """Which part of its bound the error is."""
        if self.componentwise is None or not self.bound:
            return None
        return self.componentwise / self.bound

    @property
    def measured(self) -> bool:
        """Whether it has errors; those beyond their bound are errors too, and marked."""
        return self.frobenius is not None

    @property
    def why_not(self) -> str:
        return f"{self.status.replace('_', ' ')}: {self.reason}"


@dataclass(frozen=True, eq=False)
class Accuracy:
    schema: Annotated[int, Is("of this form", one_of=(SCHEMA,))]
    environment: Annotated[Origin, Is("where it was found out")]
    m: Annotated[int, Is("rows of the product", least=1, most=MOST_EXTENT)]
    n: Annotated[int, Is("columns of the product", least=1, most=MOST_EXTENT)]
    distributions: Annotated[tuple[Distribution, ...], Is("of the inputs' elements")]
    rows: Annotated[tuple[Row, ...], Is("of the experiment matmul")]
    results: Annotated[tuple[Result, ...], Is("each row on each distribution")]

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
        return [each for each in self.distributions if each.kind == "ordinary"]

    @property
    def adversarial(self) -> list[Distribution]:
        return [each for each in self.distributions if each.kind == "adversarial"]

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
    found = companions.read(Accuracy, SCHEMA, path, name, "measure the accuracy", BadAccuracy)
    if found is None:
        return None
    # results of rows and inputs that the file does not list say nothing
    rows = {each.strategy for each in found.rows}
    inputs = {each.name for each in found.distributions}
    known = (each for each in found.results if each.strategy in rows)
    return replace(found, results=tuple(each for each in known if each.distribution in inputs))
