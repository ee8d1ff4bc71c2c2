"""Queries on a record: the rate of an experiment, the rows that others are compared with, and times
that beat the hardware's limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

from recheck_report.formatting import significant
from recheck_report.record.record import MEMORY_LEVELS, Case, Experiment, Record
from recheck_report.statistics.comparisons import Comparisons
from recheck_report.statistics.ratio import Ratio


@dataclass(frozen=True)
class Metric:
    """The rate of an experiment: its work, unit and ceiling."""

    work: str  # the member of Case that holds it
    unit: str
    scale: float
    ceiling: str
    ceiling_label: str

    def rate(self, case: Case, seconds: float) -> float:
        work: float = getattr(case, self.work)
        return work / seconds / self.scale

    def rates(self, case: Case) -> tuple[float, float, float]:
        """The rate of a timed case at its median, and at the low and high end of the interval."""
        time = case.time
        return self.rate(case, time.median), self.rate(case, time.high), self.rate(case, time.low)

    def limit(self, record: Record) -> float | None:
        ceiling = record.ceilings.get(self.ceiling)
        return ceiling.value / self.scale if ceiling else None


COMPUTE = Metric("flops", "TFLOP/s", 1e12, "fp32_flops", "fp32 limit")
MEMORY = Metric("bytes", "GB/s", 1e9, "dram_bytes_per_second", "DRAM limit")
CEILINGS = {"dram": MEMORY, "fp32": COMPUTE}  # limits of the machine, as checks name them


def metric_of(record: Record, experiment: Experiment) -> Metric:
    """COMPUTE if the headline problem has over 10 flops per byte that it must move, else MEMORY."""
    headline = [
        case for case in record.cases_of(experiment) if case.shape_name == experiment.headline
    ]
    heavy = any(case.flops > 10 * case.bytes for case in headline or record.cases_of(experiment))
    return COMPUTE if heavy else MEMORY


def first_kernel(record: Record, experiment: Experiment) -> str | None:
    """The kernel with which the story starts: the first in the table that solves the problem."""
    for case in record.strategies(experiment):
        if case.target == "gpu" and case.role == "rung" and case.contends and not case.sweep:
            return case.strategy
    return None


def reference(record: Record, experiment: Experiment, layout: str = "") -> str | None:
    """The vendor's fp32 baseline on the GPU, for that layout if there is one."""
    libraries = [
        case
        for case in record.strategies(experiment)
        if case.target == "gpu" and case.role == "baseline" and case.fp32 and case.contends
    ]
    by_columns = layout == "column_major"
    same_layout = [c for c in libraries if (c.layout == "column_major") == by_columns]
    return next((case.strategy for case in same_layout or libraries), None)


def ceiling_row(record: Record, experiment: Experiment) -> str | None:
    """The row that moves the same bytes at the machine's top speed."""
    rows = record.strategies(experiment)
    return next((case.strategy for case in rows if case.role == "roof"), None)


def share(comparisons: Comparisons, record: Record, case: Case, of: str | None) -> Ratio | None:
    """The case's bytes per second divided by those of the row `of` at the same shape and regime."""
    base = record.find(record.experiment_of(case), of or "", case.shape_name, case.regime)
    if not base or not base.seconds or not case.seconds or not base.bytes or not case.bytes:
        return None
    return comparisons.ratio(base, case).times(case.bytes / base.bytes)


def faster_than_ceiling(record: Record) -> dict[str, str]:
    """Cold and drained cases that beat the GPU's specification, by id, each with the reason."""
    reasons: dict[str, str] = {}
    gpu = record.environment.gpu
    cache = (gpu and gpu.l2_bytes) or math.inf
    for case in record.cases if gpu else ():
        if case.target != "gpu" or case.regime not in ("cold", "drained") or not case.seconds:
            continue
        # rows of nearer memory levels may beat DRAM
        nearer = case.experiment == MEMORY_LEVELS and "dram" not in case.strategy
        # a cold time may leave written bytes in the cache; TF32 has other units
        large = (case.regime == "drained" or case.bytes > 4 * cache) and not nearer
        for metric, apt in ((MEMORY, large), (COMPUTE, case.fp32)):
            limit, rate = metric.limit(record), metric.rate(case, case.seconds.median)
            if apt and limit and rate > limit and not case.part_of and not case.unsure:
                text = f"{significant(rate)} {metric.unit} is more than the {metric.ceiling_label}"
                reasons[case.id] = f"{text} of {significant(limit)} {metric.unit}"
    return reasons
