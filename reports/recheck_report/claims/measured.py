"""A record with its companion files and a collection of claims, and hence with its verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from recheck_report.claims import Collection, Judgement, judge, load_collection
from recheck_report.model.accuracy import Accuracy, load_accuracy
from recheck_report.model.companions import FILES, LARGER
from recheck_report.model.probes import Probes, load_probes
from recheck_report.model.record import BadRecord, Record, load, locate
from recheck_report.statistics.family import comparisons


@dataclass(frozen=True, eq=False)
class Measured:
    record: Record
    known: Collection  # what of a collection of claims a report on it shows
    files: dict[str, bytes]  # that a report takes along: record.json and what is beside it
    probes: Probes | None = None
    accuracy: Accuracy | None = None
    larger: Accuracy | None = None  # the same of a larger product

    @cached_property
    def judgement(self) -> Judgement:
        """Raises BadClaim if a formula makes no sense. To be asked for behind close_family()."""
        assert comparisons(self.record).closed
        return judge(self.record, self.probes, self.known)

    @property
    def gpu(self) -> str:
        """The GPU's name; for records with a measured GPU case alone."""
        assert self.record.environment.gpu is not None
        return self.record.environment.gpu.name


def read(path: Path, experiments: Path) -> Measured:
    """Reads a record, in a file or a folder, what there is beside it of probes.json, accuracy.json
    and accuracy_large.json, and the claims in the folder `experiments`.

    Raises BadRecord with one line that names the file, the field and what to do.
    """
    record, files = load(path)
    probes, accuracy, larger = load_probes(path), load_accuracy(path), load_accuracy(path, LARGER)
    there = zip(FILES, (probes, accuracy, larger), strict=True)
    folder = locate(path).parent
    files |= {name: (folder / name).read_bytes() for name, found in there if found}
    known = load_collection(experiments).of(record)
    return Measured(record, known, files, probes, accuracy, larger)


def read_gpu(path: Path, experiments: Path) -> Measured:
    """The same for a record to be shown beside others: it must have a GPU's results."""
    found = read(path, experiments)
    if found.record.environment.gpu is None or not found.record.gpu_measured:
        raise BadRecord(f"{locate(path)}: has no measured GPU case to show; leave it out")
    return found
