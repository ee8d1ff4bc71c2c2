"""report.html: the whole report as one file that a browser opens without a network.

A pure function of the record. What needs no choice of the reader is written as HTML. The cases
stand in the page as JSON, and scripts of this folder turn them into tables. No string of a record
becomes markup or code: the page's policy lets run no script but the one whose hash it names, and
that one only writes text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from recheck_report.anchors import claim_anchor
from recheck_report.anchors import page as experiment_address
from recheck_report.claims.judge import Judged
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE
from recheck_report.queries import first_kernel, metric_of, reference
from recheck_report.record.record import Case, Record
from recheck_report.say import claim, warnings
from recheck_report.say.glossary import MARKS
from recheck_report.say.machine import doubt
from recheck_report.say.nodes import Block, Note, Page, Picture, Text, table
from recheck_report.say.pages import documents, machine, views
from recheck_report.say.pages.experiment import source_of
from recheck_report.write.html import Writer

# concatenated in this order; each is one idea
SCRIPTS = ("data", "formatting", "dom", "table", "address", "claims", "cases", "compare", "main")
_HERE = Path(__file__).parent
# characters that could end the element that holds the data, or a line of it
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
WITHOUT = "The tables of all cases and of two kernels need a script. All else can be read without."


def page(
    report: Measured,
    pages: Mapping[str, Page],
    answer: tuple[Block, ...],
    others: Sequence[Measured] = (),
    charts: Sequence[Picture] = (),
) -> bytes:
    """The page of a record; `pages`: those of the report by name; `answer`: what the first page
    answers; `others`: records that it is compared with; `charts`: of the claims."""
    known, search = report.record.by_id, "#view=cases&search="
    writer = Writer(lambda name: search + quote(name, safe="/,") if name in known else None)
    script = "".join((_HERE / "js" / f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    style = (_HERE / "page.css").read_text("utf-8") + _widths(report)
    shown = _views(report, pages, (*charts, *answer), others, writer)
    sections = (
        f'<section id="view={name}" data-view="{name}">\n{inner}\n</section>'
        for name, inner in shown.items()
    )
    nav = (
        f'<li><a href="#view={name}" data-view="{name}">{name.capitalize()}</a></li>'
        for name in shown
        if name != "evidence"
    )
    name = escape(machine(report.record))
    return f"""\
<!DOCTYPE html>
<!-- Written by Recheck from record.json; rendering again replaces it. -->
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy(script, style)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Recheck">
<title>Recheck: {name}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<p class="brand"><a href="#view=summary">Recheck</a> {name}</p>
</header>
<nav aria-label="Views"><ul id="views">{"".join(nav)}</ul></nav>
<main id="main" tabindex="-1">
<div id="absent"></div>
<noscript><p class="note">{WITHOUT}</p></noscript>
{"".join(sections)}
</main>
<footer>
<p>{escape(views.made_from(report))}</p>
<p><a href="#view=evidence" data-view="evidence">Evidence: words, self-audit, method</a></p>
</footer>
<p id="live" class="unseen" role="status" aria-live="polite"></p>
<script type="application/json" id="data">{embedded(data_of(report))}</script>
<script>{script}</script>
</body>
</html>
""".encode()


def embedded(value: Any) -> str:
    """JSON that may stand inside a <script>: no string of it can end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_UNSAFE)


def _policy(script: str, style: str) -> str:
    return (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"


def _views(
    report: Measured,
    pages: Mapping[str, Page],
    answer: tuple[Block, ...],
    others: Sequence[Measured],
    writer: Writer,
) -> dict[str, str]:
    """What each view holds before a script runs, by its name."""
    made = '<div class="made"></div>'
    shown = {"summary": _summary(report, (*answer, *views.losses(pages)), writer)}
    if report.judgement.claims:
        shown["claims"] = _claims(report, writer)
    for experiment in report.record.ordinary:
        name = experiment_address(experiment)
        view = name.removesuffix(".md")
        shown[view] = Writer(writer.case_place, f"{view}-").page(pages[name])
    compared = writer.blocks(views.compared(report, others))
    evidence = writer.blocks((*_warnings(report), *views.evidence(report, pages)))
    return {
        **shown,
        "cases": f"<h1>Every case</h1>\n{made}",
        "compare": f"<h1>Compare</h1>\n{compared}\n{made}",
        "evidence": f"<h1>Evidence</h1>\n{evidence}",
    }


def _warnings(report: Measured) -> tuple[Note, ...]:
    return tuple(remark.note for remark in warnings.warnings(report))


def _widths(report: Measured) -> str:
    """The style that depends on the record, as the policy allows none at an element: how wide the
    parts of the bar and the ids of claims are."""
    parts = (
        f"\n.bar > :nth-child({at}) {{ flex-grow: {many}; }}"
        for at, (_, many, _) in enumerate(views.bar(report), 1)
    )
    longest = max((len(judged.claim.id) for judged in report.judgement.claims), default=3)
    return f"\n.claims {{ --id: {0.6 * min(20, max(3, longest)) + 0.8:.1f}rem; }}{''.join(parts)}\n"


def _verdict(verdict: str) -> str:
    return f"v-{verdict.replace(' ', '-')}"


def _summary(report: Measured, answer: tuple[Block, ...], writer: Writer) -> str:
    verdicts = views.bar(report)
    bar = "".join(f'<span class="{_verdict(verdict)}"></span>' for verdict, *_ in verdicts)
    counts = "".join(
        f'<li class="{_verdict(verdict)}">{writer.inline(words)}</li>'
        for verdict, _, words in verdicts
    )
    claims = f"""\
<p class="second">{writer.inline(views.claimed(report))}</p>
<div class="bar" aria-hidden="true">{bar}</div>
<ul class="counts" aria-label="Claims by verdict">{counts}</ul>"""
    return f"""\
<p class="eyebrow">{writer.inline(views.about(report))}</p>
<h1 class="answer">{writer.inline(views.headline(report))}</h1>
{claims if verdicts else ""}
{writer.blocks((*_warnings(report), *answer))}"""


def _claims(report: Measured, writer: Writer) -> str:
    heads = "".join(f"<span>{name}</span>" for name in ("", "id", "verdict", "they said", "here"))
    items = "\n".join(_claim(report, each, writer) for each in report.judgement.claims)
    errata = table(documents.ERRATA, documents.errata(report), title="Errata")
    marks = [f' data-document="{escape(e.erratum.document)}"' for e in report.judgement.errata]
    shown = f"""
<section id="errata"><h2>Errata</h2>
<p class="note">Where the documents are wrong as printed, and what proves it.</p>
{writer.table(errata, marks)}
</section>"""
    return f"""\
<h1>Claims</h1>
<form class="controls scripted">
<label class="field grow" for="search"><span>Search</span>\
<input type="search" id="search" placeholder="an id, or words of it"></label>
{"".join(_choice(name, *choice) for name, choice in views.choices(report).items())}
</form>
<p class="count scripted"></p>
<ul class="claims">
<li class="claim heads" aria-hidden="true">{heads}</li>
{items}
</ul>{shown if errata.rows else ""}"""


def _choice(name: str, label: str, values: dict[str, str]) -> str:
    options = "".join(
        f'<option value="{escape(value)}">{escape(text)}</option>'
        for value, text in {"": "all", **values}.items()
    )
    select = f'<select id="{name}">{options}</select>'
    return f'<label class="field" for="{name}"><span>{label}</span>{select}</label>'


def _claim(report: Measured, judged: Judged, writer: Writer) -> str:
    """A claim in one line, and what unfolds below it."""

    def inline(text: Text) -> str:
        return writer.inline(text, linked=False)

    about, verdict, measured = judged.claim, judged.verdict, claim.tested(report, judged)
    because = claim.because(judged)
    if measured.plain == NONE:
        measured, because = claim.why(judged), Text()
    small = f"<small>{inline(because)}</small>" if because else ""
    document, kind = escape(about.document), escape(about.kind)
    return f"""\
<li><details id="{escape(claim_anchor(about.id))}" data-id="{escape(about.id)}" \
data-document="{document}" data-verdict="{verdict}" data-kind="{kind}"><summary class="claim">\
<span class="opens" aria-hidden="true">▸</span><span class="id">{escape(about.id)}</span> \
<span class="verdict {_verdict(verdict)}">{verdict}</span> \
<span class="what">{inline(claim.said(about))}<small>{document} · {kind}</small></span> \
<span class="here">{inline(measured)}{small}</span></summary>
<div class="body">
{writer.blocks(views.of_claim(report, judged))}
</div></details></li>"""


Json = dict[str, Any]


def data_of(report: Measured) -> Json:
    """The experiments, the rows of their tables, and the cases by columns; each text that many
    cases share stands there once."""
    record = report.record
    rows: list[Json] = []
    texts: dict[str, int] = {}

    def text(value: str | None) -> int | None:
        return None if value is None else texts.setdefault(value, len(texts))

    columns: dict[str, list[Any]] = {}
    places: dict[tuple[str, str], int] = {}
    numbers = {case.id: at for at, case in enumerate(record.cases)}
    bases = _bases(record)
    metrics = {each.name: metric_of(record, each) for each in record.experiments}
    for case in record.cases:
        key = (case.experiment, case.strategy)
        if places.setdefault(key, len(rows)) == len(rows):
            rows.append(
                {
                    "experiment": case.experiment,
                    "name": case.strategy,
                    "target": case.target,
                    "contends": case.contends,
                    "marks": case.marks,
                    "source": source_of(report, case).plain,
                }
            )
        time, error, rate = case.seconds, case.error, None
        if time and not case.part_of:
            rate = float(f"{metrics[case.experiment].rate(case, time.median):.7g}")
        base, ratio = bases.get((case.experiment, case.shape_name, case.regime)), None
        if base and time and not case.part_of and case is not base:
            ratio = report.comparisons.verdict(base, case)
        line: Json = {
            "row": places[key],
            "shape": text(case.shape_name),
            "regime": text(case.regime),
            "status": text(case.status),
            "reason": text(case.reason),
            "median": time and time.median,
            "low": time and time.low,
            "high": time and time.high,
            "error": error and error.value,
            "bound": error and error.bound,
            "rate": rate,
            "base": base and numbers[base.id],
            # how many times as fast it is as its base, and what the report concludes from that
            "ratio": ratio and _short(ratio.value),
            "ratio_low": ratio and _short(ratio.low),
            "ratio_high": ratio and _short(ratio.high),
            "mark": ratio and ratio.mark,
            "outcome": ratio and {"faster": 1, "slower": -1}.get(ratio.outcome, 0),
            "doubt": text(doubt(report, case) or None),
            "unsure": text(case.unsure),
            "suspect": text(report.faster_than_ceiling.get(case.id)),
        }
        for name, value in line.items():
            columns.setdefault(name, []).append(value)
    return {
        "title": machine(record),
        "marks": MARKS,
        "experiments": [
            {
                "name": each.name,
                "title": each.title,
                "ordinary": each in record.ordinary,
                "unit": metrics[each.name].unit,
                "vendor": reference(record, each),
                "rows": [row.strategy for row in record.strategies(each)],
            }
            for each in record.experiments
        ],
        "rows": rows,
        "texts": list(texts),
        "cases": columns,
    }


def _short(value: float) -> float:
    """With the digits that rounding for the page may need."""
    return float(f"{value:.12g}")


def _bases(record: Record) -> dict[tuple[str, str, str], Case]:
    """What the cases of a shape and regime are compared with: the library, else the first kernel,
    else the first row of a library on the CPU."""
    found: dict[tuple[str, str, str], Case] = {}
    for experiment in record.ordinary:
        libraries = [c.strategy for c in record.strategies(experiment) if c.role == "baseline"]
        names = [reference(record, experiment), first_kernel(record, experiment), *libraries]
        for name in filter(None, names):
            for case in record.cases_of(experiment):
                if case.strategy == name and case.seconds:
                    found.setdefault((experiment.name, case.shape_name, case.regime), case)
    return found
