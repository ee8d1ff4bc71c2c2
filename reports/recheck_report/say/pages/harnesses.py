"""The page that says why other harnesses give other numbers."""

from __future__ import annotations

from recheck_report.formatting import significant
from recheck_report.say import harnesses
from recheck_report.say.nodes import (
    Bullets,
    Code,
    Page,
    Section,
    blocks,
    joined,
    link,
    paragraph,
    table,
    text,
)

WHICH = Bullets((
    text("To compare two kernels, time both by the same method. A flush that writes adds about the "
         "same time to each kernel that memory limits, so it changes ratios."),
    text("For a kernel that writes much, take drained: cold leaves out up to half an L2 of its "
         "writes."),
    text("For a loop over the same data, take hot, or a loop between two events."),
    text("For a launch that the host waits for, take the host clock."),
))  # fmt: skip


def page(measured: harnesses.Harnesses, back: str = "") -> Page:
    """`back`: the page that it leads back to; empty for a page of its own."""
    env, many = measured.environment, len(measured.kernels)
    versions = {"driver": env.driver, "CUDA": env.cuda_runtime, **env.versions}
    heads = ["µs", *measured.kernels, "what it charges for or leaves out"]
    kernels = [
        (name, text(Code(kernel.case)), significant(kernel.bytes / 2**20))
        for name, kernel in measured.kernels.items()
    ]
    dirty = " with uncommitted changes" if env.git.dirty else ""
    commit = f"Commit {env.git.short}{dirty}{f', {env.started}' if env.started else ''}."
    again = Code("cmake --build build/release --target other_harnesses")
    facts = (
        *harnesses.checks(measured),
        text(", ".join(f"{name} {version}" for name, version in versions.items() if version), "."),
        text(commit),
        text("To measure again: ", again, "."),
    )
    summary = text(link(back, "Back to the summary"), ".") if back else ""
    lead = joined(" ", (*harnesses.answer(measured), summary))
    by_method = table(heads, harnesses.table(measured), range(1, 1 + many))
    medians = paragraph("Medians, in microseconds. All methods launch the same code.")
    kernel_table = table(("kernel", "case", "MiB to move"), kernels, (2,))
    sections = (
        Section(text("The same kernels by every method"), blocks(medians, by_method)),
        Section(text("Which number do you want?"), (WHICH,)),
        Section(text("How it was measured"), blocks(kernel_table, Bullets(facts))),
    )
    title = text(f"Why your number differs: {env.gpu}")
    return Page(harnesses.MARK, title, blocks(lead, sections))
