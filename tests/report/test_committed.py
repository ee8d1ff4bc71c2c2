"""Committed evidence: its data renders byte for byte, its pages are consistent and short."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, OUTSIDE, REPORTS, linked, pages, run, tree
from recheck_report.claims.measured import Measured, read
from recheck_report.files import slug

# sizes in bytes: what code hosts show, and what a reader has to load
CUT, MOST, MOST_HTML = 512_000, 36_000, 1_900_000
LONGER = {"claims.md": 136_000, "errata.md": 40_000}
MOST_CHARTS = 9
UNFOLDED = 15_000  # the first page without its folded parts
ALL = [(path, EXPERIMENTS) for path in sorted((REPORTS / "results").glob("*/record.json"))]
ALL += [(path, EXPERIMENTS / "peak") for path in sorted(REPORTS.glob("results/peak/*/record.json"))]
ALL += [(path, OUTSIDE / "claims") for path in OUTSIDE.glob("results/*/record.json")]
ALL += [
    (path, OUTSIDE / path.parents[1].name / "claims")
    for path in OUTSIDE.glob("results/*/*/record.json")
]


@dataclass(frozen=True)
class Evidence:
    record: Path
    claims: Path
    own: Measured
    files: dict[str, bytes]  # rendered today
    said: str  # printed by the command


@pytest.fixture(scope="module", params=ALL, ids=["/".join(path.parts[-4:-1]) for path, _ in ALL])
def evidence(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    record, claims = request.param
    out = tmp_path_factory.mktemp("report")
    done = run("render", record, "--output", out, "--experiments", claims)
    assert done.returncode == 0, done.stderr
    return Evidence(record, claims, read(record, claims), tree(out), done.stdout)


def test_data_stays_byte_for_byte(evidence: Evidence) -> None:
    """Verdicts, numbers and intervals."""
    own, committed = evidence.own, tree(evidence.record.parent)
    assert not own.record.unread and evidence.record.parent.name == slug(own.gpu)
    names = {name for name in evidence.files if name.endswith(".json")}
    assert {n: evidence.files[n] for n in names} == {n: committed[n] for n in names}


def test_pages_are_short_and_every_link_leads_somewhere(evidence: Evidence) -> None:
    gpu = slug(evidence.own.gpu)
    beyond = tree(REPORTS / "results/peak" / gpu)
    linked(evidence.files, {f"../peak/{gpu}/{name}": data for name, data in beyond.items()})
    sizes = {name: len(evidence.files[name]) for name in pages(evidence.files)}
    assert {n: size for n, size in sizes.items() if size >= min(CUT, LONGER.get(n, MOST))} == {}
    assert len(evidence.files["report.html"]) < MOST_HTML
    first = re.sub(b"<details>.*?</details>", b"", evidence.files["README.md"], flags=re.DOTALL)
    assert len(first) < UNFOLDED
    charts = [data for name, data in evidence.files.items() if name.startswith("charts/")]
    assert len(charts) <= MOST_CHARTS and b"None" not in b"".join(charts)


def test_one_page_has_every_loss(evidence: Evidence) -> None:
    """And the first page leads to it; those of kernels beyond the documents come last."""
    texts = pages(evidence.files)
    page = texts.pop("losses.md", "").partition('<a id="losses-beyond">')[0]
    lost = sum(text.count(" | **lost** |") for text in texts.values())
    assert lost == page.count("\n| ") - 2 * page.count("\n| --- ")
    assert bool(page) == ("(losses.md)" in texts["README.md"])


def test_every_page_agrees_on_a_claim_s_verdict_and_figure(evidence: Evidence) -> None:
    """The summary, the page of the claims, report.html and verdicts.json."""
    judged = json.loads(evidence.files["verdicts.json"])["claims"]
    if not judged:
        pytest.skip("a collection without claims")
    summary, claims = (evidence.files[name].decode() for name in ("README.md", "claims.md"))
    html = evidence.files["report.html"].decode()
    shown = re.findall(r'<details id="[^"]+" data-id="([^"]+)".*? data-verdict="([^"]+)"', html)
    assert shown == [(each["id"], each["verdict"]) for each in judged]
    count = Counter(each["verdict"] for each in judged)
    (title,) = re.findall(r"^# .*$", summary, re.M)
    told = re.search(
        r"(\d+) of \d+ claims? holds?; (?:(\d+) fails? here)?(?:.*?(\d+) (is|are) wr)?", title
    )
    assert told and [int(n or 0) for n in told.groups()[:3]] == [
        count[verdict] for verdict in ("holds", "fails here", "wrong as printed")
    ]
    for each in judged:
        name, word = each["id"], each["verdict"]
        (row,) = re.findall(rf"^\| \[{re.escape(name)}\]\(.*$", summary, re.M)
        (line,) = re.findall(rf'^<a id="claim-{re.escape(name.lower())}"></a>.*$', claims, re.M)
        assert f"**{name} {word}: " in line
        measured = re.split("<br>Tested: |; required: ", row.split(" | ")[1])[0]
        assert word.startswith("not ") or measured in ("–", *re.findall(re.escape(measured), line))


def test_our_evidence_could_be_published_again(evidence: Evidence) -> None:
    """Apart from disturbed times, which decide nothing."""
    if evidence.claims != EXPERIMENTS:
        pytest.skip("evidence of another article, or beyond the documents")
    checked = run("publish", evidence.record.parent)
    notes = [line for line in checked.stdout.splitlines() if " times are disturbed, " not in line]
    assert checked.returncode == 0, checked.stderr
    assert notes in ([], ["nothing is missing"])


def test_published_pages_link_each_kernel_to_its_code(evidence: Evidence) -> None:
    folder = evidence.record.parent
    texts = [path.read_text() for path in folder.glob("*.md")]
    links = {to for text in texts for to in re.findall(r"\]\(((?:\.\./)+kernels/[^)#]+)\)", text)}
    assert not {to for to in links if not (folder / to).is_file()}
    assert bool(links) == (REPORTS / "results" in folder.parents)
