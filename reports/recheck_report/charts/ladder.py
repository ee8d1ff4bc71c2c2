"""The ladder: the rate of each way to compute, slow to fast, under that of a copy or the limit."""

from __future__ import annotations

from recheck_report.charts.drawing import Bar, Limit, NotDrawn, bars, leading, nothing, timed
from recheck_report.claims.measured import Measured
from recheck_report.formatting import shape_label
from recheck_report.queries import ceiling_row, first_kernel, metric_of, reference
from recheck_report.record.record import Case, Experiment
from recheck_report.say import charts as say
from recheck_report.say.standings import contenders
from recheck_report.write.svg import Card

TITLE = "The ladder"
MOST = 12  # bars


def draw(own: Measured, experiment: Experiment) -> Card:
    record, shape = own.record, experiment.headline
    base_name = first_kernel(record, experiment)
    regime = record.ranked_by(experiment)
    base = record.find(experiment, base_name or "", shape, regime)
    if not record.gpu_measured:
        raise nothing(record)
    if base is None or base.seconds is None:
        why = base.why_not if base else "the record holds no such case"
        raise NotDrawn(f"its base, {base_name} at {shape_label(shape)}: {why}")
    lead = leading(own, experiment) or base
    rows = []
    for name, case in _shown(own, experiment, base, lead).items():
        speed = own.comparisons.ratio(base, case).value
        rows.append(Bar(name, case, ("–" if case is base else say.times(speed), case.strategy)))
    if len(rows) == 1:
        raise NotDrawn("no other kernel solves the problem")
    rows.sort(key=lambda row: -row.case.time.median)
    library = record.timed(experiment, reference(record, experiment, lead.layout), shape)
    words = say.ladder(own, base, lead, library), say.ladder_note(experiment, regime)
    return bars(own, experiment, words, rows, ("speed-up", "kernel"), _limits(own, experiment))


def _limits(own: Measured, experiment: Experiment) -> list[Limit]:
    """A kernel that only moves the same bytes; without one, the machine's limit."""
    record, metric = own.record, metric_of(own.record, experiment)
    if copy := record.timed(experiment, ceiling_row(record, experiment), experiment.headline):
        return [Limit(f"ceiling: {copy.strategy}", metric.rates(copy)[0])]
    limit = metric.limit(record)
    return [Limit(metric.ceiling_label, limit)] if limit else []


def _shown(own: Measured, experiment: Experiment, base: Case, lead: Case) -> dict[str, Case]:
    """The first kernel, the fastest and others by their names, which are unique: of each source the
    fastest, and of those with one name the fastest."""
    rows = [row for row in contenders(own, experiment) if row.fp32]
    cases = timed(own.record, experiment, rows, base.shape_name)
    named = {say.plain_name(own, base): base}
    if say.plain_name(own, lead) in named and lead is not base:
        named[lead.strategy] = lead
    sources = set[str]()
    # the slowest kernels go where there are too many
    for case in sorted(cases, key=lambda case: case.role == "rung"):
        source = f"{case.source}{case.layout}{case.role}"
        name = say.plain_name(own, case)
        if name in named or len(named) == MOST or len(cases) > MOST and source in sources:
            continue
        named[name] = case
        sources.add(source)
    return named
