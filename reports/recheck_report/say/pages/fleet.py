"""The page of a fleet's jobs: the result of each, or why it has none."""

from __future__ import annotations

from recheck_report.fleet.runs import JOB, Job
from recheck_report.formatting import NONE, count
from recheck_report.record.typed import printable
from recheck_report.say.nodes import (
    Bullets,
    Page,
    Section,
    Text,
    blocks,
    code,
    link,
    paragraph,
    strong,
    table,
    text,
    texts,
)

MARK = "<!-- Written by Recheck from the jobs of a fleet; collecting again replaces it. -->"
COLUMNS = ["place", "GPU", "node", "job", "run", "what came back", "where it is"]


def line(job: Job) -> str:
    """ "site:a, n0: cut off": where a job ran, and what is wrong with what it brought."""
    return f"{job.where}: {job.problem}".removeprefix(": ")


def page(jobs: list[Job], used: list[Job], lost: list[Job], compared: bool) -> Page:
    """`used`: the jobs whose records count; `lost`: those whose place has no record."""
    placed = count(sum(bool(job.place) for job in jobs), "job")
    missing = blocks(text("Missing:"), Bullets(tuple(text(line(job)) for job in lost)))
    where = text(
        link("compare/README.md", "compare"),
        " has claim by claim of each record, and the times of every case against the first "
        "record's. Jobs neither count with Nsight Compute nor run tests, and cases that flags left "
        "out are not there.",
    )
    rows = [_row(job, used, lost) for job in jobs]
    body = blocks(
        missing if lost else paragraph("Nothing is missing."),
        Section(text("Jobs"), blocks(table(COLUMNS, rows), where if compared else None)),
    )
    return Page(MARK, text(f"Recheck: {count(len(used), 'whole record')} from {placed}"), body)


def _row(job: Job, used: list[Job], lost: list[Job]) -> tuple[Text, ...]:
    state = text("whole; ", job.remark) if job.remark else text("whole")
    if job in lost:
        state = text(strong("missing"), f": {job.problem}")
    elif job not in used:
        state = text(job.problem or state, "; a later record from there counts")
    test = "" if job.test == JOB else f", {job.test}"
    model = job.model or ("CPU" if job.record else NONE)
    about = (f"{job.place or NONE}{test}", model, job.node or NONE, job.job or NONE, job.run)
    whole = job.folder and job.folder.is_dir()
    return texts((*about, state, text(code(printable(str(job.folder)))) if whole else NONE))
