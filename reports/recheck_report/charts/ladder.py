"""The ladder: the rate of each way to compute, slow to fast, under that of a copy or the limit."""

from __future__ import annotations

from collections.abc import Sequence

from recheck_report.charts import drawing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import factor, shape_label, significant, speed
from recheck_report.queries import ceiling_row, first_kernel, metric_of, reference
from recheck_report.record.record import Case, Experiment
from recheck_report.say.standings import contenders
from recheck_report.write.svg import Card

KIND = "The ladder"
MOST = 12  # rows


def title(report: Measured, base: Case, lead: Case, library: Case | None) -> str:
    """How far the kernels come from the first way, and how far the library is from that."""
    first, name = drawing.plain_name(report, base), drawing.plain_name(report, lead)
    gains = lead is not base and drawing.outcome(report, base, lead) == "faster"
    found = f"No kernel is significantly faster than {first}"
    if gains:
        name = lead.strategy if name == first else name
        gained = speed(report.comparisons.ratio(base, lead).value)
        found = f"{drawing.start(name)}: {gained} than {first}"
    if library and lead is not library:
        how = drawing.outcome(report, lead, library)
        against = report.comparisons.ratio(lead, library)
        if how == "faster":
            found += f"; {library.strategy} is {speed(against.value)} still"
        elif how != "slower":
            found += f"; {library.strategy} is not significantly different"
        elif gains:
            found += f" and {speed(against.inverse.value)} than {library.strategy}"
    return f"{found} ({base.regime})"


def draw(report: Measured, experiment: Experiment) -> Card:
    record, shape = report.record, experiment.headline
    base_name = first_kernel(record, experiment)
    regime = record.ranked_by(experiment)
    base = record.find(experiment, base_name or "", shape, regime)
    if not record.gpu_measured:
        raise drawing.nothing(record)
    if base is None or base.seconds is None:
        why = base.why_not if base else "the record holds no such case"
        raise drawing.NotDrawn(f"its base, {base_name} at {shape_label(shape)}: {why}")
    names = (row.strategy for row in contenders(report, experiment) if row.fp32)
    cases = drawing.timed(record, experiment, names, shape)
    base = _fastest_alike(report, base, cases)
    lead = drawing.leading(report, experiment) or base
    shown, rows = _shown(report, base, lead, cases), []
    if len(shown) == 1:
        raise drawing.NotDrawn("no other kernel solves the problem")
    for name, case in sorted(shown.items(), key=lambda pair: -pair[1].time.median):
        gain = "" if case is base else f"{factor(report.comparisons.ratio(base, case).value)}×"
        more = case.strategy if case.strategy.replace("_", " ") != name else ""
        rows.append(drawing.kernel(metric_of(record, experiment), case, name, gain, more=more))
    library = record.timed(experiment, reference(record, experiment, lead.layout), shape)
    note = f"{drawing.where(experiment, regime)} Of each way to compute, the fastest kernel. "
    note += drawing.INTERVALS
    words = title(report, base, lead, library), note
    limits, beside = _limits(report, experiment), f"speed-up over {base.strategy}"
    return drawing.kernels(report, experiment, words, rows, limits, beside)


def _fastest_alike(report: Measured, first: Case, cases: Sequence[Case]) -> Case:
    """The fastest kernel that computes as the first one does, in a reader's words."""
    name = drawing.plain_name(report, first)
    alike = [case for case in cases if drawing.plain_name(report, case) == name]
    return min(alike, key=lambda case: case.time.median, default=first)


def _limits(report: Measured, experiment: Experiment) -> list[drawing.Limit]:
    """A kernel that only moves the same bytes; without one, the machine's limit."""
    record, metric = report.record, metric_of(report.record, experiment)
    name, limit = metric.ceiling_label, metric.limit(record)
    if copy := record.timed(experiment, ceiling_row(record, experiment), experiment.headline):
        name, limit = f"ceiling: {copy.strategy}", metric.rates(copy)[0]
    return [drawing.Limit(limit, f"{name} {significant(limit)}")] if limit else []


def _shown(report: Measured, base: Case, lead: Case, cases: Sequence[Case]) -> dict[str, Case]:
    """The base, the fastest and others by their names, which are unique: of each source the
    fastest, and of those with one name the fastest."""
    named = {drawing.plain_name(report, base): base}
    if drawing.plain_name(report, lead) in named and lead is not base:
        named[lead.strategy] = lead
    sources = set[str]()
    # the slowest kernels go where there are too many
    for case in sorted(cases, key=lambda case: case.role == "rung"):
        source = f"{case.source}{case.layout}{case.role}"
        name = drawing.plain_name(report, case)
        if name in named or len(named) == MOST or len(cases) > MOST and source in sources:
            continue
        named[name] = case
        sources.add(source)
    return named
