"""The page that says why other harnesses give other numbers: other_harnesses.json has six kernels
timed by the methods that people use (experiments/other_harnesses/measure.py)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from recheck_report.formatting import NBSP, NONE, margin, significant
from recheck_report.record.case import NAME, ROW, SHAPE
from recheck_report.record.environment import Git
from recheck_report.record.typed import Is, read_if_there
from recheck_report.say.nodes import (
    Bullets,
    Page,
    Section,
    Text,
    blocks,
    code,
    emphasis,
    joined,
    link,
    paragraph,
    prose,
    strong,
    table,
    text,
    texts,
)

SCHEMA = 1
FILE, PAGE = "other_harnesses.json", "why_your_number_differs.md"
MARK = f"<!-- Written by Recheck from {FILE}; rendering again replaces it. -->"
AGREE = 0.01  # clocks that differ in nothing else


@dataclass(frozen=True)
class Time:
    median: Annotated[float, Is("seconds", above=0, most=1e6)]
    samples: Annotated[int, Is("how many", least=1)]


@dataclass(frozen=True)
class Method:
    reason: Annotated[str | None, Is("why a process of it has no time")] = None
    times: Annotated[dict[str, tuple[Time, ...]], Is("of each process, by kernel")] = field(
        default_factory=dict
    )


@dataclass(frozen=True)
class Kernel:
    case: Annotated[str, Is("its row and shape in recheck", pattern=f"^{NAME}/{ROW}/{SHAPE}$")]
    bytes: Annotated[float, Is("that it has to move", least=0)]


@dataclass(frozen=True)
class Environment:
    gpu: Annotated[str, Is("model", filled=True)]
    driver: Annotated[str, Is("version")] = ""
    cuda_runtime: Annotated[str, Is("version")] = ""
    started: Annotated[str, Is("date and time")] = ""
    git: Git = field(default_factory=Git)
    event_seconds: Annotated[float | None, Is("between two adjacent events", least=0)] = None
    versions: Annotated[dict[str, str], Is("of each tool, by its name")] = field(
        default_factory=dict
    )


@dataclass(frozen=True)
class Harnesses:
    schema: Annotated[int, Is("of this form", one_of=(SCHEMA,))]
    environment: Environment
    kernels: Annotated[dict[str, Kernel], Is("by name", names=f"^{NAME}$", filled=True)]
    methods: Annotated[dict[str, Method], Is("by name")]

    def seconds(self, method: str, kernel: str) -> float | None:
        """The median of a method's processes."""
        times = self.methods.get(method, Method()).times.get(kernel)
        return statistics.median(time.median for time in times) if times else None

    def apart(self, base: str, other: str, more: float = 0.0) -> tuple[float, str] | None:
        """The largest difference between another method and `own` plus `more` seconds, as a share,
        with its kernel."""
        pairs = (
            (self.seconds(base, kernel), self.seconds(other, kernel), kernel)
            for kernel in self.kernels
        )
        differences = (
            (abs(theirs / (ours + more) - 1), kernel)
            for ours, theirs, kernel in pairs
            if ours and theirs
        )
        return max(differences, default=None)

    def repeats(self) -> tuple[float, str, str] | None:
        """The largest difference between two processes, with its method and kernel. First launches
        are not counted."""
        return max(
            (
                (max(medians) / min(medians) - 1, method, kernel)
                for method in METHODS
                if method != "first"
                for kernel, times in self.methods.get(method, Method()).times.items()
                if len(medians := [time.median for time in times]) > 1
            ),
            default=None,
        )


def load(folder: Path) -> Harnesses | None:
    """The file of a folder, or None; raises BadRecord, which names it in one line."""
    return read_if_there(Harnesses, folder / FILE, SCHEMA, "not a file", "measure again")


# what each is called, and what it charges the kernel for or leaves out
METHODS = {
    "cold": (
        "Recheck, cold",
        "From a clean L2, emptied by reading. It leaves out bytes that are still in L2 at the end.",
    ),
    "drained": (
        "Recheck, drained",
        "From a clean L2 until every written byte is in DRAM. It charges for all of them.",
    ),
    "hot": (
        "Recheck, hot",
        "The same launch has just run. The kernel pays for the writes that it left in L2.",
    ),
    "read_flush": (
        "Recheck's clock in the library that the others time",
        "A check: it has to agree with cold.",
    ),
    "memset_flush": (
        "Recheck's clock with nvbench's flush",
        "As nvbench, without the time between two events.",
    ),
    "nvbench_cold": (
        "nvbench, cold",
        "It empties L2 with a memset. It charges the kernel for writing that memset back to DRAM.",
    ),
    "do_bench": ("`triton.testing.do_bench`", "As nvbench, cold, with 256 MiB of zeros."),
    "nvbench_batch": (
        "nvbench, batch",
        "Back to back, with no flush. Each launch pays for the writes of the launch before.",
    ),
    "loop": ("A loop between two CUDA events", "As nvbench, batch."),
    "cupy": (
        "CuPy's `benchmark`",
        "No flush. The GPU is idle before each launch, so it also charges for part of the launch.",
    ),
    "host": (
        "A host clock, with synchronisation",
        "No flush. It charges for the launch and for the wait.",
    ),
    "ncu": (
        "Nsight Compute, defaults",
        "It empties L2 and locks the clock to its base. It leaves out the launch.",
    ),
    "ncu_alone": (
        "Nsight Compute, clock and caches left alone",
        "No flush. It leaves out the launch.",
    ),
    "first": (
        "The first launch of a process",
        "It charges for loading the kernel. The context and the operands are there before.",
    ),
}
OTHERS = {"nvbench_cold": "nvbench", "do_bench": "`do_bench`"}
WHICH = Bullets((
    text("To compare two kernels, time both by the same method. A flush that writes adds about the "
         "same time to each kernel that memory limits, so it changes ratios."),
    text("For a kernel that writes much, take drained: cold leaves out up to half an L2 of its "
         "writes."),
    text("For a loop over the same data, take hot, or a loop between two events."),
    text("For a launch that the host waits for, take the host clock."),
))  # fmt: skip


def page(measured: Harnesses, back: str = "") -> Page:
    """`back`: the page that it leads back to; empty for a page of its own."""
    env, many = measured.environment, len(measured.kernels)
    versions = {"driver": env.driver, "CUDA": env.cuda_runtime, **env.versions}
    heads = ["µs", *measured.kernels, "what it charges for or leaves out"]
    kernels = [
        (name, text(code(kernel.case)), significant(kernel.bytes / 2**20))
        for name, kernel in measured.kernels.items()
    ]
    dirty = " with uncommitted changes" if env.git.dirty else ""
    commit = f"Commit {env.git.short}{dirty}{f', {env.started}' if env.started else ''}."
    again = code("cmake --build build/release --target other_harnesses")
    facts = (
        *_checks(measured),
        text(", ".join(f"{name} {version}" for name, version in versions.items() if version), "."),
        text(commit),
        text("To measure again: ", again, "."),
    )
    summary = text(link(back, "Back to the summary"), ".") if back else ""
    lead = joined(" ", (*_answer(measured), summary))
    by_method = table(heads, _rows(measured), range(1, 1 + many))
    medians = paragraph("Medians, in microseconds. All methods launch the same code.")
    kernel_table = table(("kernel", "case", "MiB to move"), kernels, (2,))
    sections = (
        Section(text("The same kernels by every method"), blocks(medians, by_method)),
        Section(text("Which number do you want?"), (WHICH,)),
        Section(text("How it was measured"), blocks(kernel_table, Bullets(facts))),
    )
    title = text(f"Why your number differs: {env.gpu}")
    return Page(MARK, title, blocks(lead, sections))


def _microseconds(seconds: float | None) -> str:
    if seconds is None:
        return NONE
    return f"{1e6 * seconds:,.0f}" if seconds >= 1e-3 else significant(1e6 * seconds)


def _rows(measured: Harnesses) -> list[tuple[Text, ...]]:
    """A row for each method: its time of each kernel in microseconds, and what it charges for."""
    rows = []
    for name, (title, charges) in METHODS.items():
        method = measured.methods.get(name, Method(reason="not measured: not in the file"))
        times = [_microseconds(measured.seconds(name, kernel)) for kernel in measured.kernels]
        why = Text()
        if method.reason:
            reason = ("in one process " if method.times else "") + method.reason
            why = text(" ", emphasis(f"{reason[:1].upper()}{reason[1:]}."))
        rows.append(texts((prose(title), *times, text(charges, why))))
    return rows


def _answer(measured: Harnesses) -> Iterator[Text]:
    """Why the kernel that differs most does so, for the first harness that was measured, and
    whether the clocks agree."""
    share = measured.environment.event_seconds
    pairs = [
        (theirs / ours, other, kernel)
        for other in OTHERS
        for kernel in measured.kernels
        if (ours := measured.seconds("cold", kernel))
        and (theirs := measured.seconds(other, kernel))
    ]
    if pairs:
        _, other, kernel = max(pair for pair in pairs if pair[1] == pairs[0][1])
        said, recheck_says = (
            _microseconds(measured.seconds(name, kernel)) for name in (other, "cold")
        )
        name = prose(OTHERS[other])
        says = f" says {said}{NBSP}µs, and Recheck {recheck_says}."
        yield strong("For ", code(kernel), ", ", name, says)
        clean, dirty = (measured.seconds(f"{kind}_flush", kernel) for kind in ("read", "memset"))
        if clean and dirty and dirty > clean:
            yield text(
                name,
                " empties the L2 cache by writing to it. The kernel then waits while those lines "
                f"go to DRAM: {_microseconds(dirty - clean)}{NBSP}µs. Recheck empties it by "
                "reading.",
            )
    if share:
        yield text(
            f"Two events with nothing between them are {_microseconds(share)}{NBSP}µs apart. "
            "Recheck subtracts that; the others do not."
        )
    agreements = [
        (name, difference)
        for name in OTHERS
        if (difference := measured.apart("memset_flush", name, share or 0.0))
    ]
    for other, (apart, kernel) in agreements:
        most = text(" (most apart: ", code(kernel), ")")
        yield text(
            f"With that flush and {_microseconds(share or 0.0)}{NBSP}µs added, "
            "Recheck's clock agrees with ",
            prose(OTHERS[other]),
            f" within {margin(apart)}",
            ", so nothing else differs" if apart <= AGREE else most,
            ".",
        )


def _checks(measured: Harnesses) -> Iterator[Text]:
    """What speaks for the numbers."""
    if same := measured.apart("cold", "read_flush"):
        yield text(
            "Recheck's clock gives the same time in ",
            code("recheck"),
            f" and in the library that the others time, within {margin(same[0])} (most apart: ",
            code(same[1]),
            ").",
        )
    if repeated := measured.repeats():
        apart, method, kernel = repeated
        where = text(prose(METHODS[method][0]), ", ", code(kernel))
        lead = f"Each method measured in two processes. They differ by {margin(apart)} at most ("
        yield text(lead, where, "), first launches aside.")
