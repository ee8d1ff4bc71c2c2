"""What several charts say: of which sizes they are, and what they lack."""

from __future__ import annotations

from collections.abc import Sequence

from recheck_report.record.record import Case, Experiment, Record
from recheck_report.write.svg import NotDrawn as NotDrawn


def sizes_label(experiment: Experiment) -> str:
    """What an axis of sizes counts: "m = n = k (elements, log)"."""
    axes = " = ".join(experiment.axes)
    return f"{axes} (count, log)" if axes == "elements" else f"{axes} (elements, log)"


def nothing(record: Record) -> NotDrawn:
    because = "none of the cases that it shows was measured"
    return NotDrawn(because if record.gpu_measured else record.no_gpu_because)


def without_time(rows: Sequence[str], timed: Sequence[Case]) -> str:
    """ " No time: tile16."; why, the page's last table says."""
    gone = [row for row in rows if row not in {case.strategy for case in timed}]
    return f" No time: {', '.join(gone)}." if gone else ""
