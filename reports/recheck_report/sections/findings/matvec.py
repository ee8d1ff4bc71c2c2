"""What the record says about the matrix–vector products of S3."""

from __future__ import annotations

import math
from collections.abc import Sequence

from recheck_report.formatting import duration, shape_label, significant
from recheck_report.model.record import Case
from recheck_report.queries import S3_LISTINGS, reference, roof, same_size, swept
from recheck_report.sections.findings.sentences import (
    Finding,
    Line,
    Missing,
    Sentences,
    Writer,
    finding,
)
from recheck_report.statistics.family import comparisons

TRANSPOSITION = "transpose_then_matvec_transpose"
CACHED, WIDE, TALL = "2048x2048", "4096x8192", "8192x4096"
LARGEST = "16384x16384"
LONG_VECTORS = ("2048x32768", "1024x65536")
CONSTANT_FLOATS = 16384  # what 64 KB of constant memory hold


class _Sentences(Sentences):
    def swept(self, base: str, parameter: str) -> dict[int, str]:
        return swept(self.record, self.experiment, base, parameter)

    def best_block(self) -> Line:
        parts = []
        for kernel in S3_LISTINGS:
            rows = self.swept(kernel, "block")
            timed = self.timed(list(rows.values()), self.headline, "cold")
            if len(timed) > 1:
                block = {name: at for at, name in rows.items()}
                best, worst = timed[0], timed[-1]
                parts.append(
                    f"`{kernel}` {block[best.strategy]} threads, {duration(best.time.median)} "
                    f"(slowest: {block[worst.strategy]}, {duration(worst.time.median)})"
                )
        if not parts:
            case = self.need(S3_LISTINGS[0], self.headline, "cold")
            raise Missing(f"a second block size of `{case.strategy}`", "none is in the record")
        return Line(
            "measured",
            f"At {shape_label(self.headline)} the fastest block sizes, by medians: "
            f"{'; '.join(parts)}.",
        )

    def rows_at_equal_bytes(self) -> Line:
        """How each kernel's rate grows with the rows while the matrix stays as large."""
        shapes = same_size(self.record, self.experiment)
        parts = []
        for kernel in S3_LISTINGS:
            cases = [self.record.find(self.experiment, kernel, s, "cold") for s in shapes]
            timed = [case for case in cases if case and case.seconds]
            if len(timed) > 1:
                best = max(timed, key=self._rate)
                picks = dict.fromkeys((timed[0].id, best.id, timed[-1].id))
                told = [
                    f"{significant(self._rate(case))} at {next(iter(case.shape.values()))} rows"
                    for case in timed
                    if case.id in picks
                ]
                parts.append(f"`{kernel}` {', '.join(told)}")
        if not parts:
            self.need(S3_LISTINGS[0], self.headline, "cold")
            raise Missing("a second number of rows", "the record holds one shape of this size")
        return Line(
            "measured",
            f"{self.metric.unit} of matrices with the same number of elements, at the fewest rows, "
            f"at the fastest number and at the most: {'; '.join(parts)}.",
        )

    def _rate(self, case: Case) -> float:
        return self.metric.rate(case, case.time.median)

    @property
    def roof(self) -> str | None:
        return roof(self.record, self.experiment)

    def break_even(self, direct: str) -> Line:
        """From how many products on it pays to transpose once and then use `s3_shared`."""
        turn, fast, slow = (
            self.need(name, self.headline, "cold") for name in (TRANSPOSITION, "s3_shared", direct)
        )
        times = (
            f"`{direct}` takes {duration(slow.time.median)}, `s3_shared` "
            f"{duration(fast.time.median)}, our transposition {duration(turn.time.median)}"
        )
        head = f"Transposing once to use {self.link(fast)} in place of {self.link(slow)}"
        outcome = self.ratio(slow, fast).outcome
        if outcome == "slower":
            return Line("measured", f"{head} **never pays**: {times}.")
        t, s, d = turn.time, fast.time, slow.time
        if outcome != "faster" or d.median <= s.median:
            return Line("measured", f"{head} **does not clearly pay**: {times}.")

        def products(turning: float, saved: float) -> str:
            # two intervals may overlap though the comparison, round by round, is clear
            return str(math.floor(turning / saved) + 1) if saved > 0 else "∞"

        count = products(t.median, d.median - s.median)
        low, high = products(t.low, d.high - s.low), products(t.high, d.low - s.high)
        many = "the first product" if count == "1" else f"{count} products on"
        interval = f" [{low}, {high}]" if low != high else ""
        return Line("measured", f"{head} pays **from {many}**{interval}: {times}.")

    def copied(self) -> Line:
        """How much of the constant kernel's time its copies take."""
        parts = []
        for shape in (self.headline, *LONG_VECTORS):
            whole = self.record.find(self.experiment, "constant", shape, "cold")
            part = self.record.find(self.experiment, "constant_copy", shape, "cold")
            if whole and part and whole.seconds and part.seconds:
                found = comparisons(self.record).ratio(part, whole).percent
                times = f"{duration(part.seconds.median)} of {duration(whole.seconds.median)}"
                where = f"at {_columns(shape)} columns ({_batches(shape)})"
                parts.append(f"{where} {times}, {found}")
        if not parts:
            self.need("constant", self.headline, "cold")
            self.need("constant_copy", self.headline, "cold")
        text = "Timed alone, `constant_copy` takes this much of the time of `constant`"
        return Line("measured", f"{text}: {'; '.join(parts)}.")

    def order(self, shape: str, regime: str) -> tuple[list[Case], str]:
        """The rungs by median, fastest first, and that as text with their times."""
        timed = self.timed(S3_LISTINGS, shape, regime)
        if len(timed) < 2:
            for name in S3_LISTINGS:
                self.need(name, shape, regime)
        told = ", ".join(f"`{c.strategy}` {duration(c.time.median)}" for c in timed)
        return timed, f"At {shape_label(shape)}, {regime}: {told}"

    def same_order(self, shape: str, regime: str) -> Line:
        base, _ = self.order(self.headline, "cold")
        other, text = self.order(shape, regime)
        names = [case.strategy for case in other]
        common = [case for case in base if case.strategy in names]
        flips = [
            f"`{slow.strategy}` overtakes `{fast.strategy}`"
            for at, fast in enumerate(common)
            for slow in common[at + 1 :]
            if self.ratio(slow, fast).outcome == "faster"
            if self._outcome(slow.strategy, fast.strategy, shape, regime) == "slower"
        ]
        where = f" as at {shape_label(self.headline)}"
        change = f"; **{', '.join(flips)}**" if flips else f"; **the same order**{where}"
        return Line("measured", f"{text}{change}, as far as the intervals can tell.")

    def _outcome(self, base: str, other: str, shape: str, regime: str) -> str:
        slow, fast = (self.need(name, shape, regime) for name in (base, other))
        return self.ratio(slow, fast).outcome

    def headline_order(self) -> Line:
        return Line("measured", f"{self.order(self.headline, 'cold')[1]}.")

    def best_against(self, layouts: Sequence[str], vendor: str | None) -> Line:
        best = self.best_rung(layouts)
        line = self.against(self.need(vendor, self.headline, "cold"), best)
        try:
            share = f"; it reaches {self.share(best, self.roof)}."
        except Missing:
            return line  # the comparison stands without its yardstick
        return Line(line.outcome, line.text.removesuffix(".") + share)


def _columns(shape: str) -> str:
    return shape.split("x")[1]


def _batches(shape: str) -> str:
    count = -(-int(_columns(shape)) // CONSTANT_FLOATS)
    return "1 batch" if count == 1 else f"{count} batches"


def matvec(say: Sentences) -> list[Finding]:
    say = _Sentences(say.own, say.experiment)

    def cold(base: str, other: str) -> Writer:
        return lambda: say.compare((base, "cold"), (other, "cold"), say.headline)

    return [
        finding(
            "Keeping the multiprocessors busy",
            "S3: “increase the data or make the thread blocks smaller” (C42)",
            say.best_block,
            say.rows_at_equal_bytes,
        ),
        finding(
            "The price of transposing first",
            "S3: the transposition took 5.6 to 11 times as long as the product, so in many cases "
            "it uses methods that do not transpose (C56, C62)",
            *(
                lambda d=d: say.break_even(d)
                for d in ("s3_naive", "s3_block_per_row", "s3_warp_per_row")
            ),
        ),
        finding(
            "A warp's part of the vector in shared memory",
            "S3's own kernel for a warp per row is lost (C65); a port of it to OpenCL stages the "
            "vector in shared memory",
            cold("warp_per_row_shared", "warp_per_row"),
        ),
        finding(
            "What the copies into constant memory cost",
            "S3: with shared memory there are none (C51, C53)",
            say.copied,
        ),
        finding(
            "Other shapes, and a matrix that fits into the cache",
            "S3 measures only 8192 × 8192, where rows and columns cannot be told apart (C66, C67)",
            say.headline_order,
            lambda: say.same_order(WIDE, "cold"),
            lambda: say.same_order(TALL, "cold"),
            lambda: say.same_order(CACHED, "hot"),
        ),
        finding(
            "The documents' fastest kernel against the library",
            "",
            lambda: say.best_against(
                ("row_major", "pitched"), reference(say.record, say.experiment)
            ),
            lambda: say.best_against(("column_major",), "cublas_column_major"),
        ),
        *say.beyond(
            "Beyond the documents",
            "",
            *say.beyond_against_vendor(say.headline, WIDE, TALL, LARGEST),
            *say.beyond_of_roof(say.headline, LARGEST),
        ),
        *say.beyond("What limits the kernels", "", *say.binds()),
    ]
