"""The figures of a record that a fleet watches, and what is expected of them.

Of each experiment, at its headline shape: the throughput of each rung, its share of the roof, and
how many claims came to which verdict. What is expected is the throughput of the committed record of
the same GPU model, within what two GPUs of that model differ by (statistics/another.py): by the
margins of 999 of 1000 cases, as for `verify`, as a run of a hundred figures that are each expected
in 95 of 100 runs would hardly ever pass.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.claims.measured import Measured, read, read_gpu
from recheck_report.model.record import AUDIT, RECORD, Case, Experiment, Record
from recheck_report.queries import metric_of, roof, share
from recheck_report.sections.family import close_family
from recheck_report.statistics import another
from recheck_report.statistics.variation import GPU, Level, level_of

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
    close_family(own)
    known, level, reference = _reference(own, experiments, results)
    found: list[Figure] = []
    for experiment in own.record.experiments:
        if experiment.name != AUDIT:  # whose rows are one and the same
            found += _rates(own.record, experiment, known, level)
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


def _reference(
    own: Measured, experiments: Path, results: Path
) -> tuple[Record | None, Level | None, str]:
    """The committed record of the GPU model, and how much two GPUs of it differ; else why not."""
    if not own.record.gpu_measured:
        return None, None, "no reference: CPU rows decide, and hosts differ by factors"
    folder = results / slug(own.gpu)
    if not (folder / RECORD).is_file():
        return None, None, f"no reference: no record of the model {own.gpu} is committed"
    known = read_gpu(folder, experiments).record
    level = level_of(own.gpu, GPU)
    if level is None:
        why = f"too few runs of the model {own.gpu} are known to say how much two differ"
        return None, None, f"no reference: {why}"
    env = known.environment
    return (
        known,
        level,
        f"held against the committed run of {env.started[:10]}, commit {env.git.short}",
    )


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


def _rates(
    record: Record, experiment: Experiment, known: Record | None, level: Level | None
) -> Iterator[Figure]:
    metric, best = metric_of(record, experiment), roof(record, experiment)
    for case in _rungs(record, experiment):
        name = f"{_word(experiment.name)}/{_word(case.strategy)}"
        base = known.by_id.get(case.id) if known else None
        expected = None
        # of a class that no two runs are known of, nothing is expected
        if base and base.seconds and level:
            with contextlib.suppress(another.Unknown):
                fast, slow = another.times(base, level, margin=True)
                rates = (metric.rate(base, each) for each in (base.seconds.median, slow, fast))
                expected = Expected(*rates)
        yield Figure(name, metric.rate(case, case.time.median), metric.unit, expected)
        of_roof = share(record, experiment, case, best) if case.target == "gpu" else None
        if of_roof:
            yield Figure(f"{name}/of_{_word(best or '')}", 100 * of_roof.value, "%")


def _word(name: str) -> str:
    """A name of the record, for logs whose columns other characters would end."""
    return re.sub(r"\W", "_", name, flags=re.ASCII)
