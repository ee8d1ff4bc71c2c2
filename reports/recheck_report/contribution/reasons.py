"""Why a GPU's case has no time: in the words that `recheck` has for it, and true of its shape and
device. A row that somebody leaves out for a reason of his own may be slow, or wrong, there."""

from __future__ import annotations

import re
from collections.abc import Mapping

from recheck_report.model.record import Gpu, Record

# a proof or launch that takes too long (experiments/harness/session.cpp)
NOT_RUN = (
    r"(predicted|its proof took) \S+ s a launch: proof and \d+ samples would take more than \S+ s, "
    r"\S+ times --per-case",
    r"throttled: the GPU's clock stayed below \d+% of its own",
)
# what a row asks of device and shape (experiments/harness/limits.hpp and the tables), and what the
# harness asks of the memory and of an error bound
UNSUPPORTED = (
    r"needs (?P<bytes>\d+) B of shared memory per block, the device allows (?P<allowed>\d+) B",
    r"needs a cluster of \d+ blocks, the device allows \d+",
    r"needs a grid of \d+ rows of blocks, CUDA allows 65535",
    r"has no guards: (?P<axis>\w+) has to be a positive multiple of (?P<tile>\d+)",
    r"(?P<vector>is for a matrix times a vector: m or n has to be 1)",
    r"has indices of 32 bits: they count \d+ elements, and there are \d+",
    r"needs compute capability (?P<least>\d+\.\d), the device has (?P<has>\d+\.\d)",
    r"needs code for compute capability \d+\.\d, this build has \d+\.\d's for the device: "
    r"configure where the device is, or with -DRECHECK_ALL_ARCHITECTURES=ON",
    r"(?P<hopper>needs compute capability 9\.0 exactly, for wgmma)",
    r"built without code for sm_90a, which has wgmma",
    r"(?P<square>has one width for all: the matrices have to be square"
    r"|goes on by the height where it began by the width: wants a square)",
    r"needs \d+ B in (an L1 cache beside shared memory|the L2 cache|constant memory), "
    r"which holds \d+ B",
    r"there is no word to go to",
    r"needs \d+ words, or lines come from a cache the second time",
    r"sums of 2\^24 terms and more have no error bound in fp32, so nothing could be proven",
    r"needs \S+ GB of (device|host) memory, \S+ GB are free",
)
_KNOWN = {
    status: re.compile("|".join(forms))
    for status, forms in (("not_run", NOT_RUN), ("unsupported", UNSUPPORTED))
}


def likely(status: str, reason: str, shape: Mapping[str, int], gpu: Gpu) -> bool:
    """Whether `recheck` gives that reason, and may do so there."""
    known = _KNOWN.get(status)
    found = known.fullmatch(reason) if known else None
    if not found:
        return False
    said = {name: text for name, text in found.groupdict().items() if text}
    if "bytes" in said:
        return int(said["bytes"]) > int(said["allowed"]) == gpu.shared_bytes_per_block
    if "tile" in said:  # a square has one width
        extent = shape.get(said["axis"], next(iter(shape.values())))
        return int(said["tile"]) > 0 and extent % int(said["tile"]) > 0
    if "least" in said:
        return float(said["least"]) > float(said["has"]) == float(gpu.compute_capability)
    if "vector" in said:
        return 1 not in (shape.get("m"), shape.get("n"))
    if "hopper" in said:
        return gpu.compute_capability != "9.0"
    return "square" not in said or len({*shape.values()}) > 1


def excused(record: Record) -> str | None:
    """The first case of the GPU that has no time for a reason of somebody's own, or None."""
    gpu = record.environment.gpu
    for case in record.cases if gpu else ():
        if case.target == "gpu" and case.reason and case.status in _KNOWN:
            assert gpu
            if not likely(case.status, case.reason, case.shape, gpu):
                what = "which recheck does not say of that shape and device"
                return f"{case.id} is {case.why_not}, {what}; measure it"
    return None
