"""The verdicts as a reader sees them: the count, what surprises, the table, then and now, errata.

Nothing is judged here: `claims/` does that, and this file says it in Markdown. A claim's row has
the anchor `claim-c12`, its details `claim-c12-detail`, and what a verdict rests on is linked.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cache, cached_property

from recheck_report.anchors import CLAIMS, claim_anchor, claim_place, slug
from recheck_report.anchors import place as place_of
from recheck_report.claims import Check, Claim, Corrected, Judged, Outcome, Source, asked
from recheck_report.claims.checks import POLICY
from recheck_report.claims.load import BY_READING, KINDS
from recheck_report.claims.measured import Measured
from recheck_report.formatting import (
    NONE,
    VERDICTS,
    WORDS,
    cell,
    counted,
    duration,
    entities,
    margin,
    shape_label,
    significant,
)
from recheck_report.model.record import AUDIT, Case
from recheck_report.statistics.paired import LEVEL
from recheck_report.statistics.ratio import Ratio

SMALL_P = 0.001  # smaller p-values are not printed
SHOWN = 2  # outcomes in a row of the table; the rest stands in the details

COLUMNS = ["id", "verdict", "claim", "said then", "here"]
THEN = ["claim", "then", "here", "verdict", "why"]
CHANGES = ["claim", "changed", "asked before", "verdict then, today", "because of", "reason"]
SOURCES = ["document", "title", "by, when", "found", "language", "hardware of its figures", "state"]
CITED = ["document", "author, year", "found"]
ERRATA = ["erratum", "where", "as written", "what is right", "concerns", "proof"]


# what Markdown would read as more than text: emphasis, strike-through, a link's middle
_MARKS = re.compile(
    r"(?<!\s)\*|\*(?!\s)|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|~(?=~)|(?<=\])\(|\\(?=[^\w\s])"
    r"|:(?=//)|(?<=[wW]{3})\."  # addresses, of which code hosts make links
)


@cache
def prose(text: str) -> str:
    """Plain text made safe in Markdown; what stands between backticks stays code."""
    parts = text.split("`")
    # runs of them are pairs of their own to Markdown
    if not len(parts) % 2 or "``" in text:
        parts = [text.replace("`", "'")]
    for at, part in enumerate(parts):
        inside = part.replace("|", "\\|")
        parts[at] = inside if at % 2 else entities(_MARKS.sub(r"\\\g<0>", part))
    return "`".join(parts)


def label(text: str) -> str:
    """The same with shapes as a reader writes them: "at 1024x1024x1024" is at 1024³."""
    return prose(re.sub(r"\b\d+(x\d+)+\b", lambda found: shape_label(found[0]), text))


def number(
    value: float | None, low: float | None, high: float | None, unit: str, mark: str = ""
) -> str:
    """For tables and charts "1.07× [1.06, 1.08]": a value, with its interval where it has one."""
    if value is None:
        return NONE
    if low is None or high is None:
        found = f"{value:.6g}"
    elif unit == "×":
        return str(Ratio(value, low, high, mark=mark))
    elif unit == "s":
        return f"{duration(value)} [{duration(low)}, {duration(high)}]"
    elif unit in _SCALES:
        scale, unit = _SCALES[unit]
        texts = [significant(x / scale, 4) for x in (value, low, high)]
        found = f"{texts[0]} [{texts[1]}, {texts[2]}]"
    else:
        return Ratio(value, low, high, mark=mark).percent
    return f"{found} {unit}".rstrip()


def spoken(
    value: float | None, low: float | None, high: float | None, unit: str, mark: str = ""
) -> str:
    """The same for sentences: "1.07 times as fast [1.06, 1.08]"."""
    if unit == "×" and value is not None and low is not None and high is not None:
        return Ratio(value, low, high, mark=mark).words
    return number(value, low, high, unit, mark)


_SCALES = {"B/s": (1e9, "GB/s"), "flop/s": (1e12, "TFLOP/s")}


def effect(judged: Judged) -> str:
    """What was measured of a claim, at its shortest; a dash where nothing was."""
    found = judged.effect
    return NONE if found is None or judged.verdict == "not_measured" else in_words(found)


def shortest(outcome: Outcome) -> str:
    """The value of an outcome and its interval, without the times that they come from."""
    return number(*_value(outcome))


def in_words(outcome: Outcome) -> str:
    """The same as a part of a sentence."""
    return spoken(*_value(outcome))


def _differs(outcome: Outcome) -> str:
    """Why it is left open, where a time was disturbed or that is what two processes differ by."""
    if outcome.unsure:
        return f"; cannot tell, as {prose(outcome.unsure)}"
    return f"; two processes may differ by {margin(outcome.differs)}" if outcome.differs else ""


def _value(outcome: Outcome) -> tuple[float | None, float | None, float | None, str, str]:
    mark = "ᵉ" if "ᵉ" in outcome.text else ""
    return outcome.value, outcome.low, outcome.high, outcome.unit, mark


def unit(claim: Claim) -> str:
    """What `claimed` is counted in: that of the value of the claim's first check."""
    check = claim.check[0] if claim.check else Check("")
    forms = {"ratio": "×", "equivalent": "×", "order": "×", "extremes": "×"}
    forms["fraction_of_roof"] = "%"
    return forms.get(check.form, "")


def claimed(claim: Claim) -> str:
    """What the document says, as a number that the effect can be compared with; or empty."""
    value, name = claim.claimed, unit(claim)
    if value is None:
        return ""
    if name == "s":
        return duration(value)
    if name in _SCALES:
        scale, name = _SCALES[name]
        return f"{significant(value / scale)} {name}"
    # only what was measured has an interval, and only what has one is written with ×
    return {"×": f"{value:.4g} times", "%": f"{100 * value:.3g} %"}.get(name, f"{value:.6g}")


def said(claim: Claim) -> str:
    """The document's figure; with the number that it comes to, where that is not the same."""
    ratio = claimed(claim)
    if not claim.figure or claim.claimed is None:
        return prose(claim.figure or ratio)
    printed = [float(text) for text in re.findall(r"\d+(?:\.\d+)?", claim.figure)]
    number = 100 * claim.claimed if unit(claim) == "%" else claim.claimed
    # a figure of "1.2 times" says what 1.212 says
    known = number == 1 or any(abs(each - number) <= 0.02 * number for each in printed)
    return prose(claim.figure if known else f"{claim.figure} ({ratio})")


def told(outcome: Outcome, brief: bool = False, threshold: bool = False) -> str:
    """What one check found, as Markdown; with what it asked for, where `threshold`."""
    head = f"{label(outcome.check.says)}: " if outcome.check.says else ""
    if outcome.verdict == "not_measured":
        return f"{head}not measured: {prose(outcome.reason or 'no reason given')}"
    ends = outcome.value, outcome.low, outcome.high
    formula, text = outcome.check.expression, prose(outcome.text)
    if formula and outcome.text.startswith(formula):
        text = f"`{formula}`{prose(outcome.text.removeprefix(formula))}"
    if outcome.unit == "s":
        text = number(*ends, "s")
    # a smaller one goes without saying
    if outcome.p is not None and outcome.p >= SMALL_P:
        text += f", p = {significant(outcome.p, 2)}"
    text += _differs(outcome)
    return head + text + _threshold(outcome) * threshold + varied(outcome, brief)


def varied(outcome: Outcome, brief: bool = False) -> str:
    """What came out for each choice that the document leaves open, if it leaves any; in brief for
    how many of them the check holds."""
    if not outcome.over:
        return ""

    def value(each: Outcome) -> str:
        # an interval may lie clear of the bound, and p not be small enough after Holm's correction
        p = each.p or 0.0
        decides = each.verdict == "inconclusive" and p >= LEVEL
        p_value = f", p = {significant(p, 2)}" if decides else ""
        return in_words(each) + p_value + _differs(each)

    holding, total = sum(each.verdict == "holds" for _, each in outcome.over), len(outcome.over)
    few = {0: "none of the", total: "all"}.get(holding, f"{holding} of the")
    found = [f"holds for {few} {total} choices that the document leaves open"]
    for verdict in ("fails", "inconclusive", "not_measured"):
        at = ", ".join(
            prose(label) + (f" ({value(each)})" if each.value is not None else "")
            for label, each in outcome.over
            if each.verdict == verdict
        )
        found += [f"{VERDICTS[verdict].one} for {at}"] if at and not brief else []
    return "; " + ", ".join(found)


def explained(judged: Judged) -> str:
    """Why the verdict is what it is here, with what was measured in the places of its keys."""
    found = []
    for text, spoken in judged.why:
        text = _sentence(text)
        for key, outcome in spoken.items():
            text = text.replace(f"{{{key}}}", in_words(outcome))
        found.append(text)
    return " ".join(found)


def place(judged: Judged) -> str:
    return f"{judged.claim.document} {prose(judged.claim.place)}"


@dataclass(frozen=True)
class Detail:
    """One claim with all that is known about it."""

    anchor: str
    row: str  # the anchor of its row in the table
    id: str
    title: str
    verdict: str
    place: str
    quote: str
    english: str
    facts: list[str]


@dataclass(frozen=True)
class Fold:
    anchor: str
    title: str
    details: list[Detail]


class View:
    """The verdicts on one record."""

    def __init__(self, own: Measured) -> None:
        self.own = own
        self.record, self.judgement = own.record, own.judgement

    @property
    def counts(self) -> str:
        return counted({verdict: self.judgement.count(verdict) for verdict in WORDS})

    @property
    def processes(self) -> bool:
        """Whether verdicts allow for what two processes differ by."""
        return self.own.comparisons.processes

    @property
    def borrowed(self) -> str:
        """On which GPU model, if it is not this one."""
        return self.own.comparisons.borrowed

    @property
    def left_out(self) -> str:
        """The claims that are not shown, as the record has nothing of what they are about."""
        many = self.own.known.left_out
        if not many:
            return ""
        claims = "1 claim is" if sum(many.values()) == 1 else f"{sum(many.values())} claims are"
        where = ", ".join(f"{count} about {cell(name)}" for name, count in many.items())
        return f"{claims} left out, of experiments that this record does not have: {where}."

    @property
    def policy(self) -> str:
        """What words of documents are read as: those that a check of these claims has in place of
        a number."""
        checks = [check for each in self.judgement.claims for check in each.claim.checks]
        bounds = [
            bound
            for check in checks
            for bound in (check.above, check.below, check.at_least, check.at_most)
            if type(bound) is float  # a figure of a document is mostly none of these words
        ]
        found = [
            f"*{word}* is "
            + (
                f"more than {bound:g} times as fast"
                if bound >= 1
                else f"{100 * bound:g} % of the total"
            )
            for word, bound in POLICY.items()
            if bound in bounds and bound != 1  # faster is faster
        ]
        return "; ".join(found)

    @property
    def changes(self) -> list[list[str]]:
        """What decided claims before, and what they came to then and come to now."""
        found = []
        for change in self.own.known.changes:
            judged = self.judgement.find(change.claim)
            assert judged  # or the change would not be shown
            then, now = (WORDS[v] for v in (change.verdict, judged.verdict))
            words = [change.date, prose(change.asked), f"{then}, **{now}**"]
            found.append([self.link(change.claim), *words, change.because, prose(change.reason)])
        return found

    @property
    def kinds(self) -> str:
        """The same apart by what decides a claim."""
        found = []
        for kind in (*KINDS, BY_READING):
            verdicts = [e.verdict for e in self.judgement.claims if e.claim.kind == kind]
            if verdicts:
                rest = [f"{verdicts.count(v)} {WORDS[v]}" for v in WORDS if v in verdicts]
                found.append(f"{kind} {len(verdicts)} ({', '.join(rest)})")
        return "; ".join(found)

    @property
    def unjudged(self) -> int:
        """How many claims nothing could decide, on no machine."""
        return sum(bool(each.claim.not_judged) for each in self.judgement.claims)

    def link(self, name: str) -> str:
        return f"[{name}]({claim_place(name)})"

    def source(self, name: str, short: bool = False) -> str:
        """A case or a probe that a verdict rests on, with a link if it stands in the report."""
        case = self.record.by_id.get(name)
        text = f"`{name}`".replace("|", "\\|")
        if case is None:
            # no case, so a test: its outcome is one of the probes; or a case that nobody measured
            return f"[{text}](probes.json)" if ":" in name else text
        if case.experiment == AUDIT:
            return text
        where = place_of(case, self.record.experiment_of(case))
        return f"[`{case.strategy}`]({where})" if short else f"[{text}]({where})"

    def sources(self, outcome: Outcome) -> str:
        return ", ".join(dict.fromkeys(self.source(name) for name in outcome.evidence))

    def evident(self, outcome: Outcome, threshold: bool = False) -> str:
        """What a check found, with links to the rows that it rests on."""
        text, rest = told(outcome, brief=True, threshold=threshold), []
        # of the usual choice alone, where there are several
        for name in (outcome.over[0][1] if outcome.over else outcome).evidence:
            link, case = self.source(name, short=True), self.record.by_id.get(name)
            if case and f"`{case.strategy}`" in text:
                text = re.sub(rf"(?<!\[)`{case.strategy}`", link, text, count=1)
            elif link.startswith("["):  # of a case that is not in the record its reason speaks
                rest.append(link)
        return text + (f" ({', '.join(dict.fromkeys(rest))})" if rest else "")

    def here(self, judged: Judged) -> str:
        """The table's cell: what decides the verdict, and where the rest stands."""
        if judged.verdict == "not_measured":
            return prose(judged.reason or NONE)
        deciding = [each for each in judged.outcomes if each.verdict == judged.verdict]
        first = [judged.effect] if judged.effect else []
        unique = {id(each): each for each in (*first, *deciding)}
        shown = list(unique.values())[:SHOWN]
        lines = [self.evident(each) for each in shown]
        rest = len(judged.outcomes) - len(shown)
        if rest:
            lines.append(f"[and {rest} more]({claim_place(judged.claim.id)}-detail)")
        return "<br>".join(lines)

    @cached_property
    def usual(self) -> dict[str, str]:
        """By document, the hardware that most of its claims name, if two do."""
        found: dict[str, Counter[str]] = {}
        for each in self.judgement.claims:
            if each.claim.hardware:
                found.setdefault(each.claim.document, Counter())[each.claim.hardware] += 1
        most = {document: many.most_common(1)[0] for document, many in found.items()}
        return {document: name for document, (name, count) in most.items() if count > 1}

    @property
    def measured_on(self) -> str:
        """What the documents' figures were measured on, where no claim says otherwise."""
        found = (f"{prose(document)}: {prose(name)}" for document, name in self.usual.items())
        text = "; ".join(found)
        return f"Hardware of the old figures, unless a claim names another: {text}." if text else ""

    def hardware(self, claim: Claim) -> str:
        """What a claim's figure was measured on, where it is not what is usual in its document."""
        return "" if claim.hardware == self.usual.get(claim.document) else prose(claim.hardware)

    def then_cell(self, judged: Judged) -> str:
        parts = (said(judged.claim), self.hardware(judged.claim))
        return "<br>".join(part for part in parts if part) or NONE

    @property
    def rows(self) -> list[list[str]]:
        found = []
        for each in self.judgement.claims:
            claim, where = each.claim, claim_anchor(each.claim.id)
            title = (
                f"[{prose(claim.title)}]({CLAIMS}#{where}-detail)<br>{place(each)}; {claim.kind}"
            )
            verdict = f"**{WORDS[each.verdict]}**"
            head = f'<a id="{where}"></a>{claim.id}'
            found.append([head, verdict, title, self.then_cell(each), self.here(each)])
        return found

    @property
    def surprises(self) -> list[str]:
        found = []
        for each in self.judgement.surprises(5):
            failing = next(o for o in each.outcomes if o.verdict == each.verdict)
            claim, outcome = each.claim, each.effect or failing
            document = said(claim) or f"“{prose(claim.english or claim.quote)}”"
            where = ", ".join(text for text in (place(each), self.hardware(claim)) if text)
            found.append(
                f"**{self.link(claim.id)} {VERDICTS[each.verdict].one}: {prose(claim.title)}.** "
                f"The document ({where}): {document}. Measured: "
                f"{self.evident(outcome, threshold=True)}."
            )
        return found

    @property
    def folds(self) -> list[Fold]:
        found = []
        for source in self.own.known.sources.values():
            own = [each for each in self.judgement.claims if each.claim.document == source.id]
            if own:
                many = f"{len(own)} claims" if len(own) > 1 else "1 claim"
                title = f"{source.id}, {source.name}: {many} in detail"
                found.append(
                    Fold(f"of-{slug(source.id)}", title, [self._detail(each) for each in own])
                )
        return found

    def _detail(self, judged: Judged) -> Detail:
        claim, where = judged.claim, claim_anchor(judged.claim.id)
        facts = [f"Asked: {_sentence(claim.expected)}"]
        if claim.figure or self.hardware(claim):
            facts.append(f"Then: {self.then_cell(judged).replace('<br>', '; ')}.")
        if claim.not_judged:
            facts.append(f"Not judged: {_sentence(claim.not_judged)}")
        facts += [self._fact(each) for each in judged.outcomes]
        facts += [f"Not part of the verdict: {self._fact(each)}" for each in judged.also]
        if why := explained(judged):
            facts.append(f"Why: {why}")
        facts += [f"The document leaves open: {_sentence(each.what)}" for each in claim.open]
        facts += [
            f"Erratum [{each.erratum.id}]({CLAIMS}#{self.anchor_of(each)}): {_printed(each)}; "
            f"right: {prose(each.erratum.right)}; {proof(each)}"
            for each in self.judgement.errata
            if claim.id in each.erratum.concerns
        ]
        return Detail(
            anchor=f"{where}-detail",
            row=where,
            id=claim.id,
            title=prose(claim.title),
            verdict=WORDS[judged.verdict],
            place=place(judged),
            quote=prose(claim.quote),
            english=prose(claim.english),
            facts=facts,
        )

    def _fact(self, outcome: Outcome) -> str:
        links = self.sources(outcome)
        if outcome.verdict == "not_measured":
            return told(outcome) + (f"; it needs {links}" if links else "")
        text = f"**{WORDS[outcome.verdict]}**: {told(outcome, threshold=True)}"
        return text + (f"; evidence: {links}" if links else "")

    @property
    def empty(self) -> bool:
        """Whether there is nothing to say of any document."""
        return not (self.own.known.sources or self.judgement.claims or self.judgement.errata)

    @property
    def one(self) -> bool:
        return len(self.own.known.sources) == 1

    @property
    def one_title(self) -> str:
        """The title of the one document, or what it is called; empty where there are several."""
        return " and ".join(
            _titled(each)[0] for each in self.own.known.sources.values() if self.one
        )

    @property
    def who(self) -> str:
        """What a sentence calls the documents: the one by its title."""
        return f"“{self.one_title}”" if self.one else "the documents"

    @property
    def algorithms(self) -> bool:
        """Whether an erratum is about an algorithm that rows are made of."""
        known = {case.source.algorithm for case in self.record.cases} - {""}
        return any(known & {*each.erratum.concerns} for each in self.judgement.errata)

    @property
    def cited(self) -> list[list[str]]:
        """The same in short: title, who wrote it and when, where it was found."""
        found = []
        for each in self.own.known.sources.values():
            title, by = _titled(each)
            found.append([f"{prose(each.id)}: {title}", by, prose(each.found)])
        return found

    @property
    def documents(self) -> list[list[str]]:
        """Where the sentences and figures are from."""
        return [_cited(each) for each in self.own.known.sources.values()]

    @property
    def then(self) -> list[list[str]]:
        """Claims with a figure of their own, beside what was measured of them today."""
        found = []
        for each in self.judgement.claims:
            claim = each.claim
            if not claim.figure and claim.claimed is None:
                continue
            outcome = each.effect if each.verdict != "not_measured" else None
            today = told(outcome, brief=True) if outcome else self.here(each)
            line = [f"{self.link(claim.id)} {prose(claim.title)}", self.then_cell(each), today]
            found.append([*line, f"**{WORDS[each.verdict]}**", explained(each) or NONE])
        return found

    def anchor_of(self, corrected: Corrected) -> str:
        return f"erratum-{corrected.erratum.id.lower()}"

    def concerned(self, name: str) -> str:
        """A claim, an algorithm or a document, with a link if it stands in the report."""
        if self.judgement.find(name):
            return self.link(name)
        own = [c for c in self.record.cases if c.source.algorithm == name and not c.sweep]
        if not own:
            return name
        at = {each.name: each.headline for each in self.record.experiments}

        def fit(case: Case) -> tuple[bool, bool]:
            """Whether it is the listing as printed, and in the table that shows most."""
            printed = case.strategy.startswith(f"{case.source.document.lower()}_")
            return printed, case.shape_name == at[case.experiment]

        case = max(own, key=fit)
        return f"[{name}]({place_of(case, self.record.experiment_of(case))})"

    @property
    def errata(self) -> list[list[str]]:
        found = []
        for each in self.judgement.errata:
            erratum = each.erratum
            head = f'<a id="{self.anchor_of(each)}"></a>{erratum.id}'
            where = f"{erratum.document} {prose(erratum.place)}"
            concerns = ", ".join(map(self.concerned, erratum.concerns))
            found.append([head, where, _printed(each), prose(erratum.right), concerns, proof(each)])
        return found


def _threshold(outcome: Outcome) -> str:
    """What a check asks, where what was measured does not say it: " (asked: at least 2)"."""
    check = outcome.check
    known = check.form == "test" or (check.form == "arithmetic" and check.equals is None)
    return "" if known else f" (asked: {asked(check)})"


def _titled(source: Source) -> list[str]:
    """Its title, or else what it is called here; its author and year."""
    title = prose(source.title) + (f" ({prose(source.english)})" if source.english else "")
    by = ", ".join(prose(text) for text in (source.author, source.year) if text)
    return [title or prose(source.name), by or NONE]


def _cited(source: Source) -> list[str]:
    return [
        f"{prose(source.id)}: {prose(source.name)}",
        prose(source.title) and _titled(source)[0] or NONE,
        _titled(source)[1],
        prose(source.found),
        prose(source.language) or NONE,
        "<br>".join(map(prose, source.hardware)) or NONE,
        prose(source.state) or NONE,
    ]


def _sentence(text: str) -> str:
    return f"{prose(text).rstrip('.')}."


def _printed(corrected: Corrected) -> str:
    erratum = corrected.erratum
    english = f" (“{prose(erratum.english)}”)" if erratum.english else ""
    return f"“{prose(erratum.written)}”{english}"


def proof(corrected: Corrected) -> str:
    """Whether what is put right is proven, and by what."""
    outcomes = corrected.outcomes
    if not outcomes:
        return f"by reading: {prose(corrected.erratum.shown)}"
    verdicts = {each.verdict for each in outcomes}
    word = "not proven here"
    if verdicts == {"holds"}:
        word = "proven"
    elif "fails" in verdicts:
        word = "refuted"
    return f"**{word}**: {'; '.join(told(each) for each in outcomes)}"
