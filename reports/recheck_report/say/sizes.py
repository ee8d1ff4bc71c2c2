"""Which rows tell the story of an experiment over sizes, and where the best of them is faster than
the library."""

from __future__ import annotations

from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label
from recheck_report.queries import first_kernel, reference, square_sizes
from recheck_report.record.record import Case, Experiment
from recheck_report.say.standings import contests, standing
from recheck_report.say.times import regime as name_of

MOST = 7  # rows that a plot over sizes draws
ALIKE = "not significantly different from"
WORDS = {"faster": "faster than", "no difference": ALIKE, "slower": "slower than"}


def drawn(report: Measured, experiment: Experiment) -> list[str]:
    """The library, the first kernel, and what is fastest at some size."""
    record = report.record
    rows = [reference(record, experiment), first_kernel(record, experiment)]
    for _, shape in reversed(square_sizes(record, experiment)):
        for contest in contests(report, experiment):
            best = standing(report, experiment, contest, shape).best
            rows.append(best.strategy if best else None)
    return list(dict.fromkeys(filter(None, rows)))[:MOST]


def finding(report: Measured, experiment: Experiment, regime: str, drawn: list[str]) -> str:
    """ "Matrix multiplication, cold: tile32 is faster than cublas at 1024³; slower than cublas at
    4096³": the row that is fastest at the largest size, of those that are drawn."""
    record, library = report.record, reference(report.record, experiment)
    title = f"{experiment.title}, {name_of(regime)}"
    shapes = [shape for _, shape in square_sizes(record, experiment)]

    def timed(strategy: str, shape: str) -> Case | None:
        return record.timed(experiment, strategy, shape, regime)

    names = (name for name in drawn if name != library)
    rows = [timed(name, shape) for name in names for shape in shapes[-1:]]
    equals = (row for row in rows if row and row.fp32)
    best = min(equals, key=lambda row: row.time.median, default=None)
    if not library or not best:
        return title
    labels: dict[str, list[str]] = {words: [] for words in WORDS.values()}
    for shape in shapes:
        base, case = timed(library, shape), timed(best.strategy, shape)
        if base and case:
            outcome = report.comparisons.verdict(base, case).outcome
            words = WORDS.get(outcome, ALIKE)
            labels[words].append(shape_label(shape))
    parts = (f"{words} {library} at {', '.join(at)}" for words, at in labels.items() if at)
    return f"{title}: {best.strategy} is {'; '.join(parts)}"
