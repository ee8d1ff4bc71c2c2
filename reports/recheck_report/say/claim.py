"""Claims as a reader sees them: what was said, what was measured here, and why.

Nothing is judged here: `claims/` does that. A claim stands on the page of the claims under the
anchor `claim-c12`, and what its verdict rests on is linked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from recheck_report.anchors import CLAIMS, claim_place, slug
from recheck_report.claims import Claim, Judged, Judgement
from recheck_report.claims.checks import POLICY
from recheck_report.claims.load import BY_READING, KINDS
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, NOT_JUDGED, VERDICTS, duration, margin, significant
from recheck_report.record import verdicts as VERDICT
from recheck_report.record.record import Record
from recheck_report.record.verdicts import SCHEMA, About, Value, Verdict, Verdicts
from recheck_report.say import outcome as say
from recheck_report.say.asked import asked, named_by_claim
from recheck_report.say.nodes import BREAK, Text, emphasis, joined, link, prose, text
from recheck_report.statistics.ratio import LEVEL

EVERY = "on every GPU"  # instead of how many other runs agree
SUMMARY = ["they said", "measured", "why", "earlier runs that agree"]


# what a document says


def figure(claim: Claim) -> Text:
    """The document's figure, as printed; else the number that the claim gives."""
    return prose(claim.figure or (f"{claim.claimed:.6g}" if claim.claimed else ""))


def said(claim: Claim) -> Text:
    """The title, then the document's figure, if it has a number that the title lacks."""
    printed = figure(claim)
    if printed.plain in prose(claim.title).plain or not re.search(r"\d", printed.plain):
        return prose(claim.title)
    return text(prose(claim.title), " (printed: ", printed, ")")


def place(judged: Judged) -> Text:
    return text(f"{judged.claim.document} ", prose(judged.claim.place))


def reference(name: str) -> Text:
    """A claim's id, which leads to it."""
    return link(claim_place(name), name)


# what was measured


def _here(judged: Judged) -> str:
    """The collection's own sentence on what was measured, for this verdict."""
    here = judged.claim.here
    return here.get(judged.word, here.get("else", ""))


def _sentence(judged: Judged) -> Text:
    """That sentence with its values; empty where one is missing."""
    return say.sentence(_here(judged), judged.by_key).unended


def _holding(verdicts: Iterable[str], of: str) -> str:
    """ "holds for 2 of 3 choices, 2 not measured": how many hold of those that were measured."""
    counts = Counter(verdicts)
    lacking = counts.pop("not measured", 0)
    more = f", {lacking} not measured" if lacking else ""
    return f"{counts['holds']} of {counts.total()} {of}{more}"


def measured(judged: Judged) -> Text:
    """What was measured of a claim, in one sentence: on every page the same. A dash where nothing
    was."""
    outcome = judged.headline
    if outcome is None:
        return text(NONE)
    if sentence := _sentence(judged):
        return sentence
    held = more = ""
    if outcome.over:
        verdicts = (varied.verdict for choice, varied in outcome.over if not choice.word)
        held = f"; {say.by_choice(outcome)}holds for {_holding(verdicts, 'choices')}"
    if rest := len(judged.outcomes) - 1:
        more = f" (and {rest} more)"
    return text(say.with_margin(outcome), held, more)


def tested(judged: Judged) -> Text:
    """What was measured, then the ratio that is tested and its threshold where the sentence lacks
    them: "… 1.54 times as fast …; asked: more than 1.5 times as fast"."""
    outcome, says = judged.headline, measured(judged)
    if outcome is None:
        return says
    sentence, ratio = _sentence(judged), outcome.margin is not None
    if sentence and ratio:
        says = text(says, BREAK, "Tested: ", say.with_margin(outcome))
    if judged.claim.scope != "every" and judged.verdict != VERDICT.UNDECIDED:
        says += f"; holds with {_holding(judged.in_our_reading, 'choices')}"
    if named_by_claim(outcome.check) or (sentence and not ratio):
        return says
    return text(says, "; required: ", asked(outcome.check))


def _first(judged: Judged) -> str:
    """What a claim depends on, or what leaves it open."""
    if deciding := judged.deciding_parameters:
        verb, choices = deciding
        return f"It {verb} {say.with_choices(choices, usual='the usual choices')}."
    outcome = judged.headline if judged.verdict == VERDICT.UNDECIDED else None
    if outcome and outcome.run_to_run:
        return f"Two runs may differ by {margin(outcome.run_to_run)}."
    if outcome and outcome.over:
        open_in = judged.in_our_reading.count(VERDICT.UNDECIDED)
        holding = _holding(judged.in_our_reading, "choices")
        return f"It holds with {holding}, and is undecided with {open_in}."
    if outcome and outcome.p and outcome.p >= LEVEL:
        p = significant(outcome.p, 2)
        return f"p = {p} after the correction: there are few rounds, or they vary much."
    return ""


def why(judged: Judged) -> Text:
    """The reason for the verdict, with measured values in it, or for having none."""
    parts = [say.explained(part.text, judged.by_key).ended for part in judged.explanations]
    return joined(" ", [_first(judged), *parts]) or reason(judged)


def because(judged: Judged) -> Text:
    """The first sentence of why: the rest stands with the claim."""
    if first := _first(judged):
        return text(first).unended
    for part in judged.explanations:
        return say.explained(part.text.split(". ")[0], judged.by_key).unended
    if judged.verdict == VERDICT.NOT_JUDGED:
        return prose(judged.claim.not_judged.split(". ")[0]).unended
    return reason(judged)


def reason(judged: Judged) -> Text:
    """The reason for having no verdict, or for a time that decides nothing; empty otherwise."""
    if judged.verdict == VERDICT.NOT_JUDGED:
        return prose(judged.claim.not_judged)
    if judged.absence:
        return text(say.absence(judged.absence))
    if judged.unsure:
        return text(say.unsure(judged.unsure))
    if judged.too_short:
        least = duration(judged.too_short)
        return text(f"launches of {least} vary too much from run to run: a larger shape may decide")
    return Text()


def other_runs(judged: Judged) -> str:
    """How many other runs on this GPU model agree: "9 of 10"; empty if unknown."""
    if judged.claim.of_any_machine and judged.verdict not in VERDICT.UNKNOWN:
        return EVERY
    agree, runs = judged.other_runs
    return f"{agree} of {runs}" if runs and judged.headline else ""


# all that is known of a claim besides its row, a line each


def asked_and_then(claim: Claim) -> list[Text]:
    """What its checks ask, and what its document measured."""
    hardware = "" if claim.hardware in claim.figure else prose(claim.hardware)
    then = joined(", ", [figure(claim), hardware])
    return ["Required: " + prose(claim.expected).ended, *(["Then: " + then + "."] if then else [])]


def findings(record: Record, judged: Judged) -> list[Text]:
    """What each of its checks found."""
    return [say.fact(record, outcome) for outcome in judged.outcomes]


def also_measured(record: Record, judged: Judged) -> list[Text]:
    """What decides nothing."""
    facts = (say.fact(record, outcome, of_claim=False) for outcome in judged.also)
    return ["Also measured: " + fact for fact in facts]


def left_open(claim: Claim) -> list[Text]:
    return ["The document leaves open: " + prose(parameter.what).ended for parameter in claim.open]


# all claims of a record


def counted(counts: Mapping[str, int], to: Callable[[str], str] | None = None) -> Text:
    """ "20 of 67 claims hold, 8 fail here, 5 are undecided; 7 are not judged", each number with a
    link to the place of its verdict's claims."""
    total = sum(count for verdict, count in counts.items() if verdict != NOT_JUDGED)

    def part(verdict: str, of: str = "") -> Text:
        count = counts.get(verdict, 0)
        number = link(to(verdict), f"{count}") if to and count else text(f"{count}")
        return text(number, of, f" {VERDICTS[verdict].verb(count)}")

    rest = [v for v in VERDICTS if counts.get(v) and v not in ("holds", NOT_JUDGED)]
    judged = joined(", ", [part("holds", f" of {total} claims"), *map(part, rest)])
    return joined("; ", [judged, part(NOT_JUDGED) if counts.get(NOT_JUDGED) else ""])


def claim_row(judged: Judged) -> list[Text]:
    """A claim in one row of the table SUMMARY, which reads without a click. What a verdict depends
    on is in its reason, so the ratio that one choice gives is left out."""
    about = text(reference(judged.claim.id), " ", said(judged.claim))
    runs = text(other_runs(judged) or NONE)
    says = measured(judged) if judged.verdict == VERDICT.DEPENDS else tested(judged)
    return [about, says, because(judged) or text(NONE), runs]


class View:
    """The verdicts on one record."""

    def __init__(self, report: Measured) -> None:
        self.report = report
        self.record, self.claims = report.record, report.judgement.claims

    @property
    def by_verdict(self) -> dict[str, int]:
        return {verdict: self.report.judgement.count(verdict) for verdict in VERDICTS}

    @property
    def counts(self) -> Text:
        return counted(self.by_verdict, lambda verdict: f"{CLAIMS}#{slug(verdict)}")

    @property
    def headline(self) -> str:
        """A report's answer in its title: "40 of 65 claims hold; 6 fail here and 8 are wrong as
        printed"; empty without claims."""
        if not self.record.gpu_measured:
            return "nothing was measured on a GPU"
        counts = self.by_verdict
        total = sum(counts.values()) - counts[NOT_JUDGED]
        holds, *fail = (
            (counts[v], VERDICTS[v].verb(counts[v])) for v in (VERDICT.HOLDS, *VERDICT.FAILS)
        )
        said = " and ".join(f"{n} {verb}" for n, verb in fail if n) or f"0 {fail[0][1]}"
        return f"{holds[0]} of {total} claims {holds[1]}; {said}" if total else ""

    @property
    def left_out(self) -> Text:
        """The claims that are not shown, because the record lacks their experiments."""
        if not (many := self.report.collection.left_out):
            return Text()
        claims = "1 claim is" if sum(many.values()) == 1 else f"{sum(many.values())} claims are"
        where = ", ".join(f"{count} about {name}" for name, count in many.items())
        return text(f"{claims} left out, of experiments that this record does not have: {where}.")

    @property
    def policy(self) -> Text:
        """How words without a figure are read, of those that checks of these claims have."""
        words = {check.word for judged in self.claims for check in judged.claim.checks}
        readings = []
        for word, (ours, *others) in POLICY.items():
            if word in words and ours != 1:  # faster is faster
                read = f"{ours:g} times" if ours >= 1 else f"{100 * ours:g} % of the total"
                also = ", ".join(f"{other:g}" for other in others)
                more = f" (also read: {also})" if also else ""
                readings.append(text(emphasis(word), f" is more than {read}{more}"))
        return joined("; ", readings)

    @property
    def kinds(self) -> list[list[str]]:
        """How many claims have which verdict, a row for each way to decide them."""
        by_kind: dict[str, Counter[str]] = {kind: Counter() for kind in (*KINDS, BY_READING)}
        for judged in self.claims:
            by_kind[judged.claim.kind][judged.verdict] += 1
        return [
            [f"{counts.total()} {kind}", *(str(counts[verdict]) for verdict in VERDICTS)]
            for kind, counts in by_kind.items()
            if counts
        ]


# verdicts.json


def verdicts_of(record: Record, judgement: Judgement) -> Verdicts:
    """What verdicts.json says, of all claims."""
    env, verdicts = record.environment, []
    for judged in judgement.claims:
        claim, shown, value = judged.claim, judged.headline, None
        if shown is not None and shown.value is not None:
            value = Value(shown.value, shown.low, shown.high, shown.unit)
        why_not = claim.not_judged or reason(judged).plain or None
        about = claim.id, judged.verdict, value, claim.expected, judged.evidence
        verdicts.append(Verdict(*about, why_not))
    gpu = env.gpu.name if env.gpu else None
    return Verdicts(SCHEMA, About(gpu, env.git.commit, env.started, record.schema), tuple(verdicts))


def verdicts_json(record: Record, judgement: Judgement) -> bytes:
    return verdicts_of(record, judgement).json()
