"""Sentences about two cases, with their numbers: what stories, listings and pages say.

A line names two cases with their times, then their ratio with its interval. It calls them equal if
the interval lies within what the self-audit can detect, and a tie if the interval with its noise
includes 1 or the difference is not significant. A case without a time turns its line into "Not
measured" with the case's reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from recheck_report.anchors import place
from recheck_report.claims.measured import Measured
from recheck_report.formatting import SCOPES, durations, margin, shape_label, significant
from recheck_report.queries import metric_of
from recheck_report.record.record import Case, Experiment
from recheck_report.say.machine import doubt
from recheck_report.say.nodes import Code, Text, link, speedup, strong, text
from recheck_report.statistics.paired import median_of_rounds
from recheck_report.statistics.ratio import Ratio


@dataclass(frozen=True)
class Line:
    outcome: str  # faster | slower | same | no difference | measured | not measured
    text: Text


class Missing(Exception):
    """A line needs a case that has no time."""

    def __init__(self, what: Text, why: str) -> None:
        super().__init__(what.plain, why)
        self.text = text("Not measured: ", what, f": {why}.")


# of a kernel against another, in a count of listings
WORDS = {"faster": "faster", "slower": "slower", "same": "equal", "no difference": "tied"}


class Sentences:
    """The sentences about one experiment of one record; links lead to its page."""

    def __init__(self, report: Measured, experiment: Experiment) -> None:
        self.report, self.record, self.experiment = report, report.record, experiment
        self.metric = metric_of(self.record, experiment)
        self.headline = experiment.headline

    def ratio(self, base: Case, other: Case) -> Ratio:
        """A comparison that a sentence is about: one of the report's family."""
        return self.report.comparisons.verdict(base, other)

    def need(self, strategy: str | None, shape: str, regime: str) -> Case:
        case = self.record.find(self.experiment, strategy or "", shape, regime)
        what = text(Code(strategy) if strategy else "such a GPU row", f" at {shape_label(shape)}")
        if case is None:
            raise Missing(what, "the record holds no such case")
        if case.seconds is None:
            raise Missing(what, case.why_not)
        return case

    def link(self, case: Case) -> Text:
        scope = SCOPES.get(case.regime, "")
        word = doubt(self.report, case)
        return text(
            link(place(case, self.experiment), Code(case.strategy)),
            f"{' ‡' * ('‡' in case.marks)}{scope}",
            text(" (", strong(word), ")") if word else "",
        )

    def rate(self, case: Case) -> str:
        """ "8.99 TFLOP/s (13 % of the fp32 limit)"; that limit is not the one of TF32 or a CPU."""
        rate = self.metric.rate(case, case.time.median)
        text = f"{significant(rate)} {self.metric.unit}"
        limit = self.metric.limit(self.record)
        if limit and case.target == "gpu" and case.fp32:
            text += f" ({significant(100 * rate / limit, 2)} % of the {self.metric.ceiling_label})"
        return text

    def times(self, base: Case, other: Case) -> Text:
        """ "At 4096³ `tile16` takes 17.9 ms, `cublas` 2.74 ms": what a ratio of the two is of."""
        first, second = durations(other.time.median, base.time.median)
        where = shape_label(base.shape_name)
        links = self.link(other), self.link(base)
        return text(f"At {where} ", links[0], f" takes {first}, ", links[1], f" {second}")

    def against(self, base: Case, other: Case) -> Line:
        """How `other` does against `base`, as absolute times and as ratio; without a full stop."""
        ratio = self.ratio(base, other)
        rounds = median_of_rounds(ratio.value, base.time.median, other.time.median)
        more = ""
        if ratio.masked_by_run_to_run:
            more = f"; two processes may differ by {margin(ratio.resolution)}"
        elif ratio.outcome == "no difference" and not ratio.low <= 1 <= ratio.high:
            # the interval lies clear of 1, and p is not small enough after Holm's correction
            more = "; not significant after the correction for all comparisons"
        how = speedup(ratio)
        if ratio.outcome in ("same", "no difference"):
            how = text(strong("equal" if ratio.outcome == "same" else "tie"), ", ", how)
        how = text(how, rounds, more)
        return Line(ratio.outcome, text(self.times(base, other), ": ", how))

    def compare(
        self, base: tuple[str | None, str], other: tuple[str | None, str], shape: str
    ) -> Line:
        """`against` for two (strategy, regime) at one shape; raises Missing."""
        cases = [self.need(strategy, shape, regime) for strategy, regime in (base, other)]
        return self.against(*cases)


def prices(report: Measured) -> dict[str, Line]:
    """What the general form of each listing of a document costs, by the listing's row."""
    lines = {}
    for listing in report.collection.listings:
        experiment = report.record.experiment(listing.experiment)
        assert experiment  # or it would not be shown
        say = Sentences(report, experiment)
        row, general = ((name, report.record.ranked_by(experiment)) for name in listing.strategies)
        try:
            line = say.compare(row, general, listing.shape or say.headline)
            lines[listing.row] = Line(line.outcome, line.text + ".")
        except Missing as error:
            lines[listing.row] = Line("not measured", error.text)
    return lines
