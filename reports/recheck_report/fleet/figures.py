"""The figures of a record that a fleet watches, and what is expected of them.

Of each experiment, at its headline shape: the throughput of each rung, its share of the roof, and
how many claims came to which verdict. What is expected is the throughput of the committed record of
the same GPU model, within what two GPUs of that model differ by: by the margins of 999 of 1000
cases (statistics/variation.py), as for `verify`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.claims.measured import Measured, read, read_gpu
from recheck_report.model.read import RECORD
from recheck_report.model.record import AUDIT, Case, Experiment, Record
from recheck_report.queries import metric_of, roof, share
from recheck_report.statistics import variation
from recheck_report.statistics.variation import class_of

VERDICTS = ("holds", "fails", "inconclusive", "not_measured")


@dataclass(frozen=True)
class Expected:
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Figure:
    name: str  # "matmul/tile16"
    value: float
    unit: str
    expected: Expected | None = None


@dataclass(frozen=True)
class Figures:
    figures: tuple[Figure, ...]
    reference: str  # what they are held against, or why against nothing


def figures(record: Path, experiments: Path, results: Path) -> Figures:
    """`experiments` holds the claims, `results` the committed reports. Raises BadRecord."""
    own = read(record, experiments)
    known, reference = _reference(own, experiments, results)
    found: list[Figure] = []
    for experiment in own.record.experiments:
        if experiment.name != AUDIT:  # whose rows are one and the same
            found += _rates(own, experiment, known)
    counts: dict[str, dict[str, int]] = {}
    there = {case.experiment for case in own.record.cases}
    for judged in own.judgement.claims:
        if judged.claim.experiment not in there:
            continue
        count = counts.setdefault(judged.claim.experiment, dict.fromkeys(VERDICTS, 0))
        count[judged.verdict] += 1
    for name, count in counts.items():
        found += [Figure(f"claims/{_word(name)}/{v}", n, "claims") for v, n in count.items()]
    return Figures(tuple(found), reference)


def _reference(own: Measured, experiments: Path, results: Path) -> tuple[Record | None, str]:
    """The committed record of the GPU model; else why not."""
    if not own.record.gpu_measured:
        return None, "no reference: CPU rows decide, and hosts differ by factors"
    folder = results / slug(own.gpu)
    if not (folder / RECORD).is_file():
        return None, f"no reference: no record of the model {own.gpu} is committed"
    known = read_gpu(folder, experiments).record
    if own.gpu != variation.known().gpu:
        why = f"too few runs of the model {own.gpu} are known to say how much two differ"
        return None, f"no reference: {why}"
    env = known.environment
    return known, f"held against the committed run of {env.started[:10]}, commit {env.git.short}"


def _expected(base: Case) -> tuple[float, float]:
    """Where the median of another GPU's run lies, in seconds: within the interval of this one,
    widened by what two GPUs differ by; their logarithms add up as squares do."""
    time, by = base.time, math.log1p(variation.known().margin(class_of(base)))
    down, up = (math.hypot(math.log(end / time.median), by) for end in (time.low, time.high))
    return time.median * math.exp(-down), time.median * math.exp(up)


def _rungs(record: Record, experiment: Experiment) -> list[Case]:
    """The cases at the headline shape whose throughput is told: of the GPU, or of the CPU where no
    GPU case has a time."""
    target, regime = ("gpu", "cold") if record.gpu_measured else ("cpu", "hot")
    return [
        case
        for case in record.of(experiment)
        if (case.target, case.regime, case.role) == (target, regime, "rung")
        and case.shape_name == experiment.headline
        and case.seconds
        and case.contends
        and not case.sweep
    ]


def _rates(own: Measured, experiment: Experiment, known: Record | None) -> Iterator[Figure]:
    record = own.record
    metric, best = metric_of(record, experiment), roof(record, experiment)
    for case in _rungs(record, experiment):
        name = f"{_word(experiment.name)}/{_word(case.strategy)}"
        base = known.by_id.get(case.id) if known else None
        expected = None
        if base and base.seconds:
            fast, slow = _expected(base)
            rates = (metric.rate(base, each) for each in (base.seconds.median, slow, fast))
            expected = Expected(*rates)
        yield Figure(name, metric.rate(case, case.time.median), metric.unit, expected)
        of_roof = share(own.comparisons, record, case, best) if case.target == "gpu" else None
        if of_roof:
            yield Figure(f"{name}/of_{_word(best or '')}", 100 * of_roof.value, "%")


def _word(name: str) -> str:
    """A name of the record, for logs whose columns other characters would end."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)
