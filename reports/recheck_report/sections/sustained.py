"""Peak and sustained: what rows reach at the headline shape in a short burst, and over seconds."""

from __future__ import annotations

from dataclasses import dataclass

from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, cell, shape_label, significant
from recheck_report.model.record import Case, Experiment, Record
from recheck_report.queries import metric_of
from recheck_report.sections.tables import Table

COLUMNS = ["row", "burst", "sustained", "falls by", "clock", "power", "GPU", "settled after"]
UNSETTLED = "not settled"


@dataclass(frozen=True)
class Pair:
    """A row at the headline: launches in a short burst, and back to back over seconds."""

    burst: Case
    over_seconds: Case

    @property
    def falls(self) -> float:
        """By what share the rate falls from the one to the other; negative where it rises."""
        return 1 - self.burst.time.median / self.over_seconds.time.median


def pairs(record: Record, experiment: Experiment) -> list[Pair]:
    """Those that have both times, the fastest burst first."""
    found = []
    for row in record.strategies(experiment):
        cases = (
            record.find(experiment, row.strategy, experiment.headline, regime)
            for regime in ("hot", "cold", "sustained")
        )
        hot, cold, over = (case if case and case.seconds else None for case in cases)
        if over and (burst := hot or cold):
            found.append(Pair(burst, over))
    return sorted(found, key=lambda pair: pair.burst.time.median)


def turned(found: list[Pair]) -> list[tuple[Pair, Pair]]:
    """Those of which the first is faster in the burst and the second over seconds, beyond the
    intervals of both."""
    return [
        (first, second)
        for first in found
        for second in found
        if first.burst.time.high < second.burst.time.low
        and second.over_seconds.time.high < first.over_seconds.time.low
    ]


def sentence(found: list[Pair]) -> str:
    """ "`stream_k` falls by 2.1 %, `cublas` by 3.4 %: the order stays." """
    parts = []
    for pair in found:
        how = f"rises by {-pair.falls:.1%}" if pair.falls < 0 else f"falls by {pair.falls:.1%}"
        parts.append(f"`{pair.burst.strategy}` {how.replace('%', ' %')}")
    order = [
        f"over seconds `{second.burst.strategy}` is faster than `{first.burst.strategy}`"
        for first, second in turned(found)
    ]
    end = f"the order turns: {', '.join(order)}" if order else "the order stays"
    return f"{', '.join(parts)}: {end}."


def table(own: Measured, experiment: Experiment) -> list[Table]:
    """Both times of each row with what the GPU did meanwhile; empty without such rows."""
    found, metric = pairs(own.record, experiment), metric_of(own.record, experiment)
    if not found:
        return []
    rows = []
    for pair in found:
        power, settling, clock = (
            getattr(pair.over_seconds, n) for n in ("power", "settling", "clock_hz")
        )
        held = ", ".join(power.throttle).replace("_", " ") if power else ""
        line = [f"`{pair.burst.strategy}`{pair.burst.marks}"]
        line += [
            f"{significant(metric.rate(case, case.time.median))} {metric.unit}"
            for case in (pair.burst, pair.over_seconds)
        ]
        line.append(f"{pair.falls:.1%}".replace("%", " %"))
        line.append(f"{clock / 1e9:.2f} GHz" if clock else NONE)
        line.append(f"{power.watts:.0f} W" if power else NONE)
        line.append(
            cell(f"{power.temperature_c:.0f} °C{f', {held}' if held else ''}") if power else NONE
        )
        seconds = f"{settling.seconds:.1f} s" if settling else NONE
        line.append(seconds if not settling or settling.settled else f"{UNSETTLED} in {seconds}")
        rows.append(line)
    note = f"{sentence(found)} At {shape_label(experiment.headline)}. Burst: samples of a few "
    note += (
        "milliseconds between those of other rows. Sustained: launches back to back over inputs "
    )
    note += "that no cache holds, until pace and power have settled, and then for seconds."
    odd = {case.disturbed for pair in found if (case := pair.over_seconds).disturbed}
    notes = [note, *(f"{cell(each)}." for each in sorted(map(str, odd)))]
    return [Table("Peak and sustained", "sustained", COLUMNS, rows, [1, 2, 3, 4, 5], notes)]
