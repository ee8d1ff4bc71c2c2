"""Claims as a reader sees them: what was said, what was measured here, and why.

Nothing is judged here: `claims/` does that. A claim stands on the page of the claims under the
anchor `claim-c12`, and what its verdict rests on is linked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from recheck_report.anchors import claim_place
from recheck_report.claims.collection import Claim
from recheck_report.claims.evaluate import TIMELESS, UNDECIDED, Compared, Outcome
from recheck_report.claims.judge import SHORT, Judged, Judgement
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, duration, margin, p_value
from recheck_report.record import verdicts_json as VERDICT
from recheck_report.record.record import Case, Record
from recheck_report.record.verdicts_json import SCHEMA, About, Value, Verdict, Verdicts
from recheck_report.say import check as say
from recheck_report.say.machine import doubt
from recheck_report.say.nodes import BREAK, Text, code, few, joined, link, prose, strong, text
from recheck_report.statistics import variation
from recheck_report.statistics.ratio import LEVEL

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


def _sentence(judged: Judged) -> Text:
    """The collection's sentence on what was measured, for this verdict, with its values; empty if
    one is missing."""
    here = judged.claim.here
    return say.sentence(here.get(judged.word, here.get("else", "")), judged.by_key).unended


def _holding(verdicts: Iterable[str], of: str) -> str:
    """ "holds for 2 of 3 choices, 2 not measured": how many hold of those that were measured."""
    counts = Counter(verdicts)
    lacking = counts.pop("not measured", 0)
    more = f", {lacking} not measured" if lacking else ""
    return f"{counts['holds']} of {counts.total()} {of}{more}"


def required(judged: Judged) -> Text:
    """What a claim asks for, with the threshold of its main check unless the words have it."""
    words = prose(judged.claim.expected)
    outcome = judged.headline or next(iter(judged.outcomes), None)
    limit = say.threshold(outcome.check) if outcome and outcome.check.equals is None else Text()
    numbers = re.findall(r"\d[\d.]*", limit.plain)
    more = text("; threshold: ", limit) if any(n not in words.plain for n in numbers) else ""
    return text("Required: ", words.unended, more, ".")


def doubts(report: Measured, judged: Judged) -> Text:
    """ " **Disturbed**: `s3_sse`.": the doubtful times that a claim rests on or shows."""
    names: dict[str, dict[str, None]] = {}
    shown = () if judged.verdict in VERDICT.UNKNOWN else (*judged.outcomes, *judged.also)
    for outcome in (o for o in shown if o.check.form not in TIMELESS):
        for case in map(report.record.by_id.get, outcome.evidence):
            if case and (word := doubt(report, case)):
                names.setdefault(word, {})[case.strategy] = None
    kinds = (text(strong(word.capitalize()), ": ", few([*map(code, rows)], 2), ".")
             for word, rows in names.items())  # fmt: skip
    return joined(" ", kinds)


def measured(judged: Judged) -> Text:
    """What was measured of a claim, in one sentence: on every page the same. A dash where nothing
    was."""
    outcome = judged.headline
    if outcome is None:
        return text(NONE)
    if sentence := _sentence(judged):
        return sentence
    held = ""
    verdicts = [varied.verdict for choice, varied in outcome.over if not choice.word]
    if len(verdicts) > 1:
        held = f"{say.by_choice(outcome)}holds for {_holding(verdicts, 'choices')}"
    rest = len(judged.outcomes) - 1
    more = f" (and {rest} more)" if rest else ""
    return joined("; ", (say.with_margin(outcome), held)) + more


def tested(report: Measured, judged: Judged) -> Text:
    """What was measured, then the ratio that is tested and its threshold where the sentence lacks
    them: "… 1.54× faster …; required: more than 1.5× faster", and doubtful times. What a verdict
    depends on is in its reason, so the ratio that one choice gives is left out."""
    outcome, says = judged.headline, measured(judged)
    if outcome is None:
        return says
    sentence, ratio = _sentence(judged), outcome.margin is not None
    settled = judged.verdict not in (VERDICT.DEPENDS, VERDICT.UNDECIDED)
    if sentence and ratio and judged.verdict != VERDICT.DEPENDS:
        says = text(says, BREAK, "Tested: ", say.with_margin(outcome))
    if judged.claim.scope != "every" and settled:
        says += f"; holds with {_holding(judged.in_our_reading, 'choices')}"
    limit = Text() if sentence and not ratio else say.required(outcome.check)
    return joined(". ", (joined("; ", (says, limit)), doubts(report, judged).unended))


def not_settled(judged: Judged) -> str:
    """What a claim depends on, or why it is undecided and what may decide it; else nothing."""
    if deciding := judged.deciding_parameters:
        verb, choices = deciding
        return f"It {verb} {say.with_choices(choices, usual='the usual choices')}."
    outcome = judged.headline
    if judged.verdict != VERDICT.UNDECIDED or not outcome:
        return ""
    if len(judged.in_our_reading) > 1:
        return _undecided_choices(judged, outcome)
    return _undecided(judged, outcome.usual)


def _undecided(judged: Judged, outcome: Outcome) -> str:
    """ "Too close to call, within run-to-run noise: two runs may differ by 5 %; …"."""
    known = _cause_and_remedy(outcome, judged.gpu)
    if not known:
        return ""
    cause, remedy = known
    if outcome.unsure:
        return f"Undecided, {cause}: {say.unsure(outcome.unsure)}. {remedy.capitalize()}."
    if outcome.run_to_run:
        remedy = f"two runs may differ by {margin(outcome.run_to_run)}; {remedy}"
    elif outcome.p and outcome.p >= LEVEL:
        remedy = f"{p_value(outcome.p)}, required: below {LEVEL:g}; {remedy}"
    return f"Too close to call, {cause}: {remedy}."


def _undecided_choices(judged: Judged, outcome: Outcome) -> str:
    """ "It holds with 5 of 15 choices; 10 are too close to call: 6 because …, 4 within …"."""
    every = judged.in_our_reading
    settled = f"It holds with {_holding(every, 'choices')}; "
    undecided = every.count(VERDICT.UNDECIDED)
    if not undecided:
        return f"{settled[:-2]}."
    varied = (_cause_and_remedy(each, judged.gpu) for of, each in outcome.over if not of.word)
    causes = Counter(known for known in varied if known)
    parts = [(many, f"{cause} ({remedy})") for (cause, remedy), many in causes.items()]
    if len(parts) == 1:
        why = f", {parts[0][1]}"
    else:
        why = ": " * bool(parts) + ", ".join(f"{many} {part}" for many, part in parts)
    if undecided == len(every):
        return f"All {undecided} choices are too close to call{why}."
    return f"{settled}{undecided} are too close to call{why}."


def _cause_and_remedy(outcome: Outcome, gpu: str) -> tuple[str, str] | None:
    """What leaves a comparison undecided, and what may decide it; None if it is decided."""
    if outcome.verdict != UNDECIDED or outcome.value is None:
        return None
    if outcome.unsure:
        return "because a time was disturbed", "run it again"
    if outcome.run_to_run:
        if outcome.seconds and min(outcome.seconds) < SHORT and outcome.larger_may_decide:
            more = "a larger shape may decide"
        elif (runs := variation.runs_of(gpu)) and runs.count >= variation.ENOUGH:
            more = "a longer run does not lower it"
        else:
            more = "more runs on this GPU model may lower it"
        return "within run-to-run noise", more
    cause = "because the interval does not clear the threshold"
    if outcome.insignificant:
        cause = "not significant after the correction for all comparisons"
    cases = (fact.base, fact.other) if isinstance(fact := outcome.fact, Compared) else ()
    more = ", or more time per case," if any(map(_of_host, cases)) else ""
    return cause, f"a quieter machine{more} may decide"


def _of_host(case: Case) -> bool:
    """Whether the host's clock times it, so that more time per case gives more rounds."""
    return case.target == "cpu" or case.regime == "end_to_end"


def why(judged: Judged) -> Text:
    """The reason for the verdict, with measured values in it, or for having none."""
    parts = [say.explained(part.text, judged.by_key).ended for part in judged.explanations]
    return joined(" ", [not_settled(judged), *parts]) or reason(judged)


def because(judged: Judged) -> Text:
    """The first sentence of why: the rest stands with the claim."""
    if first := not_settled(judged):
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
    if (short := judged.too_short) and short.seconds:
        least = duration(min(short.seconds))
        remedy = ": a larger shape may decide" if short.larger_may_decide else ""
        return text(f"launches of {least} vary too much from run to run{remedy}")
    return Text()


# verdicts.json


def verdicts_json(record: Record, judgement: Judgement) -> bytes:
    """verdicts.json, of all claims."""
    env, verdicts = record.environment, []
    for judged in judgement.claims:
        claim, shown, value = judged.claim, judged.headline, None
        if shown is not None and shown.value is not None:
            value = Value(shown.value, shown.low, shown.high, shown.unit)
        why_not = claim.not_judged or reason(judged).plain or None
        about = claim.id, judged.verdict, value, claim.expected, judged.evidence
        verdicts.append(Verdict(*about, why_not))
    about_record = About(record.gpu or None, env.git.commit, env.started, record.schema)
    return Verdicts(SCHEMA, about_record, tuple(verdicts)).json()
