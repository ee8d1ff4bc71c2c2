"""The documents as a reader sees them: where they are from, their errata, and how checks of their
claims have changed."""

from __future__ import annotations

from recheck_report.anchors import ERRATA as ERRATA_PAGE
from recheck_report.anchors import place as place_of
from recheck_report.claims import Corrected, Source
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, prose
from recheck_report.record.record import Case
from recheck_report.say.verdicts import finding, link

CITED = ["document", "author, year"]
SOURCES = ["document", "title", "by, when", "found", "language", "hardware of its figures", "state"]
ERRATA = ["erratum", "where", "as written", "what is right", "concerns", "proof"]
CHANGES = ["claim", "changed", "asked before", "verdict then, today", "because of", "reason"]


def one_title(own: Measured) -> str:
    """The title of the one document, or what it is called; empty where there are several."""
    sources = [*own.known.sources.values()]
    return _titled(sources[0])[0] if len(sources) == 1 else ""


def called(own: Measured) -> str:
    """What the collection is called, or its one document."""
    return prose(own.known.settings.title) or one_title(own)


def _titled(source: Source) -> list[str]:
    """Its title, or else what it is called here; its author and year."""
    title = prose(source.title) + (f" ({prose(source.english)})" if source.english else "")
    by = ", ".join(prose(text) for text in (source.author, source.year) if text)
    return [title or prose(source.name), by or NONE]


def cited(own: Measured) -> list[list[str]]:
    """In short: title, who wrote it and when."""
    found = []
    for each in own.known.sources.values():
        title, by = _titled(each)  # in quotes, slips of the pen and all, unless it is ours
        found.append([f"{prose(each.id)}: " + (f"“{title}”" if each.title else title), by])
    return found


def printed(own: Measured) -> str:
    """What names of rows that are listings as printed begin with; empty where there are none."""
    rows = {case.strategy for case in own.record.cases}
    ids = [e for e in own.known.sources if any(row.startswith(f"{e.lower()}_") for row in rows)]
    names = ", ".join(f"`{each.lower()}_`" for each in ids)
    return f"Names with {names} in front: listings of {', '.join(ids)} as printed." if ids else ""


def sources(own: Measured) -> list[list[str]]:
    """Where the sentences and figures are from, with all that is known."""
    return [
        [
            f"{prose(each.id)}: {prose(each.name)}",
            prose(each.title) and _titled(each)[0] or NONE,
            _titled(each)[1],
            prose(each.found),
            prose(each.language) or NONE,
            "<br>".join(map(prose, each.hardware)) or NONE,
            prose(each.state) or NONE,
        ]
        for each in own.known.sources.values()
    ]


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
    return f"**{word}**: {'; '.join(finding(each) for each in outcomes)}"


def errata(own: Measured) -> list[list[str]]:
    found = []
    for each in own.judgement.errata:
        erratum = each.erratum
        head = f'<a id="erratum-{erratum.id.lower()}"></a>{erratum.id}'
        english = f" (“{prose(erratum.english)}”)" if erratum.english else ""
        written = f"“{prose(erratum.written)}”{english}"
        concerns = ", ".join(_concerned(own, name) for name in erratum.concerns)
        where = f"{erratum.document} {prose(erratum.place)}"
        found.append([head, where, written, prose(erratum.right), concerns, proof(each)])
    return found


def errata_of(own: Measured, claim: str) -> str:
    """Links to the errata that concern a claim."""
    ids = [each.erratum.id for each in own.judgement.errata if claim in each.erratum.concerns]
    return ", ".join(f"[{name}]({ERRATA_PAGE}#erratum-{name.lower()})" for name in ids)


def _concerned(own: Measured, name: str) -> str:
    """A claim, an algorithm or a document, with a link if it stands in the report."""
    record = own.record
    if own.judgement.find(name):
        return link(name)
    rows = [case for case in record.cases if case.source.algorithm == name and not case.sweep]
    if not rows:
        return name
    headline = {each.name: each.headline for each in record.experiments}

    def fit(case: Case) -> tuple[bool, bool]:
        """Whether it is the listing as printed, and in the table that shows most."""
        printed = case.strategy.startswith(f"{case.source.document.lower()}_")
        return printed, case.shape_name == headline[case.experiment]

    case = max(rows, key=fit)
    return f"[{name}]({place_of(case, record.experiment_of(case))})"


def changes(own: Measured) -> list[list[str]]:
    """The changes after which a verdict was another: what decided the claim before, and what it
    came to then and comes to now."""
    found = []
    for change in own.turned:
        judged = own.judgement.find(change.claim)
        assert judged  # or the change would not be shown
        # the log has one word for what fails
        fails = "wrong as printed" if judged.claim.independent else "fails here"
        verdicts = f"{change.verdict.replace('fails', fails)}, **{judged.verdict}**"
        words = [change.date, prose(change.asked), verdicts, change.because, prose(change.reason)]
        found.append([link(change.claim), *words])
    return found
