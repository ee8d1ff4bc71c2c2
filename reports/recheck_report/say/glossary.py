"""The project's own words, each explained once: on the page of the method."""

from __future__ import annotations

from recheck_report.record.record import Record
from recheck_report.say.bottlenecks import LIMITED
from recheck_report.say.nodes import Table, table

_WORDS = {
    "row": "a strategy: one way to solve an experiment's problem, or a part or a yardstick of one",
    "rung": "a row that is a step on the way from the simplest kernel to the fastest",
    "baseline": "a library, or a program on the CPU, that rungs are compared with",
    "roof": "a row that only moves the same bytes, such as memcpy; a rung may beat it",
    "case": "a row at one shape in one regime; it has a time, or a reason why not",
    "headline shape": "the shape that tables and first sentences show",
    "cold": "the launch finds other data in the L2 cache, which is flushed before",
    "drained": "as cold, but until everything that the launch wrote is in DRAM",
    "hot": "the same launch has just run; CPU rows are always hot",
    "inner": "one launch repeats its loads and stores, and its time is divided by how often",
    "sustained": "launches back to back for two seconds, once time and power have settled",
    "end to end": "allocate, copy in, run, copy out, free",
    "first": "end to end, as the first GPU work of a process that has a CUDA context",
    "first context": "the same with the time to create the context",
    "gate": "the check that every case passes before it is timed",
    "self-audit, A/A": "one kernel timed under several names, and with slightly more work: "
    "how small a difference this run can tell",
    "resolution": "that smallest difference; nothing smaller is called one",
    "margin": "what that ratio differs by between runs, or the resolution if that is more",
    "p": "how likely a difference as large is by chance, corrected for the number of comparisons",
    "earlier runs that agree": "those on this GPU model whose ratio is on this side of the bound",
    "ᵉ": "from the far ends of two medians' intervals, as the two share no rounds",
    "claim, check": "a sentence of a document; a question to the record that decides it or a part",
    "for it, against it": "what one check says of its claim, which alone has a verdict",
    "holds, fails here": "all parts of the claim are decided so, as far as its sentence reaches",
    "depends": "with one choice that the document leaves open it holds, with another it fails",
    "undecided": "no part fails, and one lies within run-to-run variation, or has p of 5 % or more",
    "wrong as printed": "it fails by what is the same on every GPU: an erratum",
    "not judged": "the sentence asserts nothing that a run, a count or a proof could contradict",
    "not measured": "the record or its probes lack the data, or no measurement decides it",
    "busy, limited by": "how near a unit of the GPU came to its peak, on average over the launch, "
    f"as Nsight Compute counts; the launch is limited by the busiest unit from {LIMITED} % on",
    "probe": "what was found out besides times: a counter, an attribute, the outcome of a test",
}
_REGIMES = {
    "drained": "drained",
    "inner": "inner",
    "end to end": "end_to_end",
    "first": "first",
    "first context": "first_context",
    "sustained": "sustained",
}


def words(record: Record) -> Table:
    """The words that a report on this record uses."""
    regimes = {case.regime for case in record.cases}
    roles = {case.role for case in record.cases}
    rows = (
        (word, meaning)
        for word, meaning in _WORDS.items()
        if _REGIMES.get(word, "") in {"", *regimes}
        if word != "roof" or "roof" in roles
    )
    return table(("word", "meaning"), rows)
