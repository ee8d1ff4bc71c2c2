"""What a GPU model can do at most by NVIDIA's own figures, of the models in sheets.toml.

A record's ceilings follow from the attributes that it has of its device, and its times are held
against these ceilings. So whoever makes times up has to make the attributes up as well, which this
finds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.formatting import significant
from recheck_report.model.record import Gpu, Record
from recheck_report.model.typed import read_toml, typed
from recheck_report.queries import COMPUTE, MEMORY

ROUNDED = 0.03  # by which a figure of a data sheet may be less than its clocks make
# of a model's memory that CUDA says it has at least, as ECC and the driver take some; of those in
# tests/models.json it is 0.916
LEFT = 0.85
# bytes of shared memory that a block may have, by compute capability, as the CUDA Programming Guide
# says
SHARED = {
    "7.5": 65536, "8.0": 166912, "8.6": 101376, "8.7": 166912, "8.9": 101376, "9.0": 232448,
    "10.0": 232448, "12.0": 101376,
}  # fmt: skip


@dataclass(frozen=True)
class Sheet:
    name: str
    compute_capability: str
    multiprocessors: int
    fp32_flops: float
    dram_bytes_per_second: float
    memory_gib: int
    source: str
    l2_bytes: int | None = None
    sold_faster: float = 0.0

    def limit(self, ceiling: str) -> float:
        """A ceiling by the name that records have for it."""
        known: float = getattr(self, ceiling)
        return known * (1 + ROUNDED + self.sold_faster)


@cache
def sheets() -> dict[str, Sheet]:
    """By the names of the models."""
    listed = read_toml(Path(__file__).with_name("sheets.toml"))["gpu"]
    return {each.name: each for each in typed(tuple[Sheet, ...], listed)}


def impossible(record: Record) -> str | None:
    """Why no GPU of that name can say this of itself, or None; for records with a GPU alone."""
    gpu = record.environment.gpu
    assert gpu is not None
    # by the folder of its evidence, so that no other spelling is of another model
    known = next((e for e in sheets().values() if slug(e.name) == slug(gpu.name)), None)
    if known is None:
        return _shared(gpu)  # the rest is not known, as unknown() says
    if gpu.name != known.name:
        return f"its GPU's name is {gpu.name!r}, and CUDA calls this model {known.name!r}"
    by = f"and by the {known.source} it is"
    if gpu.compute_capability != known.compute_capability:
        has = f"compute capability {gpu.compute_capability}"
        return f"its {gpu.name} has {has}, {by} {known.compute_capability}"
    if gpu.sm_count != known.multiprocessors:
        return f"its {gpu.name} has {gpu.sm_count} multiprocessors, {by} {known.multiprocessors}"
    if known.l2_bytes and gpu.l2_bytes > known.l2_bytes:
        return f"its {gpu.name} has {gpu.l2_bytes} B of L2, and CUDA says {known.l2_bytes} of it"
    nominal = known.memory_gib * 2**30
    if not LEFT * nominal <= gpu.memory_bytes <= nominal:
        has = f"{gpu.memory_bytes / 2**30:.4g} GiB of memory"
        return f"its {gpu.name} has {has}, {by} {known.memory_gib}"
    for metric in (COMPUTE, MEMORY):
        own, most = record.ceilings[metric.ceiling].value, known.limit(metric.ceiling)
        if own > most:
            said = significant(getattr(known, metric.ceiling) / metric.scale)
            has = f"{significant(own / metric.scale)} {metric.unit} by its clocks"
            return f"its {gpu.name} has {has}, {by} {said} {metric.unit}"
    return _shared(gpu)


def _shared(gpu: Gpu) -> str | None:
    known = SHARED.get(gpu.compute_capability)
    if known is None or gpu.shared_bytes_per_block == known:
        return None
    has = f"{gpu.shared_bytes_per_block} B of shared memory per block"
    return f"its {gpu.name} has {has}, and compute capability {gpu.compute_capability} has {known}"


def unknown(record: Record) -> str | None:
    """What could not be held against a data sheet, or None."""
    gpu = record.environment.gpu
    assert gpu is not None
    known = sheets().get(gpu.name)
    if known is None:
        return (
            f"clocks, bus width, L2, memory and multiprocessors: {gpu.name} is not in "
            "contribution/sheets.toml, so its ceilings are what the record says of the device"
        )
    if known.l2_bytes is None:
        return f"L2: contribution/sheets.toml has none of {gpu.name}"
    return None
