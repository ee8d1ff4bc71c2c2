"""What a job brought back: a folder with a record, whole or cut off, or with none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from recheck_report.model.read import RECORD, load
from recheck_report.model.record import Record
from recheck_report.model.typed import BadRecord, printable

JOURNAL = "record.journal.jsonl"  # of a run that came to no end
CHUNK = 1 << 20  # bytes
# the job's script has the program and its flags, and what has to be loaded before
RESUME = "bash rfm_job.sh, or sbatch, in the job's folder goes on behind them"


@dataclass(frozen=True)
class Brought:
    folder: Path
    record: Record | None
    problem: str  # why it is no whole record of the GPU that was asked for; empty: it is


def _lines(path: Path) -> int:
    """How many a file has, whose lines may be of any length; of the last, what has no end counts
    too."""
    found, chunk = 0, b"\n"
    with path.open("rb") as file:
        while more := file.read(CHUNK):
            found, chunk = found + more.count(b"\n"), more
    return found + (not chunk.endswith(b"\n"))


def brought(folder: Path, model: str) -> Brought:
    """`model` is the GPU that the job was sent to; empty where it was sent to a CPU."""
    journal = folder / JOURNAL
    if journal.is_file():
        cases = max(0, _lines(journal) - 1)  # the first line is the environment's
        kept = f"{cases} case{'' if cases == 1 else 's'} in {JOURNAL}"
        return Brought(folder, None, f"cut off: {kept}; {RESUME}")
    if not (folder / RECORD).is_file():
        return Brought(folder, None, "no record: the job left none")
    try:
        record, _ = load(folder)
    except BadRecord as error:
        said = printable(str(error).replace(f"{folder}/", ""))
        return Brought(folder, None, f"no record that can be read: {said}")
    return Brought(folder, record, _problem(record, model))


def _problem(record: Record, model: str) -> str:
    gpu = record.environment.gpu
    if model and gpu is None:
        return f"not measured: sent to {model}, and the job found no GPU: {record.no_gpu_because}"
    if model and gpu and gpu.name != model:
        return (
            f"of another GPU: measured on {gpu.name}, and the site configuration says {model}; "
            f"write model: {gpu.name!r} there, or mend how the GPU is asked for"
        )
    if record.finished is None:
        done = sum(case.status != "not_run" for case in record.cases)
        return f"cut off: {done} of {len(record.cases)} cases; {RESUME}"
    return ""
