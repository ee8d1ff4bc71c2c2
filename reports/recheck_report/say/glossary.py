"""The project's own words, each explained once: on the page of the method."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recheck_report.record.record import Record
from recheck_report.record.regimes import REGIMES
from recheck_report.say.nodes import Table, Text, table, text

LIMITED = 80  # percent; from here on Nsight Compute calls a unit what limits a launch
# what follows a number or a name
MARKS = {
    "ᵉ": "not timed in the same rounds; the interval combines both",
    "≈": "among all comparisons of the report, that can be chance",
    "±": "the larger half of the 95 % interval of the median",
    "§": "split inputs on tensor cores: not IEEE fp32, within a bound of its own",
    "†": "not fp32-accurate, as it rounds its inputs: not compared as an equal",
    "‡": "another problem, or a part of this one: not compared as an equal",
}
WORDS = {
    "kernel": "one way to solve an experiment's problem: a row of its table",
    "library": "a vendor's or a CPU's library that kernels are compared with",
    "ceiling": "a row that only moves the same bytes, such as memcpy; a kernel may beat it",
    "case": "a kernel at one shape in one regime; it has a time, or a reason why not",
    "headline shape": "the shape that tables and first sentences show",
    **{name.replace("_", " "): regime.meaning for name, regime in REGIMES.items()},
    "won, tied, lost": "the fastest kernel against the library at one shape; tied if the interval "
    "with its noise includes 1, or p is 5 % or more",
    "disturbed, no interval": "other programs may have lengthened the time, or there are too few "
    "samples: it decides nothing",
    "suspect, odd": "a time shorter than the machine allows; a value that does not fit the rest",
    "unsettled": "pace or power still changed when the sustained time began",
    "correctness check": "what every case passes before it is timed",
    "self-audit": "one kernel timed under several names, and with slightly more work",
    "smallest difference that counts": "from the self-audit: anything smaller counts as equal",
    "noise": "how much a ratio varies from run to run, never less than that difference",
    "p": "how likely a difference as large is by chance, corrected for the number of comparisons",
    "earlier runs that agree": "earlier runs on the same GPU model that reached the same side of "
    "the threshold",
    **{mark: MARKS[mark] for mark in "ᵉ≈"},
    "busy, limited by": "how near a unit of the GPU came to its peak, on average over the launch, "
    f"as Nsight Compute counts; from {LIMITED} % on, the busiest unit limits the launch",
    "probe": "a result that is not a time: a counter, an attribute, the outcome of a test",
}
ALWAYS = ("cold", "hot")  # other regimes are explained if the record has them


def marks(rows: Iterable[Sequence[Text | str]], known: str = "".join(MARKS)) -> Text:
    """What the marks in these texts mean, of the known ones; empty without one."""
    shown = "".join(text(cell).plain for row in rows for cell in row)
    used = [f"{mark}: {MARKS[mark]}." for mark in known if mark in shown]
    return text(" ".join(used))


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
