"""The verdicts in words: what each means, how it is counted and coloured, and the section of the
claims' page that explains how they are judged. claims/judge.py has a function for each rule."""

from __future__ import annotations

from dataclasses import dataclass

from recheck_report.anchors import METHOD, claim_place
from recheck_report.claims.checks import POLICY
from recheck_report.claims.measured import Measured
from recheck_report.files import slug
from recheck_report.say.nodes import (
    Picture,
    Section,
    Text,
    anchor,
    blocks,
    emphasis,
    joined,
    link,
    marked,
    table,
    text,
    texts,
)

# in the order in which claims/judge.py tries them
VERDICTS_MEAN = {
    "not judged": "requires nothing that a run, a count or a proof could contradict",
    "holds": "every check passes with every choice; with most, if the claim says “often”; with "
    "one, if it says “can” or “may”",
    "wrong as printed": "fails by counts, arithmetic or tests that give the same result on every "
    "GPU; an attribute of this GPU, such as its shared memory, does not",
    "fails here": "some check fails with each choice; with half or more, if it says “often”",
    "depends": "passes with one choice or common reading of a word, and fails with another",
    "undecided": "none of these, as a time was disturbed, or as a comparison lies within the "
    "{noise} or has p of 5 % or more",
    "not measured": "none of these, as data is missing",
}


@dataclass(frozen=True)
class VerdictWords:
    """The words, colour and marker of a verdict."""

    one: str  # after "1 claim"
    many: str  # after "2 claims"
    color: str
    marker: str  # of a chart's mark: write/svg.py

    def verb(self, number: int) -> str:
        return self.one if number == 1 else self.many


# in the order in which they are counted
VERDICTS = {
    "holds": VerdictWords("holds", "hold", "#00734f", "o"),
    "depends": VerdictWords("depends", "depend", "#0063a6", "s"),
    "undecided": VerdictWords("is undecided", "are undecided", "#806000", "D"),
    "fails here": VerdictWords("fails here", "fail here", "#bb4400", "X"),
    "wrong as printed": VerdictWords("is wrong as printed", "are wrong as printed", "#94407f", "v"),
    "not measured": VerdictWords("was not measured", "were not measured", "#57606a", "P"),
    "not judged": VerdictWords("is not judged", "are not judged", "#57606a", "."),
}
# the words for one check of a claim; only the whole claim has a verdict
CHECK_WORDS = {
    "holds": "for it", "fails": "against it", "undecided": "cannot tell",
    "not measured": "not measured",
}  # fmt: skip


CHECKS = """\
Each check is *for it*, *against it*, *mixed* (choices differ) or *cannot tell*; *also measured*
decides nothing. A *choice* is a value of each parameter that the document leaves open, such as the
block size; what a listing prints is fixed. A choice passes if all checks pass with it, and fails if
one fails. The first verdict that applies counts, but another common reading of a word that reverses
the answer makes a claim *depend*."""
WORDS = """\
If a document gives a word and no figure, this report reads the word as a threshold: {words}. Other
readings do not count."""
BRACKETS = """\
Brackets hold 95 % intervals, and *noise* is how much the ratio varies from run to run. p is the
p-value against the threshold, after Holm's correction for all {family} comparisons of this report;
it is printed only from 0.001 up. [What this report cannot tell you](README.md#limits) limits every
verdict. [`verdicts.json`](verdicts.json) holds the verdicts and all
evidence for programs"""
PROBES = """\
, [`probes.json`](probes.json) the counters, attributes and tests that some checks need"""


def how_they_are_judged(report: Measured, chart: Picture) -> Section:
    policy = _policy(report)
    borrowed = report.comparisons.borrowed
    noise = link(f"{METHOD}#comparisons", "noise") + (
        f" known from an {borrowed}" if borrowed else ""
    )
    rows = []
    for verdict, meaning in VERDICTS_MEAN.items():
        names = [
            link(claim_place(judged.claim.id), judged.claim.id)
            for judged in report.judgement.claims
            if judged.verdict == verdict
        ]
        head = text(anchor(slug(verdict)) if names else "", emphasis(verdict))
        rows.append(
            texts((head, marked(meaning, noise=noise), f"{len(names)}", joined(", ", names)))
        )
    brackets = marked(BRACKETS, family=f"{len(report.comparisons.family)}")
    parts = blocks(
        table(("verdict", "meaning", "claims", "which"), rows, (2,)),
        marked(CHECKS),
        marked(WORDS, words=policy) if policy else None,
        text(brackets, marked(PROBES) if report.probes else "", "."),
        chart,
    )
    return Section(text("How they are judged"), parts, "how-they-are-judged")


def _policy(report: Measured) -> Text:
    """How words without a figure are read, of those that checks of these claims have."""
    words = {check.word for judged in report.judgement.claims for check in judged.claim.checks}
    readings = []
    for word, (ours, *others) in POLICY.items():
        if word in words and ours != 1:  # faster is faster
            read = f"{ours:g} times" if ours >= 1 else f"{100 * ours:g} % of the total"
            also = ", ".join(f"{other:g}" for other in others)
            more = f" (also read: {also})" if also else ""
            readings.append(text(emphasis(word), f" is more than {read}{more}"))
    return joined("; ", readings)
