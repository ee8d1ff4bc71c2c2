"""Why a GPU's case has no time: in the words that `recheck` has for it, and true of its shape and
device. A row that somebody leaves out for a reason of his own may be slow, or wrong, there."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from math import isclose, prod

from recheck_report.model.record import Case, Record

# a proof or launch that takes too long (experiments/harness/session.cpp); the last is of some
# records of schema 2
NOT_RUN = (
    r"(?P<how>predicted|its proof took) (?P<launch>\S+) s a launch: proof and (?P<samples>\d+) "
    r"samples would take more than (?P<most>\S+) s, (?P<budgets>\S+) times --(per-case|budget)",
    r"throttled: the GPU's clock stayed below (?P<share>\d+)% of its own",
)
# what a row asks of device and shape (experiments/harness/limits.hpp and the tables), and what the
# harness asks of the memory and of an error bound
UNSUPPORTED = (
    r"needs (?P<bytes>\d+) B of shared memory per block, the device allows (?P<allowed>\d+) B",
    r"needs a cluster of (?P<cluster>\d+) blocks, the device allows (?P<clusters>\d+)",
    r"needs a grid of (?P<grid>\d+) rows of blocks, CUDA allows 65535",
    r"has no guards: (?P<axis>\w+) has to be a positive multiple of (?P<tile>\d+)",
    r"(?P<vector>is for a matrix times a vector: m or n has to be 1)",
    r"has indices of 32 bits: they count (?P<indices>\d+) elements, and there are "
    r"(?P<elements>\d+)",
    r"needs compute capability (?P<least>\d+\.\d), the device has (?P<has>\d+\.\d)",
    r"needs code for compute capability (?P<code>\d+\.\d), this build has (?P<built>\d+\.\d)'s for "
    r"the device: "
    r"configure where the device is, or with -DRECHECK_ALL_ARCHITECTURES=ON",
    r"(?P<hopper>needs compute capability 9\.0 exactly, for wgmma)",
    r"(?P<wgmma>built without code for sm_90a, which has wgmma)",
    r"(?P<square>has one width for all: the matrices have to be square"
    r"|goes on by the height where it began by the width: wants a square)",
    r"needs (?P<cached>\d+) B in (?P<cache>an L1 cache beside shared memory|the L2 cache"
    r"|constant memory), which holds (?P<holds>\d+) B",
    r"(?P<nowhere>there is no word to go to)",
    r"needs (?P<words>\d+) words, or lines come from a cache the second time",
    r"(?P<terms>sums of 2\^24 terms and more have no error bound in fp32, so nothing could be "
    r"proven)",
    r"needs (?P<gigabytes>\S+) GB of (?P<memory>device|host) memory, (?P<free>\S+) GB are free",
)
_KNOWN = {
    status: re.compile("|".join(forms))
    for status, forms in (("not_run", NOT_RUN), ("unsupported", UNSUPPORTED))
}
DISTURBED = "cannot be told from a row that does less where it is timed: "
PROOF = 2  # launches that a case takes besides its samples
SHORTENED = 0.01  # to which a reason's numbers are rounded
HELD = {"an L1 cache beside shared memory": 65536, "constant memory": 65536}
ALIGNED = 1024  # elements: no row of a matrix is padded to more
# of an operand's or a result's bytes that are kept in all layouts, and as integers, reals and
# oracles; the harness's footprint() has about 50
COPIES = 256
MISTAKEN = 10  # how far a prediction may be from what the row took in another regime; 3 is much


def likely(status: str, reason: str, shape: Mapping[str, int], record: Record) -> bool:
    """Whether `recheck` gives that reason, and may do so there."""
    known = _KNOWN.get(status)
    found = known.fullmatch(reason) if known else None
    gpu = record.environment.gpu
    if not found or not gpu:
        return bool(found)
    said = {name: text for name, text in found.groupdict().items() if text}
    try:
        number = {name: float(text) for name, text in said.items() if name in _NUMBERS}
    except ValueError:
        return False
    extents, capability = sorted(shape.values()), float(gpu.compute_capability)
    if "launch" in said:
        return _slow(number, said["how"], record)
    if "share" in said:
        method = record.method
        return not method or number["share"] == round(100 * method.throttled_below)
    if "bytes" in said:
        return number["bytes"] > number["allowed"] == gpu.shared_bytes_per_block
    if "cluster" in said:  # as cluster_fits of limits.hpp
        return number["cluster"] > number["clusters"] == (16 if capability < 12 else 8)
    if "grid" in said:
        return 65535 < number["grid"] <= extents[-1]
    if "tile" in said:  # a square has one width
        extent = shape.get(said["axis"], next(iter(shape.values())))
        return number["tile"] > 0 and extent % int(number["tile"]) > 0
    if "indices" in said:
        most = prod(-(-(each + 1) // ALIGNED) * ALIGNED for each in extents[-2:])
        return number["indices"] in (2.0**31, 2.0**32) and (
            number["indices"] < number["elements"] <= most
        )
    if "least" in said:
        return number["least"] > number["has"] == capability
    if "vector" in said:
        return 1 not in (shape.get("m"), shape.get("n"))
    if "code" in said:
        return number["built"] < number["code"] <= capability
    if "hopper" in said:
        return capability != 9.0
    if "wgmma" in said:
        return capability == 9.0 and "90a" not in (record.environment.arch or "")
    if "square" in said:
        return len({*shape.values()}) > 1
    if "cached" in said:
        holds = HELD.get(said["cache"], gpu.l2_bytes)
        return number["cached"] == 4 * extents[-1] > number["holds"] == holds
    if "nowhere" in said:
        return extents[-1] == 0
    if "words" in said:
        return extents[-1] < number["words"]
    if "terms" in said:
        return extents[-1] >= 2**24
    needs, free = number["gigabytes"], number["free"]
    has = gpu.memory_bytes / 1e9 if said["memory"] == "device" else needs
    largest = COPIES * 4 * prod(extents[-2:]) / 1e9
    return max(0, free) <= needs <= largest and free <= has * (1 + SHORTENED)


_NUMBERS = {
    *("launch", "samples", "most", "budgets", "share", "bytes", "allowed", "cluster", "clusters"),
    *("grid", "tile", "indices", "elements", "least", "has", "code", "built", "cached", "holds"),
    *("words", "gigabytes", "free"),
}


def _slow(number: Mapping[str, float], how: str, record: Record) -> bool:
    """Whether a launch of that length takes too long for that budget."""
    method, launches = record.method, number["samples"] + PROOF
    if number["launch"] * launches < number["most"] * (1 - SHORTENED):
        return False
    budget = number["budgets"] * record.environment.budget_seconds
    if not isclose(number["most"], budget, rel_tol=SHORTENED):
        return False
    if not method:
        return True
    least = method.proof_budgets if how == "predicted" else 0
    return number["samples"] == method.fewest_samples and number["budgets"] >= least


def _elsewhere(case: Case, record: Record) -> bool:
    """Whether the row has times at that shape that its reason is at odds with: what it asks of
    shape and device it does in every regime, and it takes about as long."""
    memory = case.reason and " memory, " in case.reason and case.reason.endswith(" are free")
    found = re.match(r"predicted (\S+) s", case.reason or "")
    for regime in ("cold", "hot"):
        name = f"{case.experiment}/{case.strategy}/{case.shape_name}/{regime}"
        other = record.by_id.get(name)
        if other is None or not other.seconds:
            continue
        if case.status == "unsupported" and not memory:
            return True
        if found and float(found[1]) > MISTAKEN * other.seconds.median:
            return True
    return False


def _unspent(case: Case, record: Record) -> bool:
    """Whether a case was given up for its clock before it was tried as long as it would be."""
    method = record.method
    if not method or case.spent is None or not (case.reason or "").startswith("throttled"):
        return False
    tried = method.proof_budgets * record.environment.budget_seconds
    return case.spent < tried * (1 - SHORTENED)


def excused(record: Record, of: Collection[str] | None = None) -> str | None:
    """The first case that has no time for a reason of somebody's own, or None; of all experiments,
    or of these."""
    for case in record.cases if record.environment.gpu else ():
        if not case.reason or case.status not in _KNOWN or (of and case.experiment not in of):
            continue
        # what a build or host lacks, its tables alone know; and others may have the CPU's cores
        if case.target == "cpu" and (
            case.status == "unsupported" or case.reason.startswith(DISTURBED)
        ):
            continue
        if not likely(case.status, case.reason, case.shape, record) or _unspent(case, record):
            what = "which recheck does not say of that shape and device"
            return f"{case.id} is {case.why_not}, {what}; measure it"
        if _elsewhere(case, record):
            return f"{case.id} is {case.why_not}, and it has times in another regime; measure it"
    return None
