"""What the files beside a record say that cannot be of its run, or that nobody measures so."""

from __future__ import annotations

from recheck_report.claims.measured import Measured
from recheck_report.contribution.reasons import likely
from recheck_report.model.accuracy import EXPERIMENT, Accuracy
from recheck_report.model.companions import ACCURACY, LARGER, PROBES
from recheck_report.model.probes import Probes
from recheck_report.model.record import Record

# threads that a multiprocessor holds, by compute capability (CUDA's programming guide)
THREADS = {
    "7.5": 1024, "8.0": 2048, "8.6": 1536, "8.7": 1536, "8.9": 1536, "9.0": 2048, "10.0": 2048,
    "12.0": 1536,
}  # fmt: skip
RESERVED = 1024  # bytes of shared memory that CUDA keeps of each block from 8.0 on, and none on 7.x
# Rounding the elements to fp32 alone makes a median of 2^-25.5, of whatever is no integer; the
# least that was seen is 2^-24.7.
LEAST = 2.0**-27


def of_another(own: Measured) -> str | None:
    """What lies beside the record and was not found out on its GPU, at its commit, or None."""
    gpu = own.record.environment.gpu
    for name, found in ((PROBES, own.probes), (ACCURACY, own.accuracy), (LARGER, own.larger)):
        if found is None:
            continue
        if other := found.foreign(own.record):
            return f"{other}; make {name} again"
        if found.environment.dirty:
            return f"{name} is of a tree with uncommitted changes"
        if gpu and found.environment.uuid_hash != gpu.uuid_hash:
            return f"{name} is of another GPU of the model than the record"
    return None


def counted(probes: Probes, record: Record) -> str | None:
    """Why nobody can have found these on that device and of its cases, or None."""
    for name in probes.counters:
        if name not in record.by_id:
            return f"probes.json counts {name}, which the record has no case of; collect it again"
    gpu, own = record.environment.gpu, probes.attributes
    assert gpu is not None
    threads, known = own.get("threads_per_sm"), THREADS.get(gpu.compute_capability)
    if threads is not None and known and threads != known:
        what = f"{threads:g} threads a multiprocessor, and compute capability"
        return f"probes.json has {what} {gpu.compute_capability} has {known}; collect it again"
    shared, block = own.get("shared_bytes_per_sm"), gpu.shared_bytes_per_block
    if shared is not None and known and not 0 <= shared - block <= RESERVED:
        what = f"{shared:g} B of shared memory a multiprocessor, and the record {block} a block"
        return f"probes.json has {what}; collect it again"
    return None


def studied(study: Accuracy, name: str, record: Record) -> str | None:
    """Why this is no study of the record's rows, of all that it is about, or None."""
    env, gpu = record.environment, record.environment.gpu
    assert gpu is not None
    for member in ("cpu", "blas", "seed"):
        if (said := getattr(study.environment, member)) != getattr(env, member):
            return f"{name} has {member} {said}, the record {getattr(env, member)}"
    rows = {case.strategy: case for case in record.cases if case.experiment == EXPERIMENT}
    for row in study.rows:
        own = rows.get(row.strategy)
        if own is None:
            return f"{name} has a row {row.strategy}, which the record does not have"
        for member in ("role", "target", "arithmetic", "sweep", "parameters"):
            if (said := getattr(row, member)) != (known := getattr(own, member)):
                return f"{name} has {member} {said} of {row.strategy}, the record {known}"
    there = {row.strategy for row in study.rows}
    for strategy, own in rows.items() if name == ACCURACY else ():
        swept = own.sweep and "promotion" not in own.parameters
        if own.contends and not swept and strategy not in there:
            return f"{name} lacks the row {strategy}; measure it again without --filter"
    asked = {(each.distribution, each.k) for each in study.results}
    for row in study.rows:
        for distribution, k in sorted(asked) if row.target == "gpu" else ():
            if not study.find(row.strategy, distribution, k):
                what = f"{row.strategy} on {distribution} at k = {k}, as of other rows"
                return f"{name} lacks {what}; measure it again"
    ordinary = {each.name for each in study.ordinary}
    on_gpu = {row.strategy for row in study.rows if row.target == "gpu"}
    for each in study.results:
        where = f"{name}: {each.strategy} on {each.distribution} at k = {each.k}"
        if each.distribution in ordinary and each.median is not None and each.median < LEAST:
            what = f"has a median error of {each.median:.3g}, and rounding to fp32 alone makes more"
            return f"{where} {what}"
        shape = {"m": study.m, "n": study.n, "k": each.k}
        excuse = each.strategy in on_gpu and each.status in ("not_run", "unsupported")
        if excuse and not likely(each.status, each.reason or "", shape, record):
            return f"{where} is {each.why_not}, which recheck does not say of that shape and device"
    return None
