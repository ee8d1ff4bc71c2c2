"""The self-audit as a reader sees it: one sentence and a table."""

from __future__ import annotations

import math

from recheck_report.formatting import margin, shape_label, significant
from recheck_report.record.record import AUDIT, Record
from recheck_report.say.nodes import Table, Text, strong, table, text
from recheck_report.statistics import variation
from recheck_report.statistics.audit import STEPS, Audit
from recheck_report.statistics.ratio import COARSEST, LEVEL
from recheck_report.statistics.variation import classes_of

COLUMNS = ["the kernel compared", "pairs", "called faster", "called slower", "called the same"]
COLUMNS += ["no significant difference", "wrong without a threshold"]
NUMBERS = range(1, 7)
RUN_TO_RUN = ["class", "ratios differ by less than", "times by less than"]


def resolution_text(value: float) -> str:
    """ "0.15 %"."""
    return f"{100 * value:.2f}".rstrip("0").rstrip(".") + " %"


def sentence(record: Record, audit: Audit) -> Text:
    """How far comparisons on this machine could be trusted on that day."""
    rho = strong(resolution_text(audit.resolution))
    if not audit.audited:
        experiment = record.experiment(AUDIT)
        reasons = [c.reason for c in record.cases_of(experiment) if c.reason] if experiment else []
        why = reasons[0] if reasons else "the record holds no audit"
        lead = f"No self-audit ({why}): the smallest difference that this report calls one is "
        return text(lead, rho, ", by convention.")
    places = dict.fromkeys(
        f"{shape_label(pair.base.shape_name)} {pair.base.regime}" for pair in audit.alike
    )
    total, paired = len(audit.alike), sum(pair.ratio.rounds > 0 for pair in audit.alike)
    how = "" if paired == total else f", {total - paired} of them not paired by rounds"
    compared = (
        f"One kernel was timed under several names ({', '.join(places)}) and compared with itself "
        f"in {total} pairs{how}"
    )
    few = f"at most {100 * LEVEL:g} % of these pairs differ"
    if audit.resolution > COARSEST:
        most = STEPS[-1]
        needed = rho if audit.resolution <= most else f"more than {100 * most:g} %"
        return text(
            f"{compared}. It takes a threshold of ",
            needed,
            f" until {few}. That is more than {100 * COARSEST:g} %, so ",
            strong("this report judges no ratio"),
            ".",
        )
    strict = audit.false(audit.resolution)
    return text(
        f"{compared}. If every interval that excludes 1 counted as a difference, "
        f"{audit.false(0.0)} of the pairs would differ. If the whole interval has to lie more than "
        f"{resolution_text(audit.resolution)} from 1, {strict} do. So the smallest difference that "
        "this process detects is ",
        rho,
        f": of the multiples of 0.05 %, from {resolution_text(STEPS[0])} up, the first threshold "
        f"with which {few}.",
    )


def run_to_run(record: Record) -> Table:
    """What runs on GPUs of this model differ by, for each class that a timed case has."""
    runs = variation.for_gpu(record.gpu)

    def within(variations: dict[str, float], name: str) -> str:
        return margin(math.expm1(variations[name])) if name in variations else "not known"

    rows = [
        (name, within(runs.of_ratios, name), within(runs.of_medians, name))
        for name in classes_of(record.cases)
    ]
    return table(RUN_TO_RUN, rows, (1, 2))


def pairs_table(audit: Audit) -> Table:
    """A row for each amount of extra work; the first, none, is the kernel against itself."""
    rows: list[list[str]] = []
    for extra in [0.0, *audit.extras] if audit.audited else []:
        pairs = audit.slowed_by(extra) if extra else list(audit.alike)
        called = [pair.called(audit.resolution) for pair in pairs]
        name = f"with {significant(100 * extra, 1)} % more work" if extra else "with itself"
        right = "slower" if extra else "no difference"
        raw = [pair.called(0.0) for pair in pairs]
        wrong = sum(verdict != right for verdict in raw)
        counts = [called.count(v) for v in ("faster", "slower", "same", "no difference")]
        rows.append([name, *(str(n) for n in (len(pairs), *counts, wrong))])
    return table(COLUMNS, rows, NUMBERS, "Self-audit")
