"""By how much two runs of the same code differ: the margins that verdicts and comparisons allow.

The interval of a median says what one process would measure again. Another process, or another GPU
of the same model, finds another median far more often than these intervals allow, with the same
machine code. There is no theory of by how much; there are runs. So variation.json holds, for each
class of regime and duration, quantiles of what two runs on H200s differed by: twelve processes on
two GPUs, and fourteen GPUs. The table is frozen, and stands for every GPU model.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recheck_report.model.record import Case

TABLE = Path(__file__).with_name("variation.json")
MARGIN = 0.999  # the quantile that a change between two records has to exceed
END_TO_END = "end to end"
ONE_THREAD, THREADS = OF_CPU = "CPU, one thread", "CPU, several threads"
# up to how many seconds, and what it is called
DURATIONS = (
    (10e-6, "under 10 µs"),
    (100e-6, "10 to 100 µs"),
    (1e-3, "100 µs to 1 ms"),
    (math.inf, "1 ms and more"),
)
# in the order of tables; end to end and on the CPU it is the host that varies, whatever the time,
# and where threads wait for each other it does so by far more
CLASSES = (
    *(f"{regime}, {name}" for regime in ("cold", "hot") for _, name in DURATIONS),
    "inner",
    END_TO_END,
    ONE_THREAD,
    THREADS,
)


def class_of(*cases: Case) -> str:
    """By target, threads, regime and the shortest of the medians: one of CLASSES."""
    of_cpu = [case for case in cases if case.target == "cpu"]
    if of_cpu:
        return THREADS if any(map(_threads, of_cpu)) else ONE_THREAD
    regime, seconds = cases[0].regime, min(each.time.median for each in cases)
    if regime not in ("cold", "hot"):
        return regime.replace("_", " ")
    return f"{regime}, {next(name for below, name in DURATIONS if seconds < below)}"


def classes_of(cases: Iterable[Case]) -> list[str]:
    """The classes of these cases, but for those without a time, in the order of CLASSES."""
    own = {class_of(case) for case in cases if case.seconds}
    return [name for name in CLASSES if name in own]


def _threads(case: Case) -> bool:
    """Whether a CPU row takes several threads: a library takes as many as it likes, and a rung that
    takes more than one has OpenMP in its name."""
    return case.role == "baseline" or "openmp" in case.strategy


@dataclass(frozen=True)
class Variation:
    """What two runs on GPUs of one model differ by, by class, as parts of 1: 0.06 for 6 %. A record
    may have a regime that is in no class: of it nothing is known."""

    gpu: str  # the model
    gpus: int  # that `margins` are from
    # between two processes on one GPU, what 97 of 100 stay within: of ratios of two cases that were
    # measured in turns, and of medians
    ratios: dict[str, float]
    medians: dict[str, float]
    margins: dict[str, float]  # between two GPUs, what 999 of 1000 medians stay within

    def differs_by(self, cases: Sequence[Case]) -> float:
        """By what factor, in logarithms, a ratio that rests on these cases differs in another
        process; 0 where that is not known. What two that were not measured in turns differ by
        adds up."""
        turns = {(c.experiment, c.target, c.regime, c.shape_name) for c in cases}
        if len(cases) == 2 and len(turns) == 1:
            return math.log1p(self.ratios.get(class_of(*cases), 0.0))
        return math.fsum(math.log1p(self.medians.get(class_of(case), 0.0)) for case in cases)

    def margin(self, kind: str) -> float:
        """What two medians of a class have to differ by to be called different."""
        return self.margins.get(kind, math.inf)


@cache
def known() -> Variation:
    """The committed table."""
    return Variation(**json.loads(TABLE.read_text(encoding="utf-8")))
