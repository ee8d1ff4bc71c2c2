"""Run-to-run variation: the margins that verdicts allow, and the noise that comparisons do.

The interval of a ratio says what one process would measure again. Another process, or another GPU
of the same model, finds another ratio more often than these intervals allow, with the same machine
code. There is no theory of by how much; there are runs. runs/<GPU>.json holds the medians of the
runs that were published of a model. The margin of a ratio is what 95 of 100 of these runs stay
within of their median ratio, which of fewer than 20 is what all do. Where fewer than ENOUGH have
both cases, it is no less than that of its class: what three of four rows of that class stay within,
so that one unsteady row does not speak for others. A GPU model without three runs borrows
another's.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from statistics import median
from typing import Any

from recheck_report.record.record import Case

TABLE = Path(__file__).with_name("changes.json")
RUNS = Path(__file__).with_name("runs")
# rows whose listing was another row's when these runs were made: that one's variation is theirs
FORMER = json.loads(Path(__file__).with_name("former.json").read_text(encoding="utf-8"))
LATEST = 10  # runs count: kernels and method of those before were others
FEWEST = 3  # runs of which a ratio has a margin of its own
# runs from which on that margin is enough: with three, four, five and six, a further run lies
# outside of it and the interval in 17, 11, 9 and 6 of 100 ratios
ENOUGH = 7
END_TO_END = "end to end"
ONE_THREAD, THREADS = OF_CPU = "CPU, one thread", "CPU, several threads"
# up to how many seconds, and what it is called
DURATIONS = (
    (10e-6, "under 10 µs"),
    (100e-6, "10 to 100 µs"),
    (1e-3, "100 µs to 1 ms"),
    (math.inf, "1 ms and more"),
)
# in the order of tables; on the CPU the host varies, more where threads wait for each other
CLASSES = (
    *(f"{regime}, {name}" for regime in ("cold", "hot") for _, name in DURATIONS),
    "inner",
    END_TO_END,
    "sustained",
    *(f"{threads}, {name}" for threads in OF_CPU for _, name in DURATIONS),
)


def class_of(*cases: Case) -> str:
    """By target, threads, regime and the shortest of the medians: one of CLASSES."""
    of_cpu = [case for case in cases if case.target == "cpu"]
    threads = any(_threads(case.role, case.strategy) for case in of_cpu)
    seconds = min(each.time.median for each in cases)
    return class_named("cpu" if of_cpu else "gpu", threads, cases[0].regime, seconds)


def class_named(target: str, threads: bool, regime: str, seconds: float) -> str:
    """The class of what runs there, by a median in seconds. First calls vary as whatever the host's
    clock times; drained times as cold ones, until runs say otherwise."""
    regime = {"drained": "cold", "first": "end_to_end", "first_context": "end_to_end"}.get(
        regime, regime
    )
    if target == "gpu" and regime not in ("cold", "hot"):
        return regime.replace("_", " ")
    kind = regime if target == "gpu" else THREADS if threads else ONE_THREAD
    return f"{kind}, {next(name for below, name in DURATIONS if seconds < below)}"


def classes_of(cases: Iterable[Case]) -> list[str]:
    """The classes of these cases, but for those without a time, in the order of CLASSES."""
    own = {class_of(case) for case in cases if case.seconds}
    return [name for name in CLASSES if name in own]


def _threads(role: str, row: str) -> bool:
    """Whether a CPU row takes several threads: a library takes as many as it likes, and a rung that
    takes more than one has OpenMP in its name."""
    return role == "baseline" or "openmp" in row


@dataclass(frozen=True)
class Runs:
    """Medians of runs on one GPU model, in seconds, one for each run; None: not measured."""

    gpu: str
    rows: dict[str, dict[str, Any]]  # by experiment/row: target and role
    medians: dict[str, list[float | None]]  # by case
    began: tuple[str, ...]  # when each run did

    @property
    def count(self) -> int:
        return len(self.began)

    def ratios(self, base: str, other: str) -> list[float]:
        """time(base) / time(other) of each run that has both cases."""
        return [
            a / b
            for a, b in zip(self.medians_of(base), self.medians_of(other), strict=False)
            if a and b
        ]

    def ratio(self, base: str, other: str, at: int) -> float | None:
        """The ratio of one run; None where it has not both cases."""
        times = [(self.medians_of(name) or [None] * self.count)[at] for name in (base, other)]
        return times[0] / times[1] if times[0] and times[1] else None

    def medians_of(self, name: str) -> list[float | None]:
        """The median of a case in each run; empty where none has it. Where no run has a drained
        time, the cold one stands in."""
        experiment, row, shape, regime = name.split("/")
        row_then = FORMER.get(f"{experiment}/{row}", f"{experiment}/{row}")
        found = self.medians.get(f"{row_then}/{shape}/{regime}", [])
        return found or (self.medians_of(f"{row_then}/{shape}/cold") if regime == "drained" else [])

    def deviation(self, *names: str, fewest: int = FEWEST) -> float | None:
        """What 95 of 100 runs stay within of the median ratio of two cases, or of the median time
        of one: as a difference of logarithms. None of fewer than `fewest` runs."""
        base, *other = names
        found = self.ratios(base, *other) if other else [*filter(None, self.medians_of(base))]
        if len(found) < fewest:
            return None
        middle = median(found)
        return _quantile([abs(math.log(each / middle)) for each in found], 0.95)

    def class_of(self, name: str) -> str:
        experiment, row, _, regime = name.split("/")
        about = self.rows[f"{experiment}/{row}"]
        seconds = median(each for each in self.medians[name] if each)
        return class_named(about["target"], _threads(about["role"], row), regime, seconds)

    @cached_property
    def of_medians(self) -> dict[str, float]:
        """By class, what a case's median differs by between runs, as a difference of logarithms."""
        found = ((name, self.deviation(name)) for name in self.medians)
        return self._by_class(found)

    @cached_property
    def of_ratios(self) -> dict[str, float]:
        """By class, what a ratio of two cases that were measured in turns differs by: of each case
        against the one of its group that most runs have."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for name in self.medians:
            experiment, row, shape, regime = name.split("/")
            about = self.rows[f"{experiment}/{row}"]
            kind = about["target"], str(_threads(about["role"], row))
            groups.setdefault((experiment, shape, regime, *kind), []).append(name)
        pairs = (
            (name, most)
            for own in groups.values()
            for most in [max(own, key=lambda each: sum(map(bool, self.medians[each])))]
            for name in own
        )
        return self._by_class((name, self.deviation(name, to)) for name, to in pairs if name != to)

    def _by_class(self, found: Iterable[tuple[str, float | None]]) -> dict[str, float]:
        by_class: dict[str, list[float]] = {}
        for name, deviation in found:
            if deviation is not None:
                by_class.setdefault(self.class_of(name), []).append(deviation)
        return {name: _quantile(own, 0.75) for name, own in by_class.items()}


def _quantile(values: list[float], share: float) -> float:
    """The smallest value that so many are not above."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


@dataclass(frozen=True)
class Variation:
    """What runs on GPUs of one model differ by."""

    runs: Runs
    changes: dict[str, float]  # by class, what a change between two records has to exceed

    @property
    def gpu(self) -> str:
        """The model."""
        return self.runs.gpu

    def differs_by(self, cases: Sequence[Case]) -> float:
        """The margin of a ratio of these two cases, or of the time of one, as a difference of
        logarithms; 0 where nothing is known. Those of cases not measured in turns add up."""
        names = [case.id for case in cases]
        own = self.runs.deviation(*names, fewest=ENOUGH)
        if own is not None:
            return own
        turns = {(c.experiment, c.target, c.regime, c.shape_name) for c in cases}
        if len(cases) == 2 and len(turns) > 1:
            alike = math.fsum(self.differs_by((case,)) for case in cases)
        else:
            known = self.runs.of_medians if len(cases) == 1 else self.runs.of_ratios
            alike = known.get(class_of(*cases), 0.0)
        return max(alike, self.runs.deviation(*names) or 0.0)

    def noise(self, kind: str) -> float:
        """What two medians of a class have to differ by to be called different, as a part of 1."""
        whole = kind.rsplit(", ", 1)[0]  # on the CPU it is known of all durations together
        return self.changes.get(kind, self.changes.get(whole, math.inf))

    def by_duration(self, case: Case) -> tuple[tuple[float | None, float | None], ...]:
        """The noise of a case by the shorter of two medians: pairs of up to how many seconds, None
        being any, and the noise below that, None being not known."""
        threads = case.target == "cpu" and _threads(case.role, case.strategy)
        found = []
        for below, _ in DURATIONS:
            kind = class_named(case.target, threads, case.regime, math.nextafter(below, 0))
            found.append((_finite(below), _finite(self.noise(kind))))
        return tuple(found)


def _finite(value: float) -> float | None:
    return None if value == math.inf else value


@cache
def _all() -> tuple[Variation, ...]:
    """Of each GPU model with runs, most runs first."""
    changes = json.loads(TABLE.read_text(encoding="utf-8"))
    found = []
    for path in sorted(RUNS.glob("*.json")):
        file = json.loads(path.read_text(encoding="utf-8"))
        medians = {name: each[-LATEST:] for name, each in file["medians"].items()}
        began = tuple(each["date"] for each in file["runs"][-LATEST:])
        runs = Runs(file["gpu"], file["rows"], medians, began)
        found.append(Variation(runs, changes))
    return tuple(sorted(found, key=lambda each: -each.runs.count))


def runs_of(gpu: str) -> Runs | None:
    """The runs of a GPU model; None where there are none."""
    return next((each.runs for each in _all() if each.gpu == gpu), None)


def for_gpu(gpu: str = "") -> Variation:
    """What is known of that GPU model; where it has not enough runs, of the one that has most."""
    enough = (each for each in _all() if each.gpu == gpu and each.runs.count >= FEWEST)
    return next(enough, _all()[0])
