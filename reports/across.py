"""Claims across GPUs: one column for each record, and what sets the records apart.

Records are never mixed: each keeps its own column, its own verdicts and its own labels, and what
is not the same in all of them (schema, commit, driver, CUDA) is printed bold above its column.
"""

from __future__ import annotations

import provenance
from measured import Measured
from quantities import cell
from record import RECORD
from verdicts import WORDS, effect, prose, summary


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


def rows(records: list[Measured], prefix: str | None = None) -> list[list[str]]:
    """A row for each claim; with a prefix, its id links to the claim's row under that prefix."""
    found = []
    for at, first in enumerate(records[0].judgement.claims):
        claim = first.claim
        where = f"#{prefix}claim-{claim.id.lower()}"
        link = claim.id if prefix is None else f"[{claim.id}]({where})"
        cells = []
        for each in records:
            judged = each.judgement.claims[at]
            measured = effect(judged)
            verdict = f"**{WORDS[judged.verdict]}**"
            cells.append(verdict if measured == "–" else f"{verdict} {measured}")
        found.append([f"{link} {prose(claim.title)}", *cells])
    total = (summary({v: each.judgement.count(v) for v in WORDS}) for each in records)
    return [*found, ["in all", *total]] if found else []


def differing(records: list[Measured]) -> list[str]:
    """The ids of the claims on which the records do not agree."""
    found = []
    for at, first in enumerate(records[0].judgement.claims):
        verdicts = {each.judgement.claims[at].verdict for each in records}
        if len(verdicts - {"not_measured"}) > 1:
            found.append(first.claim.id)
    return found
