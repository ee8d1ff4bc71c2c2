"""What the page needs of statistics/variation.py: to say what another run would measure, and to
compare two records."""

from __future__ import annotations

import math
from typing import Any

from recheck_report.statistics.variation import DURATIONS, PROCESS, Level, known


def table() -> dict[str, Any]:
    """How a time in seconds names its class, null being any; by GPU model, level and class the
    margin, and what medians and ratios are predicted to differ by; and of which models full runs
    on one GPU are known."""
    return {
        "durations": [[None if below == math.inf else below, name] for below, name in DURATIONS],
        "models": {
            model: {level.level: _classes(level) for level in found.levels}
            for model, found in known().items()
            if found.levels
        },
        "full": [
            model for model, own in known().items() if (found := own.at(PROCESS)) and found.full
        ],
    }


def _classes(level: Level) -> dict[str, list[float | None]]:
    ratios = {each.name: each.predicted for each in level.ratios.classes}
    return {
        each.name: [each.margin, each.predicted, ratios.get(each.name)]
        for each in level.medians.classes
    }
