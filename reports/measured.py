"""A record with the probes and the studies of accuracy beside it, and hence with its verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from accuracy import Accuracy, load_accuracy
from claims import Judgement, Probes, judge, load_probes
from record import BadRecord, Record, load, locate

LARGER = "accuracy_large.json"


@dataclass(frozen=True, eq=False)
class Measured:
    record: Record
    raw: bytes  # of record.json
    probes: Probes | None = None
    raw_probes: bytes | None = None
    accuracy: Accuracy | None = None
    raw_accuracy: bytes | None = None
    larger: Accuracy | None = None
    raw_larger: bytes | None = None

    @cached_property
    def judgement(self) -> Judgement:
        """Raises BadClaim if the claims of this tree are not in form."""
        return judge(self.record, self.probes)

    @property
    def gpu(self) -> str:
        """The GPU's name; for records with a measured GPU case alone."""
        assert self.record.environment.gpu is not None
        return self.record.environment.gpu.name


def read(path: Path) -> Measured:
    """Reads a record, in a file or a folder, and what there is beside it of probes.json,
    accuracy.json and accuracy_large.json.

    Raises BadRecord with one line that names the file, the field and what to do.
    """
    record, raw = load(path)
    probes, accuracy = load_probes(path), load_accuracy(path)
    larger = load_accuracy(path, LARGER)

    def beside(name: str) -> bytes:
        return (locate(path).parent / name).read_bytes()

    return Measured(
        record,
        raw,
        probes,
        beside("probes.json") if probes else None,
        accuracy,
        beside("accuracy.json") if accuracy else None,
        larger,
        beside(LARGER) if larger else None,
    )


def read_gpu(path: Path) -> Measured:
    """The same for a record to be shown beside others: it must have a GPU's results."""
    found = read(path)
    if found.record.environment.gpu is None or not found.record.gpu_measured:
        raise BadRecord(f"{locate(path)}: has no measured GPU case to show; leave it out")
    return found
