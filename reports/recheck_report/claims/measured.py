"""A record with its files, probes, claims and verdicts."""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from recheck_report.claims.collection import EARLIER, ChangedCheck, Collection, load_collection
from recheck_report.claims.evaluate import comparisons_of
from recheck_report.claims.judge import Judgement, judge
from recheck_report.claims.names import slips
from recheck_report.claims.toml import BadClaim
from recheck_report.queries import faster_than_ceiling
from recheck_report.record.probes import PROBES, Probes, read_probes
from recheck_report.record.read import COMPRESSED, SAMPLES, load, locate
from recheck_report.record.record import Record
from recheck_report.record.typed import BadRecord
from recheck_report.record.verdicts_json import NOT_MEASURED
from recheck_report.statistics.comparisons import Comparisons, Member, Pair


@dataclass(frozen=True, eq=False)
class Measured:
    record: Record
    collection: Collection  # restricted to the record
    files: dict[str, bytes]  # files that a report contains: record.json, samples, probes.json
    probes: Probes | None = None
    folder: Path | None = None  # of the report, if it lies in the repository of its kernels
    address: str = ""  # of its own report, as a path from the report that shows it as well

    @property
    def compressed(self) -> dict[str, bytes]:
        """The files as a report holds them, with compressed samples."""
        files = dict(self.files)
        if SAMPLES in files:
            files[COMPRESSED] = bz2.compress(files.pop(SAMPLES))
        return files

    @cached_property
    def comparisons(self) -> Comparisons:
        """All comparisons of the record's cases, with the family behind its verdicts."""
        return Comparisons(self.record, family(self.record, self.collection))

    @cached_property
    def faster_than_ceiling(self) -> dict[str, str]:
        """The cases that beat the machine's limits, by id, each with the reason."""
        return faster_than_ceiling(self.record)

    @cached_property
    def judgement(self) -> Judgement:
        """The verdicts on the claims; raises BadClaim for an invalid formula."""
        return judge(self.record, self.probes, self.collection, self.comparisons)

    @cached_property
    def changed_verdicts(self) -> list[ChangedCheck]:
        """The changes of checks that changed a verdict; unmeasured claims do not count."""
        changes, shown = self.collection.changed_checks, []
        for at, change in enumerate(changes):
            claim, then = change.claim, change.entry.verdict
            later = (other.entry.verdict for other in changes[at + 1 :] if other.claim == claim)
            after = next(later, self.judgement.by_id[claim].verdict)
            if after not in (then, NOT_MEASURED, *EARLIER.get(then, ())):
                shown.append(change)
        return shown

    @property
    def gpu(self) -> str:
        """The GPU's name."""
        return self.record.gpu or "no GPU"


def read(path: Path, experiments: Path) -> Measured:
    """Reads a record in a file or a folder, its probes.json, and the claims in `experiments`.

    An unreadable probes.json becomes a note in the report. Raises BadRecord and BadClaim.
    """
    record, files = load(path)
    folder, probes = locate(path).parent, None
    try:
        if probes := read_probes(folder / PROBES):
            files |= {PROBES: (folder / PROBES).read_bytes()}
    except BadRecord as error:
        # without the folder, as the same record gives the same report
        unread = str(error).replace(f"{folder}/", "")
        record = replace(record, unread=(*record.unread, unread))
    collection = load_collection(experiments)
    for slip in slips(collection, record):
        raise BadClaim(f"{slip}; fix the name, or measure again")
    return Measured(record, collection.restricted_to(record), files, probes)


def read_gpu(path: Path, experiments: Path) -> Measured:
    """Reads a record to be shown next to others. Raises BadRecord if it has no GPU results."""
    report = read(path, experiments)
    if report.record.environment.gpu is None or not report.record.gpu_measured:
        raise BadRecord(f"{locate(path)}: has no measured GPU case to show; leave it out")
    return report


def family(record: Record, claims: Collection) -> Iterator[Member]:
    """The comparisons of claims, errata, stories and listings, some of them repeatedly."""
    for _, check in claims.asked:
        yield from comparisons_of(record, check)
    for listing in claims.listings:
        if experiment := record.experiment(listing.experiment):
            at = f"{listing.shape or experiment.headline}/{record.ranked_by(experiment)}"
            yield Pair(f"{listing.row}/{at}", f"{listing.general}/{at}")
    for name, story in claims.stories.items():
        if experiment := record.experiment(name):
            for step in story.steps:
                if step.base:
                    at = f"{experiment.headline}/{record.ranked_by(experiment)}"
                    yield Pair(f"{name}/{step.base}/{at}", f"{name}/{step.row}/{at}")
