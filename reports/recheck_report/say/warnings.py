"""Warnings about a record, and facts about its run: why cases and claims have no result, and which
values do not fit the rest. A first screen names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from recheck_report.anchors import METHOD as METHOD_PAGE
from recheck_report.claims.judge import Judged
from recheck_report.claims.measured import Measured
from recheck_report.formatting import count
from recheck_report.record.environment import Environment
from recheck_report.record.record import Case, Record
from recheck_report.record.verdicts_json import NOT_MEASURED
from recheck_report.say.nodes import Remark, Table, code, few, link, table, text
from recheck_report.statistics.ratio import COARSEST

NAMED = 3  # parts of a record that are named because they could not be read
# of plans that are not the full matrix, as they were asked for
PARTS = {"claims": "the cases that decide claims", "chosen": "the cases that flags chose"}
SHARED = 5  # per cent of the GPU's time from which on others are said to have shared it


def warnings(report: Measured) -> list[Remark]:
    """What a reader must know before the first number."""
    record, probes = report.record, report.probes
    env, remarks = record.environment, _unread(record)
    for condition in env.conditions:  # the program says each as "title: rest"
        title, colon, rest = (condition.says or condition.code).partition(": ")
        remarks.append(Remark(title, text(colon, rest)))
    codes = {condition.code for condition in env.conditions}
    if env.build_type != "Release" and "debug_build" not in codes:
        says = "its times say nothing about a Release build."
        remarks.append(_warning(f"{env.build_type} build", says))
    if env.device_debug:
        says = "its kernels are not optimised, so their times mean little."
        remarks.append(_warning("Device code built with -G", says))
    if not env.git.has_commit:
        says = "git knew no commit of the program's source, so it cannot be published as evidence."
        remarks.append(_warning("No known commit", says))
    elif env.git.dirty:
        diff = f" (diff {env.git.diff})" if env.git.diff else ""
        says = f"{diff}: no commit holds the program that was run."
        remarks.append(Remark("Uncommitted changes", text(says)))
    if env.code == "ptx":
        says = "the binary holds no machine code for this GPU, so the driver compiled its PTX."
        remarks.append(_warning("Device code compiled at run time", says))
    remarks += _shared(env)
    if env.gpu and env.gpu.mig:
        says = "this is a part of a GPU, compared with the limits of a whole one."
        remarks.append(_warning("MIG is on", says))
    if env.mps:
        remarks.append(_warning("MPS is on", "other programs can run on the GPU at the same time."))
    if report.comparisons.resolution > COARSEST:
        says = "a kernel compared with itself comes out different, so no ratio here is judged"
        remarks.append(_warning("No differences can be measured", f"{says}; see the self-audit."))
    if record.finished is None:
        says = "the run was interrupted or is still going on, so cases may be missing."
        remarks.append(_warning("Unfinished record", says))
    if record.has_narrow_intervals:
        why = link(f"{METHOD_PAGE}#how-it-was-measured", "why")
        narrow = text(": its times' intervals are too narrow (", why, ").")
        remarks.append(Remark("Older record", narrow))
    remarks += [cause.remark for cause in causes(report) if cause.fault]
    if kinds := odd_values(record).rows:
        where = link(f"{METHOD_PAGE}#odd-values", "which, and where")
        remarks.append(Remark(f"Odd values of {count(len(kinds), 'kind')}", text(": ", where, ".")))
    foreign = probes.foreign(record) if probes else None
    if foreign:
        says = f"{foreign}, so they decide no claim here."
        remarks.append(_warning("Probes of another run", says))
    elif probes and probes.environment.dirty and not env.git.dirty:
        says = "they were collected with uncommitted changes, so no commit holds what was probed."
        remarks.append(_warning("Probes of no commit", says))
    return remarks


def _warning(title: str, says: str) -> Remark:
    return Remark(title, text(f": {says}"))


def notes(report: Measured) -> list[Remark]:
    """What is good to know after the answer: how much of the matrix was asked for, what this
    machine cannot do, and which times were disturbed, with the causes."""
    record = report.record
    timed = [case for case in record.cases if case.seconds]
    remarks = []
    if not record.plan.full:
        what = PARTS.get(record.plan.preset, f"preset {record.plan.preset}")
        remarks.append(Remark("A part of the matrix", text(f": {what}."), warning=False))
    remarks += [cause.remark for cause in causes(report) if not cause.fault]
    if disturbed := Counter(case.disturbed for case in timed if case.disturbed):
        named = ", ".join(f"{why} ({count:,})" for why, count in disturbed.most_common())
        what = f": {disturbed.total():,} of {len(timed):,}: {named}."
        remarks.append(Remark("Disturbed times decide no claim", text(what), warning=False))
    return remarks


def _unread(record: Record) -> list[Remark]:
    """What of the files could not be read, in one sentence."""
    if not record.unread:
        return []
    cases = sum(problem.startswith("field cases[") for problem in record.unread)
    others = len(record.unread) - cases
    parts = [count(cases, "case")] * bool(cases) + [count(others, "other part")] * bool(others)
    first = "; ".join(problem.removeprefix("field ") for problem in record.unread[:NAMED])
    more = "; …" if len(record.unread) > NAMED else ""
    return [_warning(f"{' and '.join(parts)} could not be read", f"{first}{more}.")]


def _shared(env: Environment) -> list[Remark]:
    """Whether other processes took the GPU's time: not where they merely held it."""
    percent, many = env.state.other_gpu_percent, env.state.other_processes or 0
    others = f"{many} other {'process' if many == 1 else 'processes'}" if many else "Others"
    if percent is not None and percent >= SHARED:
        says = f"they took up to {percent} % of its time, and shared memory and caches."
        return [_warning(f"{others} on the GPU", says)]
    if percent is None and many:
        verb = "holds" if many == 1 else "hold"
        says = "; whether they used it is not known."
        return [Remark(f"{others} {verb} the GPU", text(says))]
    return []


def _clock(record: Record, case: Case) -> bool:
    gpu = record.environment.gpu
    most = max((clock for clock in case.clocks if clock), default=case.clock_hz or 0.0)
    return bool(gpu and gpu.clock_hz and most > 1.25 * gpu.clock_hz)


def _error(_: Record, case: Case) -> bool:
    error = case.error
    right = error is not None and error.value is not None and 0 <= error.value <= error.bound
    return case.status == "passed" and not right


ODD: dict[str, Callable[[Record, Case], bool]] = {
    "an SM clock above 1.25 times what the device states": _clock,
    "a time without an interval: it decides nothing": lambda _, case: (
        bool(case.unsure) and not case.disturbed
    ),
    "a time of 0 s, or none: it is left out": lambda _, case: (
        case.status == "passed" and case.seconds is None
    ),
    "passed, but its error is beyond its bound, or was not recorded": _error,
    # rounding of the record's digits aside
    "a median that is not among its samples": lambda _, case: bool(
        case.seconds
        and case.samples
        and not 0.999 * min(case.samples) <= case.seconds.median <= 1.001 * max(case.samples)
    ),
}


@lru_cache(maxsize=8)  # records that a page compares
def odd_cases(record: Record) -> dict[str, list[str]]:
    """The ids of cases with odd values, by what is odd."""
    odd = {what: [case.id for case in record.cases if is_odd(record, case)]
           for what, is_odd in ODD.items()}  # fmt: skip
    return {what: ids for what, ids in odd.items() if ids}


def odd_values(record: Record) -> Table:
    """What is odd, of how many cases, and the first of them."""
    rows = ((what, str(len(ids)), code(ids[0])) for what, ids in odd_cases(record).items())
    return table(["what", "cases", "such as"], rows, (1,), "Odd values")


MANY = 10  # cases from which on a cause is named that costs no claim
REASONS = 2  # of a cause that are quoted
MEMORY = "Not enough memory"
# by a record's reason_code, else by its status: what no machine should have, and what some do. The
# rows that do not fit a shape are a property of theirs, and cost nothing
FAULTS = {
    "no_memory": MEMORY, "out_of_memory": MEMORY, "unsound_check": "Checks that accept anything",
    "wrong_output": "Wrong outputs", "wrote_outside": "Writes outside the output",
    "changed_input": "Changed inputs", "incorrect": "Wrong outputs", "launch_error": "CUDA errors",
    "threw": "Exceptions", "process_died": "Crashes and hangs", "failed": "Failed launches",
}  # fmt: skip
LIMITS = {
    "needs_capability": "Not for this GPU", "not_built": "Not in this build",
    "too_slow": "Too slow here", "budget": "Beyond the budget", "not_reached": "Not reached",
}  # fmt: skip
UNCOUNTED = {"count": "Not counted", "test": "Not tested"}


@dataclass
class Cause:
    """Cases without a time, or checks without an answer, for one cause, and the claims that this
    leaves without a verdict."""

    title: str
    fault: bool  # whether it is a warning, or only a fact about the machine
    reasons: Counter[str] = field(default_factory=Counter)
    cases: set[str] = field(default_factory=set)
    claims: dict[str, None] = field(default_factory=dict)
    more: str = ""

    @property
    def remark(self) -> Remark:
        """ "Not enough memory: 812 cases and 35 claims have no result: needs 6.4 GB, …"; names the
        rows if they are few."""
        lost = [(len(self.cases), "case"), (len(self.claims), "claim")]
        many = [f"{count:,} {what}{'s' * (count != 1)}" for count, what in lost if count]
        verb = "has" if sum(count for count, _ in lost) == 1 else "have"
        why = few([reason for reason, _ in self.reasons.most_common()], REASONS, "; ").plain
        title = f"{self.title}: {' and '.join(many)} {verb} no result"
        rows = sorted({case.rsplit("/", 2)[0] for case in self.cases})
        named = f"{', '.join(rows)}: " if self.fault and 0 < len(rows) <= REASONS else ""
        return Remark(title, text(f": {named}{why}{self.more}."), self.fault)


def causes(report: Measured) -> list[Cause]:
    """The causes that cost claims, or many cases; warnings first, then by how much they cost."""
    causes_by_title: dict[str, Cause] = {}

    def cause_of(title: str, fault: bool) -> Cause:
        return causes_by_title.setdefault(title, Cause(title, fault))

    by_case: dict[str, Cause] = {}
    for case in report.record.cases:
        code = case.reason_code if case.reason_code in FAULTS | LIMITS else case.status
        if title := None if case.seconds else (FAULTS | LIMITS).get(code or ""):
            cause = by_case[case.id] = cause_of(title, code in FAULTS)
            cause.cases.add(case.id)
            cause.reasons[case.reason or "no reason given"] += 1
    for judged in () if report.record.lacks_gpu else report.judgement.claims:
        if judged.verdict == NOT_MEASURED:
            for name in judged.evidence:
                if name in by_case:
                    by_case[name].claims[judged.claim.id] = None
            for form, reason in _unanswered(report, judged):
                cause = cause_of(UNCOUNTED[form], False)
                cause.claims[judged.claim.id] = None
                cause.reasons[reason] += 1
    others = report.record.environment.state.other_processes or 0
    if others and MEMORY in causes_by_title:
        named = "1 other process was" if others == 1 else f"{others} other processes were"
        causes_by_title[MEMORY].more = f"; {named} on the GPU"
    kept = [c for c in causes_by_title.values() if c.fault or c.claims or len(c.cases) >= MANY]
    return sorted(kept, key=lambda c: (not c.fault, -len(c.claims), -len(c.cases)))


def _unanswered(report: Measured, judged: Judged) -> Iterator[tuple[str, str]]:
    """The checks of a claim that counters or tests would have answered, each by its form, and why
    these have no value."""
    for outcome in judged.outcomes:
        check, probes = outcome.check, report.probes
        if outcome.absence and check.form in UNCOUNTED and probes:
            probe = probes.counters.get(check.of) or probes.tests.get(check.test)
            if probe and probe.reason:
                yield check.form, probe.reason.removeprefix("not measured: ")
