"""Asked against measured: the claims about a ratio that do not hold, the widest miss first.

A mark's place is how far what was measured goes beyond what the claim's check asks for: left of
the line it is not as the claim says, whether that is "faster", "slower" or a share. A thin bar is
the range over what the document leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass

from recheck_report.charts.drawing import NotDrawn, nothing
from recheck_report.charts.message import factor
from recheck_report.claims import Check, Judged, Outcome
from recheck_report.claims.measured import Measured
from recheck_report.formatting import VERDICTS, duration, rate, significant
from recheck_report.record.verdicts import FAILS
from recheck_report.write.svg import FAINT, INK, WIDTH, Axis, Card, logarithmic

AXIS = "measured over asked (times, log; right of the line is as the claim says)"
STEP = 28.0  # points from claim to claim
UNITS = {"×": (1.0, "×"), "": (0.01, " %")}


@dataclass(frozen=True)
class Asked:
    """The bound of a check."""

    bound: float
    kind: str  # ">", "<", or "±" for a share on both sides of 1

    def beyond(self, value: float) -> float:
        """By which factor a value is on the claim's side of the bound; below 1 it is not."""
        if self.kind == "±":
            return (1 + self.bound) / max(value, 1 / value)
        return value / self.bound if self.kind == ">" else self.bound / value

    def text(self, unit: str) -> str:
        if self.kind == "±":
            return f"1 ± {100 * self.bound:g} %"
        return f"{self.kind} {_short(self.bound, unit)}"


def _short(value: float, unit: str) -> str:
    """ "1.23×", "11.4 %": three digits, without an interval."""
    if unit == "s":
        return duration(value)
    if unit not in UNITS:
        return rate(value, unit)
    scale, name = UNITS[unit]
    return f"{float(significant(value / scale)):g}{name}"


def _asked(check: Check) -> Asked | None:
    """None of a check that asks for no factor."""
    if check.form == "equivalent":
        return Asked(check.within or 0.0, "±")
    if check.form == "order":
        return Asked(1.0, ">")
    bounds = [(check.above, ">"), (check.at_least, ">"), (check.below, "<"), (check.at_most, "<")]
    return next((Asked(bound, kind) for bound, kind in bounds if bound and bound > 0), None)


def _ends(outcome: Outcome) -> tuple[float, float, float] | None:
    """Where its mark stands, with the interval; None of what has no interval or no bound."""
    bound = _asked(outcome.check)
    if not bound or not outcome.value or not outcome.low or not outcome.high:
        return None
    low, high = sorted((bound.beyond(outcome.low), bound.beyond(outcome.high)))
    value = bound.beyond(outcome.value)
    # an interval around 1 is nearest to "the same" inside
    return value, min(low, value), max(high, value)


@dataclass(frozen=True)
class _Row:
    judged: Judged
    outcome: Outcome
    bound: Asked
    ends: tuple[float, float, float]

    @property
    def range(self) -> tuple[()] | tuple[float, float]:
        """From the lowest to the highest, over what the document leaves open."""
        found = [ends for _, each in self.outcome.over if (ends := _ends(each))]
        return (min(e[1] for e in found), max(e[2] for e in found)) if found else ()

    @property
    def then(self) -> tuple[float, ...]:
        """Where the document's own figure stands; empty where it is no ratio."""
        claimed = self.judged.claim.claimed or 0.0
        there = claimed > 0 and self.outcome.unit in ("×", "")
        return (self.bound.beyond(claimed),) if there else ()


def _rows(own: Measured) -> list[_Row]:
    """The claims that were timed and do not hold, the widest miss first."""
    found = []
    for judged in own.judgement.claims:
        outcome = judged.headline if judged.verdict != "holds" else None
        bound = _asked(outcome.check) if outcome else None
        ends = _ends(outcome) if outcome else None
        if outcome and bound and ends:
            found.append(_Row(judged, outcome, bound, ends))
    return sorted(found, key=lambda row: row.ends[0])


def strip(own: Measured) -> Card:
    """The claims on one record that miss, with what each asks for."""
    rows = _rows(own)
    if not rows:
        if not own.record.gpu_measured:
            raise nothing(own.record)
        raise NotDrawn("no claim that comes to a ratio misses what it asks for")
    note = "Coloured: measured, with its 95 % interval; thin: the range over what the document "
    note += "leaves open; hollow: the document's own figure. Shares: of another row's rate. Claims "
    note += "that hold, and those about no ratio, are not drawn."
    card = Card(_message(rows), note, STEP * len(rows) + 48)
    values = [value for row in rows for value in (*row.ends, *row.range, *row.then)]
    span = min(0.8, *values) / 1.3, max(1.25, *values) * 1.3
    x = logarithmic(*span, WIDTH - 150, lambda x: f"{x:g}×")
    panel = card.panel(x, Axis(STEP * len(rows), 0), 20, 130, bottom=38)
    panel.frame(AXIS)
    panel.vertical(1, INK, 1.2)
    for at, row in enumerate(rows):
        y, claim, unit = STEP * at, row.judged.claim, row.outcome.unit
        look = VERDICTS[row.judged.verdict]
        card.text(panel.left, panel.py(y + 6), f"{claim.id}  {claim.title}", backed=True)
        panel.beside(y + 6, row.judged.verdict, color=look.color, bold=True)
        asked = f"asked {row.bound.text(unit)}"
        panel.beside(y + 17, f"{_short(row.outcome.value or 0.0, unit)}, {asked}")
        if row.range:
            panel.level(y + 17, *row.range, FAINT, 1.2)
        for then in row.then:
            panel.dots([(y + 17, then, then, then)], INK, "o", size=7, hollow=True)
        panel.dots([(y + 17, *row.ends)], look.color, look.marker, size=6)
    return card


def _message(rows: list[_Row]) -> str:
    """Which claim misses by the most."""
    missing = [row for row in rows if row.judged.verdict in FAILS]
    if not missing:
        return f"{len(rows)} claims about a ratio do not hold, none fails"
    worst = missing[0]
    claim = worst.judged.claim
    text = f"Furthest from what was said: {claim.title} ({claim.id})"
    if worst.ends[0] < 1:
        text += f", by a factor of {factor(1 / worst.ends[0])}"
    return text
