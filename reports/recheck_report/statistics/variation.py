"""Run-to-run variation: the margins of verdicts and the noise limits of comparisons.

The interval of a ratio covers repetitions in one process. Other processes and other GPUs of the
model differ by more, with the same machine code. No theory predicts this, so it is measured:
runs/<GPU>.json holds the medians of a model's published runs. The margin of a ratio contains 95 %
of these runs around their median ratio (all of them, if fewer than 20). With fewer than ENOUGH runs
it is at least the margin of the ratio's class, which contains three of four rows of that class, so
that one unsteady row does not widen the others. A GPU model with fewer than three runs borrows the
runs of another model.
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

from recheck_report.files import slug
from recheck_report.record.record import Case
from recheck_report.record.regimes import REGIMES

NOISE = Path(__file__).with_name("noise.json")
RUNS = Path(__file__).with_name("runs")
LATEST = 10  # runs; older ones had other kernels and another method
FEWEST = 3  # runs for a margin of a single ratio
# runs from which that margin suffices: with three, four, five and six runs, a further one lies
# outside the margin and the interval for 17, 11, 9 and 6 of 100 ratios
ENOUGH = 7
MOST_RUNS = "NVIDIA H200"  # the model with the most runs, whose variation others borrow
BY_DURATION = ("cold", "hot")
ONE_THREAD, THREADS = OF_CPU = "CPU, one thread", "CPU, several threads"
# upper limit in seconds, and the name
DURATIONS = (
    (10e-6, "under 10 µs"),
    (100e-6, "10 to 100 µs"),
    (1e-3, "100 µs to 1 ms"),
    (math.inf, "1 ms and more"),
)
# in the order of tables; CPU times vary with the host, more so where threads wait for each other
CLASSES = (
    *(f"{regime}, {name}" for regime in BY_DURATION for _, name in DURATIONS),
    *(
        name.replace("_", " ")
        for name, regime in REGIMES.items()
        if not regime.varies_like and name not in BY_DURATION
    ),
    *(f"{threads}, {name}" for threads in OF_CPU for _, name in DURATIONS),
)


def class_of(*cases: Case) -> str:
    """One of CLASSES, by target, threads, regime and the shortest median."""
    of_cpu = [case for case in cases if case.target == "cpu"]
    threads = any(_threads(case.source.document, case.strategy) for case in of_cpu)
    seconds = min(case.time.median for case in cases)
    return class_named("cpu" if of_cpu else "gpu", threads, cases[0].regime, seconds)


def class_named(target: str, threads: bool, regime: str, seconds: float) -> str:
    """One of CLASSES, by a median in seconds. First calls vary like other times of the host's
    clock, drained times like cold ones and sustained ones like hot ones, until runs show
    otherwise."""
    if regime in REGIMES:
        regime = REGIMES[regime].varies_like or regime
    if target == "gpu" and regime not in BY_DURATION:
        return regime.replace("_", " ")
    kind = regime if target == "gpu" else THREADS if threads else ONE_THREAD
    return f"{kind}, {next(name for below, name in DURATIONS if seconds < below)}"


def classes_of(cases: Iterable[Case]) -> list[str]:
    """The classes of the cases that have a time, in the order of CLASSES."""
    present = {class_of(case) for case in cases if case.seconds}
    return [name for name in CLASSES if name in present]


def _threads(document: str, row: str) -> bool:
    """Whether a CPU row uses several threads: libraries do, and kernels with OpenMP in the name."""
    return document == "vendor" or "openmp" in row


@dataclass(frozen=True)
class Runs:
    """The medians of the runs on one GPU model, in seconds, one for each run, and how much they
    vary. None: not measured."""

    gpu: str
    rows: dict[str, dict[str, Any]]  # by experiment/row: target and role; document, if vendor
    medians: dict[str, list[float | None]]  # by case
    began: tuple[str, ...]  # when each run did

    @property
    def count(self) -> int:
        return len(self.began)

    def ratios(self, base: str, other: str) -> list[float | None]:
        """time(base) / time(other) of each run; None if it lacks a case."""
        pairs = zip(self.medians_of(base), self.medians_of(other), strict=True)
        return [a / b if a and b else None for a, b in pairs]

    def medians_of(self, name: str) -> list[float | None]:
        """The median of a case in each run. Cold times stand in for missing drained ones."""
        row, _, regime = name.rpartition("/")
        at = name if name in self.medians or regime != "drained" else f"{row}/cold"
        return self.medians.get(at, [None] * self.count)

    def deviation(self, *names: str, fewest: int = FEWEST) -> float | None:
        """The margin that 95 % of runs keep around the median ratio of two cases, or the median
        time of one, as a difference of logarithms. None with fewer than `fewest` runs."""
        base, *other = names
        runs = self.ratios(base, *other) if other else self.medians_of(base)
        values = [value for value in runs if value]
        if len(values) < fewest:
            return None
        middle = median(values)
        return _quantile([abs(math.log(value / middle)) for value in values], 0.95)

    def class_of(self, name: str) -> str:
        experiment, row, _, regime = name.split("/")
        about = self.rows[f"{experiment}/{row}"]
        seconds = median(seconds for seconds in self.medians[name] if seconds)
        threads = _threads(about.get("document", ""), row)
        return class_named(about["target"], threads, regime, seconds)

    @cached_property
    def of_medians(self) -> dict[str, float]:
        """By class, how a case's median varies between runs, as a difference of logarithms."""
        deviations = ((name, self.deviation(name)) for name in self.medians)
        return self._by_class(deviations)

    @cached_property
    def of_ratios(self) -> dict[str, float]:
        """By class, the variation of ratios of cases that were measured in turns: each case
        against the one in its group that most runs have. Baselines are a group of their own."""
        groups: dict[tuple[str, ...], list[str]] = {}
        for name in self.medians:
            experiment, row, shape, regime = name.split("/")
            about = self.rows[f"{experiment}/{row}"]
            apart = about["role"] == "baseline" or "openmp" in row
            kind = about["target"], str(apart)
            groups.setdefault((experiment, shape, regime, *kind), []).append(name)
        pairs = (
            (name, most)
            for names in groups.values()
            for most in [max(names, key=lambda name: sum(map(bool, self.medians[name])))]
            for name in names
        )
        return self._by_class((name, self.deviation(name, to)) for name, to in pairs if name != to)

    def differs_by(self, cases: Sequence[Case]) -> float:
        """The margin of the ratio of two cases, or of the time of one, as a difference of
        logarithms; 0 without runs. Margins of cases not measured in turns add up."""
        names = [case.id for case in cases]
        margin = self.deviation(*names, fewest=ENOUGH)
        if margin is not None:
            return margin
        turns = {(c.experiment, c.target, c.regime, c.shape_name) for c in cases}
        if len(cases) == 2 and len(turns) > 1:
            least = math.fsum(self.differs_by((case,)) for case in cases)
        else:
            by_class = self.of_medians if len(cases) == 1 else self.of_ratios
            least = _of_class(by_class, class_of(*cases))
        return max(least, self.deviation(*names) or 0.0)

    def _by_class(self, deviations: Iterable[tuple[str, float | None]]) -> dict[str, float]:
        by_class: dict[str, list[float]] = {}
        for name, deviation in deviations:
            if deviation is not None:
                by_class.setdefault(self.class_of(name), []).append(deviation)
        return {name: _quantile(deviations, 0.75) for name, deviations in by_class.items()}


def _of_class(by_class: dict[str, float], kind: str) -> float:
    """The margin of a class; of one without runs, the largest of the same regime or threads. 0 if
    these have none."""
    whole = kind.rpartition(", ")[0]
    alike = [margin for name, margin in by_class.items() if name.rpartition(", ")[0] == whole]
    return by_class.get(kind, max(alike, default=0.0) if whole else 0.0)


def _quantile(values: list[float], share: float) -> float:
    """The smallest value that is not below that share of the values."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


@cache
def noise(kind: str) -> float:
    """The limit beyond which two medians of a class differ: 0.06 for 6 %."""
    limits: dict[str, float] = json.loads(NOISE.read_text(encoding="utf-8"))
    whole = kind.rsplit(", ", 1)[0]  # CPU classes may have one limit for all durations
    return limits.get(kind, limits.get(whole, math.inf))


@cache
def runs_of(gpu: str) -> Runs | None:
    """The runs of a GPU model; None without runs."""
    path = RUNS / f"{slug(gpu)}.json"
    if not path.is_file():
        return None
    file = json.loads(path.read_text(encoding="utf-8"))
    medians = {name: times[-LATEST:] for name, times in file["medians"].items()}
    began = tuple(run["date"] for run in file["runs"][-LATEST:])
    return Runs(file["gpu"], file["rows"], medians, began) if file["gpu"] == gpu else None


def for_gpu(gpu: str = "") -> Runs:
    """The runs of that GPU model; if it has too few, those of the model with the most."""
    runs = runs_of(gpu)
    if runs is None or runs.count < FEWEST:
        runs = runs_of(MOST_RUNS)
    assert runs
    return runs
