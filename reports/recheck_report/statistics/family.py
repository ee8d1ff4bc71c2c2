"""All comparisons of one record, and Holm's correction of those that verdicts rest on."""

from __future__ import annotations

from dataclasses import replace
from weakref import WeakKeyDictionary

from recheck_report.model.record import Case, Record
from recheck_report.statistics.audit import audit
from recheck_report.statistics.paired import LEVEL, compare
from recheck_report.statistics.ratio import Ratio


def holm(values: dict[object, float]) -> dict[object, float]:
    """The p-values of a family, adjusted so that all of its verdicts together err at one level."""
    adjusted, worst = {}, 0.0
    for at, key in enumerate(sorted(values, key=lambda key: (values[key], str(key)))):
        worst = max(worst, min(1.0, (len(values) - at) * values[key]))
        adjusted[key] = worst
    return adjusted


class Comparisons:
    """All comparisons of one record. Those that its claims and findings make are one family."""

    def __init__(self, record: Record) -> None:
        self.audit = audit(record)
        self.resolution = self.audit.resolution
        self.family: dict[object, float] = {}  # p-values, by the ids of the two cases
        self.closed = False
        self._adjusted: dict[object, float] = {}
        self._known: dict[tuple[str, str, float], Ratio] = {}

    def ratio(self, base: Case, other: Case, against: float = 1.0) -> Ratio:
        """For a table or a chart, which show an interval and give no verdict."""
        key = base.id, other.id, against
        if key not in self._known:
            found = compare(base, other, against)
            self._known[key] = replace(found, resolution=self.resolution)
        return self._known[key]

    def verdict(self, base: Case, other: Case, against: float = 1.0) -> Ratio:
        """For a sentence: its outcome, and its p-value, hold among all of the family."""
        found = self.ratio(base, other, against)
        key = frozenset((base.id, other.id, against))
        if not self.closed:
            self.family[key] = found.p
            return found
        alone = min(1.0, found.p * (len(self.family) + 1))
        p = self._adjusted.get(key, alone)
        return replace(found, p=p, significant=p <= LEVEL)

    def close(self) -> None:
        """From here on the family is complete and verdicts are corrected for its size."""
        self._adjusted = holm(self.family)
        self.closed = True


_known: WeakKeyDictionary[Record, Comparisons] = WeakKeyDictionary()


def comparisons(record: Record) -> Comparisons:
    """Those of a record: the same each time, for as long as the record is there."""
    if record not in _known:
        _known[record] = Comparisons(record)
    return _known[record]
