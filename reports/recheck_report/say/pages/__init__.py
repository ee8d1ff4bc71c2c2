"""One module for each page: its parts, in their order."""

from __future__ import annotations

from recheck_report.anchors import README as README
from recheck_report.record.record import Record
from recheck_report.say.nodes import Text, text

MARK = "<!-- Written by Recheck from record.json; rendering again replaces it. -->"


def machine(record: Record) -> str:
    """What a report is on: the GPU's name, or the CPU's if no GPU was asked for."""
    asked = record.gpu_measured or record.lacks_gpu
    return (asked and record.gpu) or record.environment.cpu


def without(why: str) -> Text:
    """The text instead of a part of the report that could not be made."""
    return text(f"This section could not be made: {why}.")
