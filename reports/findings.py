"""What the record says about the documents' claims, each line one sentence with its numbers.

A line compares two medians by a ratio with its interval, always beside the absolute times, and says
"faster", "slower" or "no difference" only by whether the interval excludes 1. A case without a
time turns its line into "Not measured" with the case's own reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from quantities import Ratio, cell, duration, shape_label, significant
from record import Case, Experiment, Record
from series import crossings, first_rung, metric_of, reference, sweep

CLAIMED_SHAPE = "1024x1024x1024"  # the width that S0 implies: a 64x64 grid of 16x16 blocks
ODD_SHAPE = "1000x1000x1000"  # about as much work, and no power of two
SMALL_SHAPE = "80x48x64"  # S1's own example


@dataclass(frozen=True)
class Line:
    outcome: str  # faster | slower | no difference | measured | not measured
    text: str  # Markdown


@dataclass(frozen=True)
class Finding:
    title: str
    says: str  # what the documents say, with the claims' ids; empty where they say nothing
    lines: tuple[Line, ...]
    expects: str = ""  # the outcome of every comparison if that is so; empty where none follows

    @property
    def verdict(self) -> str:
        """Whether the comparisons came out as the documents say; empty where that is not asked."""
        outcomes = [line.outcome for line in self.lines]
        compared = [each for each in outcomes if each in ("faster", "slower", "no difference")]
        if not self.expects or not compared:
            return ""
        agreeing = compared.count(self.expects)
        if agreeing == len(compared):
            return "So it is here."
        return "Not so here." if agreeing == 0 else "So it is here in part."


class _Missing(Exception):
    """A line needs a case that has no time."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(what, why)
        self.what, self.why = what, cell(why)


def anchor(prefix: str, case: Case, experiment: Experiment) -> str:
    """The row a case stands in: the headline table's, else that of its regime's full matrix."""
    regime = "" if case.shape_name == experiment.headline else f"{case.regime}-"
    return f"{prefix}{experiment.name}-{regime}{case.strategy}".replace("_", "-")


def _finding(title: str, says: str, *writers: Callable[[], Line], expects: str = "") -> Finding:
    """Runs the writers in order; lines that miss their case fold into one for each reason."""
    lines: list[Line] = []
    missing: dict[str, list[str]] = {}
    for write in writers:
        try:
            lines.append(write())
        except _Missing as error:
            missing.setdefault(error.why, []).append(error.what)
    for why, what in missing.items():
        text = f"Not measured: {', '.join(dict.fromkeys(what))}: {why}."
        lines.append(Line("not measured", text))
    return Finding(title, says, tuple(lines), expects)


class _Judge:
    """The sentences about one experiment of one record; links lead to anchors with `prefix`."""

    def __init__(self, record: Record, experiment: Experiment, prefix: str) -> None:
        self.record, self.experiment, self.prefix = record, experiment, prefix
        self.metric = metric_of(record, experiment)
        self.headline = experiment.headline

    def need(self, strategy: str | None, shape: str, regime: str) -> Case:
        case = self.record.find(self.experiment, strategy or "", shape, regime)
        what = f"`{strategy or 'no such strategy'}` at {shape_label(shape)}"
        if case is None:
            raise _Missing(what, "the record holds no such case")
        if case.seconds is None:
            raise _Missing(what, case.why_not)
        return case

    def link(self, case: Case) -> str:
        scope = " end to end" if case.regime == "end_to_end" else ""
        return f"[`{case.strategy}`](#{anchor(self.prefix, case, self.experiment)}){scope}"

    def rate(self, case: Case) -> str:
        """ "8.99 TFLOP/s, 13 % of the fp32 limit"; the limit is no yardstick for TF32 or a CPU."""
        rate = self.metric.rate(case, case.seconds.median)
        text = f"{significant(rate)} {self.metric.unit}"
        limit = self.metric.limit(self.record)
        if limit and case.target == "gpu" and case.arithmetic == "fp32":
            text += f", {significant(100 * rate / limit, 2)} % of the {self.metric.ceiling_label}"
        return text

    def against(self, base: Case, other: Case) -> Line:
        """How `other` does against `base`, as ratio and as absolute times."""
        ratio = Ratio.of(base.seconds, other.seconds)
        verdict = f"is **{ratio.outcome}** than"
        if ratio.outcome == "no difference":
            verdict = "shows **no difference that the intervals can tell apart** from"
        times = f"{duration(other.seconds.median)} against {duration(base.seconds.median)}"
        return Line(
            ratio.outcome,
            f"At {shape_label(base.shape_name)} {self.link(other)} {verdict} {self.link(base)}: "
            f"{ratio} as fast, {times}.",
        )

    def compare(self, base: tuple[str, str], other: tuple[str, str], shape: str) -> Line:
        """`against` for two (strategy, regime) at one shape; raises _Missing."""
        cases = [self.need(strategy, shape, regime) for strategy, regime in (base, other)]
        return self.against(*cases)

    def fastest(self, rows: list[Case]) -> list[Case]:
        """The cold headline cases of these strategies that have a time, fastest first."""
        cases = [self.record.find(self.experiment, r.strategy, self.headline, "cold") for r in rows]
        timed = [case for case in cases if case and case.seconds]
        return sorted(timed, key=lambda case: case.seconds.median)

    def best_policy(self) -> Line:
        rows = [row for row in self.record.strategies(self.experiment) if row.parameters]
        base = self.need("tile16", self.headline, "cold")
        timed = self.fastest(rows)
        best = timed[0]
        # every policy whose interval reaches the best one's cannot be told apart from it
        level = [c for c in timed[1:] if Ratio.of(best.seconds, c.seconds).high >= 1]
        text = (
            f"Of {len(timed)} measured policies at {shape_label(self.headline)} {self.link(best)} "
            f"is the fastest: {duration(best.seconds.median)}, {self.rate(best)}"
        )
        ratio = Ratio.of(base.seconds, best.seconds)
        if best is base:
            text += "; it is the documents' own 16 × 16 tile, one tile deep"
        else:
            text += f"; {ratio} as fast as the documents' {self.link(base)}, "
            text += f"which takes {duration(base.seconds.median)}"
        if level:
            text += ". The intervals cannot tell it from " + ", ".join(map(self.link, level))
        return Line("no difference" if best is base else ratio.outcome, f"{text}.")

    def crossover(self, base: str, other: str) -> Line:
        """From which square size on the GPU, copies included, beats the CPU strategy `base`."""
        sides = []
        for name, regime in ((base, "hot"), (other, "end_to_end")):
            sides.append(sweep(self.record, self.experiment, name, regime))
            if not sides[-1]:
                self.need(name, CLAIMED_SHAPE, regime)
        found, ratios = crossings(*sides)
        if not ratios:
            raise _Missing(f"`{base}` and `{other}`", "no square size has a time of both")
        where = [
            f"{'overtakes' if c.other_wins_above else 'falls behind'} `{base}` between {c.below} "
            f"and {c.above} (straight lines would meet near {significant(c.at, 2)})"
            for c in found
        ]
        if not where:
            word = "ahead of" if ratios[0][1].value > 1 else "behind"
            where = [f"is {word} `{base}` at every size that both measured, without a crossover"]
        # a ratio never stands without its absolute base
        times = {edge: duration(case.seconds.median) for edge, case in sides[0]}
        ends = [
            f"{ratio} as fast at {edge}, where `{base}` takes {times[edge]}"
            for edge, ratio in dict((ratios[0], ratios[-1])).items()
        ]
        return Line(
            "measured",
            f"Over the square sizes, by medians, `{other}` end to end {', then '.join(where)}: "
            f"{'; '.join(ends)}.",
        )

    def distance(self) -> Line:
        """How far the best rung stays from the vendor's library."""
        rows = self.record.strategies(self.experiment)
        timed = self.fastest([row for row in rows if row.role == "rung" and row.target == "gpu"])
        if not timed:
            self.need(first_rung(self.record, self.experiment), self.headline, "cold")
        vendor = self.need(reference(self.record, self.experiment), self.headline, "cold")
        line = self.against(vendor, timed[0])
        rates = f"{self.rate(timed[0])}, against {self.rate(vendor)}."
        return Line(line.outcome, f"{line.text.removesuffix('.')}; {rates}")

    def other_arithmetic(self) -> list[Line]:
        rows = [r for r in self.record.strategies(self.experiment) if r.arithmetic != "fp32"]
        return [
            Line(
                "measured",
                f"{self.link(case)} takes {duration(case.seconds.median)}, {self.rate(case)}, but "
                f"it is {cell(case.note or 'not fp32-accurate')}; no rung is compared with it.",
            )
            for case in self.fastest(rows)
        ]


def _matmul(judge: _Judge) -> list[Finding]:
    shapes = tuple(dict.fromkeys((CLAIMED_SHAPE, judge.headline)))

    def cold(base: str, other: str, at: tuple[str, ...] = shapes) -> list[Callable[[], Line]]:
        return [lambda s=s: judge.compare((base, "cold"), (other, "cold"), s) for s in at]

    def copies(base: str, rung: str, shape: str = CLAIMED_SHAPE) -> Callable[[], Line]:
        return lambda: judge.compare((base, "hot"), (rung, "end_to_end"), shape)

    library = _finding("The best documented rung against the library", "", judge.distance)
    library = Finding(library.title, "", (*library.lines, *judge.other_arithmetic()))
    return [
        _finding(
            "Tiles in shared memory against global memory",
            "S0, S1 and S2: tiles in shared memory are faster (C01, C12, C24, C27)",
            *cold("global16", "tile16"),
            expects="faster",
        ),
        _finding(
            "Four tiles deep against one",
            "S0: “slower than the previous one” (C14)",
            *cold("tile16", "tile16_depth4"),
            expects="slower",
        ),
        _finding(
            "Whole strips in shared memory against tiles",
            "S2: the same speed, only more shared memory (C34)",
            *cold("tile16", "full_strip16", (CLAIMED_SHAPE,)),
            expects="no difference",
        ),
        _finding(
            "The best block policy",
            "S0: other policies can be used, to find the most suitable (C15)",
            judge.best_policy,
        ),
        _finding(
            "GPU, copies included, against one CPU thread",
            "S0 and S1: “the GPU parallel performance is much better than the CPU” (C11, C23)",
            copies("cpu_serial", "global16"),
            copies("cpu_serial", "tile16"),
            # a power of two is the worst stride for a cache, and flatters whoever runs against it
            copies("cpu_serial", "tile16", ODD_SHAPE),
            copies("cpu_serial", "tile16", SMALL_SHAPE),
            lambda: judge.crossover("cpu_serial", "tile16"),
            expects="faster",
        ),
        # a serial loop is a weak base, so a BLAS on all cores stands beside it
        _finding(
            "GPU, copies included, against the CPU's BLAS",
            "",
            lambda: judge.compare(("cpu_serial", "hot"), ("cpu_blas", "hot"), CLAIMED_SHAPE),
            copies("cpu_blas", "global16"),
            copies("cpu_blas", "tile16"),
            lambda: judge.crossover("cpu_blas", "tile16"),
        ),
        library,
    ]


_FINDINGS = {"matmul": _matmul}


def findings(record: Record, experiment: Experiment, prefix: str = "") -> list[Finding]:
    """The findings of one experiment in the order of the story; none if nobody wrote them."""
    write = _FINDINGS.get(experiment.name)
    return write(_Judge(record, experiment, prefix)) if write else []
