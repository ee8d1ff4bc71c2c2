"""Peak and sustained: what rows reach at the headline shape in a short burst, and over seconds."""

from __future__ import annotations

from dataclasses import dataclass

from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, cell, prose, shape_label, significant
from recheck_report.model.record import Case, Experiment, Record
from recheck_report.queries import metric_of
from recheck_report.sections.tables import Table

COLUMNS = ["row", "burst", "sustained", "falls by", "clock", "power", "GPU", "settled after"]
NOTE = """Burst: cold, as above. Sustained: launches back to back over inputs that no cache holds,
until pace and power have settled, and then for seconds."""


@dataclass(frozen=True)
class Pair:
    """A row at the headline: launches in a short burst, and back to back over seconds."""

    burst: Case
    over: Case

    @property
    def falls(self) -> float:
        """By what share the rate falls from the one to the other; negative where it rises."""
        return 1 - self.burst.time.median / self.over.time.median


def pairs(record: Record, experiment: Experiment) -> list[Pair]:
    """Those that have both times, the fastest burst first."""
    found = []
    for row in record.strategies(experiment):
        cold, hot, over = (
            record.timed(experiment, row.strategy, experiment.headline, regime)
            for regime in ("cold", "hot", "sustained")
        )
        if over and (burst := cold or hot):
            found.append(Pair(burst, over))
    return sorted(found, key=lambda pair: pair.burst.time.median)


def _turns(own: Measured, found: list[Pair]) -> str:
    """Which rows are faster over seconds, and slower in a burst; empty where the order stays."""

    def faster(case: Case, base: Case) -> bool:
        return own.comparisons.verdict(base, case).outcome == "faster"

    return ", ".join(
        f"over seconds `{b.burst.strategy}` is faster than `{a.burst.strategy}`"
        for a in found
        for b in found
        if faster(a.burst, b.burst) and faster(b.over, a.over)
    )


def sentence(own: Measured, found: list[Pair]) -> str:
    """ "`stream_k` falls by 2.1 %, `cublas` by 3.4 %: the order stays." """
    falls = ", ".join(
        f"`{each.burst.strategy}` {'falls' if each.falls >= 0 else 'rises'} by {_share(each)}"
        for each in found
    )
    turns = _turns(own, found)
    return f"{falls}: the order {f'turns: {turns}' if turns else 'stays'}."


def _share(pair: Pair) -> str:
    return f"{100 * abs(pair.falls):.1f} %"


def summary(own: Measured) -> str:
    """Where the order of rows is another over seconds than in a burst; empty where it stays."""
    found = {each: _turns(own, pairs(own.record, each)) for each in own.record.ordinary}
    said = "; ".join(f"{prose(each.title)}: {turns}" for each, turns in found.items() if turns)
    return f"**Sustained load turns the order** of rows. {said}." if said else ""


def table(own: Measured, experiment: Experiment) -> list[Table]:
    """Both times of each row with what the GPU did meanwhile; empty without such rows."""
    found, metric = pairs(own.record, experiment), metric_of(own.record, experiment)
    rows = []
    for pair in found:
        over, power, settling = pair.over, pair.over.power, pair.over.settling
        state = ", ".join([f"{power.temperature_c:.0f} °C", *power.throttle]) if power else NONE
        after = f"{settling.seconds:.1f} s" if settling else NONE
        if settling and not settling.settled:
            after = f"not settled in {after}"
        rows.append([
            f"`{pair.burst.strategy}`{pair.burst.marks}",
            *(
                f"{significant(metric.rate(case, case.time.median))} {metric.unit}"
                for case in (pair.burst, over)
            ),
            f"{'−' if pair.falls < 0 else ''}{_share(pair)}",
            f"{over.clock_hz / 1e9:.2f} GHz" if over.clock_hz else NONE,
            f"{power.watts:.0f} W" if power else NONE,
            cell(state.replace("_", " ")),
            after,
        ])  # fmt: skip
    notes = [f"{sentence(own, found)} At {shape_label(experiment.headline)}. {NOTE}"]
    notes += sorted({f"{cell(pair.over.disturbed)}." for pair in found if pair.over.disturbed})
    table = Table("Peak and sustained", "sustained", COLUMNS, rows, [1, 2, 3, 4, 5], notes)
    return [table] if found else []
