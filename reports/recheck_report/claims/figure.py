"""What a check came to, as a part of a sentence: "1.25 times", "9.0 %", "1.18 ms"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recheck_report.formatting import duration, plain, rate, significant
from recheck_report.statistics.paired import of_rounds

if TYPE_CHECKING:  # which is made of claims
    from recheck_report.claims.predicates import Outcome

# what {key.part} may ask for: the ends over all choices, the two times of a ratio, and a share the
# other way round
PARTS = ("range", "base", "other", "times")
TIMES = "×"


def filled(text: str, known: dict[str, Outcome]) -> str | None:
    """A text with the values of checks in the places of their keys; None where one has no value."""
    places = re.findall(r"({(\w+)(?:\.(\w+))?})", text)
    asked = {(key, part) for _, key, part in places}
    for place, key, part in places:
        outcome = known[key]
        found = figure(outcome, part)
        if found is None:
            return None
        has_times = {(key, "base"), (key, "other")} <= asked
        if has_times and not part and outcome.value and outcome.seconds:
            found += of_rounds(outcome.value, *outcome.seconds)
        text = text.replace(place, found)
    return text


def figure(outcome: Outcome, part: str = "") -> str | None:
    """The value of an outcome, or a part of it; None if there is none."""
    if part in ("base", "other"):
        return duration(outcome.seconds[part == "other"]) if outcome.seconds else None
    if part == "range":
        values = [each.value for _, each in outcome.over or (("", outcome),)]
        known = [each for each in values if each is not None]
        if not known:
            return None
        low, high = (_written(each, outcome) for each in (min(known), max(known)))
        return high if low == high else f"{low.removesuffix(' times').removesuffix(' %')} to {high}"
    if outcome.value is None:
        return None
    if part == "times":
        return f"{significant(1 / outcome.value)} times" if outcome.value else None
    return _written(outcome.value, outcome)


def _written(value: float, outcome: Outcome) -> str:
    if outcome.unit == TIMES:
        return f"{significant(value)} times"
    if outcome.check.unit:
        return rate(value, outcome.check.unit)
    if outcome.check.form == "fraction_of_roof":
        return f"{significant(100 * value)} %"
    return plain(value) if value == int(value) else significant(value)
