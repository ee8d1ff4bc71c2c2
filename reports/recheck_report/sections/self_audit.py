"""The self-audit as a reader sees it: one sentence and a table."""

from __future__ import annotations

from recheck_report.formatting import cell, shape_label, significant
from recheck_report.model.record import AUDIT, Record
from recheck_report.statistics.audit import STEPS, Audit
from recheck_report.statistics.paired import LEVEL
from recheck_report.statistics.ratio import COARSEST

COLUMNS = ["what was compared", "pairs", "called faster", "called slower", "called the same"]
COLUMNS += ["no difference", "called wrongly without a resolution"]
NUMBERS = range(1, 7)


def resolution_text(value: float) -> str:
    """ "0.15 %"."""
    return f"{100 * value:.2f}".rstrip("0").rstrip(".") + " %"


def sentence(record: Record, audit: Audit) -> str:
    """How far comparisons on this machine could be trusted on that day."""
    rho = f"**{resolution_text(audit.resolution)}**"
    if not audit.audited:
        experiment = record.experiment(AUDIT)
        reasons = [c.reason for c in record.of(experiment) if c.reason] if experiment else []
        why = cell(reasons[0]) if reasons else "the record holds no audit"
        return (
            f"Not audited ({why}): the smallest difference that this report claims is {rho}, by "
            "convention."
        )
    places = dict.fromkeys(
        f"{shape_label(pair.base.shape_name)} {pair.base.regime}" for pair in audit.alike
    )
    found = ", ".join(
        f"{significant(100 * audit.found(extra) / len(audit.of(extra)))} % of the slowdowns of "
        f"{significant(100 * extra, 1)} %"
        for extra in audit.extras
    )
    total, paired = len(audit.alike), sum(pair.ratio.rounds > 0 for pair in audit.alike)
    how = "" if paired == total else f", {total - paired} of them not by pairs of rounds"
    detected = f" At that resolution {found} are called slower." if found else ""
    compared = (
        f"One kernel was timed under several names at {', '.join(places)}, and compared with "
        f"itself in {total} pairs{how}"
    )
    few = f"at most {100 * LEVEL:g} % of these pairs are called different"
    if audit.resolution > COARSEST:
        needed = rho if audit.resolution <= STEPS[-1] else f"more than {100 * STEPS[-1]:g} %"
        return (
            f"{compared}: only with a resolution of {needed} {few}. That is "
            f"worse than {100 * COARSEST:g} %, so **this report judges no ratio**."
        )
    beyond = "" if audit.resolution else " beyond the interval itself"
    strict = audit.false(audit.resolution)
    return (
        f"{compared}: {audit.false(0.0)} of them come out different where any "
        f"interval that excludes 1 counts, {strict} where the whole interval must lie more than "
        f"{resolution_text(audit.resolution)} from it.{detected} "
        f"So the smallest difference that this report claims is {rho}{beyond}: the smallest "
        f"multiple of 0.05 % with which {few}."
    )


def table(audit: Audit) -> list[list[str]]:
    """A row for each amount of extra work; the first, none, is the kernel against itself."""
    rows = []
    for extra in [0.0, *audit.extras] if audit.audited else []:
        pairs = audit.of(extra) if extra else list(audit.alike)
        called = [pair.called(audit.resolution) for pair in pairs]
        name = f"with {significant(100 * extra, 1)} % more work" if extra else "with itself"
        right = "slower" if extra else "no difference"
        raw = [pair.called(0.0) for pair in pairs]
        wrong = sum(verdict != right for verdict in raw)
        counts = [called.count(v) for v in ("faster", "slower", "same", "no difference")]
        rows.append([name, *(str(n) for n in (len(pairs), *counts, wrong))])
    return rows
