"""What another run would measure: prediction intervals of times and ratios.

An interval of this run says how well its own median is known. It is widened here by what two runs
of the same code differed by in this class (variation.py): in another process on this GPU, or on
another GPU of its model. The logarithms of both add up as squares do; as what two runs differed by
holds their own noise as well, that is a little wide where a run's interval is.

CPU rows are predicted on this machine alone: elsewhere the host decides, and hosts differ by
factors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from recheck_report.model.record import Case
from recheck_report.statistics.ratio import Ratio
from recheck_report.statistics.variation import OF_CPU, PROCESS, Level, class_of


class Unknown(Exception):
    """Too few runs are known of this GPU model to predict anything; str() says of which class."""


def _spread(level: Level, ratios: bool, *cases: Case, margin: bool = False) -> float:
    """What two runs differ by in the class of these cases, in logarithms."""
    kind = class_of(*cases)
    if kind in OF_CPU and level.level != PROCESS:
        raise Unknown("CPU rows decide, and hosts differ by factors")
    found = (level.ratios if ratios else level.medians).of(kind)
    if found is None:
        raise Unknown(f"no two runs of the class {kind} are known")
    return math.log1p(found.margin if margin else found.predicted)


def _widened(value: float, low: float, high: float, by: float) -> tuple[float, float]:
    down, up = (math.hypot(abs(math.log(end / value)), by) for end in (low, high))
    return value * math.exp(-down), value * math.exp(up)


def times(case: Case, level: Level, margin: bool = False) -> tuple[float, float]:
    """Where another run's median lies: seconds. In 95 of 100 cases, or if `margin` in 999 of 1000
    of those that the table was made of, where many are asked for at once. Raises Unknown."""
    time = case.time
    spread = _spread(level, False, case, margin=margin)
    return _widened(time.median, time.low, time.high, spread)


def differs_by(cases: Sequence[Case], level: Level) -> float:
    """By what factor, in logarithms, a ratio that rests on these cases differs in another run: of
    two, or of one and a fixed number.

    What two that were not measured in turns differ by adds up: each of them lies within its own in
    97 of 100 cases, so both do in 94 at least. Raises Unknown.
    """
    turns = {(c.experiment, c.target, c.regime, c.shape_name) for c in cases}
    if len(cases) == 2 and len(turns) == 1:
        return _spread(level, True, *cases)
    return math.fsum(_spread(level, False, case) for case in cases)


def ratio(found: Ratio, cases: Sequence[Case], level: Level) -> Ratio:
    """The same of a ratio that rests on these cases. Raises Unknown."""
    low, high = _widened(found.value, found.low, found.high, differs_by(cases, level))
    return replace(found, low=low, high=high)
