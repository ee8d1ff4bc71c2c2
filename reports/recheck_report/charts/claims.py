"""Said against measured: the claims about a ratio that do not hold, the widest miss first.

A mark's place is how far what was measured goes beyond what the claim's check asks for: left of
the line it is not as the claim says, whether that is "faster", "slower" or a share. A thin bar is
the range over what the document leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass

from recheck_report.charts.drawing import NotDrawn, nothing
from recheck_report.claims import Check, Judged, Outcome
from recheck_report.claims.measured import Measured
from recheck_report.formatting import VERDICTS
from recheck_report.say import charts as say
from recheck_report.write.svg import FAINT, INK, MARGIN, WIDTH, Axis, Card, logarithmic

AXIS = "measured over said (log; right of the line is as the claim says)"
STEP, RIGHT = 31.0, 168.0  # points from claim to claim, and to the right of the panel


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
            return f"1 ± {self.bound:g}×"
        return f"{self.kind} {say.value(self.bound, unit, exact=True)}"


def _asked(check: Check) -> Asked | None:
    """None of a check that asks for no factor."""
    if check.form == "equivalent":
        return Asked(check.within or 0.0, "±")
    if check.form == "order":
        return Asked(1.0, ">")
    bounds = [(check.above, ">"), (check.at_least, ">"), (check.below, "<"), (check.at_most, "<")]
    return next((Asked(bound, kind) for bound, kind in bounds if bound and bound > 0), None)


def _ends(outcome: Outcome) -> tuple[float, float, float] | None:
    """Where its mark stands, with the interval; None without an interval or a bound."""
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
    def said(self) -> str:
        """ "said > 30×, measured 1.25×"."""
        unit = "%" if self.outcome.check.form == "fraction_of_roof" else self.outcome.unit
        return f"said {self.bound.text(unit)}, measured {say.value(self.outcome.value or 0, unit)}"


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
    message = say.claims([(row.judged, row.said) for row in rows])
    card = Card(message, say.CLAIMS, STEP * len(rows) + 48)
    values = [value for row in rows for value in (*row.ends, *row.range)]
    span = min(0.8, *values) / 1.3, max(1.25, *values) * 1.3
    x = logarithmic(*span, WIDTH - 20 - RIGHT, lambda x: f"{x:g}×")
    panel = card.panel(x, Axis(STEP * len(rows), 0), 20, RIGHT, bottom=38)
    panel.frame(AXIS)
    for at, row in enumerate(rows):
        y, claim = STEP * at, row.judged.claim
        look = VERDICTS[row.judged.verdict]
        card.text(panel.left, panel.py(y + 6), f"{claim.id}  {claim.title}", backed=True)
        end = WIDTH - MARGIN, panel.py(y + 6)
        card.text(*end, row.judged.verdict, look.color, bold=True, anchor="end", backed=True)
        panel.beside(y + 19, row.said)
        line = [(panel.px(1), panel.py(y + part)) for part in (13, 25)]  # not through the titles
        card.path(line, INK, 1.2)
        if row.range:
            panel.level(y + 19, *row.range, FAINT, 1.2)
        panel.dots([(y + 19, *row.ends)], look.color, look.marker, size=6)
    return card
