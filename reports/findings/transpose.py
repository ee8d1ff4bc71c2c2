"""What the record says about the transpositions of S3, which are those of NVIDIA's SDK."""

from __future__ import annotations

from collections.abc import Callable

from quantities import cell, duration, shape_label
from series import reference, roof

from findings.judge import VERBS, Finding, Judge, Line, Pair, Writer, finding

PAPER_SHAPE, ODD_SHAPE = "2048x2048", "8224x8224"  # the second one is a tile wider than 8192
COPY, PLAIN, DIAGONAL, FINE = "copy", "no_bank_conflicts", "diagonal", "fine_grained"
KERNELS = (COPY, "copy_shared", "naive", "coalesced", PLAIN, "coarse_grained", FINE, DIAGONAL)
IN_S3 = (FINE, DIAGONAL, PLAIN)


class _Judge(Judge):
    def loops(self, names: tuple[str, ...], shape: str) -> list[Pair]:
        return [Pair(f"`{name}`", (name, shape, "hot"), (name, shape, "inner")) for name in names]

    def no_transposition(self) -> Line:
        case = self.need(FINE, self.headline, "cold")
        other = self.need(DIAGONAL, self.headline, "cold")
        what = case.problem or "the transposition itself, says the record"
        return Line(
            "measured",
            f"{self.link(case)} is held against its own truth ({cell(what)}) and passes; it takes "
            f"{duration(case.seconds.median)} at {shape_label(self.headline)}, where "
            f"{self.link(other)}, which does transpose, takes {duration(other.seconds.median)}.",
        )

    def product(self) -> Line:
        """The transposition beside the product that it is for, from the other experiment."""
        turn = self.need(PLAIN, self.headline, "cold")
        other = self.record.experiment("matvec")
        if other is None:
            return Line("not measured", "Not measured: the record holds no experiment `matvec`.")
        judge = Judge(self.record, other, self.prefix)
        fast = judge.need("shared", self.headline, "cold")  # the same shape in both
        ratio = self.ratio(turn, fast)
        return Line(
            ratio.outcome,
            f"At {shape_label(self.headline)} the product by {judge.link(fast)} "
            f"{VERBS[ratio.outcome]} {self.link(turn)}: {self.times(turn, fast)}.",
        )

    def best_against(self, base: Callable[[Judge], str | None]) -> Line:
        best = self.best_rung()
        return self.against(self.need(base(self), self.headline, "cold"), best)

    def table(self) -> Line:
        where = f"[The table](#{self.prefix}{self.experiment.name}-s3)"
        return Line("measured", f"{where} stands below in ms and GiB/s, beside this machine's.")


def transpose(judge: Judge) -> list[Finding]:
    judge = _Judge(judge.record, judge.experiment, judge.prefix)
    head = judge.headline
    shapes = tuple(dict.fromkeys((head, PAPER_SHAPE)))

    def cold(base: str | None, other: str, shape: str = head) -> Writer:
        return lambda: judge.compare((base, "cold"), (other, "cold"), shape)

    return [
        finding(
            "Tiles in shared memory against strided writes",
            "NVIDIA's paper: coalesced over naive 7.5, 1.5 and 1.2 times on GTX 280, M2090, K20X",
            *(cold("naive", "coalesced", shape) for shape in shapes),
        ),
        finding(
            "Padding against bank conflicts",
            "NVIDIA's paper: over coalesced 1.01, 1.11 and 0.99 times",
            *(cold("coalesced", PLAIN, shape) for shape in shapes),
        ),
        finding(
            "Blocks along the diagonal",
            "S3's table: 1.65 times as fast as without bank conflicts, inner 1.99 (C60)",
            cold(PLAIN, DIAGONAL),
            cold(PLAIN, DIAGONAL, ODD_SHAPE),
        ),
        finding(
            "A method that does not transpose",
            "S3 lists fine-grained as the fastest transposition (C59)",
            judge.no_transposition,
        ),
        finding(
            "Outer against inner loop",
            "S3's table: inner 1.07 times as fast for fine-grained, 1.19 for diagonal, 0.99 "
            "without bank conflicts (C61)",
            lambda: judge.each(
                f"At {shape_label(head)} inner against outer (hot)", judge.loops(IN_S3, head)
            ),
            lambda: judge.each(
                f"At {shape_label(PAPER_SHAPE)}, in cache where it fits",
                judge.loops((COPY, PLAIN), PAPER_SHAPE),
            ),
        ),
        finding(
            "What transposing costs beside the product",
            "S3: “very important”; there 5.6 to 11 times the time of the product (C56)",
            judge.product,
        ),
        finding(
            "The best transposition against library and copies",
            "",
            lambda: judge.best_against(lambda j: reference(j.record, j.experiment)),
            lambda: judge.best_against(lambda _: COPY),
            lambda: judge.best_against(lambda j: roof(j.record, j.experiment)),
        ),
        finding(
            "The table of S3",
            "S3 prints its times in “s” and its throughput in “GB/s” (C57); they are ms and GiB/s "
            "(C58)",
            judge.table,
        ),
    ]
