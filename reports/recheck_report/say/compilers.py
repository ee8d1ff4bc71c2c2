"""What two compilers make of the same listings: machine code and times next to each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from recheck_report.formatting import NONE, count, durations
from recheck_report.record.counters import TRIP
from recheck_report.record.record import SPECIAL, Record
from recheck_report.say import wordings
from recheck_report.say.nodes import Code, Page, Text, blocks, few, joined, table, text
from recheck_report.say.pages.compare import ratio_words, row_of
from recheck_report.statistics.changes import changes

MARK = "<!-- Written by Recheck from several compilers' programs; comparing again replaces it. -->"
ARROW = " → "
MOST = 6  # kernels named in a sentence
COUNTS = """\
Multiply-adds and loads are those of one thread in one trip of the innermost loop. A cell with an \
arrow has one value per compiler, in the order above."""
TIMES = """\
Cold launches, with one median per process: the programs ran in turns, and the same compiled \
harness timed them. Run-to-run noise is not included in the intervals."""


def page(
    code: Mapping[str, Mapping[str, Mapping[str, float]]],
    runs: Sequence[Sequence[Record]],
    missing: Mapping[str, str | None],
) -> Page:
    """`code`: counts by compiler and kernel; `runs`: of each process, the records of the first two
    compilers; `missing`: why something is not measured."""
    kernels = sorted({kernel for each in code.values() for kernel in each})
    rows: dict[str, list[str]] = {}
    for kernel in kernels:
        facts = [_facts(each.get(kernel, {})) for each in code.values()]
        rows[kernel] = [
            ARROW.join(of if len({*of}) > 1 else of[:1]) for of in zip(*facts, strict=True)
        ]
    odd = [text(Code(kernel)) for kernel in kernels if ARROW in "".join(rows[kernel])]
    alike = f"By {', '.join(code)}: {len(kernels) - len(odd)} of {count(len(kernels), 'kernel')}"
    alike += " have the same multiply-adds, loads and registers"
    says = [text(alike, ", but not " if odd else "", few(odd, MOST), ".")]
    says += [text(f"{what} not measured: {why}.") for what, why in missing.items() if why]
    columns = ["kernel", *list(code)[:2], "the second against the first"]
    counted: list[list[Text | str]] = [[text(Code(each)), *rows[each]] for each in kernels]
    return Page(
        MARK,
        text("The same listings by several compilers"),
        blocks(
            text(TIMES) if runs else None,
            table(columns, _times(runs), (1, 2, 3)),
            text(COUNTS),
            table(["kernel", *wordings.COLUMNS[4:]], counted, (1, 2, 3, 4)),
        ),
        joined(" ", says),
    )


def _facts(values: Mapping[str, float]) -> tuple[str, ...]:
    """The cells of a kernel's counts: multiply-adds, shared and global loads, registers."""
    kinds = (wordings.loads(values, kind) or "none" for kind in ("shared_loads", "global_loads"))
    ffma, registers = (wordings.number(values.get(name)) for name in (f"{TRIP}ffma", "registers"))
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
        yield text(Code(row_of(found[0].new))), ", ".join(old), ", ".join(new), ratios
