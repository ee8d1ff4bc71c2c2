"""What the record says about the matrix multiplications of S0, S1 and S2."""

from __future__ import annotations

from recheck_report.formatting import cell, duration, shape_label, significant
from recheck_report.queries import crossings, is_block_policy, sweep
from recheck_report.sections.findings.sentences import (
    Finding,
    Line,
    Missing,
    Sentences,
    Writer,
    finding,
)

CLAIMED_SHAPE = "1024x1024x1024"  # the width that S0 implies: a 64x64 grid of 16x16 blocks
SQUARES = [f"{n}x{n}x{n}" for n in (512, 1024, 2048, 4096, 8192)]
ODD_SHAPE = "1023x1023x1023"  # about as much work, and no power of two


class _Sentences(Sentences):
    def best_policy(self) -> Line:
        rows = [row for row in self.record.strategies(self.experiment) if is_block_policy(row)]
        base = self.need("tile16", self.headline, "cold")
        timed = self.fastest(rows)
        best = timed[0]
        level = [c for c in timed[1:] if self.ratio(best, c).outcome != "slower"]
        text = (
            f"At {shape_label(self.headline)} {self.link(best)} is the fastest of {len(timed)} "
            f"block policies: {duration(best.time.median)}, {self.rate(best)}"
        )
        ratio = self.ratio(base, best)
        if best is base:
            text += "; it is the documents' own 16 × 16 tile, one tile deep"
        else:
            text += f". {self.link(base)}, the documents' tile in our general form, takes "
            text += f"{duration(base.time.median)}: {self.link(best)} is {ratio.words}"
        if level:
            text += ". The intervals do not separate it from " + ", ".join(map(self.link, level))
        return Line("no difference" if best is base else ratio.outcome, f"{text}.")

    def crossover(self, base: str, other: str) -> Line:
        """From which square size on the GPU, copies included, beats the CPU strategy `base`."""
        sides = []
        for name, regime in ((base, "hot"), (other, "end_to_end")):
            sides.append(sweep(self.record, self.experiment, name, regime))
            if not sides[-1]:
                self.need(name, CLAIMED_SHAPE, regime)
        found, ratios = crossings(self.record, *sides)
        if not ratios:
            raise Missing(f"`{base}` and `{other}`", "no square size has a time of both")
        where = [
            f"{'overtakes' if c.other_wins_above else 'falls behind'} `{base}` between {c.below} "
            f"and {c.above} (interpolated: near {significant(c.at, 2)})"
            for c in found
        ]
        if not where:
            word = "ahead of" if ratios[0][1].value > 1 else "behind"
            where = [f"is {word} `{base}` at every square size that both have"]
        bases, others = map(dict, sides)
        ends = [
            f"{self.times(bases[edge], others[edge])}: {ratio.words}"
            for edge, ratio in dict((ratios[0], ratios[-1])).items()
        ]
        return Line(
            "measured",
            f"By medians, `{other}` end to end {', then '.join(where)}; {'; '.join(ends)}.",
        )

    def other_arithmetic(self) -> list[Line]:
        rows = [r for r in self.record.strategies(self.experiment) if not r.fp32 and not r.split]
        return [
            Line(
                "measured",
                f"{self.link(case)} takes {duration(case.time.median)}, {self.rate(case)}; no "
                f"kernel is compared with it: {cell(case.note or 'not fp32-accurate')}.",
            )
            for case in self.fastest(rows)
        ]


def matmul(say: Sentences) -> list[Finding]:
    say = _Sentences(say.own, say.experiment)

    def copies(base: str, rung: str, shape: str = CLAIMED_SHAPE) -> Writer:
        return lambda: say.compare((base, "hot"), (rung, "end_to_end"), shape)

    library = finding("The documents' fastest kernel against the library", "", say.distance)
    library = Finding(library.title, "", (*library.lines, *say.other_arithmetic()))
    return [
        finding(
            "The best block policy",
            "S0: other policies can be used, to find the most suitable (C15)",
            say.best_policy,
        ),
        finding(
            "GPU, copies included, against one CPU thread",
            "S0: the CPU takes longer (C11); S1: “the GPU parallel performance is much better than "
            "the CPU” (C23)",
            # a power of two is the worst stride for a cache, and flatters whoever runs against it
            copies("cpu_serial", "tile16", ODD_SHAPE),
            lambda: say.crossover("cpu_serial", "tile16"),
        ),
        # a serial loop is a weak base, so a BLAS on all cores stands beside it
        finding(
            "GPU, copies included, against the CPU's BLAS",
            "",
            lambda: say.compare(("cpu_serial", "hot"), ("cpu_blas", "hot"), CLAIMED_SHAPE),
            copies("cpu_blas", "global16"),
            copies("cpu_blas", "tile16"),
            lambda: say.crossover("cpu_blas", "tile16"),
        ),
        library,
        *say.beyond(
            "Beyond the documents, IEEE fp32 on CUDA cores",
            "S0: other policies can be used, to find the most suitable (C15)",
            *say.beyond_against_vendor(*SQUARES),
        ),
        *say.beyond(
            "Beyond the documents, split inputs on tensor cores",
            "",
            *say.beyond_against_vendor(*SQUARES, arithmetic="split"),
            arithmetic="split",
        ),
        *say.beyond("What limits the kernels", "", *say.binds()),
    ]
