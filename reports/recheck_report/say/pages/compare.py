"""The page that compares records with the first of them: what became slower or faster, as
`statistics/changes.py` decides, and the claims, a column for each record.

Each record keeps its own verdicts. What differs between them (schema, commit, driver, CUDA) is
printed bold above its column. A record without a GPU result goes by its CPU.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from statistics import median

from recheck_report.anchors import claim_place
from recheck_report.claims.collection import Claim
from recheck_report.claims.judge import Judged
from recheck_report.claims.measured import Measured
from recheck_report.claims.toml import in_order
from recheck_report.formatting import (
    NONE,
    count,
    duration,
    margin,
    regime_label,
    shape_label,
    speed,
)
from recheck_report.record.read import RECORD
from recheck_report.record.record import Case
from recheck_report.record.verdicts_json import UNKNOWN
from recheck_report.say import warnings
from recheck_report.say.answer import counted
from recheck_report.say.check import in_short, required
from recheck_report.say.claim import doubts, not_settled
from recheck_report.say.machine import mark
from recheck_report.say.nodes import (
    BREAK,
    Block,
    Bullets,
    Fold,
    Note,
    Page,
    Paragraph,
    Remark,
    Section,
    Text,
    blocks,
    code,
    few,
    joined,
    link,
    paragraph,
    prose,
    speedup,
    strong,
    table,
    text,
    texts,
)
from recheck_report.say.verdicts import VERDICTS
from recheck_report.statistics.changes import Change, changes, lost
from recheck_report.statistics.ratio import Ratio

MARK = "<!-- Written by Recheck from several records; comparing again replaces it. -->"
STRONGEST = 40  # rows in a table; the rest is counted
MOST = 10  # in a table of two models, where nearly all differ
NAMED = 6  # claims or causes in a sentence; the rest is counted
ALIKE = 1.005  # a median ratio up to which two models are about equal
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


def page(records: list[Measured], named: list[str] | None = None) -> Page:
    """Depends only on the records, their order, their names and the claims."""
    named = named or names(records)
    others = list(zip(records[1:], named[1:], strict=True))
    pairs = [pair(records[0], other, (named[0], name)) for other, name in others]
    warnings = [
        Note(text(f"{name}: ", remark.text), warning=True)
        for name, record in zip(named, records, strict=True)
        for remark in _warnings(record)
    ]
    title = f"the claims on {count(len(named), 'record')}"
    lead: Block = paragraph(f"Each record is compared with the first, {named[0]}.")
    details: tuple[Block, ...] = tuple(pairs)
    if len(pairs) == 1:
        title, lead, details = ", then ".join(named), pairs[0].blocks[0], pairs[0].blocks[1:]
    elif not pairs:
        lead = paragraph(f"{named[0]}: one record, so there is nothing to compare it with.")
    body = blocks(
        lead,
        warnings,
        details,
        Section(text("What two runs can tell"), (paragraph(NOISE),)) if pairs else None,
        Section(text("Claim by claim"), blocks(_claim_by_claim(records, named))),
    )
    return Page(MARK, text(f"Recheck: {title}"), body)


# names


def machine(report: Measured) -> str:
    """What was measured: the GPU, or the CPU where no GPU case has a time."""
    return report.gpu if report.record.gpu_measured else report.record.environment.cpu


def _alike(one: Measured, other: Measured) -> bool:
    """Whether both are of one model; unknown for two CPUs without names."""
    kinds = {report.record.gpu_measured for report in (one, other)}
    name = machine(one)
    named = not name.startswith("unknown ") and name not in ("aarch64", "riscv64", "x86_64")
    return len(kinds) == 1 and named and name == machine(other)


def names(records: list[Measured]) -> list[str]:
    """One name for each record: its machine's, with commit and day where one comes twice."""
    machines = [machine(report) for report in records]
    named: list[str] = []
    for report in records:
        env, name = report.record.environment, machine(report)
        if machines.count(name) > 1:
            name += f", {env.git.short}, {env.started[:10]}"
        while name in named:
            name += " (again)"
        named.append(name)
    return named


def row_of(case: Case) -> str:
    return f"{case.experiment}/{case.strategy}"


def place(case: Case) -> str:
    return f"{shape_label(case.shape_name)}, {regime_label(case.regime)}"


def changed_words(change: Change) -> Text:
    """ "`matmul/tile16` at 4096³, cold: 293 µs, then 275 µs: 6.6 % faster [5, 8]"."""
    then = f"{duration(change.old.time.median)}, then {duration(change.new.time.median)}"
    case = change.new
    return text(code(row_of(case)), f" at {place(case)}: {then}: ", ratio_words(change.ratio))


def ratio_words(ratio: Ratio) -> Text:
    """ "6.7 % faster [6.6, 6.8]", without a mark: all intervals of a page are by the far ends."""
    return speedup(replace(ratio, mark=""))


def flags(records: list[Measured], named: list[str]) -> Note | None:
    """Which records have which warnings, by title; None if none has one."""
    titles = ("; ".join(remark.title for remark in _warnings(report)) for report in records)
    said = [f"{name}: {title}." for name, title in zip(named, titles, strict=True) if title]
    return Note(text(" ".join(said)), warning=True) if said else None


def _warnings(report: Measured) -> list[Remark]:
    """The warnings at the top of a report, and which times are too good to be true."""
    remarks = [*warnings.warnings(report), *warnings.notes(report)]
    named = [text(code(name), f": {why}") for name, why in report.faster_than_ceiling.items()]
    if named:
        rest = text(": ", few(named, NAMED, "; "), ".")
        remarks.append(Remark(count(len(named), "suspect time"), rest))
    return remarks


# two records


@dataclass(frozen=True)
class Row:
    """A row of an experiment's table with the cases of it that changed one way, strongest first."""

    name: str
    changes: tuple[Change, ...]
    cases: int  # of the row that both records have a time of

    @property
    def most(self) -> Change:
        return self.changes[0]


class Pair:
    """Two records of one or two machines; the second is compared with the first."""

    def __init__(self, first: Measured, other: Measured) -> None:
        self.first, self.other = first, other
        self.old, self.new = old, new = first.record, other.record
        self.changes = changes(old, new)
        self.lost, self.gained = lost(old, new), lost(new, old)

    def changed(self, outcome: str) -> list[Change]:
        """The cases that became slower, or faster; the strongest effect first."""
        changes = [change for change in self.changes if change.outcome == outcome]
        return sorted(changes, key=lambda change: (-change.size, change.new.id))

    def rows(self, outcome: str, rungs: bool) -> list[Row]:
        """The same by rows: of kernels, or of all others; that with the strongest effect first."""
        sizes = Counter(row_of(change.new) for change in self.changes)
        by_row: dict[str, list[Change]] = {}
        for change in self.changed(outcome):
            if (change.new.role == "rung") == rungs:
                by_row.setdefault(row_of(change.new), []).append(change)
        return [Row(name, tuple(changed), sizes[name]) for name, changed in by_row.items()]

    @property
    def disturbed(self) -> str:
        """That cases look slower or faster only because their times were disturbed, with the
        causes; empty if none does."""
        odd = [
            change for change in self.changes if change.unsure and change.looks != "no difference"
        ]
        if not odd:
            return ""
        causes = Counter(change.unsure for change in odd).most_common(NAMED)
        named = ", ".join(f"{why} ({times})" for why, times in causes)
        return f"{count(len(odd), 'case')} may differ only because times were disturbed: {named}"


def pair(first: Measured, other: Measured, named: tuple[str, str], folded: bool = False) -> Section:
    """The answer, then what became slower or faster from one record to another."""
    found, same = Pair(first, other), _alike(first, other)
    was, now = (
        # of one model only commit and day differ
        name.removeprefix(f"{machine(report)}, ") if same else name
        for report, name in zip((first, other), named, strict=True)
    )
    columns = ("kernel", "cases", "most of all", was, now, "ratio", "noise")
    tables = []
    for outcome in ("slower", "faster"):
        rows = found.rows(outcome, rungs=True) + found.rows(outcome, rungs=False)
        most = STRONGEST if same else MOST
        rest = len(rows) - most
        more = text(f"Not shown: {count(rest, 'row')}." if rest > 0 else "")
        shown = table(columns, (_line(found, row) for row in rows[:most]), title=outcome)
        title = text(outcome.capitalize() + ("" if same else f" on {now}"))
        tables += [Section(title, blocks(shown, more), level=3)] if rows else []
    alone = [
        text(f"{count(len(some), 'case')} timed only by {who}.")
        for who, some in ((was, found.lost), (now, found.gained))
        if some
    ]
    none = text("No difference that two runs could tell.")
    details = blocks(tables or none, alone)
    verdicts = _verdicts(first, other, "" if same else f", from {was} to {now}")
    answer = joined(" ", (_times(found, same, (was, now)), verdicts))
    body = (Fold(text("Kernel by kernel"), details),) if folded else details
    return Section(text(f"{now}, against {was}"), blocks(answer, body))


def _line(pair: Pair, row: Row) -> tuple[Text, ...]:
    most, many = row.most, f"{len(row.changes)} of {row.cases}"
    then, now = (
        text(duration(case.time.median), mark(report, case))
        for report, case in ((pair.first, most.old), (pair.other, most.new))
    )
    about = (code(row.name), many, place(most.new), then, now)
    return texts((*about, ratio_words(most.ratio), margin(most.noise)))


def _telling(pair: Pair) -> list[Change]:
    """The cases that a median says most about: kernels in one regime on one target."""
    sure = [change for change in pair.changes if not change.unsure]
    kernels = [change for change in sure if change.new.role == "rung"]
    kinds = [
        [e for e in kernels if (e.new.target, e.new.regime) == kind]
        for kind in (("gpu", "cold"), ("gpu", "hot"), ("cpu", "hot"))
    ]
    return next((changes for changes in kinds if changes), sure)


def _median(ratios: list[float]) -> str:
    """ "1.42× faster (300 cases)", "within 0.5 % (1 case)"."""
    middle = median(ratios)
    how = "within 0.5 %" if 1 / ALIKE < middle < ALIKE else speed(middle)
    return f"{how} ({count(len(ratios), 'case')})"


def _times(pair: Pair, same: bool, labels: tuple[str, str]) -> Text:
    """Of two runs on one model, what became slower; of two models, how much faster one is."""
    was, now = labels
    if not pair.changes:
        return text(f"{was} and {now} have no case in common that both timed.")
    if not same:
        built = [record.environment.build_type for record in (pair.old, pair.new)]
        if built[0] != built[1]:
            builds = f"{was} timed a {built[0]} build and {now} a {built[1]} build"
            return text(f"{builds}: no comparison.")
        telling = _telling(pair)
        if not telling:
            return text(f"{was} and {now} have no case in common without a disturbed time.")
        case = telling[0].new
        if case.target == "cpu":
            was, now = (report.record.environment.cpu for report in (pair.first, pair.other))
        ratios: dict[str, list[float]] = {}
        for change in telling:
            title = pair.new.experiment_of(change.new).title
            ratios.setdefault(title, []).append(change.ratio.value)
        parts = ", ".join(f"{name} {_median(values)}" for name, values in ratios.items())
        kind = "CPU" if case.target == "cpu" else regime_label(case.regime)
        return text(f"{now} against {was}, at the median case ({kind}): {parts}.")
    slower, faster = pair.changed("slower"), pair.changed("faster")
    disturbed = f" {pair.disturbed}." if pair.disturbed else ""
    both = f"Of {count(len(pair.changes), 'case')} that {was} and {now} both timed on "
    both += machine(pair.other)
    if not slower and not faster:
        return text(f"{both}, none differs by more than two runs of the same code do.{disturbed}")
    tally = f"{len(slower) or 'none'} became slower and {len(faster) or 'none'} faster"
    kernels = [change for change in slower or faster if change.new.role == "rung"]
    most = changed_words((kernels or slower or faster)[0])
    said = f"{both}, {tally} by more than two runs of the same code differ"
    return text(f"{said}; most of all ", most, f".{disturbed}")


def _verdicts(first: Measured, other: Measured, between: str) -> Text:
    """Which verdicts differ; `between` names two GPU models."""
    judged = [
        (a, b)
        for claim in _claims([first, other])
        if (a := _verdict(first, claim)) and (b := _verdict(other, claim))
    ]
    turned = [
        f"{a.claim.id} ({a.verdict}, {'' if between else 'now '}{b.verdict})"
        for a, b in judged
        if a.verdict != b.verdict
    ]
    if not judged:
        return text("No claim is judged by both.")
    if not turned:
        return text(f"The verdicts on all {len(judged)} claims that both judge agree.")
    differ = f"{count(len(turned), 'verdict')} {'differs' if len(turned) == 1 else 'differ'}"
    lead = f"Of {count(len(judged), 'claim')} that both judge, {differ}{between}: "
    return text(lead, few(turned, NAMED), ".")


# claims across records


def ordered(records: list[Measured]) -> list[Measured]:
    """By the GPU's name, then by the time of the run: in whatever order they were given."""

    def key(report: Measured) -> tuple[str, str, bytes]:
        return report.gpu, report.record.environment.started, report.files[RECORD]

    return sorted(records, key=key)


def _claims(records: list[Measured]) -> list[Claim]:
    """Every claim that a record of these is judged by, by id."""
    claims_by_id = {
        judged.claim.id: judged.claim for report in records for judged in report.judgement.claims
    }
    return [claims_by_id[name] for name in sorted(claims_by_id, key=in_order)]


def _verdict(report: Measured, claim: Claim) -> Judged | None:
    """A claim that the record has a verdict on."""
    judged = report.judgement.by_id.get(claim.id)
    return judged if judged and judged.verdict not in UNKNOWN else None


def _disagreement(records: list[Measured], named: list[str], claim: Claim) -> tuple[Text, Bullets]:
    """Each record's verdict on a claim, and why it is not settled there."""
    says = []
    for report, name in zip(records, named, strict=True):
        if judged := _verdict(report, claim):
            shown = text(" (", in_short(judged.headline), ")") if judged.headline else Text()
            why = f" {not_settled(judged)}".rstrip()
            says.append(text(f"{name}: {judged.verdict}", shown, f".{why}"))
    return text(strong(claim.id), " ", prose(claim.title)), Bullets(tuple(says))


def across(
    records: list[Measured], named: list[str], of: list[Measured], linked: bool = False
) -> Iterator[Block]:
    """The verdicts that differ, then a row for each claim of these records that one has a verdict
    on; its id leads to the claim in a report if `linked`."""
    claims = [c for c in _claims(of) if any(_verdict(report, c) for report in records)]
    differing = [
        claim
        for claim in claims
        if len({j.verdict for report in records if (j := _verdict(report, claim))}) > 1
    ]
    agree = "The records agree on every claim that two of them judge."
    if len(records) > 1:
        yield paragraph("The records do not agree on:" if differing else agree)
        if differing:
            yield Bullets(tuple(_disagreement(records, named, claim) for claim in differing))
    rows, counts = [], [dict.fromkeys(VERDICTS, 0) for _ in records]
    for claim in claims:
        name = link(claim_place(claim.id), claim.id) if linked else text(claim.id)
        cells: list[Text | str] = []
        limits: dict[Text, None] = {}
        for report, tally in zip(records, counts, strict=True):
            judged = report.judgement.by_id.get(claim.id)
            if judged is None:
                cells.append(NONE)
                continue
            tally[judged.verdict] += 1
            shown = judged.headline
            cell = strong(judged.verdict)
            if shown and shown.value is not None:
                cell = text(cell, " ", in_short(shown))
                limits[required(shown.check)] = None
            cells.append(joined(". ", (cell, doubts(report, judged).unended)))
        about = joined("; ", (prose(claim.title), *limits))
        rows.append(texts((text(name, " ", about), *cells)))
    if rows:
        rows.append(texts(("in all", *map(counted, counts))))
        yield table(_columns(records, named), rows)
        yield Paragraph(ACROSS)


def _claim_by_claim(records: list[Measured], named: list[str]) -> Iterator[Block]:
    yield from across(records, named, records)
    claims = _claims(records)
    if hidden := sum(not any(_verdict(r, claim) for r in records) for claim in claims):
        none = "none of these records judges" if len(named) > 1 else "the record does not judge"
        yield paragraph(f"Left out: {count(hidden, 'claim')} that {none}.")


def _facts(report: Measured) -> dict[str, str]:
    env = report.record.environment
    return {
        "commit": env.git.short,
        "driver": env.driver or "not known",
        "CUDA": env.cuda_runtime or "not known",
        "schema": str(report.record.schema),
    }


def _columns(records: list[Measured], named: list[str]) -> list[Text]:
    """The heading of each record: its name, the day, what it was measured with, and the warnings
    about it. Values that differ between records are strong."""
    facts = [_facts(report) for report in records]
    headings = [text("claim")]
    for name, report, own_facts in zip(named, records, facts, strict=True):
        lines = [text(name), text(report.record.environment.started[:10])]
        for key, value in own_facts.items():
            line = text(f"{key} {value}")
            lines.append(line if all(other[key] == value for other in facts) else strong(line))
        lines += [strong(remark.title) for remark in _warnings(report)]
        lines += [text("without probes")] * (report.probes is None)
        headings.append(joined(BREAK, lines))
    return headings
