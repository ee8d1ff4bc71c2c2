"""A record with its companion files and a collection of claims, and hence with its verdicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from recheck_report.claims import BadClaim, Collection, Judgement, judge, load_collection
from recheck_report.claims.names import slips
from recheck_report.history.runs import HISTORY, History, added, of
from recheck_report.history.runs import load as load_history
from recheck_report.model.accuracy import Accuracy, load_accuracy
from recheck_report.model.companions import FILES, LARGER
from recheck_report.model.probes import Probes, load_probes
from recheck_report.model.record import Record, compressed, load, locate
from recheck_report.model.rehearsal import Rehearsal, load_rehearsal
from recheck_report.model.typed import BadRecord
from recheck_report.statistics.family import comparisons


@dataclass(frozen=True, eq=False)
class Measured:
    record: Record
    known: Collection  # what of a collection of claims a report on it shows
    files: dict[str, bytes]  # that a report takes along: record.json and what is beside it
    probes: Probes | None = None
    accuracy: Accuracy | None = None
    larger: Accuracy | None = None  # the same of a larger product
    rehearsal: Rehearsal | None = None  # of its code on earlier GPUs
    history: History | None = None  # of its GPU model

    @cached_property
    def compressed(self) -> dict[str, bytes]:
        """The files as a report holds them: the same whether the record came from one or not."""
        return compressed(self.files)

    @cached_property
    def judgement(self) -> Judgement:
        """Raises BadClaim if a formula makes no sense. To be asked for behind close_family()."""
        assert comparisons(self.record).closed
        return judge(self.record, self.probes, self.known)

    def with_history(self, history: History) -> Measured:
        """The same with this history beside it."""
        return replace(self, files=self.files | {HISTORY: history.json()}, history=history)

    @property
    def gpu(self) -> str:
        """The GPU's name; for records with a measured GPU case alone."""
        assert self.record.environment.gpu is not None
        return self.record.environment.gpu.name


def read(path: Path, experiments: Path) -> Measured:
    """Reads a record, in a file or a folder, what there is beside it of probes.json, accuracy.json,
    accuracy_large.json, rehearsal.json and history.json, and the claims in `experiments`.

    Raises BadRecord with one line that names the file, the field and what to do.
    """
    record, files = load(path)
    probes, accuracy, larger = load_probes(path), load_accuracy(path), load_accuracy(path, LARGER)
    rehearsal = load_rehearsal(path)
    there = zip(FILES, (probes, accuracy, larger, rehearsal), strict=True)
    folder = locate(path).parent
    files |= {name: (folder / name).read_bytes() for name, found in there if found}
    known = load_collection(experiments)
    for slip in slips(known, record):
        raise BadClaim(f"{slip}; mend the name, or measure again")
    found = Measured(record, known.of(record), files, probes, accuracy, larger, rehearsal)
    history = load_history(path)
    if history is None:
        return found
    gpu = record.environment.gpu
    if gpu is None or gpu.name != history.gpu:
        raise BadRecord(f"{folder / HISTORY}: is of another GPU than the record; move it away")
    own = of(record) if record.gpu_measured else None
    if own and own.runs[0].key in {each.key for each in history.runs}:
        try:
            added(history, own)
        except BadRecord as error:
            raise BadRecord(f"{folder / HISTORY}: {error}; move it away") from error
    return found.with_history(history)


def read_gpu(path: Path, experiments: Path) -> Measured:
    """The same for a record to be shown beside others: it must have a GPU's results."""
    found = read(path, experiments)
    if found.record.environment.gpu is None or not found.record.gpu_measured:
        raise BadRecord(f"{locate(path)}: has no measured GPU case to show; leave it out")
    return found
