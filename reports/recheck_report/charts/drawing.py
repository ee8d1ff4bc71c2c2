"""What every chart's file starts from: a drawing, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from recheck_report.charts.canvas import Card
from recheck_report.charts.canvas import NotDrawn as NotDrawn
from recheck_report.model.record import Experiment, Record


@dataclass(frozen=True)
class Drawing:
    card: Card
    caption: str = ""


def sizes_label(experiment: Experiment) -> str:
    """What an axis of sizes counts: "m = n = k (elements, log)"."""
    axes = " = ".join(experiment.axes)
    return f"{axes} (count, log)" if axes == "elements" else f"{axes} (elements, log)"


def nothing(record: Record) -> NotDrawn:
    if record.gpu_measured:
        return NotDrawn("none of the cases that it shows was measured")
    return NotDrawn(f"no GPU case was measured, because {record.no_gpu_because}")
