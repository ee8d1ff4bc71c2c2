"""What the record says about the matrix–vector products of S3."""

from __future__ import annotations

import math
from collections.abc import Sequence

from comparison import comparisons
from quantities import duration, shape_label, significant
from record import Case
from series import reference, roof, same_size, swept

from findings.judge import Finding, Judge, Line, Missing, Pair, Writer, finding

LADDER = ("naive", "transposed", "constant", "shared", "block_per_row", "warp_per_row")
THREAD_PER_ROW = LADDER[:4]
UNROLLED = {"naive": 4, "transposed": 4, "constant": 4, "shared": 8}  # as S3's listings have it
TRANSPOSED_FIRST = "transpose_then_matvec"
TRANSPOSITION = "transpose_then_matvec_transpose"
CACHED, LARGE, ODD = "2048x2048", "16384x16384", "8191x8193"
WIDE, TALL = "4096x8192", "8192x4096"
LONG_VECTORS = ("2048x32768", "1024x65536")
CONSTANT_FLOATS = 16384  # what 64 KB of constant memory hold


class _Judge(Judge):
    def swept(self, base: str, parameter: str) -> dict[int, str]:
        return swept(self.record, self.experiment, base, parameter)

    def at_unroll(self, base: str, other: str) -> list[Pair]:
        """`other` against `base`, at every unroll that both have."""
        bases, others = self.swept(base, "unroll"), self.swept(other, "unroll")
        return [
            Pair(
                f"unroll {at}",
                (bases[at], self.headline, "cold"),
                (others[at], self.headline, "cold"),
            )
            for at in bases
            if at in others
        ]

    def unrolled(self) -> list[Pair]:
        pairs = []
        for kernel, unroll in UNROLLED.items():
            rows = self.swept(kernel, "unroll")
            ends = [(rows.get(at, kernel), self.headline, "cold") for at in (1, unroll)]
            pairs.append(Pair(f"`{kernel}`, {unroll}", *ends))
        return pairs

    def small_blocks(self) -> list[Pair]:
        pairs = []
        for kernel in THREAD_PER_ROW:
            rows = self.swept(kernel, "block")
            if len(rows) > 1:
                ends = [(rows[at], self.headline, "cold") for at in (max(rows), min(rows))]
                pairs.append(Pair(f"`{kernel}`, {min(rows)} against {max(rows)}", *ends))
        return pairs

    def best_block(self) -> Line:
        parts = []
        for kernel in LADDER:
            rows = self.swept(kernel, "block")
            timed = self.timed(list(rows.values()), self.headline, "cold")
            if len(timed) > 1:
                block = {name: at for at, name in rows.items()}
                best, worst = timed[0], timed[-1]
                parts.append(
                    f"`{kernel}` {block[best.strategy]} ({duration(best.seconds.median)}; worst "
                    f"{block[worst.strategy]}, {duration(worst.seconds.median)})"
                )
        if not parts:
            case = self.need(LADDER[0], self.headline, "cold")
            raise Missing(f"a second block size of `{case.strategy}`", "none is in the record")
        return Line(
            "measured",
            f"At {shape_label(self.headline)} the fastest blocks by medians: {', '.join(parts)}.",
        )

    def rows_at_equal_bytes(self) -> Line:
        """How each kernel's rate grows with the rows while the matrix stays as large."""
        shapes = same_size(self.record, self.experiment)
        parts = []
        for kernel in LADDER:
            cases = [self.record.find(self.experiment, kernel, s, "cold") for s in shapes]
            timed = [case for case in cases if case and case.seconds]
            if len(timed) > 1:
                best = max(timed, key=self._rate)
                picks = dict.fromkeys((timed[0].id, best.id, timed[-1].id))
                told = [
                    f"{significant(self._rate(case))} at {case.shape['rows']}"
                    for case in timed
                    if case.id in picks
                ]
                parts.append(f"`{kernel}` {', '.join(told)}")
        if not parts:
            self.need(LADDER[0], self.headline, "cold")
            raise Missing("a second number of rows", "the record holds one shape of this size")
        size = "same number of elements"
        return Line(
            "measured",
            f"In {self.metric.unit} at the fewest rows, the best number of rows and the most, the "
            f"{size} each time: {'; '.join(parts)}.",
        )

    def _rate(self, case: Case) -> float:
        return self.metric.rate(case, case.seconds.median)

    def extremes(self) -> Line:
        timed = self.timed(LADDER, self.headline, "cold")
        if len(timed) < 2:
            for name in LADDER:
                self.need(name, self.headline, "cold")
        return self.against(timed[-1], timed[0])

    def roof_share(self, case: Case) -> str:
        return f"{duration(case.seconds.median)}, {self.rate(case)}, {self.share(case, self.roof)}"

    @property
    def roof(self) -> str | None:
        return roof(self.record, self.experiment)

    def near_the_roof(self, strategy: str) -> Line:
        case = self.need(strategy, self.headline, "cold")
        at = shape_label(self.headline)
        return Line("measured", f"At {at} {self.link(case)} takes {self.roof_share(case)}.")

    def break_even(self, direct: str) -> Line:
        """From how many products on it pays to transpose once and then use `shared`."""
        turn, fast, slow = (
            self.need(name, self.headline, "cold") for name in (TRANSPOSITION, "shared", direct)
        )
        times = (
            f"one product takes {duration(slow.seconds.median)}, `shared` "
            f"{duration(fast.seconds.median)}, the transposition {duration(turn.seconds.median)}"
        )
        head = f"Against {self.link(slow)} transposing once for {self.link(fast)}"
        outcome = self.ratio(slow, fast).outcome
        if outcome == "slower":
            return Line("measured", f"{head} **never pays**: {times}.")
        if outcome != "faster":
            return Line("measured", f"{head} **cannot be told to pay** at any number: {times}.")

        def products(turning: float, saved: float) -> int:
            return math.floor(turning / saved) + 1

        t, s, d = turn.seconds, fast.seconds, slow.seconds
        count = products(t.median, d.median - s.median)
        low, high = products(t.low, d.high - s.low), products(t.high, d.low - s.high)
        many = f"{count} product{'s' if count > 1 else ''}"
        return Line("measured", f"{head} pays **from {many} on** [{low}, {high}]: {times}.")

    def by_columns(self) -> list[Pair]:
        shapes = reversed(same_size(self.record, self.experiment))
        return [
            Pair(f"{s.split('x')[1]} columns", ("block_per_row", s, "cold"), (WARP, s, "cold"))
            for s in shapes
        ]

    def batches(self) -> list[Pair]:
        return [
            Pair(
                f"{_columns(s)} columns, {_batches(s)}",
                ("constant", s, "cold"),
                (SHARED, s, "cold"),
            )
            for s in (self.headline, *LONG_VECTORS)
        ]

    def copied(self) -> Line:
        """What of the constant kernel's time its copies take."""
        parts = []
        for shape in (self.headline, *LONG_VECTORS):
            whole = self.record.find(self.experiment, "constant", shape, "cold")
            part = self.record.find(self.experiment, "constant_copy", shape, "cold")
            if whole and part and whole.seconds and part.seconds:
                found = comparisons(self.record).ratio(part, whole).percent
                times = f"{duration(part.seconds.median)} of {duration(whole.seconds.median)}"
                parts.append(f"{found} at {_columns(shape)} columns ({_batches(shape)}; {times})")
        if not parts:
            self.need("constant", self.headline, "cold")
            self.need("constant_copy", self.headline, "cold")
        return Line("measured", f"Timed alone, `constant_copy` takes {', '.join(parts)}.")

    def order(self, shape: str, regime: str) -> tuple[list[Case], str]:
        """The rungs by median, fastest first, and that as text with their times."""
        timed = self.timed(LADDER, shape, regime)
        if len(timed) < 2:
            for name in LADDER:
                self.need(name, shape, regime)
        told = ", ".join(f"`{c.strategy}` {duration(c.seconds.median)}" for c in timed)
        return timed, f"{shape_label(shape)} {regime}: {told}"

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
        where = f" of {shape_label(self.headline)}"
        change = f"; **{', '.join(flips)}**" if flips else f"; **in the order**{where}"
        return Line("measured", f"{text}{change}, as far as the intervals can tell.")

    def _outcome(self, base: str, other: str, shape: str, regime: str) -> str:
        slow, fast = (self.need(name, shape, regime) for name in (base, other))
        return self.ratio(slow, fast).outcome

    def headline_order(self) -> Line:
        return Line("measured", f"{self.order(self.headline, 'cold')[1]}.")

    def same_memory(self, base: str, other: str) -> Line:
        line = self.compare((base, "cold"), (other, "cold"), self.headline)
        why = "Here both read the same memory: what differs is the measurement."
        return Line(line.outcome, f"{line.text} {why}")

    def best_against(self, layouts: Sequence[str], vendor: str | None) -> Line:
        best = self.best_rung(layouts)
        line = self.against(self.need(vendor, self.headline, "cold"), best)
        try:
            share = f"; {self.share(best, self.roof)}."
        except Missing:
            return line  # the comparison stands without its yardstick
        return Line(line.outcome, line.text.removesuffix(".") + share)


WARP, SHARED = "warp_per_row", "shared"


def _columns(shape: str) -> str:
    return shape.split("x")[1]


def _batches(shape: str) -> str:
    count = -(-int(_columns(shape)) // CONSTANT_FLOATS)
    return "1 batch" if count == 1 else f"{count} batches"


def matvec(judge: Judge) -> list[Finding]:
    judge = _Judge(judge.record, judge.experiment, judge.prefix)
    head, at = judge.headline, shape_label(judge.headline)

    def cold(base: str, other: str, shape: str = head) -> Writer:
        return lambda: judge.compare((base, "cold"), (other, "cold"), shape)

    def hot(base: str, other: str) -> Writer:
        return lambda: judge.compare((base, "hot"), (other, "hot"), head)

    return [
        finding(
            "The naive kernel against the serial program",
            "S3: “why is CUDA-naive slower than serial?” (C44)",
            lambda: judge.compare(("cpu_serial", "hot"), ("naive", "cold"), head),
        ),
        finding(
            "Neighbouring threads on neighbouring words",
            "S3: transposed, “more than 30 times” as fast as naive (C47, C48)",
            cold("naive", "transposed"),
            cold("naive", "transposed", LARGE),
        ),
        finding(
            "The vector in constant memory",
            "S3: 4.17 ms against 4.65 ms, so faster than transposed (C50)",
            lambda: judge.each(
                f"At {at} `constant` against `transposed`",
                judge.at_unroll("transposed", "constant"),
            ),
        ),
        finding(
            "The vector in shared memory",
            "S3: “shared memory, which is faster than constant” (C52); its 2.62 ms against 4.17 ms "
            "are at unroll 8 and 4",
            lambda: judge.each(
                f"At {at} `shared` against `constant`", judge.at_unroll("constant", "shared")
            ),
        ),
        finding(
            "How near that comes to the roof",
            "S3: 2.62 ms, which is 92 % of its GPU's peak bandwidth (C54)",
            lambda: judge.near_the_roof("shared"),
        ),
        finding(
            "Unrolling",
            "S3: `#pragma unroll` 4 and 8, implied to pay (C55)",
            lambda: judge.each(f"At {at} unrolled against unroll 1", judge.unrolled()),
        ),
        finding(
            "Keeping the multiprocessors busy",
            "S3: “increase the data or make the thread blocks smaller” (C42)",
            lambda: judge.each(f"At {at} small blocks against large", judge.small_blocks()),
            judge.best_block,
            judge.rows_at_equal_bytes,
        ),
        finding(
            "How far the strategies are apart",
            "S3: “often several tens of times” (C36), read as 10 or more",
            judge.extremes,
        ),
        finding(
            "The CPU programs",
            "S3: -O3 4.1 times as fast as without, SSE 1.2 times as fast as that, two threads 2.0 "
            "times as fast as SSE (C38 to C41)",
            hot("cpu_serial_o0", "cpu_serial"),
            hot("cpu_serial", "cpu_sse"),
            hot("cpu_sse", "cpu_sse_openmp2"),
        ),
        finding(
            "The price of transposing first",
            "S3: the transposition took 5.6 to 11 times as long as the product; “as it is slow, "
            "use methods that do not transpose” (C56, C62)",
            cold(TRANSPOSITION, SHARED),
            cold(TRANSPOSED_FIRST, "block_per_row"),
            *(lambda d=d: judge.break_even(d) for d in ("naive", "block_per_row", WARP)),
        ),
        finding(
            "One block per row",
            "S3: natural, as blocks are what multiprocessors are given; its time is lost (C63)",
            cold(SHARED, "block_per_row"),
        ),
        finding(
            "One warp per row",
            "S3: can be faster in some cases; its time is lost (C65)",
            lambda: judge.each(
                "`warp_per_row` against `block_per_row`, the same number of elements each time",
                judge.by_columns(),
            ),
            cold("warp_per_row_shared", WARP),
        ),
        finding(
            "Vectors longer than constant memory",
            "S3: in batches; shared memory saves their copies and launches (C51, C53)",
            lambda: judge.each("`shared` against `constant`", judge.batches()),
            judge.copied,
        ),
        finding(
            "Other shapes, and a matrix that fits into the cache",
            "S3 measures 8192 × 8192 alone, where rows and columns cannot be told apart (C66, C67)",
            judge.headline_order,
            lambda: judge.same_order(WIDE, "cold"),
            lambda: judge.same_order(TALL, "cold"),
            lambda: judge.same_order(CACHED, "hot"),
        ),
        finding(
            "Rows that start on aligned addresses",
            "S3: the pitch of cudaMallocPitch keeps them aligned (C46)",
            cold("naive_packed", "naive", ODD),
            lambda: judge.same_memory("naive_packed", "naive"),
        ),
        finding(
            "The best documented rung against the library",
            "",
            lambda: judge.best_against(
                ("row_major", "pitched"), reference(judge.record, judge.experiment)
            ),
            lambda: judge.best_against(("column_major",), "cublas_column_major"),
        ),
    ]
