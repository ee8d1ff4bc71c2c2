"""Claims across GPUs: one column for each record, and what sets the records apart.

Records are never mixed: each keeps its own column, its own verdicts and its own labels, and what
is not the same in all of them (schema, commit, driver, CUDA) is printed bold above its column.
"""

from __future__ import annotations

from recheck_report.claims import Claim
from recheck_report.claims.measured import Measured
from recheck_report.claims.toml import in_order
from recheck_report.formatting import NONE, cell
from recheck_report.model.record import RECORD
from recheck_report.sections import provenance
from recheck_report.sections.verdicts import WORDS, effect, prose, summary


def ordered(records: list[Measured]) -> list[Measured]:
    """By the GPU's name, then by the time of the run: in whatever order they were given."""

    def key(each: Measured) -> tuple[str, str, bytes]:
        return each.gpu, each.record.environment.started, each.files[RECORD]

    return sorted(records, key=key)


def names(records: list[Measured]) -> list[str]:
    """One name for each record: the GPU's, with commit and day where a GPU comes twice."""
    gpus = [each.gpu for each in records]
    found: list[str] = []
    for each in records:
        env, name = each.record.environment, each.gpu
        if gpus.count(name) > 1:
            name += f", {(env.git.commit or 'unknown')[:7]}, {env.started[:10]}"
        while name in found:
            name += " (again)"
        found.append(name)
    return found


def _facts(each: Measured) -> dict[str, str]:
    env = each.record.environment
    return {
        "commit": (env.git.commit or "unknown")[:7],
        "driver": env.driver or "not known",
        "CUDA": env.cuda_runtime or "not known",
        "schema": str(each.record.schema),
    }


def labels(records: list[Measured]) -> list[list[str]]:
    """Markdown for each record: the day, what it was measured with, and its brands in short."""
    facts = [_facts(each) for each in records]
    found = []
    for each, own in zip(records, facts, strict=True):
        lines = [cell(each.record.environment.started[:10])]
        for key, value in own.items():
            alike = all(other[key] == value for other in facts)
            text = cell(f"{key} {value}")
            lines.append(text if alike else f"**{text}**")
        brands = provenance.brands(each.record, each.probes)
        # the older schema stands there already
        short = [text.split("**")[1] for text in brands if "An older record" not in text]
        lines += [f"**{text}**" for text in short]
        if each.probes is None:
            lines.append("without probes")
        found.append(lines)
    return found


def columns(records: list[Measured]) -> list[str]:
    heads = zip(names(records), labels(records), strict=True)
    return ["claim", *("<br>".join([cell(name), *lines]) for name, lines in heads)]


def claims(records: list[Measured]) -> list[Claim]:
    """Every claim that a record of these is judged by, by id."""
    found = {each.claim.id: each.claim for own in records for each in own.judgement.claims}
    return [found[name] for name in sorted(found, key=in_order)]


def rows(
    records: list[Measured], claims: list[Claim], prefix: str | None = None
) -> list[list[str]]:
    """A row for each claim; with a prefix, its id links to the claim's row under that prefix."""
    found, counts = [], [dict.fromkeys(WORDS, 0) for _ in records]
    for claim in claims:
        where = f"#{prefix}claim-{claim.id.lower()}"
        link = claim.id if prefix is None else f"[{claim.id}]({where})"
        cells = []
        for each, count in zip(records, counts, strict=True):
            judged = each.judgement.find(claim.id)
            if judged is None:
                cells.append(NONE)
                continue
            count[judged.verdict] += 1
            measured = effect(judged)
            verdict = f"**{WORDS[judged.verdict]}**"
            cells.append(verdict if measured == NONE else f"{verdict} {measured}")
        found.append([f"{link} {prose(claim.title)}", *cells])
    return [*found, ["in all", *map(summary, counts)]] if found else []


def differing(records: list[Measured], claims: list[Claim]) -> list[str]:
    """The ids of the claims on which the records do not agree."""
    found = []
    for claim in claims:
        judged = (each.judgement.find(claim.id) for each in records)
        if len({each.verdict for each in judged if each} - {"not_measured"}) > 1:
            found.append(claim.id)
    return found
