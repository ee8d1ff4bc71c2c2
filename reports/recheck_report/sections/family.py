"""Which comparisons a report makes: one family, closed before anything is judged."""

from __future__ import annotations

from recheck_report.claims import judge
from recheck_report.claims.measured import Measured
from recheck_report.net import caught
from recheck_report.sections import story
from recheck_report.sections.sentences import prices
from recheck_report.statistics.family import comparisons


def close_family(own: Measured) -> None:
    """Makes every comparison of stories, listings and claims once, without correction, to learn
    which there are. Verdicts are corrected for their number, so this comes first."""
    known = comparisons(own.record)
    if not known.closed:
        # where their own sections could not be made, they say so
        caught(lambda: prices(own), lambda _: {})
        caught(lambda: story.register(own), lambda _: None)
        judge(own.record, None, own.known)
        known.close()
