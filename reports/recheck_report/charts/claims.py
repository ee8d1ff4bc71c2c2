"""Said against measured: the claims about a ratio whose measured value misses, the widest first.

A mark's place is how far what was measured goes beyond what the claim's check asks for: left of
the line it is not as the claim says, whether that is "faster", "slower" or a share. A thin bar is
the range over what the document leaves open.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recheck_report.charts.drawing import Limit, NotDrawn, Row, fold, nothing, rows
from recheck_report.claims.checks import Check
from recheck_report.claims.evaluate import Outcome
from recheck_report.claims.judge import Judged
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, factor, rate, significant
from recheck_report.record.verdicts_json import FAILS
from recheck_report.say.check import of_other_case
from recheck_report.say.verdicts import VERDICTS
from recheck_report.write.svg import INK, MARGIN, WIDTH, Card, logarithmic

KIND = "Said against measured"
NOTE = (
    "Right of the line is as the claim says. Coloured: measured, with its 95 % interval; thin: the "
    "range over what the document leaves open. Said: the bound of the claim's check, unless that "
    "only asks which of two is faster. Claims whose measured ratio is as they say are not drawn."
)


def title(missing: Sequence[tuple[Judged, str]]) -> str:
    """Which claim misses by the most, with what was said and measured; the widest miss first."""
    failing = [each for each in missing if each[0].verdict in FAILS]
    if not failing:
        return "No claim about a ratio fails; those shown depend, or are undecided"
    (judged, said), *_ = failing
    return f"Furthest off of those timed: {judged.claim.title} ({judged.claim.id}): {said}"


def value(of: float, unit: str, exact: bool = False) -> str:
    """ "1.23×", "1/9.10", "3.8 %", "12.5 GFLOP/s": without an interval."""
    if unit == "s":
        return duration(of)
    if unit == "%":  # of a share
        return f"{100 * of:g} %" if exact else f"{significant(100 * of, 2)} %"
    return fold(of, exact) if unit in ("×", "") else rate(of, unit)


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

    def said(self, outcome: Outcome) -> str:
        """ "said > 30×, measured 1.25×"; of a check that asks which of two is faster, "measured 57×
        the other way"."""
        unit = "%" if outcome.check.form == "fraction_of_roof" else outcome.unit
        measured, bound = outcome.value or 1.0, f"{self.kind} {value(self.bound, unit, exact=True)}"
        far = f"{factor(max(measured, 1 / measured))}×"
        if of_other_case(outcome.check):
            said = value(1 / self.bound, "×", exact=True)
            return f"said > {said}, measured {value(1 / measured, '×')}"
        if self.kind == "±":
            return f"said equal within {100 * self.bound:g} %, measured {far} apart"
        if unit == "×" and self.bound == 1:
            return f"measured {far} the other way"
        if unit == "×" and self.kind == ">" and measured < 1 < self.bound:
            return f"said {bound}, measured {far} the other way"
        return f"said {bound}, measured {value(measured, unit)}"


def _asked(check: Check) -> Asked | None:
    """None of a check that asks for no factor."""
    if check.form == "equivalent":
        return Asked(check.within or 0.0, "±")
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


def draw(report: Measured) -> Card:
    """The claims whose measured ratio is not as they say, the widest miss first."""
    made: list[tuple[Judged, str, Row]] = []
    claims = [judged for judged in report.judgement.claims if judged.verdict != "holds"]
    for judged, shown in ((judged, shown) for judged in claims if (shown := judged.headline)):
        bound, ends = _asked(shown.check), _ends(shown)
        if not bound or not ends or ends[0] >= 1:
            continue
        over = [at for _, each in shown.over if (at := _ends(each))]
        span = (min(at[1] for at in over), max(at[2] for at in over)) if over else ()
        look, said = VERDICTS[judged.verdict], bound.said(shown)
        name = f"{judged.claim.id}  {judged.claim.title}: {said}"
        row = Row(name, judged.verdict, ends, (look.color, look.marker), span, look.color)
        made.append((judged, said, row))
    made.sort(key=lambda each: each[-1].ends[0])
    if not made:
        if report.record.lacks_gpu:
            raise nothing(report.record)
        raise NotDrawn("no claim that comes to a ratio misses what it asks for")
    words = title([(judged, said) for judged, said, _ in made]), NOTE
    drawn = [row for *_, row in made]
    values = [value for row in drawn for value in (*row.ends, *row.range)]
    low, high = min(0.8, *values) / 1.3, max(1.25, *values) * 1.3
    x = logarithmic(low, high, WIDTH - 2 * MARGIN, lambda x: f"{x:g}×")
    return rows(words, drawn, x, "measured over said (log)", bars=False, limits=[Limit(1, "", INK)])
