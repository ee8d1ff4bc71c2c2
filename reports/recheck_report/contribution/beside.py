"""What the files beside a record say that cannot be of its run, or that nobody measures so."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import median

from recheck_report.claims.measured import Measured
from recheck_report.contribution.bounds import DIGITS, owed
from recheck_report.contribution.reasons import likely
from recheck_report.model.accuracy import EXPERIMENT, Accuracy, Result
from recheck_report.model.companions import ACCURACY, LARGER, PROBES, REHEARSAL
from recheck_report.model.derived import FASTER_CLOCK, WORK
from recheck_report.model.probes import Probes
from recheck_report.model.record import Case, Gpu, Record
from recheck_report.model.rehearsal import Rehearsal

# threads that a multiprocessor holds, by compute capability (CUDA's programming guide)
THREADS = {
    "7.5": 1024, "8.0": 2048, "8.6": 1536, "8.7": 1536, "8.9": 1536, "9.0": 2048, "10.0": 2048,
    "12.0": 1536,
}  # fmt: skip
RESERVED = 1024  # bytes of shared memory that CUDA keeps of each block from 8.0 on, and none on 7.x
# Rounding the elements to fp32 alone makes a median of 2^-25.5, of whatever is no integer; the
# least that was seen is 2^-24.7.
LEAST = 2.0**-27
PASSES = 1.1  # by which parts may exceed their whole, as each is counted in a launch of its own
CLOCKS = 2  # by which cycles under Nsight Compute may differ; 0.74 to 1.07 were seen
BETWEEN = 10e-6  # seconds around each launch, that the record's times may have in them
READ = 0.9  # of its inputs' bytes that a cold row reads; 1.0000 at least were seen
FUSED = 0.99  # of its operations that an fp32 row does as multiply-adds; 1.0000 to 1.0002 were seen
# by which a quotient of two errors may differ from those of other rows on the same inputs: the
# largest by what all of them are; 4.4 and 79 were seen
ALIKE = {("absolute", "frobenius"): 100.0, ("absolute", "componentwise"): 1e5}
PROMISED = 2.5  # of what arithmetic owes that a split row's own bound is; 1.9 was seen
SAME = 3  # by which the time of `best` may differ from that of its choice; 1.07 was seen
PACKED = 10.0  # from this compute capability on, one instruction may do two of them


def refuted(own: Measured) -> str | None:
    """Why what lies beside the record is none of its run's, or None."""
    if other := of_another(own):
        return other
    for name, study in ((ACCURACY, own.accuracy), (LARGER, own.larger)):
        if study and (why := studied(study, name, own.record)):
            return why
    why = counted(own.probes, own.record) if own.probes else None
    return why or (rehearsed(own.rehearsal) if own.rehearsal else None)


def rehearsed(rehearsal: Rehearsal) -> str | None:
    """At which product `best` did not take the row that it is said to have taken, or None."""
    for choices in rehearsal.choices:
        for product in choices.shapes:
            times = dict(zip(choices.rows, product.seconds, strict=True))
            best, taken = product.best, times.get(product.choice)
            if best and taken and not taken / SAME <= best <= taken * SAME:
                what = f"best takes {best:.3g} s, and {product.choice}, its choice, {taken:.3g} s"
                return f"{REHEARSAL}: at {product.name} {what}; rehearse again"
    return None


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
    for name, found in probes.counters.items():
        if why := _of_another_run(record.by_id[name], found.values, gpu):
            return f"probes.json has {why} of {name}; collect it again"
    return None


def _of_another_run(case: Case, values: Mapping[str, float], gpu: Gpu) -> str | None:
    """What no launch of that case counts on that GPU, by the record's own numbers, or None."""
    if (shared := values.get("shared_bytes", 0)) > gpu.shared_bytes_per_block + RESERVED:
        return f"{shared:g} B of shared memory a block"
    if (hertz := values.get("sm_hertz", 0)) > FASTER_CLOCK * gpu.clock_hz:
        return f"a clock of {hertz:.4g} Hz"
    waited = math.fsum(value for name, value in values.items() if name.startswith("stall_"))
    if waited > values.get("warp_cycles", math.inf) * PASSES:
        return f"stalls of {waited:.3g} cycles, more than all"
    for parts, whole in (("requests", "sectors"), ("shared_bank_conflicts", "shared_wavefronts")):
        if values.get(parts, 0) > values.get(whole, math.inf) * PASSES:
            return f"{values[parts]:g} {parts} in {values[whole]:g} {whole}"
    if case.regime != "cold" or not case.seconds:
        return None
    took = values.get("nanoseconds", math.nan) * 1e-9 * hertz / (case.clock_hz or math.nan)
    # between launches nothing is counted
    between = BETWEEN * values.get("launches", 1)
    median = case.seconds.median
    if took < median / CLOCKS - between or took > median * CLOCKS + between:
        return f"{took:.3g} s by clock and cycles, and the record {median:.3g} s"
    work = WORK.get((case.experiment, *case.shape))
    if not work or case.problem:
        return None
    # each input is read once, and a result written; what is read again is read by caches, or more
    extents = [*case.shape.values()]
    _, moved = work(extents)
    written = 4 * (extents[0] if case.flops and len(extents) == 2 else extents[0] * extents[1])
    read = values.get("dram_read_bytes", math.inf)
    if read < (moved - written) * READ:
        return f"{read:g} B read from DRAM, and its inputs have {moved - written:g}"
    fused = 2 * values.get("ffma", math.inf)
    one_by_one = case.fp32 and float(gpu.compute_capability) < PACKED
    if one_by_one and "strassen" not in case.strategy and fused < case.flops * FUSED:
        return f"{fused:g} operations of multiply-adds, and its sums take {case.flops:g}"
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
    if why := _uneven(study, rows):
        return f"{name}: {why}; measure it again"
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


def _uneven(study: Accuracy, rows: Mapping[str, Case]) -> str | None:
    """Which errors are not those of the same inputs as other rows', or which bound is not what the
    row owes, or None."""
    by_inputs: dict[tuple[str, int], list[Result]] = {}
    for each in study.results:
        if each.frobenius and each.componentwise and each.absolute:
            by_inputs.setdefault((each.distribution, each.k), []).append(each)
    for (upper, lower), most in ALIKE.items():
        for (distribution, k), alike in by_inputs.items():
            own = {each.strategy: getattr(each, upper) / getattr(each, lower) for each in alike}
            usual = median(own.values())
            for strategy, value in own.items():
                if not usual / most <= value <= usual * most:
                    what = f"{upper} over {lower} of {value:.3g}, other rows {usual:.3g}"
                    return f"{strategy} on {distribution} at k = {k} has {what}"
    for each in study.results:
        if each.bound is None or "strassen" in each.strategy:
            continue
        arithmetic = rows[each.strategy].arithmetic
        most = owed(arithmetic, each.k) * (PROMISED if arithmetic == "split" else 1 + DIGITS)
        if each.bound > most:
            what = f"at k = {each.k} has a bound of {each.bound:.3g}, and owes {most:.3g} at most"
            return f"{each.strategy} {what}"
    return None
