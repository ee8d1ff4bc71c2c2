"""The same algorithm in other words: a listing as printed, and rows that differ in one word."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from recheck_report.anchors import page
from recheck_report.claims.documents import Listing
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, count, duration, durations, shape_label, spread
from recheck_report.record.counters import TRIP
from recheck_report.record.record import SPECIAL, Case, Experiment, Record
from recheck_report.say import bottlenecks
from recheck_report.say.machine import mark
from recheck_report.say.nodes import (
    Block,
    Bullets,
    Page,
    Section,
    Text,
    blocks,
    code,
    few,
    joined,
    link,
    marked,
    prose,
    speedup,
    table,
    text,
)
from recheck_report.say.pages.compare import ratio_words, row_of
from recheck_report.statistics.changes import changes
from recheck_report.statistics.ratio import Ratio

TITLE, ANCHOR = "The same algorithm in other words", "other-words"
COLUMNS = ["kernel", "what differs", "time", "against the listing", "multiply-adds"]
COLUMNS += ["shared loads", "global loads", "registers"]
LEAD = """\
Each kernel differs from a document's listing in one word, or one flag of the compiler, and computes
the same result. They decide a claim only where the document leaves that word open. Multiply-adds
and loads are those of one thread in one trip of its innermost loop, from the machine code; 4 × 16 B
is four loads of 16 bytes. The last kernel of each table is the listing's general form, in which
several words differ. A dash: not measured."""
# of a row that has another value of a parameter
PARAMETERS = {"unroll": "#pragma unroll {}", "index": "an index of {} bits"}


def section(report: Measured, experiment: Experiment) -> Section | None:
    """A table for each listing that was timed in other words; None without one."""
    shown = [
        block
        for listing in report.collection.listings
        if listing.experiment == experiment.name
        for block in _reworded(report, experiment, listing)
    ]
    return Section(text(TITLE), blocks(marked(LEAD), shown), ANCHOR) if shown else None


def costly(report: Measured, experiment: Experiment) -> Text:
    """The words that make a listing of an experiment slower, with a link; empty without them."""
    slower: list[tuple[float, str]] = []
    for listing in report.collection.listings:
        if listing.experiment == experiment.name:
            cases, others = _cases(report, experiment, listing)
            for case, ratio in _changed(report, cases, others):
                # unrolling is tried for its speed, other words by habit
                if ratio.value < 1 and case.parameters.items() <= cases[0].parameters.items():
                    slower.append((ratio.value, case.note.partition(" (")[0]))
    words = few([word for _, word in sorted(slower)], 2)
    why = link(f"{page(experiment)}#{ANCHOR}", "changes of one word")
    return text(why, " that slow it down: ", words) if slower else text()


def _cases(
    report: Measured, experiment: Experiment, listing: Listing
) -> tuple[list[Case], list[Case]]:
    """The timed cases of a listing, its wordings and its general form, and those of its wordings;
    nothing without times to compare."""
    ids = listing.reworded(experiment.headline)
    by_id = report.record.by_id
    cases = [case for name in ids.values() if (case := by_id.get(name)) and case.seconds]
    others = [case for case in cases if case.strategy in listing.wordings]
    return (cases, others) if others and cases[0].strategy == listing.strategies[0] else ([], [])


def _reworded(report: Measured, experiment: Experiment, listing: Listing) -> tuple[Block, ...]:
    """One listing's sentences and table; nothing without times to compare."""
    cases, others = _cases(report, experiment, listing)
    if not others:
        return ()
    base, differs = cases[0], {case.id: _word(cases[0], case) for case in others}
    differs[base.id] = text("as printed")
    rows = (_row(report, base, case, differs.get(case.id, text(case.note))) for case in cases)
    title = f"{base.strategy}, cold, at {shape_label(base.shape_name)}"
    lead = text(code(base.strategy), f" at {shape_label(base.shape_name)}, with one word changed:")
    why = prose(listing.wordings_why)
    # what each word does to the listing's time, the slowest first
    changes = [
        text(differs[case.id], ": ", speedup(ratio), _why(report, base, case))
        for case, ratio in _changed(report, cases, others)
    ]
    if len(changes) < len(others):
        rest = "the other changes" if changes else "each"
        changes.append(text(f"{rest}: within run-to-run noise"))
    shown = table(COLUMNS, rows, range(2, 8), title)
    return blocks(lead, Bullets(tuple(changes)), why, shown)


def _row(report: Measured, printed: Case, case: Case, differs: Text) -> Iterator[Text | str]:
    counted = _counted(report, case)
    yield text(code(case.strategy))
    yield differs
    yield text(f"{duration(case.time.median)} {spread(case.time)}", mark(report, case))
    yield NONE if case is printed else speedup(report.comparisons.ratio(printed, case))
    yield number(counted.get(f"{TRIP}ffma"))
    for kind in ("shared_loads", "global_loads"):
        yield loads(counted, kind) or (NONE if f"{TRIP}ffma" not in counted else "none")
    yield number(counted.get("registers"))


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


def number(value: float | None) -> str:
    return NONE if value is None else f"{value:.0f}"


def _widths(counted: Mapping[str, float], kind: str) -> dict[int, int]:
    """How many loads of each width, the widest first."""
    begins = f"{TRIP}{kind}_"
    found = {
        int(name.removeprefix(begins)): int(count)
        for name, count in counted.items()
        if name.startswith(begins) and name.removeprefix(begins).isdecimal()
    }
    return dict(sorted(found.items(), reverse=True))


def loads(counted: Mapping[str, float], kind: str) -> str:
    """ "4 × 16 B, 16 × 4 B"."""
    return ", ".join(f"{count} × {width} B" for width, count in _widths(counted, kind).items())


def _changed(
    report: Measured, cases: list[Case], others: list[Case]
) -> Iterator[tuple[Case, Ratio]]:
    """The wordings that are slower or faster than the listing, the slowest first."""
    for case in sorted(others, key=lambda case: -case.time.median):
        ratio = report.comparisons.verdict(cases[0], case, picked=len(others))
        if ratio.outcome in ("slower", "faster"):
            yield case, ratio


def _why(report: Measured, printed: Case, case: Case) -> Text:
    """ ", with 32 shared loads per 16 multiply-adds, not 20": the loads that changed, per as
    many multiply-adds as the listing has in a trip; empty if they did not or are unknown."""
    base, other = (_counted(report, each) for each in (printed, case))
    trip, own = base.get(f"{TRIP}ffma"), other.get(f"{TRIP}ffma")
    if not trip or not own:
        return text()
    for kind in ("shared_loads", "global_loads"):
        before = sum(_widths(base, kind).values())
        after = sum(_widths(other, kind).values()) * trip / own
        if before != after:
            what = kind.replace("_", " ")
            return text(f", with {after:.3g} {what} per {trip:.0f} multiply-adds, not {before}")
    if trip != own:
        return text(
            f", with {count(int(own), 'multiply-add')} per trip of the loop, not {trip:.0f}"
        )
    return text()


MARK = "<!-- Written by Recheck from several compilers' programs; comparing again replaces it. -->"
ARROW = " → "
MOST = 6  # kernels named in a sentence
COUNTS = """\
Multiply-adds and loads are those of one thread in one trip of the innermost loop. A cell with an \
arrow has one value per compiler, in the order above."""
TIMES = """\
Cold launches, with one median per process: the programs ran in turns, and the same compiled \
harness timed them. Run-to-run noise is not included in the intervals."""


def compilers_page(
    counts: Mapping[str, Mapping[str, Mapping[str, float]]],
    runs: Sequence[Sequence[Record]],
    missing: Mapping[str, str | None],
) -> Page:
    """`counts`: by compiler and kernel; `runs`: of each process, the records of the first two
    compilers; `missing`: why something is not measured."""
    kernels = sorted({kernel for each in counts.values() for kernel in each})
    rows: dict[str, list[str]] = {}
    for kernel in kernels:
        facts = [_facts(each.get(kernel, {})) for each in counts.values()]
        rows[kernel] = [
            ARROW.join(of if len({*of}) > 1 else of[:1]) for of in zip(*facts, strict=True)
        ]
    odd = [text(code(kernel)) for kernel in kernels if ARROW in "".join(rows[kernel])]
    alike = f"By {', '.join(counts)}: {len(kernels) - len(odd)} of {count(len(kernels), 'kernel')}"
    alike += " have the same multiply-adds, loads and registers"
    says = [text(alike, ", but not " if odd else "", few(odd, MOST), ".")]
    says += [text(f"{what} not measured: {why}.") for what, why in missing.items() if why]
    columns = ["kernel", *list(counts)[:2], "the second against the first"]
    counted: list[list[Text | str]] = [[text(code(each)), *rows[each]] for each in kernels]
    return Page(
        MARK,
        text("The same listings by several compilers"),
        blocks(
            text(TIMES) if runs else None,
            table(columns, _times(runs), (1, 2, 3)),
            text(COUNTS),
            table(["kernel", *COLUMNS[4:]], counted, (1, 2, 3, 4)),
        ),
        joined(" ", says),
    )


def _facts(values: Mapping[str, float]) -> tuple[str, ...]:
    """The cells of a kernel's counts: multiply-adds, shared and global loads, registers."""
    kinds = (loads(values, kind) or "none" for kind in ("shared_loads", "global_loads"))
    ffma, registers = (number(values.get(name)) for name in (f"{TRIP}ffma", "registers"))
    return (ffma, *kinds, registers) if values else (NONE,) * 4


def _times(runs: Sequence[Sequence[Record]]) -> Iterator[tuple[Text | str, ...]]:
    """Each kernel's medians by both compilers, and their ratios, of all processes."""
    turns = [
        {each.new.id: each for each in changes(*pair) if each.new.experiment not in SPECIAL}
        for pair in runs
    ]
    for case in turns[0] if turns else ():
        found = [turn[case] for turn in turns if case in turn]
        old = durations(*(change.old.time.median for change in found))
        new = durations(*(change.new.time.median for change in found))
        ratios = joined(", ", (ratio_words(change.ratio) for change in found))
        yield text(code(row_of(found[0].new))), ", ".join(old), ", ".join(new), ratios
