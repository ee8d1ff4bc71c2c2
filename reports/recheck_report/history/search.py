"""Looks for change points in a history: PELT (Killick, Fearnhead and Eckley, 2012), by ruptures.

A series is the logarithms of one case's times, in the order of the runs. Its unit is the larger of
two: a tenth of what 97 of 100 medians of two runs of the case's class stay within, and what its own
neighbouring runs usually differ by. The cost of a level is the sum of distances from its median,
which one run that strays does not move; another level has to save PENALTY units, so two runs at the
end are a level of their own if both lie beyond what 97 of 100 stay within, and five runs against
five from two fifths of that on. In noise as wide as the classes' this finds a step in one case of
1000 at most.

ruptures is for whoever keeps a history; to show one takes no package.
"""

from __future__ import annotations

import math
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from statistics import median

from recheck_report.history.runs import EACH, History, Series
from recheck_report.statistics.variation import usual

FEWEST = 5  # runs that a case needs
PENALTY = 20.0
OF_DIFFERENCES = 0.954  # the median of |differences| of two normal deviates, whose unit is 1


class NoRuptures(Exception):
    """The package that looks is not installed; str() says how to get it."""


def searched(history: History) -> History:
    """The same with the change points of all of its runs; raises NoRuptures."""
    try:
        pelt = import_module("ruptures").Pelt
        array = import_module("numpy").array
    except ModuleNotFoundError as error:
        pins = Path(__file__).parents[2] / "requirements-history.txt"
        how = f"-r {pins}" if pins.is_file() else "'recheck-report[history]'"
        why = f"Python package {error.name} is missing, which looks for change points"
        raise NoRuptures(f"{why}: pip install {how}") from error
    found = {}
    for case in history.cases:
        series = history.series(case)
        units = _units(history, case, series)
        # a step cannot save more than one level costs
        if math.fsum(abs(x - median(units)) for x in units) <= PENALTY:
            continue
        own = pelt(model="l1", min_size=EACH, jump=1).fit(array(units)).predict(pen=PENALTY)
        if len(own) > 1:
            found[case] = tuple(series[at][0] for at in own[:-1])
    return replace(history, searched=len(history.runs), steps=found)


def _units(history: History, case: str, series: Series) -> list[float]:
    """The logarithms of its times, in units of its noise; nothing if too few or nobody knows."""
    if len(series) < FEWEST:
        return []
    times = [time.median for _, time in series]
    kind = history.kind(case, median(times))
    logs = [math.log(time) for time in times]
    differences = [abs(b - a) for a, b in zip(logs, logs[1:], strict=False)]
    unit = max(math.log1p(usual(kind, {history.gpu})) / 10, median(differences) / OF_DIFFERENCES)
    return [x / unit for x in logs] if math.isfinite(unit) else []
