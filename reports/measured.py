"""A record together with the probes that lie beside it, and hence with its verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from claims import Judgement, Probes, judge, load_probes
from record import BadRecord, Record, load, locate


@dataclass(frozen=True, eq=False)
class Measured:
    record: Record
    raw: bytes  # of record.json
    probes: Probes | None = None
    raw_probes: bytes | None = None

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
    """Reads a record, in a file or a folder, and probes.json beside it if there is one.

    Raises BadRecord with one line that names the file, the field and what to do.
    """
    record, raw = load(path)
    probes = load_probes(path)
    if probes is None:
        return Measured(record, raw)
    return Measured(record, raw, probes, (locate(path).parent / "probes.json").read_bytes())


def read_gpu(path: Path) -> Measured:
    """The same for a record to be shown beside others: it must have a GPU's results."""
    found = read(path)
    if found.record.environment.gpu is None or not found.record.gpu_measured:
        raise BadRecord(f"{locate(path)}: has no measured GPU case to show; leave it out")
    return found
