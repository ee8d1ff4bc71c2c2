"""The page that holds records against the first of them."""

from __future__ import annotations

from collections.abc import Iterator

from recheck_report.claims.measured import Measured
from recheck_report.formatting import count
from recheck_report.say import gpus, times
from recheck_report.say.nodes import (
    Block,
    Bullets,
    Note,
    Page,
    Section,
    Text,
    blocks,
    joined,
    paragraph,
    strong,
    table,
    text,
)

MARK = "<!-- Written by Recheck from several records; comparing again replaces it. -->"
MOST = 10  # rows in a table of two models, where nearly all differ
ACROSS = text(
    "Each column is one record, judged by itself: the verdict, and what decides it with its 95 % "
    "interval. Bold in a heading: what differs between the records, or a warning about that "
    "record. ᵉ: the interval comes from those of the two medians. ",
    strong("Not measured"),
    ": the data is missing. A dash: that record does not have the experiment.",
)
NOISE = (
    "A case counts as slower or faster only where the whole interval of the ratio of its two "
    "medians (from the far ends of their 95 % intervals) lies beyond the noise of its class: what "
    "two runs of the same device code stayed within in 999 of 1000 cases. A single case beyond it "
    "may be one of the thousandth: measure again before you believe it."
)


def page(records: list[Measured], names: list[str] | None = None) -> Page:
    """Depends only on the records, their order, their names and the claims."""
    names = names or gpus.names(records)
    first, *others = records
    pairs = [times.Pair(first, other) for other in others]
    labels = [
        gpus.labels_of(first, other, (names[0], name))
        for other, name in zip(others, names[1:], strict=True)
    ]
    answers = [
        joined(" ", gpus.answer(first, other, pair, label))
        for other, pair, label in zip(others, pairs, labels, strict=True)
    ]
    warnings = (
        Note(text(f"{name}: ", remark.text), warning=True)
        for name, record in zip(names, records, strict=True)
        for remark in gpus.brands(record)
    )
    sections = (
        _pair(first, other, pair, label)
        for other, pair, label in zip(others, pairs, labels, strict=True)
    )
    title = f"the claims on {count(len(names), 'record')}"
    if len(names) == 2:
        title = ", then ".join(names)
    body = blocks(
        _lead(names, answers),
        warnings,
        sections,
        Section(text("What two runs can tell"), (paragraph(NOISE),)) if pairs else None,
        Section(text("Claim by claim"), blocks(_claims(records, names))),
    )
    return Page(MARK, text(f"Recheck: {title}"), body)


def _lead(names: list[str], answers: list[Text]) -> Iterator[Block]:
    """What came out of each comparison with the first record."""
    if len(names) > 2:
        yield paragraph(f"{' · '.join(names)}. Each record is held against the first, {names[0]}.")
        yield Bullets(tuple(answers))
    elif answers:
        yield paragraph(answers[0])
    else:
        yield paragraph(f"{names[0]}: one record, so there is nothing to hold it against.")


def _pair(first: Measured, other: Measured, pair: times.Pair, labels: tuple[str, str]) -> Section:
    """What became slower or faster from one record to another, and which verdicts turned."""
    was, now = labels
    same = gpus.alike(first, other)
    titles = ("slower", "faster") if same else (f"slower on {now}", f"faster on {now}")
    slower, faster = map(text, titles)
    changed = pair.tables(slower, faster, times.STRONGEST if same else MOST)
    columns = [*times.CHANGED[:3], was, now, *times.CHANGED[5:]]
    tables = (
        Section(group.title, blocks(table(columns, group.rows), group.more), level=3)
        for group in changed
    )
    alone = (
        text(f"{count(len(some), 'case')} timed only by {who}.")
        for who, some in ((was, pair.lost), (now, pair.gained))
        if some
    )
    turned = gpus.changed_verdicts(first, other)
    verdicts = table(gpus.TURNED, turned) if turned else paragraph("None.")
    return Section(
        text(f"{now}, against {was}"),
        blocks(
            tables if changed else text("No difference that two runs could tell."),
            *alone,
            Section(text("Verdicts that turned"), (verdicts,), level=3),
        ),
    )


def _claims(records: list[Measured], names: list[str]) -> Iterator[Block]:
    """Every claim that a record has a verdict on, and on which the records do not agree."""
    claims = gpus.claims(records)
    judged = gpus.decided(records, claims)
    if len(records) > 1:
        differing = gpus.differing(records, claims)
        yield paragraph(
            f"The records do not agree on {', '.join(differing)}."
            if differing
            else "The records agree on every claim that two of them judge."
        )
    if rows := gpus.rows(records, judged):
        yield table(gpus.columns(records, names), rows)
        yield paragraph(ACROSS)
    if hidden := len(claims) - len(judged):
        nobody = "none of these records judges" if len(names) > 1 else "the record does not judge"
        yield paragraph(f"Left out: {count(hidden, 'claim')} that {nobody}.")
