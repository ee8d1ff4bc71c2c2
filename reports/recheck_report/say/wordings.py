"""The same algorithm in other words: a listing as printed, and rows that differ in one word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from recheck_report.claims.listings import Listing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, duration, shape_label, spread
from recheck_report.record.counters import TRIP
from recheck_report.record.record import Case, Experiment
from recheck_report.say import bottlenecks
from recheck_report.say.machine import mark
from recheck_report.say.nodes import (
    Block,
    Code,
    Section,
    Text,
    blocks,
    joined,
    marked,
    prose,
    speedup,
    table,
    text,
)

COLUMNS = ["kernel", "what differs", "time", "against the listing", "multiply-adds"]
COLUMNS += ["shared loads", "global loads", "registers"]
LEAD = """\
Each kernel differs from a document's listing in one word, or one flag of the compiler, and computes
the same result. Verdicts count only what the document leaves open. Multiply-adds and loads are
those of one thread in one trip of its innermost loop, from the machine code; 4 × 16 B is four loads
of 16 bytes. The last kernel of each table is the listing's general form, in which several words
differ. A dash: not measured."""
# of a row that has another value of a parameter
PARAMETERS = {"unroll": "#pragma unroll {}", "index": "an index of {} bits"}


def section(report: Measured, experiment: Experiment) -> Section | None:
    """A table for each listing that was timed in other words; None without one."""
    shown = [
        block
        for listing in report.collection.listings
        if listing.experiment == experiment.name
        for block in _told(report, experiment, listing)
    ]
    title = text("The same algorithm in other words")
    return Section(title, blocks(marked(LEAD), shown), "other-words") if shown else None


def _told(report: Measured, experiment: Experiment, listing: Listing) -> tuple[Block, ...]:
    """One listing's sentences and table; nothing without times to compare."""
    record = report.record
    ids = listing.reworded(experiment.headline)
    cases = [case for name in ids.values() if (case := record.by_id.get(name)) and case.seconds]
    printed, others = cases[:1], [case for case in cases if case.strategy in listing.wordings]
    if not others or printed[0].strategy != listing.strategies[0]:
        return ()
    base, differs = printed[0], {case.id: _word(printed[0], case) for case in others}
    differs[base.id] = text("as printed")
    rows = (_row(report, base, case, differs.get(case.id, text(case.note))) for case in cases)
    title = f"{base.strategy}, cold, at {shape_label(base.shape_name)}"
    lead = text(Code(base.strategy), f" at {shape_label(base.shape_name)}, with one word changed:")
    why = prose(listing.wordings_why)
    return blocks(lead, why, table(COLUMNS, rows, range(2, 8), title))


def _row(report: Measured, printed: Case, case: Case, differs: Text) -> Iterator[Text | str]:
    counted = _counted(report, case)
    yield text(Code(case.strategy))
    yield differs
    yield text(f"{duration(case.time.median)} {spread(case.time)}", mark(report, case))
    yield NONE if case is printed else speedup(report.comparisons.ratio(printed, case))
    yield _number(counted.get(f"{TRIP}ffma"))
    for kind in ("shared_loads", "global_loads"):
        yield _loads(counted, kind) or (NONE if f"{TRIP}ffma" not in counted else "none")
    yield _number(counted.get("registers"))


def _word(printed: Case, case: Case) -> Text:
    """What a row has otherwise: its parameters, else its note."""
    own = case.parameters.items() - printed.parameters.items()
    return joined(
        ", ", (PARAMETERS.get(name, name + " {}").format(n) for name, n in sorted(own))
    ) or text(case.note)


def _counted(report: Measured, case: Case) -> Mapping[str, float]:
    """A case's counters, and the counts of its machine code; empty if they cannot be used."""
    probes = report.probes
    if not probes or bottlenecks.absence(probes, report.record) or case.id not in probes.counters:
        return {}
    return probes.counters[case.id].values


def _number(count: float | None) -> str:
    return NONE if count is None else f"{count:.0f}"


def _loads(counted: Mapping[str, float], kind: str) -> str:
    """ "4 × 16 B, 16 × 4 B": how many loads of each width, the widest first."""
    begins = f"{TRIP}{kind}_"
    loads = {
        int(name.removeprefix(begins)): count
        for name, count in counted.items()
        if name.startswith(begins) and name.removeprefix(begins).isdecimal()
    }
    return ", ".join(f"{count:.0f} × {width} B" for width, count in sorted(loads.items())[::-1])
