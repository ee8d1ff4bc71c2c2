"""What the record says about the transpositions of S3, which are those of NVIDIA's SDK."""

from __future__ import annotations

from collections.abc import Callable

from recheck_report.anchors import page
from recheck_report.queries import reference, roof
from recheck_report.sections.findings.sentences import (
    Finding,
    Line,
    Missing,
    Sentences,
    Writer,
    finding,
)

PAPER_SHAPE = "2048x2048"  # of NVIDIA's white paper
LARGEST = "16384x16384"
COPY, PLAIN = "copy", "no_bank_conflicts"


class _Sentences(Sentences):
    def best_against(self, base: Callable[[Sentences], str | None]) -> Line:
        best = self.best_rung()
        return self.against(self.need(base(self), self.headline, "cold"), best)

    def table(self) -> Line:
        if not self.own.known.figures_of(self.experiment.name).of("S3"):
            raise Missing("the table", "no figures.toml has it")
        where = f"[The table]({page(self.experiment)}#then-s3)"
        return Line("measured", f"{where} has both in ms and GiB/s, beside this machine's.")


def transpose(say: Sentences) -> list[Finding]:
    say = _Sentences(say.own, say.experiment)
    head = say.headline
    shapes = tuple(dict.fromkeys((head, PAPER_SHAPE)))

    def cold(base: str | None, other: str, shape: str = head) -> Writer:
        return lambda: say.compare((base, "cold"), (other, "cold"), shape)

    return [
        finding(
            "Tiles in shared memory against strided writes",
            "NVIDIA's paper: coalesced is 7.5, 1.5 and 1.2 times as fast as naive on GTX 280, "
            "M2090 and K20X",
            *(cold("naive", "coalesced", shape) for shape in shapes),
        ),
        finding(
            "Padding against bank conflicts",
            "NVIDIA's paper: without bank conflicts 1.01, 1.11 and 0.99 times as fast as coalesced",
            *(cold("coalesced", PLAIN, shape) for shape in shapes),
        ),
        finding(
            "The documents' fastest transposition against the library and copies",
            "",
            lambda: say.best_against(lambda j: reference(j.record, j.experiment)),
            lambda: say.best_against(lambda _: COPY),
            lambda: say.best_against(lambda j: roof(j.record, j.experiment)),
        ),
        *say.beyond(
            "Beyond the documents",
            "",
            *say.beyond_against_vendor(head, LARGEST),
            *say.beyond_of_roof(head, LARGEST),
        ),
        *say.beyond("What limits the kernels", "", *say.binds()),
        finding(
            "The table of S3",
            "S3 prints its times in “s” and its throughput in “GB/s” (C57); they are ms and GiB/s "
            "(C58)",
            say.table,
        ),
    ]
