"""What is asked of a record before anybody may take it for evidence, whoever measured it: of a
report that is published, of a contribution, and of the times that go into a history or a pilot."""

from __future__ import annotations

import math
import re
import unicodedata

from recheck_report.anchors import slug
from recheck_report.contribution.bounds import SUMMED, allowed, loose
from recheck_report.contribution.built import mislabelled
from recheck_report.contribution.reasons import excused
from recheck_report.contribution.sheets import impossible
from recheck_report.model.derived import PERIODS, is_to_come, moment, sampled
from recheck_report.model.record import Case, Method, Record
from recheck_report.sections.machine import suspects
from recheck_report.statistics.family import comparisons
from recheck_report.statistics.ratio import COARSEST

COPIED = ("rung", "baseline")  # the roles that may be timed end to end
MINUTE = 60.0  # seconds by which a clock may be set anew during a run
MOST_BETWEEN_EVENTS = 20_000  # nanoseconds; up to 3040 were seen
# of what a record says of its method (experiments/harness/method.hpp)
LEAST = {
    "confidence": 0.95, "fewest_samples": 6, "rounds": 12, "block_samples": 8,
    "throttled_below": 0.5, "flush_l2_sizes": 2, "flush_least_bytes": 1 << 25,
    "block_seconds": 1e-3, "inner_repeats": 10,
}  # fmt: skip
LEAST_ERROR = 1e-13  # of sums in fp32, of |A||B|; 2.6e-11 at least was seen
# as calibrate of harness/session.cpp batches launches; 1.14 of it was seen, as it has its own time
BATCH_SECONDS, MOST_BATCH, MISJUDGED = 50e-6, 32, 3
BUDGET = 1.0  # seconds of sampling a case, of whoever has a GPU and asks for nothing else
MOST_NAME = 100  # characters of a folder's name
_ROW = re.compile(r"[a-z0-9_]+")  # as experiments/harness/plan.cpp has it


def narrowed(record: Record) -> str | None:
    """What makes this less than the full matrix at the full budget, or None."""
    in_path = False
    # no shell leaves a quote about a flag: whoever writes one hides it
    for word in re.sub(r"[\"'\\]", "", record.environment.command).split()[1:]:
        # the rest of a path with a space in it is no flag; nor do these two leave anything out
        if unicodedata.category(word[0]) == "Pd":
            in_path = word.startswith("--output=")
        if not in_path and word != "--resume":
            full = "evidence is the full matrix: run recheck without it"
            return f"it was measured with {word}; {full}"
    if (own := record.environment.budget_seconds) != BUDGET:
        return f"its cases had {own:g} s each, and evidence has {BUDGET:g}; measure again"
    plan = record.plan
    if not plan.full:
        return f"its preset is {plan.preset}; evidence is the full matrix"
    if plan.dropped:
        first = plan.dropped[0]
        what = f"{first.experiment} at {first.shape} ({first.reason})"
        return f"its plan left out {what}; evidence is the full matrix"
    for experiment in record.experiments:
        rows = record.strategies(experiment)
        if not rows:
            return f"it holds no case of {experiment.name}; evidence is the full matrix"
        if experiment not in record.ordinary:
            continue  # a row of these has a shape and a regime of its own
        # some experiments have no end to end, and inner loops are NVIDIA's; what has it has it for
        # every row that solves the problem and is no point of a sweep
        copied = any(case.regime == "end_to_end" for case in record.of(experiment))
        for row in rows:
            regimes = ["cold", "hot"] if row.target == "gpu" else ["hot"]
            if row.sweep:
                regimes = ["cold"]  # some plans are swept in no other regime
            elif copied and row.target == "gpu" and row.role in COPIED:
                regimes.append("end_to_end")
            for regime in regimes:
                if not record.find(experiment, row.strategy, experiment.headline, regime):
                    case = f"{experiment.name}/{row.strategy}/{experiment.headline}/{regime}"
                    return f"it lacks {case}; evidence is the full matrix"
    return None


def unfit(record: Record) -> str | None:
    """Why nobody should believe this record's times, or None."""
    env = record.environment
    if env.gpu is None or not record.gpu_measured:
        return f"it holds no GPU result ({record.no_gpu_because})"
    if env.build_type != "Release":
        return f"it comes from a {env.build_type} build; use Release"
    if env.device_debug:
        return "its device code was built with -G"
    if not env.git.known:
        return "it was measured from a tree in no git repository; commit it and measure again"
    if env.git.dirty:
        return "it was measured with uncommitted changes; commit them and measure again"
    if record.finished is None:
        return "its run did not finish"
    if env.gpus_at_once > 1:
        return f"{env.gpus_at_once} GPUs were measured at once; measure this one by itself"
    if env.gpu.mig:
        return "it was measured on a part of the GPU (MIG); measure the whole of it"
    if env.mps:
        return "it was measured while MPS was on, by which others share the GPU; turn it off"
    if env.other_processes:
        return f"{env.other_processes} other processes were on the GPU; measure without them"
    return None


def refusal(record: Record) -> str | None:
    """Why this record is no evidence, or None."""
    # why a row of another collection has no time, its author knows
    ours = {name for name, *_ in SUMMED}
    return doubtful(record) or narrowed(record) or excused(record, ours)


def doubtful(record: Record) -> str | None:
    """Why what it holds is no evidence, were it the full matrix or not, or None."""
    count = record.count()
    if why := unfit(record):
        return why
    for status in ("incorrect", "failed"):
        if count[status]:
            first = next(case for case in record.cases if case.status == status)
            return f"{count[status]} cases are {status}, first {first.id}: {first.reason}"
    if comparisons(record).resolution > COARSEST:
        return (
            "its self-audit cannot tell a kernel from itself to "
            f"{100 * COARSEST:g} %; measure again on a quiet machine"
        )
    if comparisons(record).audit.inverted:
        return "its self-audit finds a larger slowdown less often than a smaller one; measure again"
    gpu = record.environment.gpu
    assert gpu is not None  # otherwise unfit
    if why := lax(record) or mislabelled(record.environment, gpu):
        return why
    for name, why in suspects(record).items():
        return f"suspect times: {len(suspects(record))}, first {name}: {why}"
    # what an experiment of another collection owes, its author knows
    bounds = loose(record, math.inf)
    return disguised(record) or bounds or undated(record) or impossible(record)


def lax(record: Record) -> str | None:
    """What it was measured by that is less than `recheck` asks for, or None."""
    env, method = record.environment, record.method
    if env.code == "ptx":
        return "its device code was compiled at run time; build it for this GPU"
    between = env.state.get("event_nanoseconds") or 0
    if between > MOST_BETWEEN_EVENTS:
        return (
            f"{between:g} ns are subtracted of each time, and two events have no "
            f"more than {MOST_BETWEEN_EVENTS} between them; measure again"
        )
    for name, least in LEAST.items():
        own = getattr(method, name, None)
        if own is not None and own < least:
            return f"its method has {name} {own:g}, and {least:g} is the least; measure again"
    if (queued := getattr(method, "queued_samples", None)) not in (None, 1):
        return f"its method has queued_samples {queued}, and one is timed at once; measure again"
    kernels, took = record.overhead.verified_kernels, math.fsum(map(sampled, record.cases))
    if record.schema > 2 and took > kernels * PERIODS[0] + PERIODS[1]:
        return f"its kernels took {kernels:g} s, and its samples alone {took:.4g} s; measure again"
    for case in record.cases:
        error = case.error.value if case.error and case.status == "passed" else None
        if error is not None and error < LEAST_ERROR and allowed(case) > 0:
            what = f"an error of {error:.3g}, and sums in fp32 have more"
            return f"{case.id} has {what}; measure again"
        if method and (why := _batched(case, method)):
            return f"{case.id} has {why}; measure again"
    return None


def _batched(case: Case, method: Method) -> str | None:
    """Why nobody would have taken so many of its launches together, or None. Fewer are no lie: the
    first launches may have been slow."""
    if not case.seconds:
        return None
    median = case.seconds.median
    short = median < method.batch_below_seconds * MISJUDGED
    most = min(BATCH_SECONDS / median * MISJUDGED, MOST_BATCH) if short else 1
    if case.batch <= max(1, most):
        return None
    return f"{case.batch} launches of {median:.3g} s in a sample, and {most:.0f} at most are timed"


def disguised(record: Record) -> str | None:
    """Which name is none that CUDA, the system or `recheck` gives, or None: a letter that looks
    like another would make a second model or row of the same name."""
    env = record.environment
    gpu = env.gpu.name if env.gpu else ""
    if not 0 < len(slug(gpu)) <= MOST_NAME:
        what = f"makes no folder's, of at most {MOST_NAME} letters and digits"
        return f"the GPU's name {gpu[:40]!r} {what}: ask CUDA for it"
    for what, name in (("GPU", gpu), ("CPU", env.cpu)):
        if not name.isascii():
            return f"the {what}'s name {ascii(name[:40])} is not ASCII; measure again"
    for case in record.cases:
        if not _ROW.fullmatch(case.strategy):
            row = f"{case.experiment}/{case.strategy}"
            return f"the row's name {ascii(row)} holds more than a-z, 0-9 and _; measure again"
    return None


def undated(record: Record) -> str | None:
    """Why no run can have been then, or None."""
    started, finished = moment(record.environment.started), moment(record.finished or "")
    if is_to_come(finished):
        return f"its run ended at {record.finished}, which is to come; set the clock"
    took = (finished - started).total_seconds()
    if took < record.wall_seconds / PERIODS[0] - MINUTE:
        what = f"and worked for {record.wall_seconds:g} s; set the clock, and measure again"
        return f"its run took {took:g} s from {record.environment.started} on, {what}"
    return None
