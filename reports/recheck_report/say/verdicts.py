"""Names of `say/claim.py` and `say/outcome.py` as Markdown, until every page has moved there."""

from __future__ import annotations

from collections.abc import Mapping

from recheck_report.claims import Claim, Judged, Outcome
from recheck_report.claims.story import Part
from recheck_report.record.record import Record
from recheck_report.say import claim
from recheck_report.say.outcome import explained

APART = "Also measured:"


class View(claim.View):
    @property
    def left_out(self) -> str:  # type: ignore[override]
        return str(super().left_out)


def said(of: Claim) -> str:
    return str(claim.said(of))


def place(judged: Judged) -> str:
    return str(claim.place(judged))


def asked_for(judged: Judged) -> str:
    return str(claim.asked_for(judged))


def tested(judged: Judged) -> str:
    return str(claim.tested(judged))


def why(judged: Judged) -> str:
    return str(claim.why(judged))


def because(judged: Judged) -> str:
    return str(claim.because(judged))


def told(part: Part, known: Mapping[str, Outcome]) -> str:
    return str(explained(part.text, known))


def facts(record: Record, judged: Judged) -> list[str]:
    texts = [*claim.asked_and_then(judged.claim), *claim.findings(record, judged)]
    texts += [*claim.also_measured(record, judged), *claim.left_open(judged.claim)]
    return [str(text) for text in texts]
