"""What report.html shows without a script: its views as nodes. Everything that the Markdown pages
show as well comes from the functions that they call."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, urlencode

from recheck_report.anchors import claim_anchor
from recheck_report.claims import Judged, Source
from recheck_report.claims.load import BY_READING, KINDS
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NBSP, NONE, VERDICTS, count, duration, spread
from recheck_report.say import bottlenecks, claim, documents, provenance, standings, tables
from recheck_report.say.nodes import (
    Anchor,
    Block,
    Fold,
    Note,
    Section,
    Table,
    Text,
    blocks,
    code,
    joined,
    link,
    paragraph,
    strong,
    table,
    text,
)
from recheck_report.say.pages import changes, errata, machine
from recheck_report.say.pages.claims import quote_and_facts
from recheck_report.say.pages.method import method_page
from recheck_report.say.pages.readme import Peak, answer_blocks

FILE = "report.html"


def view(name: str, **parameters: str) -> str:
    """The address of a view: "report.html#view=claims&verdict=holds"."""
    return f"{FILE}#{urlencode({'view': name, **parameters}, safe='/,', quote_via=quote)}"


@dataclass(frozen=True)
class ClaimRow:
    """A claim in one line, and what unfolds below it."""

    id: str
    verdict: str
    document: str
    kind: str
    title: Text
    here: Text  # what was measured
    because: Text  # may be empty
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Answers:
    """The answers of an experiment: which row is the fastest at each shape, what the kernels beyond
    the documents reach at the headline shape, and how accurate the fastest is."""

    name: str
    title: str
    headline: str  # its shape
    fastest: dict[str, Text]
    beyond: Text  # empty without a report of them
    accuracy: Text


@dataclass(frozen=True)
class Views:
    """The views of a record; `peak`: what another report adds to its answer."""

    report: Measured
    peak: Peak | None = None

    # the first screen: what holds, what fails, what is fastest, whether it can be trusted

    @property
    def about(self) -> Text:
        env = self.report.record.environment
        dirty = " with uncommitted changes" if env.git.dirty else ""
        facts = [
            env.git.commit and f"commit {env.git.commit[:7]}{dirty}",
            env.started[:10],
            env.driver and f"driver {env.driver}",
            env.cuda_runtime and f"CUDA {env.cuda_runtime}",
            f"{env.build_type} build",
        ]
        return joined(" · ", (strong(machine(self.report.record)), *filter(None, facts)))

    @cached_property
    def _verdicts(self) -> claim.View:
        return claim.View(self.report)

    @property
    def headline(self) -> Text:
        answer, left_out = self._verdicts.headline, self._verdicts.left_out
        named = joined(": ", [documents.called(self.report), answer]).capitalized
        return (named + "." if answer else named) or left_out or text("What is fastest here")

    @property
    def claimed(self) -> Text:
        """Whose claims these are."""
        sources = self.documents
        names = [
            f"“{source.english or source.title}”" if source.title else source.name
            for source in sources
        ]
        who = "it" if len(names) == 1 else f"{len(names)} documents"
        more = "" if len(names) == 1 else f": {'; '.join(names)}"
        said = f"What {who} claimed, measured again on {machine(self.report.record)}{more}."
        return joined(" ", [said, self._verdicts.left_out])

    @property
    def bar(self) -> list[tuple[str, int, Text]]:
        """The verdicts with their counts, and a link to the claims: "20 hold"."""
        counts = {verdict: many for verdict, many in self._verdicts.by_verdict.items() if many}
        return [
            (v, many, link(view("claims", verdict=v), f"{many} {VERDICTS[v].verb(many)}"))
            for v, many in counts.items()
        ]

    @cached_property
    def warnings(self) -> tuple[Note, ...]:
        return tuple(remark.note for remark in provenance.brands(self.report))

    @property
    def sections(self) -> tuple[Block, ...]:
        """What the first page of the Markdown report says, from the fastest kernels on."""
        experiments = self.report.record.ordinary
        made = {"shapes": standings.shapes_section, "costs": bottlenecks.costs}
        folds = (
            Fold(text(Anchor(f"{name}-{e.name}"), f"{e.title}: ", section.title), section.blocks)
            for name, make in made.items()
            for e in experiments
            if (section := make(self.report, e))
        )
        return answer_blocks(self.report, self.peak, folds)

    @cached_property
    def answers(self) -> list[Answers]:
        report, made = self.report, []
        says = self.peak.says if self.peak else {}
        for experiment in report.record.ordinary:
            shapes = [*report.record.shapes(experiment), experiment.headline]
            fastest = {
                shape: joined(" ", standings.sentences(report, experiment, shape))
                or standings.untimed(report, experiment, shape)
                for shape in dict.fromkeys(shapes)
            }
            past = text()
            if self.peak and experiment.name in says:
                where = link(f"{self.peak.folder}{FILE}", "Beyond the documents")
                lines = (line.words for line in says[experiment.name])
                past = text(where, ": ", joined("; ", lines))
            accuracy = standings.accuracy(report, experiment)
            about = experiment.name, experiment.title, experiment.headline
            made.append(Answers(*about, fastest, past, accuracy))
        return made

    # the claims and the errata

    @property
    def documents(self) -> list[Source]:
        """Those that claims are from."""
        named = {judged.claim.document for judged in self.report.judgement.claims}
        return [source for source in self.report.collection.sources.values() if source.id in named]

    @property
    def choices(self) -> dict[str, tuple[str, dict[str, str]]]:
        """What claims are filtered by: its label, and the values with their names."""
        claims = self.report.judgement.claims
        shown = {judged.verdict for judged in claims}
        kinds = {judged.claim.kind for judged in claims}
        return {
            "document": ("Document", {e.id: f"{e.id}, {e.name}" for e in self.documents}),
            "verdict": ("Verdict", {verdict: verdict for verdict in VERDICTS if verdict in shown}),
            "kind": ("Decided by", {e: e for e in (*KINDS, BY_READING) if e in kinds}),
        }

    def origin(self, source: Source) -> Text:
        """Who wrote a document, and where it is."""
        name = source.title or source.name
        name += f" ({source.english})" if source.english else ""
        by = ", ".join(filter(None, (source.author, source.year)))
        parts = re.split(r"(https?://[^\s,;)>\]]+)", source.url or source.found)
        where = (link(part, part) if at % 2 else part for at, part in enumerate(parts))
        return text(strong(name), f", {by}. " if by else ". ", *where)

    @cached_property
    def claims(self) -> list[ClaimRow]:
        rows = []
        for judged in self.report.judgement.claims:
            measured, why = claim.tested(judged), claim.why(judged)
            bare = measured.plain == NONE
            row = ClaimRow(
                judged.claim.id,
                judged.verdict,
                judged.claim.document,
                judged.claim.kind,
                claim.said(judged.claim),
                why if bare else measured,
                Text() if bare else claim.because(judged),
                self._of_claim(judged, why),
            )
            rows.append(row)
        return rows

    def _of_claim(self, judged: Judged, why: Text) -> tuple[Block, ...]:
        place = f"{FILE}#{claim_anchor(judged.claim.id)}"
        return blocks(
            text(strong("Why:"), " ", why) if why else None,
            quote_and_facts(self.report, judged),
            self._evidence(judged),
            text(link(place, f"Link to {judged.claim.id}")),
        )

    def _evidence(self, judged: Judged) -> Table:
        cases = [self.report.record.by_id.get(name) for name in judged.evidence]
        rows: list[list[Text | str]] = [
            [
                code(case.id),
                duration(case.seconds.median).replace(" ", NBSP),
                spread(case.seconds).replace(" ", NBSP),
                str(len(case.samples)),
                str(case.source),
            ]
            for case in cases
            if case and case.seconds
        ]
        columns = ["case", "median", "95 % interval", "samples", "kernel"]
        return table(columns, rows, range(1, 4), f"Cases that {judged.claim.id} rests on")

    @cached_property
    def errata(self) -> Table:
        return table(documents.ERRATA, documents.errata(self.report), title="Errata")

    # what the numbers rest on

    @property
    def evidence(self) -> tuple[Block, ...]:
        """Which cases have no time, and the pages on the method, the documents and the checks."""
        report = self.report
        gaps = tables.not_passed(report.record, report.record.ordinary)
        body = blocks(
            Section(text("Cases without a time"), (gaps,), "without-a-time") if gaps.rows else None,
            method_page(report, ()).blocks,
            (
                section
                for section in errata.page(report).blocks
                if isinstance(section, Section) and section.anchor != "errata"
            ),
            changes.page(report).blocks if report.changed_verdicts else None,
        )
        titles = (
            (section.anchor, section.title) for section in body if isinstance(section, Section)
        )
        names = [*titles, ("every-case", text("Every case"))]
        return (paragraph(joined(" · ", (link(f"#{to}", name) for to, name in names))), *body)

    @property
    def made_from(self) -> str:
        record, judgement = self.report.record, self.report.judgement
        many = f"{count(len(record.cases), 'case')}, {count(len(judgement.claims), 'claim')}"
        return f"Made by Recheck from one record; all of it is in this file. {many}."
