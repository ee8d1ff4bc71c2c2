"""What there is to say of a change point: how large it is, and what else changed at it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import stdev

from recheck_report.history.runs import History, Row, Series, of
from recheck_report.history.search import OF_DIFFERENCES
from recheck_report.model.record import Record, Seconds
from recheck_report.statistics.ratio import Ratio
from recheck_report.statistics.variation import END_TO_END, OF_CPU, half, margin

ENOUGH = 3  # runs at a level that a new one may be held against
MANY = 5  # runs at a level that say by how much the case itself varies
LEAST = 0.02  # no case's own margin is less: machines differ by as much in what no record has
# Student's t: what 999 of 1000 lie within, either side, by the degrees of freedom from which on
T = {4: 8.61, 5: 6.87, 6: 5.96, 7: 5.41, 8: 5.04, 9: 4.78, 10: 4.59, 12: 4.32, 15: 4.07, 20: 3.85}
FEW = 3  # kernel files that are named
CODE, DRIVER, CUDA, GPU, CPU = "device code", "driver", "CUDA", "GPU", "CPU"
TIMER, HOST = "timer", "host"


@dataclass(frozen=True)
class Differences:
    """What differs between two runs, of all that may make one experiment's times another's."""

    changed: tuple[str, ...]
    unknown: tuple[str, ...]  # what one of the two runs does not say
    files: tuple[str, ...] = ()  # of the device code that changed

    @property
    def words(self) -> str:
        """ "GPU"; "cannot tell which: device code, GPU"; never a cause where two may be it."""
        also = f"; not known: {', '.join(self.unknown)}" if self.unknown else ""
        if not self.changed:
            return also.removeprefix("; ") or "nothing that records tell"
        named = ", ".join(CODE + self._of if each == CODE else each for each in self.changed)
        return named if len(self.changed) == 1 and not also else f"cannot tell which: {named}{also}"

    @property
    def _of(self) -> str:
        few = len(self.files) <= FEW
        return f" ({', '.join(self.files) if few else f'{len(self.files)} files'})"


def differences(
    history: History, experiment: str, before: int, after: int, row: Row | None = None
) -> Differences:
    """Between two runs, for an experiment or one of its rows. Kernel files that one of them has
    alone are new or gone, and say nothing of the code of the others."""
    old, new = history.runs[before], history.runs[after]
    alike = (old.cpu, old.cpu_threads) == (new.cpu, new.cpu_threads)
    if row and row.target == "cpu":
        return Differences(() if alike else (CPU,), ())
    hashes = [
        {name: own for name, own in (run.cubins or {}).items() if name.startswith(f"{experiment}/")}
        for run in (old, new)
    ]
    common = hashes[0].keys() & hashes[1].keys()
    files = sorted(name for name in common if hashes[0][name] != hashes[1][name])
    same = {
        CODE: True if row and row.vendor else not files if common else None,
        DRIVER: _alike(old.driver, new.driver),
        CUDA: _alike(old.cuda_runtime, new.cuda_runtime),
        GPU: _alike(old.uuid_hash, new.uuid_hash),
        # what is subtracted of a launch's time depends on the host
        HOST: alike,
        TIMER: old.queued_samples == new.queued_samples,
    }
    return Differences(
        tuple(name for name, each in same.items() if each is False),
        tuple(name for name, each in same.items() if each is None),
        tuple(name.removeprefix(f"{experiment}/") for name in files),
    )


def _alike(old: str | None, new: str | None) -> bool | None:
    return None if old is None or new is None else old == new


@dataclass(frozen=True)
class Step:
    """A case takes another time from one run on. Its level before and behind it is the time of the
    run in the middle of that level's."""

    id: str
    role: str
    before: int  # the last run at the old level
    after: int  # the first at the new one
    was: Seconds
    now: Seconds
    ratio: Ratio  # how many times as fast it became, by the far ends of the two intervals
    margin: float  # of its class: what two runs alone would have to differ by
    between: Differences

    @property
    def slower(self) -> bool:
        return self.ratio.value < 1

    @property
    def size(self) -> float:
        """Of the effect, either way; 1 for none."""
        return max(self.ratio.value, 1 / self.ratio.value)

    @property
    def row(self) -> str:
        return self.id.rsplit("/", 2)[0]


def levels(history: History, case: str) -> list[Series]:
    """The runs of a case, from step to step."""
    series, found = history.series(case), []
    steps = history.steps.get(case, ())
    for low, high in zip((0, *steps), (*steps, len(history.runs)), strict=True):
        found.append([(at, time) for at, time in series if low <= at < high])
    return found


def middle(level: Series) -> Seconds:
    """The time in the middle; of two the shorter one. A real run's, with its own interval."""
    times = sorted((time for _, time in level), key=lambda time: (time.median, time.low))
    return times[(len(times) - 1) // 2]


def steps(history: History) -> list[Step]:
    """Every change point; the largest first."""
    found = []
    for case in history.steps:
        own, row = levels(history, case), history.row(case)
        for old, new in zip(own, own[1:], strict=False):
            was, now = middle(old), middle(new)
            before, after = old[-1][0], new[0][0]
            kind = history.kind(case, min(was.median, now.median))
            found.append(
                Step(
                    case,
                    row.role,
                    before,
                    after,
                    was,
                    now,
                    Ratio.of(was, now),
                    margin(kind, {history.gpu}),
                    differences(history, case.split("/")[0], before, after, row),
                )
            )
    return sorted(found, key=lambda each: (-each.size, each.id, each.after))


def expected(history: History, record: Record) -> tuple[Record, dict[str, float]]:
    """The record as it would be if each case took as long as at its last level: with those cases of
    which there are enough runs, besides the record's own, to know one. And the margins of those of
    which there are many."""
    own = of(record).runs[0].key
    found, margins = [], {}
    for case in record.cases:
        last = levels(history, case.id)[-1]
        level = [(at, time) for at, time in last if history.runs[at].key != own]
        if case.seconds and len(level) >= ENOUGH:
            found.append(replace(case, seconds=middle(level)))
            kind = history.kind(case.id, middle(level).median)
            # where the host decides, runs on other hosts say nothing of this one
            if len(level) >= MANY and kind not in (*OF_CPU, END_TO_END):
                margins[case.id] = own_margin(level, half(kind, {history.gpu}))
    # of runs on other GPUs, too, so by no margin of one GPU's
    gpu = record.environment.gpu
    other = replace(record.environment, gpu=gpu and replace(gpu, uuid_hash=None))
    return replace(record, environment=other, cases=tuple(found)), margins


def own_margin(level: Series, usual: float) -> float:
    """What one more run at a level stays within in 999 of 1000 cases, were their logarithms normal
    deviates: as wide as these runs differ, or so wide that half of all pairs stay within what is
    `usual`, if that is more."""
    logs = [math.log(time.median) for _, time in level]
    unit = max(stdev(logs), math.log1p(usual) / OF_DIFFERENCES)
    t = T[max(each for each in T if each < len(logs))]
    return max(LEAST, math.expm1(min(t * unit * math.sqrt(1 + 1 / len(logs)), 700)))
