"""Sentences about two cases, with their numbers: what stories and listings say.

A line names two cases with their times, then their ratio with its interval. It calls them equal if
the interval lies within what the self-audit can detect, and a tie if the interval with its noise
includes 1 or the difference is not significant.
"""

from __future__ import annotations

from recheck_report.anchors import place
from recheck_report.claims.measured import Measured
from recheck_report.formatting import SCOPES, durations, margin, shape_label
from recheck_report.record.record import Case, Experiment
from recheck_report.say.machine import doubt
from recheck_report.say.nodes import Code, Text, code, link, speedup, strong, text
from recheck_report.statistics.ratio import median_of_rounds


def timed(report: Measured, experiment: Experiment, strategy: str, shape: str) -> Case | Text:
    """A case in the regime that ranks, or the sentence that it has no time and why."""
    record = report.record
    case = record.find(experiment, strategy, shape, record.ranked_by(experiment))
    if case and case.seconds:
        return case
    why = case.why_not if case else "the record holds no such case"
    return text("Not measured: ", code(strategy), f" at {shape_label(shape)}: {why}.")


def row_link(report: Measured, case: Case) -> Text:
    """A kernel's name, which leads to its row, with its scope and a doubt about its time."""
    word = doubt(report, case)
    return text(
        link(place(case, report.record.experiment_of(case)), Code(case.strategy)),
        f"{' ‡' * ('‡' in case.marks)}{SCOPES.get(case.regime, '')}",
        text(" (", strong(word), ")") if word else "",
    )


def against(report: Measured, base: Case, other: Case) -> tuple[str, Text]:
    """The outcome, and how `other` does against `base`: "At 4096³ `tile16` takes 17.9 ms, `cublas`
    2.74 ms: 6.53× slower [6.52, 6.54]"; without a full stop."""
    ratio = report.comparisons.verdict(base, other)
    first, second = durations(other.time.median, base.time.median)
    more, how = "", speedup(ratio)
    if ratio.masked_by_run_to_run:
        more = f"; two processes may differ by {margin(ratio.resolution)}"
    elif ratio.outcome == "no difference" and not ratio.low <= 1 <= ratio.high:
        # the interval lies clear of 1, and p is not small enough after Holm's correction
        more = "; not significant after the correction for all comparisons"
    if ratio.outcome in ("same", "no difference"):
        how = text(strong("equal" if ratio.outcome == "same" else "tie"), ", ", how)
    rounds = median_of_rounds(ratio.value, base.time.median, other.time.median)
    head = text(f"At {shape_label(base.shape_name)} ", row_link(report, other), f" takes {first}, ")
    return ratio.outcome, text(head, row_link(report, base), f" {second}: ", how, rounds, more)
