"""The machinery of the findings: each line one sentence with its numbers.

A line names two cases with their times, in one order, then their ratio with its interval. It says
"faster" or "slower" only if the interval lies beyond the record's resolution and the difference is
significant after correction for all comparisons of the report; "same" if the interval lies within
the resolution; else "no clear difference". A case without a time turns its line into "Not
measured" with the case's own reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from recheck_report.anchors import place
from recheck_report.claims.measured import Measured
from recheck_report.formatting import SCOPES, cell, durations, margin, shape_label, significant
from recheck_report.model.record import Case, Experiment
from recheck_report.net import caught
from recheck_report.queries import DISPATCH, first_rung, metric_of, reference, roof, share
from recheck_report.sections.bottlenecks import busy
from recheck_report.sections.machine import mark
from recheck_report.statistics.family import comparisons
from recheck_report.statistics.paired import in_rounds
from recheck_report.statistics.ratio import Ratio

Writer = Callable[[], "Line"]


@dataclass(frozen=True)
class Line:
    outcome: str  # faster | slower | same | no difference | measured | not measured
    text: str  # Markdown


@dataclass(frozen=True)
class Finding:
    title: str
    says: str  # what the documents say, with the claims' ids; empty where they say nothing
    lines: tuple[Line, ...]

    @property
    def claims(self) -> list[str]:
        """The ids in `says`; "C38 to C41" names four."""
        found: list[str] = []
        for first, last in re.findall(r"\bC(\d\d)(?: to C(\d\d))?", self.says):
            found += [f"C{at:02}" for at in range(int(first), int(last or first) + 1)]
        return list(dict.fromkeys(found))


class Missing(Exception):
    """A line needs a case that has no time."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what, why)
        self.what, self.why = what, cell(why)


def _unsaid(why: str) -> Line:
    return Line("not measured", f"Not said, as this could not be made: {cell(why)}.")


def finding(title: str, says: str, *writers: Writer) -> Finding:
    """Runs the writers in order; lines that miss their case fold into one for each reason."""
    lines: list[Line] = []
    missing: dict[str, list[str]] = {}
    for write in writers:
        try:
            lines.append(caught(write, _unsaid, Missing))
        except Missing as error:
            missing.setdefault(error.why, []).append(error.what)
    for why, what in missing.items():
        text = f"Not measured: {', '.join(dict.fromkeys(what))}: {why}."
        lines.append(Line("not measured", text))
    return Finding(title, says, tuple(lines))


# of a row against another, in a sentence and in a count of shapes
VERDICTS = {
    "faster": "**faster**",
    "slower": "**slower**",
    "same": "the **same** within the resolution",
    "no difference": "**no clear difference**",
}
WORDS = {
    "faster": "faster",
    "same": "the same within the resolution",
    "no difference": "not clearly different",
    "slower": "slower",
}


class Sentences:
    """The sentences about one experiment of one record; links lead to its page."""

    def __init__(self, own: Measured, experiment: Experiment) -> None:
        self.own, self.record, self.experiment = own, own.record, experiment
        self.metric = metric_of(self.record, experiment)
        self.headline = experiment.headline

    def ratio(self, base: Case, other: Case) -> Ratio:
        """A comparison that a sentence is about: one of the report's family."""
        return comparisons(self.record).verdict(base, other)

    def need(self, strategy: str | None, shape: str, regime: str) -> Case:
        case = self.record.find(self.experiment, strategy or "", shape, regime)
        what = f"{f'`{strategy}`' if strategy else 'such a GPU row'} at {shape_label(shape)}"
        if case is None:
            raise Missing(what, "the record holds no such case")
        if case.seconds is None:
            raise Missing(what, case.why_not)
        return case

    def link(self, case: Case) -> str:
        scope = SCOPES.get(case.regime, "")
        where = place(case, self.experiment)
        if marked := mark(self.record, case).strip():
            scope += f" ({marked})"
        return f"[`{case.strategy}`]({where}){' ‡' * ('‡' in case.marks)}{scope}"

    def rate(self, case: Case) -> str:
        """ "8.99 TFLOP/s (13 % of the fp32 limit)"; that limit is not the one of TF32 or a CPU."""
        rate = self.metric.rate(case, case.time.median)
        text = f"{significant(rate)} {self.metric.unit}"
        limit = self.metric.limit(self.record)
        if limit and case.target == "gpu" and case.fp32:
            text += f" ({significant(100 * rate / limit, 2)} % of the {self.metric.ceiling_label})"
        return text

    def share(self, case: Case, of: str | None) -> str:
        """ "92.3 % [92.1, 92.5] of `read`": by bytes per second, at the same shape and regime."""
        found = share(self.record, self.experiment, case, of)
        base = self.need(of, case.shape_name, case.regime)
        if found is None:
            raise Missing(f"the rate of `{of}`", "no bytes are counted for it")
        return f"{found.percent} of {self.link(base)}"

    def times(self, base: Case, other: Case) -> str:
        """ "at 4096³ `tile16` takes 17.9 ms, `cublas` 2.74 ms": what a ratio of the two is of."""
        first, second = durations(other.time.median, base.time.median)
        where = shape_label(base.shape_name)
        return f"at {where} {self.link(other)} takes {first}, {self.link(base)} {second}"

    def against(self, base: Case, other: Case) -> Line:
        """How `other` does against `base`, as absolute times and as ratio."""
        ratio = self.ratio(base, other)
        text = f"{self.times(base, other)}: {VERDICTS[ratio.outcome]}, {ratio.words}"
        text += in_rounds(ratio, base, other)
        text += f"; two processes may differ by {margin(ratio.resolution)}" if ratio.hidden else ""
        if (
            ratio.outcome == "no difference"
            and not ratio.hidden
            and not ratio.low <= 1 <= ratio.high
        ):
            # the interval lies clear of 1, and p is not small enough after Holm's correction
            text += f"; p = {significant(ratio.p, 2)}"
        text += "."
        return Line(ratio.outcome, text[0].upper() + text[1:])

    def compare(
        self, base: tuple[str | None, str], other: tuple[str | None, str], shape: str
    ) -> Line:
        """`against` for two (strategy, regime) at one shape; raises Missing."""
        cases = [self.need(strategy, shape, regime) for strategy, regime in (base, other)]
        return self.against(*cases)

    def timed(self, names: Sequence[str], shape: str, regime: str) -> list[Case]:
        """The cases of these strategies that have a time, fastest first by median."""
        cases = [self.record.find(self.experiment, name, shape, regime) for name in names]
        found = [case for case in cases if case and case.seconds]
        return sorted(found, key=lambda case: case.time.median)

    def fastest(self, rows: list[Case]) -> list[Case]:
        """The cold headline cases of these rows that have a time, fastest first."""
        return self.timed([row.strategy for row in rows], self.headline, "cold")

    def best_rung(
        self,
        layouts: Sequence[str] = (),
        *,
        documented: bool = True,
        arithmetic: str = "fp32",
        shape: str = "",
    ) -> Case:
        """The fastest GPU rung that solves the problem, of the documents or beyond them, at a shape
        (the headline); raises Missing."""
        rows = [
            row
            for row in self.record.strategies(self.experiment)
            if row.role == "rung" and row.target == "gpu" and row.contends and not row.sweep
            if row.strategy not in DISPATCH
            if row.documented == documented and row.arithmetic == arithmetic
            if not layouts or row.layout in layouts
        ]
        shape = shape or self.headline
        timed = self.timed([row.strategy for row in rows], shape, "cold")
        if timed:
            return timed[0]
        name = rows[0].strategy if rows else first_rung(self.record, self.experiment)
        return self.need(name if rows or documented else None, shape, "cold")

    def beyond(
        self, title: str, says: str, *writers: Writer, arithmetic: str = "fp32"
    ) -> list[Finding]:
        """A finding about rungs that no document has, if the record has any."""
        rows = self.record.strategies(self.experiment)
        there = (r.role == "rung" and not r.documented and r.arithmetic == arithmetic for r in rows)
        return [finding(title, says, *writers)] if any(there) else []

    def beyond_against_vendor(self, *shapes: str, arithmetic: str = "fp32") -> list[Writer]:
        """How the best rung that no document has does against the vendor's library, by shape."""

        def line(shape: str) -> Line:
            best = self.best_rung(documented=False, arithmetic=arithmetic, shape=shape)
            vendor = reference(self.record, self.experiment, best.layout)
            return self.against(self.need(vendor, shape, "cold"), best)

        return [partial(line, shape) for shape in shapes]

    def beyond_of_roof(self, *shapes: str) -> list[Writer]:
        """How near the best rung that no document has comes to what the machine can do."""

        def line(shape: str) -> Line:
            best = self.best_rung(documented=False, shape=shape)
            share = self.share(best, roof(self.record, self.experiment))
            return Line("measured", f"At {shape_label(shape)} {self.link(best)} reaches {share}.")

        return [partial(line, shape) for shape in shapes]

    def binds(self) -> list[Writer]:
        """What Nsight Compute saw of the cases in the experiment's binds.toml."""

        def line(name: str) -> Line:
            _, strategy, shape, regime = name.split("/")
            case = self.need(strategy, shape, regime)
            text, why = busy(self.own.probes, self.record, name)
            if why:
                raise Missing(f"what limits `{strategy}` at {shape_label(shape)}", why)
            return Line("measured", f"At {shape_label(shape)} {self.link(case)} {text}.")

        binds = self.own.known.binds
        here = [each for each in binds if each.startswith(f"{self.experiment.name}/")]
        return [partial(line, name) for name in here]

    def distance(self) -> Line:
        """How far the documents' fastest kernel stays from the vendor's library."""
        best = self.best_rung()
        vendor = self.need(reference(self.record, self.experiment), self.headline, "cold")
        line = self.against(vendor, best)
        rates = f"{self.rate(best)} and {self.rate(vendor)}"
        return Line(line.outcome, f"{line.text.removesuffix('.')}; {rates}.")
