"""report.html: the whole record as one file that a browser opens without a network.

A pure function of the record. What needs no browser is written as HTML; the cases stand in the page
as JSON and all samples as compressed float32. Scripts of this folder turn them into plots and
tables. No string of a record becomes markup or code: the page's policy lets run no script but the
one whose hash it names, and that one only writes text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from recheck_report.anchors import claim_anchor
from recheck_report.claims.measured import Measured
from recheck_report.say.nodes import Text
from recheck_report.say.pages import machine
from recheck_report.say.pages.readme import Peak
from recheck_report.say.pages.views import ClaimRow, Views
from recheck_report.write.html import Writer
from recheck_report.write.page import data, packing

# concatenated in this order; each is one idea
SCRIPTS = (
    "data", "format", "dom", "table", "address", "plot",
    "claims", "speed", "samples", "accuracy", "compare", "cases", "main",
)  # fmt: skip
_HERE = Path(__file__).parent
# characters that could end the element that holds the data, or a line of it
_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}
WITHOUT = "This page draws plots and samples by a script. All else can be read without."


def page(report: Measured, peak: Peak | None = None, others: Sequence[Measured] = ()) -> bytes:
    """The page of a record; `peak`: what another report adds to its answer; `others`: records that
    it can be compared with, without a file."""
    views = Views(report, peak)
    writer = Writer(lambda name: _case(name) if name in report.record.by_id else None)
    script = "".join((_HERE / "js" / f"{name}.js").read_text("utf-8") for name in SCRIPTS)
    style = (_HERE / "page.css").read_text("utf-8") + _widths(views)
    shown = _views(views, writer)
    sections = (
        f'<section id="view={name.lower()}" data-view="{name.lower()}">\n{inner}\n</section>'
        for name, inner in shown.items()
    )
    nav = (
        f'<li><a href="#view={name.lower()}" data-view="{name.lower()}">{name}</a></li>'
        for name in shown
        if name != "Evidence"
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
<p>{escape(views.made_from)}</p>
<p><a href="#view=evidence" data-view="evidence">Evidence: self-audit, method, every case</a></p>
</footer>
<p id="live" class="unseen" role="status" aria-live="polite"></p>
<script type="application/json" id="data">{embedded(data.of(report, others))}</script>
<script type="text/plain" id="samples">{packing.samples(report.record)}</script>
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


def _views(views: Views, writer: Writer) -> dict[str, str]:
    """What each view holds before a script runs, by its title."""
    made = '<div class="made"></div>'
    evidence = writer.blocks((*views.warnings, *views.evidence))
    found = {
        "Summary": _summary(views, writer),
        "Claims": _claims(views, writer),
        "Speed": _answers(views, writer),
        "Accuracy": _accuracies(views, writer),
        "Compare": made,
        "Evidence": f'<h1>Evidence</h1>\n{evidence}\n<div id="every-case" class="made"></div>',
    }
    return {name: inner for name, inner in found.items() if inner}


def _case(name: str) -> str:
    return f"#view=speed&case={quote(name, safe='/,')}"


def _widths(views: Views) -> str:
    """The style that depends on the record, as the policy allows none at an element: how wide the
    parts of the bar and the ids of claims are."""
    parts = (
        f"\n.bar > :nth-child({at}) {{ flex-grow: {many}; }}"
        for at, (_, many, _) in enumerate(views.bar, 1)
    )
    longest = max((len(each.id) for each in views.claims), default=3)
    return f"\n.claims {{ --id: {0.6 * min(20, max(3, longest)) + 0.8:.1f}rem; }}{''.join(parts)}\n"


def _verdict(verdict: str) -> str:
    return f"v-{verdict.replace(' ', '-')}"


def _summary(views: Views, writer: Writer) -> str:
    answer = f'<h1 class="answer">{writer.inline(views.headline)}</h1>'
    bar = "".join(f'<span class="{_verdict(verdict)}"></span>' for verdict, *_ in views.bar)
    counts = "".join(
        f'<li class="{_verdict(verdict)}">{writer.inline(words)}</li>'
        for verdict, _, words in views.bar
    )
    bar = f"""\
<div class="bar" aria-hidden="true">{bar}</div>
<ul class="counts" aria-label="Claims by verdict">{counts}</ul>"""
    second = f'<p class="second">{writer.inline(views.claimed)}</p>' if views.bar else ""
    return f"""\
<p class="eyebrow">{writer.inline(views.about)}</p>
{answer}
{second}
{bar if views.bar else ""}
{writer.blocks(views.warnings)}
{writer.blocks(views.sections)}"""


def _claims(views: Views, writer: Writer) -> str:
    notes = "\n".join(
        f'<p class="note" data-document="{escape(each.id)}">{writer.inline(views.origin(each))}</p>'
        for each in views.documents
    )
    heads = "".join(f"<span>{name}</span>" for name in ("", "id", "verdict", "they said", "here"))
    items = "\n".join(_claim(each, writer) for each in views.claims)
    documents = (each.erratum.document for each in views.report.judgement.errata)
    marks = [f' data-document="{escape(name)}"' for name in documents]
    errata = f"""
<section id="errata"><h2>Errata</h2>
<p class="note">Where the documents are wrong as printed, and what proves it.</p>
{writer.table(views.errata, marks)}
</section>"""
    return f"""\
<h1>Claims</h1>
<form class="controls scripted">
<label class="field grow" for="search"><span>Search</span>\
<input type="search" id="search" placeholder="an id, or words of it"></label>
{"".join(_choice(name, *choice) for name, choice in views.choices.items())}
</form>
{notes}
<p class="count scripted"></p>
<ul class="claims">
<li class="claim heads" aria-hidden="true">{heads}</li>
{items}
</ul>{errata if views.errata.rows else ""}"""


def _choice(name: str, label: str, values: dict[str, str]) -> str:
    options = "".join(
        f'<option value="{escape(value)}">{escape(text)}</option>'
        for value, text in {"": "all", **values}.items()
    )
    select = f'<select id="{name}">{options}</select>'
    return f'<label class="field" for="{name}"><span>{label}</span>{select}</label>'


def _claim(claim: ClaimRow, writer: Writer) -> str:
    def inline(text: Text) -> str:
        return writer.inline(text, linked=False)

    small = f"<small>{inline(claim.because)}</small>" if claim.because else ""
    about = f"{escape(claim.document)} · {escape(claim.kind)}"
    return f"""\
<li><details id="{escape(claim_anchor(claim.id))}" data-id="{escape(claim.id)}" \
data-document="{escape(claim.document)}" data-verdict="{claim.verdict}" \
data-kind="{escape(claim.kind)}"><summary class="claim">\
<span class="opens" aria-hidden="true">▸</span><span class="id">{escape(claim.id)}</span> \
<span class="verdict {_verdict(claim.verdict)}">{claim.verdict}</span> \
<span class="what">{inline(claim.title)}<small>{about}</small></span> \
<span class="here">{inline(claim.here)}{small}</span></summary>
<div class="body">
{writer.blocks(claim.blocks)}
</div></details></li>"""


def _answers(views: Views, writer: Writer) -> str:
    """The answers at every shape; a script shows one at a time."""
    found = {f"{e.name}/{shape}": said for e in views.answers for shape, said in e.fastest.items()}
    found |= {f"{each.name}/beyond": each.beyond for each in views.answers if each.beyond}
    return _drawn("Speed", found, writer)


def _accuracies(views: Views, writer: Writer) -> str:
    """Empty where all results are exact."""
    record = views.report.record
    cases = (case for each in record.ordinary for case in record.cases_of(each))
    if not any(case.error and case.error.value for case in cases):
        return ""
    return _drawn("Accuracy", {e.name: e.accuracy for e in views.answers if e.accuracy}, writer)


def _drawn(name: str, answers: dict[str, Text], writer: Writer) -> str:
    """A view that a script fills, and its answers; the script shows one of them."""
    found = "\n".join(
        f'<p class="answer small" data-answer="{escape(key)}">{writer.inline(answer)}</p>'
        for key, answer in answers.items()
    )
    return f"""\
<h1{' class="unseen"' if name == "Speed" else ""}>{name}</h1>
<div class="unscripted">
{found}
</div>
<div class="made"></div>"""
