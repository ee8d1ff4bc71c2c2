"""The project's own words, each explained once: on the page of the method."""

from __future__ import annotations

from recheck_report.record.record import Record
from recheck_report.record.regimes import REGIMES
from recheck_report.say.bottlenecks import LIMITED
from recheck_report.say.nodes import Table, table

WORDS = {
    "kernel": "one way to solve an experiment's problem: a row of its table",
    "library": "a vendor's or a CPU's library that kernels are compared with",
    "ceiling": "a row that only moves the same bytes, such as memcpy; a kernel may beat it",
    "case": "a kernel at one shape in one regime; it has a time, or a reason why not",
    "headline shape": "the shape that tables and first sentences show",
    **{name.replace("_", " "): regime.meaning for name, regime in REGIMES.items()},
    "won, tied, lost": "the fastest kernel against the library at one shape; tied if the interval "
    "with its noise includes 1, or p is 5 % or more",
    "correctness check": "what every case passes before it is timed",
    "self-audit": "one kernel timed under several names, and with slightly more work",
    "smallest detectable difference": "what the self-audit finds; anything smaller counts as equal",
    "noise": "how much a ratio varies from run to run, never less than that difference",
    "p": "how likely a difference as large is by chance, corrected for the number of comparisons",
    "earlier runs that agree": "earlier runs on the same GPU model that reached the same side of "
    "the threshold",
    "ᵉ": "from the far ends of two intervals, as the two share too few rounds",
    "claim, check": "a document's assertion; a question to the record that decides part of it",
    "for it, against it": "what one check found; only the claim has a verdict",
    "holds, fails here": "every check of the claim came out that way",
    "depends": "it holds with one choice that the document leaves open, and fails with another",
    "undecided": "no check fails, and one lies within the noise or has p of 5 % or more",
    "wrong as printed": "wrong on every GPU: a slip in arithmetic, a typo, a broken listing",
    "not judged": "nothing testable is asserted",
    "not measured": "the record lacks the data, or no measurement can decide it",
    "busy, limited by": "how near a unit of the GPU came to its peak, on average over the launch, "
    f"as Nsight Compute counts; from {LIMITED} % on, the busiest unit limits the launch",
    "probe": "a result that is not a time: a counter, an attribute, the outcome of a test",
}
ALWAYS = ("cold", "hot")  # other regimes are explained if the record has them


def words(record: Record) -> Table:
    """The words that a report on this record uses."""
    absent = REGIMES.keys() - {*ALWAYS, *record.regimes}
    roles = {case.role for case in record.cases}
    rows = (
        (word, meaning)
        for word, meaning in WORDS.items()
        if word.replace(" ", "_") not in absent
        if word != "ceiling" or "roof" in roles
    )
    return table(("word", "meaning"), rows)
