"""Claims across machines: one column for each record, and what sets the records apart.

Records are never mixed: each keeps its own column, its own verdicts and its own labels, and what
is not the same in all of them (schema, commit, driver, CUDA) is printed bold above its column. A
record without a GPU result goes by its CPU.
"""

from __future__ import annotations

from recheck_report.anchors import claim_place
from recheck_report.claims import Claim, Judged, Outcome
from recheck_report.claims.measured import Measured
from recheck_report.claims.toml import in_order
from recheck_report.formatting import NONE, VERDICTS, count, significant
from recheck_report.record.read import RECORD
from recheck_report.record.verdicts import UNKNOWN
from recheck_report.say import provenance, times
from recheck_report.say.claim import counted
from recheck_report.say.nodes import (
    BREAK,
    Code,
    Text,
    few,
    joined,
    link,
    prose,
    strong,
    text,
    texts,
)
from recheck_report.say.outcome import in_words, number
from recheck_report.say.remark import Remark
from recheck_report.say.times import Pair
from recheck_report.statistics.changes import Change

TURNED = ["claim", "", "was", "is", "measured then", "measured now", "asked"]
NAMED = 6  # claims in a sentence; the rest is counted


def ordered(records: list[Measured]) -> list[Measured]:
    """By the GPU's name, then by the time of the run: in whatever order they were given."""

    def key(report: Measured) -> tuple[str, str, bytes]:
        return report.gpu, report.record.environment.started, report.files[RECORD]

    return sorted(records, key=key)


def machine(report: Measured) -> str:
    """What was measured: the GPU, or the CPU where no GPU case has a time."""
    return report.gpu if report.record.gpu_measured else report.record.environment.cpu


def alike(one: Measured, other: Measured) -> bool:
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


def labels_of(first: Measured, other: Measured, names: tuple[str, str]) -> tuple[str, str]:
    """What sets two records apart: for one model, only commit and day."""
    same = alike(first, other)
    short = []
    for report, name in zip((first, other), names, strict=True):
        if same:
            day = report.record.environment.started[:10]
            name = name.removeprefix(f"{machine(report)}, ").replace(f", {day}", f" ({day})")
        short.append(name)
    return short[0], short[1]


def _facts(report: Measured) -> dict[str, str]:
    env = report.record.environment
    return {
        "commit": env.git.short,
        "driver": env.driver or "not known",
        "CUDA": env.cuda_runtime or "not known",
        "schema": str(report.record.schema),
    }


def brands(report: Measured) -> list[Remark]:
    """As at the top of a report; and as no page of these has a section on them, which times are too
    good to be true."""
    remarks = [*provenance.brands(report), *provenance.notes(report)]
    named = [text(Code(name), f": {why}") for name, why in report.faster_than_ceiling.items()]
    if named:
        rest = text(": ", few(named, NAMED, "; "), ".")
        remarks.append(Remark(count(len(named), "suspect time"), rest))
    return remarks


def columns(records: list[Measured], named: list[str] | None = None) -> list[Text]:
    """The heading of each record: its name, the day, what it was measured with, and what a reader
    must know of it. Values that differ between records are strong."""
    facts = [_facts(report) for report in records]
    headings = [text("claim")]
    for name, report, own_facts in zip(named or names(records), records, facts, strict=True):
        lines = [text(name), text(report.record.environment.started[:10])]
        for key, value in own_facts.items():
            alike = all(other[key] == value for other in facts)
            line = text(f"{key} {value}")
            lines.append(line if alike else strong(line))
        lines += [strong(remark.title) for remark in brands(report)]
        if report.probes is None:
            lines.append(text("without probes"))
        headings.append(joined(BREAK, lines))
    return headings


def claims(records: list[Measured]) -> list[Claim]:
    """Every claim that a record of these is judged by, by id."""
    claims_by_id = {
        judged.claim.id: judged.claim for report in records for judged in report.judgement.claims
    }
    return [claims_by_id[name] for name in sorted(claims_by_id, key=in_order)]


def rows(
    records: list[Measured], claims: list[Claim], linked: bool = False
) -> list[tuple[Text, ...]]:
    """A row for each claim; its id leads to the claim in a report if `linked`."""
    lines, counts = [], [dict.fromkeys(VERDICTS, 0) for _ in records]
    for claim in claims:
        name = link(claim_place(claim.id), claim.id) if linked else text(claim.id)
        cells: list[Text | str] = []
        for report, tally in zip(records, counts, strict=True):
            judged = report.judgement.find(claim.id)
            if judged is None:
                cells.append(NONE)
                continue
            tally[judged.verdict] += 1
            shown = judged.headline
            measured = f" {in_words(shown)}" if shown and shown.value is not None else ""
            cells.append(strong(judged.verdict) + measured)
        lines.append(texts((text(name, " ", prose(claim.title)), *cells)))
    return [*lines, texts(("in all", *map(counted, counts)))] if lines else []


def decided(records: list[Measured], claims: list[Claim]) -> list[Claim]:
    """The claims that a record of these has a verdict on."""

    def has_verdict(claim: Claim) -> bool:
        found = (report.judgement.find(claim.id) for report in records)
        return any(judged is not None and judged.verdict not in UNKNOWN for judged in found)

    return [claim for claim in claims if has_verdict(claim)]


def differing(records: list[Measured], claims: list[Claim]) -> list[str]:
    """The ids of the claims on which the records do not agree."""
    ids = []
    for claim in claims:
        verdicts = (report.judgement.find(claim.id) for report in records)
        if len({judged.verdict for judged in verdicts if judged} - {*UNKNOWN}) > 1:
            ids.append(claim.id)
    return ids


def _both(first: Measured, other: Measured) -> list[tuple[Judged, Judged]]:
    """The claims that both records judge."""
    ids = [claim.id for claim in claims([first, other])]
    pairs = ((first.judgement.find(name), other.judgement.find(name)) for name in ids)
    return [(a, b) for a, b in pairs if a and b and not {a.verdict, b.verdict} & {*UNKNOWN}]


def changed_verdicts(first: Measured, other: Measured) -> list[tuple[Text, ...]]:
    """The claims that both records judge, and not alike: what decides, measured in both."""
    lines = []
    for was, now in _both(first, other):
        if was.verdict != now.verdict:
            at, claim = _deciding(was, now), now.claim
            about = (claim.id, prose(claim.title), was.verdict, now.verdict)
            measured = (number(judged.outcomes[at]) for judged in (was, now))
            lines.append(texts((*about, *measured, prose(claim.expected))))
    return lines


def _deciding(was: Judged, now: Judged) -> int:
    """The first check of the claim that is answered differently."""
    pairs = zip(was.outcomes, now.outcomes, strict=True)
    return next((at for at, (a, b) in enumerate(pairs) if _said(a) != _said(b)), 0)


def _said(outcome: Outcome) -> list[str]:
    """What it came to, for each choice that the document leaves open."""
    return [outcome.verdict, *(varied.verdict for _, varied in outcome.over)]


def _telling(pair: Pair) -> list[Change]:
    """The cases that a median says most about: rungs in one regime on one target."""
    rungs = [change for change in pair.changes if change.new.role == "rung"]
    kinds = [
        [e for e in rungs if (e.new.target, e.new.regime) == kind]
        for kind in (("gpu", "cold"), ("gpu", "hot"), ("cpu", "hot"))
    ]
    return next((changes for changes in kinds if changes), pair.changes)


def answer(first: Measured, other: Measured, pair: Pair, labels: tuple[str, str]) -> list[Text]:
    """The comparison in two sentences: the times, then the verdicts.

    Of two runs on one model, what became slower; of two models, how much faster one is.
    """
    verdicts = _verdicts(first, other)
    was, now = labels
    telling = _telling(pair)
    if not telling:
        return [text(f"{was} and {now} have no case in common that both timed."), verdicts]
    if not alike(first, other):
        if telling[0].new.target == "cpu":
            was, now = (report.record.environment.cpu for report in (first, other))
        low, middle, high = times.middle_half(telling)
        much = f"is {significant(middle)}× faster than"
        if middle < 1:
            low, middle, high = 1 / high, 1 / middle, 1 / low
            much = f"is {significant(middle)}× slower than"
        half = f"{significant(low)} to {significant(high)} times in the middle half"
        kind = times.kind(telling[0].new)
        where = f"at the median of {count(len(telling), 'case')} ({kind}; {half})"
        return [text(f"{now} {much} {was} {where}."), verdicts]
    slower, faster = pair.changed("slower"), pair.changed("faster")
    if pair.disturbed:
        verdicts = text(f"{pair.disturbed}. ", verdicts)
    where = f"{was} and {now} both timed on {machine(other)}"
    both = f"Of {count(len(pair.changes), 'case')} that {where}"
    if not slower and not faster:
        return [text(f"{both}, none differs by more than two runs of the same code do."), verdicts]
    tally = f"{len(slower) or 'none'} became slower and {len(faster) or 'none'} faster"
    rungs = [change for change in slower or faster if change.new.role == "rung"]
    most = times.changed_words((rungs or slower or faster)[0])
    said = f"{both}, {tally} by more than two runs of the same code differ"
    return [text(f"{said}; most of all ", most, "."), verdicts]


def _verdicts(first: Measured, other: Measured) -> Text:
    both = len(_both(first, other))
    differing = [
        text(line[0], " (", line[2], ", now ", line[3], ")")
        for line in changed_verdicts(first, other)
    ]
    if not both:
        return text("No claim is judged by both.")
    if not differing:
        return text(f"The verdicts on all {both} claims that both judge agree.")
    differ = f"{count(len(differing), 'verdict')} {'differs' if len(differing) == 1 else 'differ'}"
    lead = f"Of {count(both, 'claim')} that both judge, {differ}: "
    return text(lead, few(differing, NAMED), ".")
