"""The smallest difference that a record resolves, from its self-audit: a kernel compared with
itself under several names, and with slightly slower copies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

from recheck_report.record.record import AUDIT, Case, Record
from recheck_report.statistics.ratio import COARSEST, LEVEL, Ratio, compare

CONVENTION = 0.005  # the resolution of a record without an audit
# 0.1 %, 0.15 %, ... 20 %; a timer resolves nothing finer
STEPS = tuple(step / 2000 for step in range(2, 401))
UNRESOLVED = 1.0  # if none of the steps suffices


@dataclass(frozen=True)
class Pair:
    """One comparison of the audit."""

    base: Case
    other: Case
    extra: float  # work that `other` does in addition: 0.01 for 1 %
    ratio: Ratio

    def called(self, resolution: float) -> str:
        return replace(
            self.ratio, resolution=resolution, is_resolvable=resolution <= COARSEST
        ).outcome

    def different(self, resolution: float) -> bool:
        limit = 1 + resolution
        return self.ratio.low > limit or self.ratio.high < 1 / limit


@dataclass(frozen=True)
class Audit:
    """The audit's comparisons, and the resolution that follows from them."""

    alike: tuple[Pair, ...]
    slowed: tuple[Pair, ...]
    resolution: float

    @property
    def audited(self) -> bool:
        return bool(self.alike)

    def false(self, resolution: float) -> int:
        return sum(pair.different(resolution) for pair in self.alike)

    @property
    def extras(self) -> list[float]:
        return sorted({pair.extra for pair in self.slowed})

    def slowed_by(self, extra: float) -> list[Pair]:
        return [pair for pair in self.slowed if pair.extra == extra]


def audit(record: Record) -> Audit:
    experiment = record.experiment(AUDIT)
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in record.cases_of(experiment) if experiment else []:
        if case.seconds and not case.unsure and "extra_permille" in case.parameters:
            groups.setdefault((case.shape_name, case.regime), []).append(case)
    alike, slowed = [], []
    for cases in groups.values():
        same = [case for case in cases if not case.parameters["extra_permille"]]
        alike += [Pair(a, b, 0.0, compare(a, b)) for a, b in combinations(same, 2)]
        for other in cases:
            extra = other.parameters["extra_permille"] / 1000
            slowed += [Pair(a, other, extra, compare(a, other)) for a in same if extra]
    result = Audit(tuple(alike), tuple(slowed), CONVENTION)
    if not alike:
        return result
    allowed = LEVEL * len(alike)
    fine = (step for step in STEPS if result.false(step) <= allowed)
    return replace(result, resolution=next(fine, UNRESOLVED))
