"""A record with its companion files and a collection of claims, and hence with its verdicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from recheck_report.claims import BadClaim, Collection, Judgement, family, judge, load_collection
from recheck_report.claims.changes import Change, changed_verdicts
from recheck_report.claims.names import slips
from recheck_report.queries import faster_than_ceiling
from recheck_report.record.probes import PROBES, Probes, load_probes
from recheck_report.record.read import compressed, load, locate
from recheck_report.record.record import Record
from recheck_report.record.typed import BadRecord
from recheck_report.statistics.family import Comparisons


@dataclass(frozen=True, eq=False)
class Measured:
    record: Record
    collection: Collection  # what of a collection of claims a report on it shows
    files: dict[str, bytes]  # that a report takes along: record.json and what is beside it
    probes: Probes | None = None

    @cached_property
    def compressed(self) -> dict[str, bytes]:
        """The files as a report holds them: the same whether the record came from one or not."""
        return compressed(self.files)

    @cached_property
    def comparisons(self) -> Comparisons:
        """All comparisons of its cases, those of its claims and pages corrected together."""
        return family.comparisons(self.record, self.collection)

    @cached_property
    def faster_than_ceiling(self) -> dict[str, str]:
        """The cases that are faster than the machine can be, by id, each with the reason."""
        return faster_than_ceiling(self.record)

    @cached_property
    def judgement(self) -> Judgement:
        """The verdicts on its claims; raises BadClaim if a formula makes no sense."""
        return judge(self.record, self.probes, self.collection, self.comparisons)

    @cached_property
    def changed_verdicts(self) -> list[Change]:
        """The changes of its checks after which a verdict was another."""
        today = {judged.claim.id: judged.verdict for judged in self.judgement.claims}
        return changed_verdicts(self.collection.changes, today)

    @property
    def gpu(self) -> str:
        """The GPU's name."""
        gpu = self.record.environment.gpu
        return gpu.name if gpu else "no GPU"


def read(path: Path, experiments: Path) -> Measured:
    """Reads a record, in a file or a folder, the probes.json beside it, and the claims in
    `experiments`.

    A probes.json that cannot be read is a note of the report. Raises BadRecord with one line that
    names the file where the record itself cannot be used, and BadClaim.
    """
    record, files = load(path)
    folder, probes, unread = locate(path).parent, None, ""
    try:
        if probes := load_probes(path):
            files |= {PROBES: (folder / PROBES).read_bytes()}
    except BadRecord as error:
        unread = str(error)
    if unread:  # a folder's name is none of the record's
        record = replace(record, unread=(*record.unread, unread.replace(f"{folder}/", "")))
    collection = load_collection(experiments)
    for slip in slips(collection, record):
        raise BadClaim(f"{slip}; mend the name, or measure again")
    return Measured(record, collection.restricted_to(record), files, probes)


def read_gpu(path: Path, experiments: Path) -> Measured:
    """The same for a record to be shown beside others: it must have a GPU's results."""
    report = read(path, experiments)
    if report.record.environment.gpu is None or not report.record.gpu_measured:
        raise BadRecord(f"{locate(path)}: has no measured GPU case to show; leave it out")
    return report
