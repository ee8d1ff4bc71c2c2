"""record.json as a value: what one run on one machine measured.

The classes here, in environment.py and in case.py mirror the file. read.py reads it, and joins each
case with its strategy and its samples.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from recheck_report.record.case import NAME, Case, Entry, Strategy, Word
from recheck_report.record.environment import Environment, Method
from recheck_report.record.regimes import REGIMES
from recheck_report.record.typed import Is

__all__ = ["Case"]  # most readers of a record need it too
SCHEMA = 6
STATUS = ("passed", "incorrect", "failed", "unsupported", "not_run")
# experiments about the measurement and the machine, which have their own sections
AUDIT, MACHINE, MEMORY_LEVELS = "audit", "machine", "memory"
SPECIAL = (AUDIT, MACHINE, MEMORY_LEVELS)


@dataclass(frozen=True)
class Ceiling:
    value: Annotated[float, Is("operations, or bytes, per second; 0: not known", least=0)]
    source: Annotated[str, Is("how it follows from the attributes")] = ""


@dataclass(frozen=True)
class Experiment:
    name: Annotated[str, Is("part of files' names", pattern=f"^{NAME}$", form="a name")]
    title: Annotated[str, Is("of its section")] = ""
    problem: Annotated[str, Is("what all rows compute, in one line")] = ""
    axes: Annotated[tuple[str, ...], Is("of a shape")] = ()
    headline: Annotated[str, Is("the shape that tables and ladders show")] = ""


@dataclass(frozen=True)
class Dropped:
    experiment: Annotated[str, Is("by name")] = ""
    shape: Annotated[str, Is("its extents")] = ""
    reason: Annotated[str, Is("one line")] = ""


@dataclass(frozen=True)
class Plan:
    preset: Word = "unknown"  # full; claims; chosen, where flags narrowed the run
    dropped: Annotated[tuple[Dropped, ...], Is("what the budget or the preset left out")] = ()

    @property
    def full(self) -> bool:
        """Whether the full matrix was asked for; of that a budget may have dropped something."""
        return self.preset == "full"


@dataclass(frozen=True, eq=False)
class Run:
    """The members of record.json that concern all cases."""

    schema: Annotated[int, Is("of this form; every change of it bumps the number")]
    environment: Annotated[Environment, Is("machine, build and settings")] = Environment()
    method: Annotated[Method, Is("the numbers by which cases were timed")] = Method()
    finished: Annotated[str | None, Is("when the run ended, UTC; null: it has not")] = None
    wall_seconds: Annotated[float, Is("of the run, over all resumptions")] = 0.0
    plan: Annotated[Plan, Is("what was to be measured")] = Plan()
    # what the machine can do at most
    ceilings: Annotated[dict[str, Ceiling], Is("by attributes")] = field(default_factory=dict)
    experiments: Annotated[tuple[Experiment, ...], Is("in the order of the report")] = ()


@dataclass(frozen=True, eq=False)
class Document(Run):
    """record.json as a whole."""

    strategies: Annotated[tuple[Strategy, ...], Is("each row once")] = ()
    cases: Annotated[tuple[Entry, ...], Is("by shape, then regime, then the table's order")] = ()


@dataclass(frozen=True, eq=False)
class Record(Run):
    cases: tuple[Case, ...] = ()
    unread: tuple[str, ...] = ()  # one short sentence for each unreadable part

    @cached_property
    def by_id(self) -> dict[str, Case]:
        return {case.id: case for case in self.cases}

    def find(self, experiment: Experiment, strategy: str, shape: str, regime: str) -> Case | None:
        return self.by_id.get(f"{experiment.name}/{strategy}/{shape}/{regime}")

    def timed(
        self, experiment: Experiment, strategy: str | None, shape: str, regime: str = ""
    ) -> Case | None:
        """A case if it has a time; by default in the regime that ranks the experiment's rows."""
        case = self.find(experiment, strategy or "", shape, regime or self.ranked_by(experiment))
        return case if case and case.seconds else None

    def ranked_by(self, experiment: Experiment) -> str:
        """The regime that ranks an experiment's GPU rows: drained if its kernels have such times at
        the headline, as that includes written bytes; else cold."""
        return "drained" if experiment.name in self._drained else "cold"

    @cached_property
    def _drained(self) -> set[str]:
        headline = {e.name: e.headline for e in self.experiments}
        return {
            case.experiment
            for case in self.cases
            if case.regime == "drained" and case.role == "rung" and case.seconds
            if case.shape_name == headline.get(case.experiment)
        }

    @cached_property
    def _by_experiment(self) -> dict[str, list[Case]]:
        cases: dict[str, list[Case]] = {experiment.name: [] for experiment in self.experiments}
        for case in self.cases:
            cases[case.experiment].append(case)
        return cases

    def cases_of(self, experiment: Experiment) -> list[Case]:
        return self._by_experiment[experiment.name]

    def shapes(self, experiment: Experiment) -> list[str]:
        return list(dict.fromkeys(case.shape_name for case in self.cases_of(experiment)))

    @cached_property
    def _rows(self) -> dict[str, list[Case]]:
        """By experiment, one case for each strategy, in table order."""
        # only the hot regime has CPU and GPU rows alike, and sweeps are timed at some shapes only:
        # the whole order shows where the most rows are hot
        most = Counter((c.experiment, c.shape_name) for c in self.cases if c.regime == "hot")
        rows: dict[str, dict[str, Case]] = {experiment.name: {} for experiment in self.experiments}
        for case in sorted(
            self.cases, key=lambda c: (c.regime != "hot", -most[c.experiment, c.shape_name])
        ):
            rows[case.experiment].setdefault(case.strategy, case)
        return {name: list(row.values()) for name, row in rows.items()}

    def experiment(self, name: str) -> Experiment | None:
        return next((e for e in self.experiments if e.name == name), None)

    def experiment_of(self, case: Case) -> Experiment:
        """The case's experiment; read.py makes one for every case."""
        return next(e for e in self.experiments if e.name == case.experiment)

    @cached_property
    def regimes(self) -> list[str]:
        """The regimes of all cases, in the order of tables; unknown ones follow."""
        measured = dict.fromkeys(case.regime for case in self.cases)
        return [*(r for r in REGIMES if r in measured), *(measured.keys() - {*REGIMES})]

    @property
    def has_narrow_intervals(self) -> bool:
        """Whether it is older than intervals over rounds: its own ignore that samples of a round
        are alike."""
        state = self.environment.state
        return bool(self.environment.gpu and state.event_step_nanoseconds is None)

    @property
    def ordinary(self) -> list[Experiment]:
        """The experiments with cases that are about the documents, not the machine."""
        return [e for e in self.experiments if e.name not in SPECIAL and self.cases_of(e)]

    def strategies(self, experiment: Experiment) -> list[Case]:
        """One case for each strategy, in table order."""
        return self._rows[experiment.name]

    def count(self) -> Counter[str]:
        return Counter(case.status for case in self.cases)

    @property
    def gpu(self) -> str:
        """The model of the GPU; empty without one."""
        return self.environment.gpu.name if self.environment.gpu else ""

    @cached_property
    def _on_gpu(self) -> list[Case]:
        """The GPU cases of experiments that are not about the measurement itself, if there are any
        such experiments."""
        cases = [case for each in self.ordinary for case in self.cases_of(each)] or self.cases
        return [case for case in cases if case.target == "gpu"]

    @property
    def gpu_measured(self) -> bool:
        return any(case.seconds for case in self._on_gpu)

    @property
    def lacks_gpu(self) -> bool:
        """Whether it has GPU cases, and none has a time."""
        return bool(self._on_gpu) and not self.gpu_measured

    @property
    def no_gpu_because(self) -> str:
        """Why no GPU case has a time: the machine's reason, else the commonest case's reason."""
        if self.environment.gpu_reason:
            return self.environment.gpu_reason
        reasons = Counter(c.reason for c in self.cases if c.target == "gpu" and c.reason)
        return reasons.most_common(1)[0][0] if reasons else "the record holds no GPU case"
