"""Reads rehearsal.json, schema 2: what the tests say of code for earlier GPUs than the one at hand.

tests/rehearsal/rehearsal.py makes it: it builds Recheck as PTX for one compute capability after the
other, which the driver compiles for the GPU, and runs the tests. On one of these builds, and on the
one that records are made with, `best` is held against every row at random products of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recheck_report.model import companions
from recheck_report.model.record import Record
from recheck_report.model.typed import BadRecord, Unfit

GOOD = 0.9  # of the fastest row's speed: what `best` is to reach at every product
LIBRARY = "cublas"  # the vendor's, in the same arithmetic
KINDS = {"row": "rows", "mutant": "mutants", "other": "other tests"}


class BadRehearsal(BadRecord):
    """The file is not in form; str() is one line for the user."""


@dataclass(frozen=True)
class Origin(companions.Origin):
    gpu: str
    nvcc: str | None


@dataclass(frozen=True)
class Build:
    architecture: int
    build_seconds: float
    test_seconds: float


@dataclass(frozen=True)
class Outcome:
    status: str
    tests: int
    reason: str | None


@dataclass(frozen=True)
class Test:
    name: str
    kind: str
    outcomes: tuple[Outcome, ...]  # one for each build


@dataclass(frozen=True)
class Product:
    """A random product of matrices, the row that `best` took for it, and all times."""

    m: int
    n: int
    k: int
    choice: str
    best: float | None
    seconds: tuple[float | None, ...]  # of each row
    first: float | None = None  # the ratio before `best` and what was faster were timed again
    again: bool = False  # that they were, in files without that ratio

    @property
    def name(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"


@dataclass(frozen=True)
class Choices:
    architecture: int | None  # None: of the build that records are made with
    seed: int
    regime: str
    rows: tuple[str, ...]
    shapes: tuple[Product, ...]

    def fastest(self, product: Product) -> tuple[str, float] | None:
        """The row that was fastest at a product, and its time; None where none has one."""
        pairs = zip(self.rows, product.seconds, strict=True)
        timed = [(name, seconds) for name, seconds in pairs if seconds is not None]
        return min(timed, key=lambda each: each[1], default=None)

    def ratio(self, product: Product) -> float | None:
        """The speed of `best` over that of the fastest row; None where one has no time."""
        fastest = self.fastest(product)
        return fastest[1] / product.best if fastest and product.best else None


@dataclass(frozen=True, eq=False)
class Rehearsal:
    schema: int
    environment: Origin
    builds: tuple[Build, ...]
    tests: tuple[Test, ...]
    choices: tuple[Choices, ...]

    def foreign(self, record: Record) -> str | None:
        """Why this is not about the code and machine of that record; None if it is."""
        return self.environment.foreign(record, "the rehearsal")


def load_rehearsal(path: Path) -> Rehearsal | None:
    """The rehearsal in a report folder or beside a record; None where there is none.

    Raises BadRehearsal with one line that names the file, the field and what to do.
    """
    again = "rehearse"
    return companions.read(Rehearsal, path, companions.REHEARSAL, again, BadRehearsal, _check)


def _check(rehearsal: Rehearsal) -> None:
    """What the form alone does not say; raises Unfit."""
    architectures = [build.architecture for build in rehearsal.builds]
    if sorted(set(architectures)) != architectures:
        raise Unfit("must be of ascending architectures").at("builds")
    seen = set()
    for at, test in enumerate(rehearsal.tests):
        where = f"tests[{at}]"
        if (test.kind, test.name) in seen:
            raise Unfit(f"is another {test.kind} {test.name}").at(where)
        seen.add((test.kind, test.name))
        if len(test.outcomes) != len(architectures):
            raise Unfit("must have one outcome for each build").at(f"{where}.outcomes")
        for which, outcome in enumerate(test.outcomes):
            if (outcome.status == "passed") != (outcome.reason is None):
                raise Unfit("must say why it did not pass, and nothing else").at(
                    f"{where}.outcomes[{which}].reason"
                )
    for at, choices in enumerate(rehearsal.choices):
        where = f"choices[{at}]"
        if choices.architecture is not None and choices.architecture not in architectures:
            raise Unfit("must be that of a build").at(f"{where}.architecture")
        if len(set(choices.rows)) < len(choices.rows):
            raise Unfit("have two of the same name").at(f"{where}.rows")
        for which, product in enumerate(choices.shapes):
            if len(product.seconds) != len(choices.rows):
                place = f"{where}.shapes[{which}].seconds"
                raise Unfit("must have one entry for each row").at(place)
