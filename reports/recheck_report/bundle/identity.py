"""What a report is called, when it was measured, and by whom it is."""

from __future__ import annotations

import re

from recheck_report.anchors import slug
from recheck_report.claims.measured import Measured
from recheck_report.model.record import Record
from recheck_report.sections.provenance import program

# Recheck itself, as its own CITATION.cff has it
SOFTWARE = "Recheck"
SOFTWARE_AUTHORS = "The Recheck authors"
SOFTWARE_LICENSE = "Apache-2.0"
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def time(text: str | None) -> str | None:
    """A time of the record with its zone in digits, as RO-Crates have it; None for no time."""
    return text.replace("Z", "+00:00") if text and _TIME.fullmatch(text) else None


def day(record: Record) -> str | None:
    """When its run ended, or began if it did not end: "2026-11-22"."""
    found = time(record.finished) or time(record.environment.started)
    return found[:10] if found else None


def title(own: Measured) -> str:
    """ "Recheck: report on NVIDIA H200, 2026-11-22"."""
    env = own.record.environment
    what = own.known.attribution.title or program(env)
    machine = env.gpu.name if env.gpu else f"{env.cpu}, no GPU"
    return ", ".join(filter(None, (f"{what}: report on {machine}", day(own.record))))


def folder_name(record: Record) -> str:
    """Of the folder that a bundle unpacks into: "recheck-nvidia-h200-a798947"."""
    env = record.environment
    machine = slug(env.gpu.name if env.gpu else env.cpu)[:60].strip("-")
    commit = (env.git.commit or "")[:7] if env.git.known else "unknown-commit"
    parts = (slug(program(env)), machine, commit, "dirty" if env.git.dirty else "")
    return "-".join(filter(None, parts))
