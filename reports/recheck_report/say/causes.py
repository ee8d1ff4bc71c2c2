"""Why cases and claims have no result, by cause: the first screen of a report names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from recheck_report.claims import Judged
from recheck_report.claims.measured import Measured
from recheck_report.formatting import few
from recheck_report.record.verdicts import NOT_MEASURED
from recheck_report.say.nodes import Remark, text

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
        """ "Not enough memory: 812 cases and 35 claims have no result: needs 6.4 GB, …"."""
        lost = [(len(self.cases), "case"), (len(self.claims), "claim")]
        many = [f"{count:,} {what}{'s' * (count != 1)}" for count, what in lost if count]
        verb = "has" if sum(count for count, _ in lost) == 1 else "have"
        why = few([reason for reason, _ in self.reasons.most_common()], REASONS, "; ")
        title = f"{self.title}: {' and '.join(many)} {verb} no result"
        return Remark(title, text(f": {why}{self.more}."), self.fault)


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
    for judged in report.judgement.claims if report.record.gpu_measured else ():
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
