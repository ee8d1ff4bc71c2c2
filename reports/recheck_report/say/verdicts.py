"""Claims as a reader sees them: what was said, what was measured here, and why, in Markdown.

Nothing is judged here: `claims/` does that. A claim stands on the page of the claims under the
anchor `claim-c12`, and what its verdict rests on is linked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from recheck_report.anchors import CLAIMS, claim_place, slug
from recheck_report.anchors import place as place_of
from recheck_report.claims import Claim, Judged, Outcome, asked
from recheck_report.claims.checks import POLICY, with_choices
from recheck_report.claims.load import BY_READING, KINDS
from recheck_report.claims.measured import Measured
from recheck_report.claims.story import Part
from recheck_report.formatting import (
    NONE,
    OF_CHECKS,
    VERDICTS,
    cell,
    counted,
    duration,
    few,
    headline,
    holding,
    label,
    margin,
    plain,
    prose,
    rates,
    significant,
)
from recheck_report.record.record import AUDIT, Record
from recheck_report.record.verdicts import Value
from recheck_report.statistics.ratio import LEVEL, Ratio

SMALL_P = 0.001  # smaller p-values are not printed
NAMED = 2  # rows and choices in a sentence; the rest is counted
APART = "Also measured:"  # begins what decides nothing
LONGEST = 70  # characters of what was measured, in a row
SUMMARY = ["they said", "verdict", "here", "why", "earlier runs that agree"]


# numbers


def number(
    value: float | None, low: float | None, high: float | None, unit: str, mark: str = ""
) -> str:
    """For tables and charts "1.07× [1.06, 1.08]": a value, with its interval where it has one."""
    if value is None:
        return NONE
    if low is None or high is None:
        found = plain(value) if value == int(value) else significant(value)
    elif unit == "×":
        return str(Ratio(value, low, high, mark=mark))
    elif unit == "s":
        return f"{duration(value)} [{duration(low)}, {duration(high)}]"
    elif unit:
        return rates(value, low, high, unit)
    else:
        return Ratio(value, low, high, mark=mark).percent
    return f"{found} {unit}".rstrip()


def number_in_words(found: Outcome | Value, mark: str = "", against: float = 1.0) -> str:
    """The same for sentences: "1.07 times as fast [1.06, 1.08]"."""
    value, low, high = found.value, found.low, found.high
    if found.unit == "×" and value is not None and low is not None and high is not None:
        return Ratio(value, low, high, mark=mark).as_fast_as("", against)
    return number(value, low, high, found.unit, mark)


def _mark(outcome: Outcome) -> str:
    return "ᵉ" if "ᵉ" in outcome.text else ""


def shortest(outcome: Outcome) -> str:
    """The value of an outcome and its interval, without the times that they come from."""
    return number(outcome.value, outcome.low, outcome.high, outcome.unit, _mark(outcome))


def in_words(outcome: Outcome) -> str:
    """The same as a part of a sentence."""
    return number_in_words(outcome, _mark(outcome), outcome.check.bound)


def compared(outcome: Outcome) -> str:
    """The same with what is compared: "`tile16` 1.07 times as fast as `tile8` [1.06, 1.08]"."""
    head = f"{label(outcome.check.says)}: " if outcome.check.says else ""
    return prose(outcome.compared) or head + in_words(outcome)


def _decides(outcome: Outcome) -> str:
    """The same with the margin that it has to exceed."""
    found = compared(outcome)
    if outcome.margin is not None:
        found += f", margin {margin(outcome.margin)}"
    return found


# what a document says


def figure(claim: Claim) -> str:
    """The document's figure, as printed; else the number that the claim gives."""
    return prose(claim.figure or (f"{claim.claimed:.6g}" if claim.claimed else ""))


def said(claim: Claim) -> str:
    """The title; behind it what was found then, unless the title has it."""
    title, then = prose(claim.title), figure(claim)
    return title if then in title else f"{title} (then: {then})"


def place(judged: Judged) -> str:
    return f"{judged.claim.document} {prose(judged.claim.place)}"


def link(name: str) -> str:
    return f"[{name}]({claim_place(name)})"


# what was measured


def measured(judged: Judged) -> str:
    """What was measured of a claim, in one sentence: on every page the same. A dash where nothing
    was."""
    outcome = judged.shown
    if outcome is None:
        return NONE
    if judged.here:
        return prose(judged.here).rstrip(".")
    text = _decides(outcome)
    if outcome.value is None:
        text, formula = prose(outcome.text), outcome.check.expression
        if formula and outcome.text.startswith(formula):
            text = outcome.text.removeprefix(formula).lstrip(": ")
        if len(text) > LONGEST:
            text = f"{len(outcome.check.shapes)} sizes"
    if outcome.over:
        text += f"; holds for {holding((each.verdict for _, each in outcome.over), 'choices')}"
    more = len(judged.outcomes) - 1
    return text + (f" (and {more} more)" if more else "")


def tested(judged: Judged) -> str:
    """The same with the times that are compared and what is asked of them, where that is not in the
    sentence: what a row says."""
    shown, found, asks = judged.shown, measured(judged), asked_for(judged)
    timed = shown is not None and shown.margin is not None
    if judged.here and shown and timed:
        # the ratio itself where the sentence does not have it
        text = _decides(shown)
        times = re.search(r" (\S+ times) as fast as ", text)
        if times and times[1] in judged.here:
            text = text.replace(times[0], " against ")
        found += f"; tested: {text}"
    if judged.claim.scope != "every" and judged.shown:
        found += f"; holds in {holding(judged.configurations.values(), 'configurations')}"
    # which of two that are named is to be the faster, the claim says itself
    known = asks in ("faster", "slower") or (judged.here and not timed)
    return found if found == NONE or known else f"{found}; asked: {asks}"


def asked_for(judged: Judged) -> str:
    """What the check that is shown asks."""
    shown = judged.shown or (judged.outcomes[0] if judged.outcomes else None)
    return asked(shown.check) if shown else NONE


def told(part: Part, known: Mapping[str, Outcome]) -> str:
    """Its sentences, with what was measured in the places of its keys."""
    text = prose(part.text)
    for key in part.keys:
        text = text.replace(f"{{{key}}}", in_words(known[key]))
    return text


def why(judged: Judged) -> str:
    """Why the verdict is what it is here, with what was measured in the places of its keys; or why
    there is none."""
    found = [f"{told(part, judged.known).rstrip('.')}." for part in judged.why]
    if first := prose(judged.turns) or _open(judged):
        found.insert(0, f"{first.rstrip('.')}.")
    return " ".join(found) or prose(judged.reason or "")


def because(judged: Judged) -> str:
    """Its first sentence: the rest stands with the claim."""
    return why(judged).split(". ")[0].rstrip(".")


def _open(judged: Judged) -> str:
    """What leaves a claim open that nobody has explained."""
    shown = judged.shown if judged.verdict == "undecided" else None
    if shown and shown.differs:
        return f"Two runs may differ by {margin(shown.differs)}"
    if shown and shown.over:
        return f"{_held(shown)}, {OF_CHECKS['undecided']} in {_holding(shown, 'undecided')}"
    if shown and shown.p and shown.p >= LEVEL:
        return f"p = {significant(shown.p, 2)} after the correction: rounds are few, or vary much"
    return ""


def _word(outcome: Outcome) -> str:
    """What a check says of its claim; "mixed" where choices decide it differently."""
    mixed = len({each.verdict for _, each in outcome.over}) > 1
    return "mixed" if mixed else OF_CHECKS[outcome.verdict]


def finding(outcome: Outcome, threshold: bool = False) -> str:
    """What one check found, as Markdown; with what it asked for, where `threshold`."""
    head = f"{label(outcome.check.says)}: " if outcome.check.says else ""
    if outcome.verdict == "not measured":
        return f"{head}not measured: {prose(outcome.reason or 'no reason given')}"
    formula, text = outcome.check.expression, prose(outcome.text)
    if formula and outcome.text.startswith(formula):
        text = f"`{formula}`{prose(outcome.text.removeprefix(formula))}"
    if outcome.unit == "s":
        text = number(outcome.value, outcome.low, outcome.high, "s")
    # a smaller one goes without saying
    if outcome.p is not None and outcome.p >= SMALL_P:
        text += f", p = {significant(outcome.p, 2)}"
    text += _differs(outcome)
    check = outcome.check
    # what is tested says itself what it asks, and so does a faster row
    known = check.form == "test" or (check.form == "arithmetic" and check.equals is None)
    if threshold and not known and asked(check) not in ("faster", "slower"):
        text += f" (asked: {asked(check)})"
    return head + text + _choices(outcome)


def _differs(outcome: Outcome) -> str:
    """Why it is left open, where a time was disturbed or that is what two processes differ by."""
    if outcome.unsure:
        return f"; cannot tell, as {prose(outcome.unsure)}"
    return f"; two processes may differ by {margin(outcome.differs)}" if outcome.differs else ""


def _holding(outcome: Outcome, verdict: str = "holds") -> int:
    return sum(each.verdict == verdict for _, each in outcome.over)


def _held(outcome: Outcome) -> str:
    return f"{OF_CHECKS['holds']} in {_holding(outcome)} of {len(outcome.over)} choices"


def _choices(outcome: Outcome) -> str:
    """For how many of the choices that the document leaves open it holds, and with which it does
    not; empty if there are none."""
    if not outcome.over:
        return ""

    def value(each: Outcome) -> str:
        # an interval may lie clear of the bound, and p not be small enough after Holm's correction
        p = each.p or 0.0 if each.verdict == "undecided" else 0.0
        p_value = f", p = {significant(p, 2)}" if p >= LEVEL else ""
        return in_words(each) + p_value + _differs(each)

    found = [_held(outcome)]
    for verdict in ("fails", "undecided", "not measured"):
        at = [
            prose(name) + (f" ({value(each)})" if each.value is not None else "")
            for name, each in outcome.over
            if each.verdict == verdict
        ]
        if at:
            more = f" and {len(at) - NAMED} more" if len(at) > NAMED else ""
            found.append(f"{OF_CHECKS[verdict]} {with_choices(at[:NAMED])}{more}")
    return "; " + ", ".join(found)


def source(record: Record, name: str) -> str:
    """A case or a probe that a verdict rests on, with a link if it stands in the report."""
    case = record.by_id.get(name)
    text = f"`{name}`".replace("|", "\\|")
    if case is None:
        # no case, so a test: its outcome is one of the probes; or a case that nobody measured
        return f"[{text}](probes.json)" if ":" in name else text
    if case.experiment == AUDIT:
        return text
    return f"[`{case.strategy}`]({place_of(case, record.experiment_of(case))})"


def facts(record: Record, judged: Judged) -> list[str]:
    """All that is known of a claim besides its row, a line each."""
    claim = judged.claim
    found = [f"Asked: {_sentence(claim.expected)}"]
    hardware = "" if claim.hardware in claim.figure else prose(claim.hardware)
    if then := ", ".join(filter(None, (figure(claim), hardware))):
        found.append(f"Then: {then}.")
    found += [_fact(record, each) for each in judged.outcomes]
    found += [f"{APART} {_fact(record, each, of_claim=False)}" for each in judged.also]
    found += [f"The document leaves open: {_sentence(each.what)}" for each in claim.open]
    return found


def _fact(record: Record, outcome: Outcome, of_claim: bool = True) -> str:
    links = [*dict.fromkeys(source(record, name) for name in outcome.evidence)]
    if outcome.verdict == "not measured":
        return finding(outcome) + (f"; it needs {few(links, NAMED)}" if links else "")
    word = f"**{_word(outcome)}**: " if of_claim else ""
    text, rest = f"{word}{finding(outcome, threshold=of_claim)}", []
    for each in links:
        name = each.partition("](")[0].removeprefix("[")
        if name in text and f"[{name}" not in text:  # the row leads to itself
            text = text.replace(name, each, 1)
        else:
            rest.append(each)
    return text + (f"; evidence: {few(rest, NAMED)}" if rest else "")


def _sentence(text: str) -> str:
    return f"{prose(text).rstrip('.')}."


# all claims of a record


@dataclass(frozen=True)
class Detail:
    """One claim with all that is known about it."""

    id: str
    title: str
    verdict: str
    place: str
    quote: str
    english: str
    measured: str
    why: str
    facts: list[str]


class View:
    """The verdicts on one record."""

    def __init__(self, own: Measured) -> None:
        self.own = own
        self.record, self.judgement = own.record, own.judgement

    @property
    def _by_verdict(self) -> dict[str, int]:
        return {verdict: self.judgement.count(verdict) for verdict in VERDICTS}

    @property
    def counts(self) -> str:
        return counted(self._by_verdict, lambda verdict: f"{CLAIMS}#{slug(verdict)}")

    @property
    def listed(self) -> list[str]:
        """The claims of each verdict, where the counts lead to."""
        return [
            f'<a id="{slug(v)}"></a>*{v}* ({len(ids)}): {", ".join(map(link, ids))}'
            for v in VERDICTS
            if (ids := [e.claim.id for e in self.judgement.claims if e.verdict == v])
        ]

    @property
    def headline(self) -> str:
        return headline(self._by_verdict, self.record.gpu_measured)

    @property
    def left_out(self) -> str:
        """The claims that are not shown, as the record has nothing of what they are about."""
        if not (many := self.own.known.left_out):
            return ""
        claims = "1 claim is" if sum(many.values()) == 1 else f"{sum(many.values())} claims are"
        where = ", ".join(f"{count} about {cell(name)}" for name, count in many.items())
        return f"{claims} left out, of experiments that this record does not have: {where}."

    @property
    def policy(self) -> str:
        """How words without a figure are read, of those that checks of these claims have."""
        words = {check.word for each in self.judgement.claims for check in each.claim.checks}
        found = []
        for word, (own, *others) in POLICY.items():
            if word in words and own != 1:  # faster is faster
                read = f"{own:g} times" if own >= 1 else f"{100 * own:g} % of the total"
                rest = (
                    f" (also read: {', '.join(f'{each:g}' for each in others)})" if others else ""
                )
                found.append(f"*{word}* is more than {read}{rest}")
        return "; ".join(found)

    @property
    def kinds(self) -> list[list[str]]:
        """How many claims have which verdict, a row for each way to decide them."""
        found = []
        for kind in (*KINDS, BY_READING):
            verdicts = Counter(e.verdict for e in self.judgement.claims if e.claim.kind == kind)
            if verdicts:
                found.append([f"{verdicts.total()} {kind}", *(str(verdicts[v]) for v in VERDICTS)])
        return found

    @property
    def rows(self) -> list[list[str]]:
        """A row for each claim, in the order of the documents, that reads without a click."""
        found = []
        for each in self.judgement.claims:
            title = f"{link(each.claim.id)} {said(each.claim)}"
            ends = because(each) or NONE, each.elsewhere or NONE
            found.append([title, f"**{each.verdict}**", tested(each), *ends])
        return found

    @property
    def details(self) -> dict[str, list[Detail]]:
        """The claims of each document, by its title."""
        found: dict[str, list[Detail]] = {}
        sources = self.own.known.sources
        for each in sorted(self.judgement.claims, key=lambda e: [*sources].index(e.claim.document)):
            name = f"{each.claim.document}, {sources[each.claim.document].name}"
            found.setdefault(name, []).append(self._detail(each))
        return found

    def _detail(self, judged: Judged) -> Detail:
        claim = judged.claim
        # that the verdict turned as the check was changed, with its evidence known
        days = [each.date for each in self.own.turned if each.claim == claim.id]
        turned = [f"Turned with its check, [{day}](changes.md)." for day in days[-1:]]
        return Detail(
            id=claim.id,
            title=prose(claim.title),
            verdict=judged.verdict,
            place=place(judged),
            quote=prose(claim.quote),
            english=prose(claim.english),
            measured=measured(judged),
            why=why(judged),
            facts=facts(self.record, judged) + turned,
        )

    @property
    def surprise(self) -> str:
        """The claim that times contradict by the most."""
        timed = (e for e in self.judgement.surprises(99) if e.claim.kind == "timed" and e.shown)
        if not (each := next(timed, None)):
            return ""
        title = f"{link(each.claim.id)} {prose(each.claim.title)}"
        return f"Furthest from what was said: {title}. Here: {measured(each)}."
