"""The regimes: what a report has to know of each, in the order of tables.

The harness's table is experiments/harness/table/regime.hpp. A record may have a regime that is not
in this table: it is then shown by its name, and nothing is known of its clock or its noise.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Regime:
    """One way to time a launch."""

    meaning: str  # for the glossary
    scope: str = ""  # follows a kernel's name in a sentence; empty: the regime goes without saying
    steps: float | None = None  # of the events' clock that a sample may be off; None: the host's
    varies_like: str = ""  # the regime whose earlier runs tell how much this one varies
    only_if_named: bool = False  # no full run has it
    chart: str = ""  # says in a chart's note how its times were taken


REGIMES = {
    "cold": Regime(
        "the launch finds other data in the L2 cache, which is flushed before",
        steps=1,
        chart="Cold: L2 is flushed before each launch.",
    ),
    "drained": Regime(
        "as cold, but until everything that the launch wrote is in DRAM",
        steps=2,  # the difference of two times
        varies_like="cold",
        chart="Drained: from a flushed L2 until all writes are in DRAM.",
    ),
    "hot": Regime("the same launch has just run; CPU programs are always hot", steps=1),
    "inner": Regime(
        "one launch repeats its loads and stores, and its time is divided by their number",
        scope=" inner",
        steps=0.01,
    ),
    "end_to_end": Regime("allocate, copy in, run, copy out, free", scope=" end to end"),
    "first": Regime(
        "end to end, as the first GPU work of a process that has a CUDA context",
        scope=" in a first call",
        varies_like="end_to_end",
        only_if_named=True,
    ),
    "first_context": Regime(
        "as first, including the time to create the context",
        scope=" in a first call with its context",
        varies_like="end_to_end",
        only_if_named=True,
    ),
    "sustained": Regime(
        "launches back to back for two seconds, once time and power have settled",
        scope=" sustained",
        steps=0,  # seconds long
        varies_like="hot",
    ),
}
