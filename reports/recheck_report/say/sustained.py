"""Sustained load: what kernels at the headline shape keep of the rate of single launches."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, shape_label, significant, spread
from recheck_report.queries import metric_of
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.say.nodes import Section, Text, blocks, code, joined, marked, table, text

NOTE = """Sustained launches run back to back for two seconds, once the time per launch (within
0.5 %) and the power (within 2 %) have been stable for four half seconds, or after 6 s. Inputs
rotate, so no cache holds them. *Briefly* is a few launches back to back (hot), or cold ones where
hot was not measured. The change is from *briefly* to *sustained*. If memory limits a launch that
writes much, hot is slower than cold: the launch waits for bytes that the previous one left in L2.
If you time back-to-back launches in your own loop, compare with the sustained column."""
SAME = 0.01  # single launches differ by nearly as much from run to run


@dataclass(frozen=True)
class Row:
    """A kernel at the headline: single launches, and launches back to back for seconds."""

    single: Case | None  # in the regime that ranks the experiment's rows: cold or drained
    brief: Case | None  # a few launches back to back: hot; cold where that was not measured
    over: Case

    @property
    def name(self) -> Text:
        return text(code(self.over.strategy), self.over.marks)

    @property
    def change(self) -> float | None:
        """The sustained rate over the brief one, less 1: −0.02 for a loss of 2 %."""
        return self.brief.time.median / self.over.time.median - 1 if self.brief else None


def rows_of(record: Record, experiment: Experiment) -> list[Row]:
    """Those with a sustained time, the fastest single launch first."""
    rows = []
    for row in record.strategies(experiment):
        single, hot, cold, over = (
            record.timed(experiment, row.strategy, experiment.headline, regime)
            for regime in (record.ranked_by(experiment), "hot", "cold", "sustained")
        )
        if over:
            rows.append(Row(single, hot or cold, over))
    return sorted(rows, key=lambda row: (row.single or row.over).time.median)


def _order(report: Measured, rows: list[Row]) -> tuple[list[Text], list[Text]]:
    """The pairs of ranked kernels whose order changes under sustained load, and those whose order
    is no longer significant."""

    def faster(case: Case | None, base: Case | None) -> bool:
        if not case or not base:
            return False
        return report.comparisons.verdict(base, case).outcome == "faster"

    turned, unsure = [], []
    for a, b in combinations([row for row in rows if not row.over.marks], 2):
        if not faster(a.single, b.single):
            continue
        if faster(b.over, a.over):
            turned.append(text(b.name, " is faster than ", a.name))
        elif not faster(a.over, b.over):
            unsure.append(text(a.name, "'s lead over ", b.name))
    return turned, unsure


def sentence(report: Measured, experiment: Experiment, rows: list[Row]) -> Text:
    """ "Under sustained load `stream_k` loses 2.1 %, the others stay within 1 %. Their order stays
    the same." """
    changes = [(row.name, by) for row in rows if (by := row.change) is not None]
    if not changes:
        return text()
    listed = [
        text(name, f" {'loses' if by < 0 else 'gains'} {100 * abs(by):.1f} %")
        for name, by in changes
        if abs(by) >= SAME
    ]
    if len(listed) < len(changes):
        listed.append(text(f"{'the others stay' if listed else 'all kernels stay'} within 1 %"))
    turned, unsure = _order(report, rows)
    regimes = sorted({row.brief.regime for row in rows if row.brief})
    order = text(" Their order stays the same.")
    if turned:
        order = text(" Their order changes: ", joined(", ", turned), ".")
    elif unsure:
        order = text(" No longer significant: ", joined(", ", unsure), ".")
    lead = f"Under sustained load, compared with {' and '.join(regimes)} rates, "
    return text(lead, joined(", ", listed), ".", order)


def section(report: Measured, experiment: Experiment) -> Section | None:
    """The times of each row with what the GPU did meanwhile; None without such rows."""
    shown_rows, metric = rows_of(report.record, experiment), metric_of(report.record, experiment)
    if not shown_rows:
        return None

    def rate(case: Case | None) -> str:
        return significant(metric.rate(case, case.time.median)) if case else NONE

    def signed(change: float | None) -> str:
        return NONE if change is None else f"{100 * change:+z.1f} %".replace("-", "−")

    def clock(case: Case | None) -> str:
        return f"{case.clock_hz / 1e9:.2f}" if case and case.clock_hz else NONE

    rows: list[list[Text | str]] = []
    for row in shown_rows:
        over, power, settling = row.over, row.over.power, row.over.settling
        state, settled = [NONE], NONE
        if power:
            measured = (power.watts, "W"), (power.temperature_c, "°C")
            states = [f"{value:.0f} {unit}" for value, unit in measured if value is not None]
            state = [*states, *power.throttle] or [NONE]
        if settling:
            settled = f"{'' if settling.settled else 'not '}in {settling.seconds:.1f} s"
        rows.append([
            row.name,
            rate(row.single),
            f"{rate(row.brief)}{f' {row.brief.regime}' if row.brief else ''}",
            f"{rate(over)} {metric.unit} {spread(over.time)}",
            signed(row.change),
            f"{clock(row.single)} → {clock(over)} GHz",
            ", ".join(state).replace("_", " "),
            settled,
        ])  # fmt: skip
    disturbed = sorted({f"{row.over.disturbed}." for row in shown_rows if row.over.disturbed})
    where = marked(f" Measured at {shape_label(experiment.headline)}. {NOTE}")
    note = joined(" ", (text(sentence(report, experiment, shown_rows), where), *disturbed))
    single = report.record.ranked_by(experiment)
    columns = ["kernel", single, "briefly", "sustained", "change", f"clock {single} → sustained"]
    columns += ["power, temperature, throttled by", "settled"]
    shown = table(columns, rows, range(1, 7))
    return Section(text("Sustained load"), blocks(note, shown), "sustained")
