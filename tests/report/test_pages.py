"""The pages of the committed evidence: short, linked, and about what their collection has."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, REPORTS, element, linked, pages, placeholders, text_of
from recheck_report.claims.measured import read
from recheck_report.commands.measure import last_lines
from recheck_report.commands.render import render
from recheck_report.formatting import NBSP, margin
from recheck_report.statistics import variation

OUTSIDE = REPORTS.parent / "tests/outside"
RECORDS = sorted((REPORTS / "results").glob("*/record.json"))
# what code hosts show of a file
CUT = 512_000


def _rendered(record: Path, claims: Path) -> dict[str, bytes]:
    with placeholders():
        return render(read(record, claims), [])


@pytest.fixture(scope="module", params=RECORDS, ids=lambda path: path.parent.name)
def ours(request: pytest.FixtureRequest) -> dict[str, bytes]:
    return _rendered(request.param, EXPERIMENTS)


@pytest.fixture(scope="module")
def theirs() -> dict[str, bytes]:
    (record,) = OUTSIDE.glob("results/*/record.json")
    return _rendered(record, OUTSIDE / "claims")


def test_pages_are_short(ours: dict[str, bytes]) -> None:
    data = ours["README.md"]
    assert data.count(b"\n") <= 200 and len(data) <= 25_000
    most = {"claims.md": 125_000, "errata.md": 40_000, "changes.md": 30_000, "method.md": 17_500}
    sizes = {name: len(text) for name, text in ours.items() if name.endswith(".md")}
    assert {n: size for n, size in sizes.items() if size > most.get(n, 30_000)} == {}


def test_no_page_is_cut(ours: dict[str, bytes]) -> None:
    assert {name: len(ours[name]) for name in pages(ours) if len(ours[name]) >= CUT} == {}


def test_every_link_leads_somewhere(ours: dict[str, bytes], theirs: dict[str, bytes]) -> None:
    linked(ours)
    linked(theirs)


def test_the_threshold_stands_beside_what_was_measured(ours: dict[str, bytes]) -> None:
    (line,) = re.findall(r"^\| \[C14\].*$", ours["README.md"].decode(), re.M)
    sentence = r"Four tiles deep is 1\.0\d times as fast as one: 27\d µs in place of 27\d µs"
    measured = r"; tested: `s0_tiles_depth4` against `s0_tiles` \[1\.0\d, 1\.0\d\], margin 0\.\d+ %"
    assert re.fullmatch(sentence + measured, line.strip("| ").split(" | ")[2])


def test_the_margin_is_taken_as_the_method_says(ours: dict[str, bytes]) -> None:
    """Of a ratio that enough runs have, its own."""
    text = ours["method.md"].decode()
    (gpu,) = re.findall("^# How it was measured on (.*)$", text, re.M)
    runs = variation.known(gpu).runs
    assert runs.gpu == gpu and runs.count < 20
    assert f"how far the farthest of {runs.count} earlier runs on an {gpu} lay from" in text
    rows = ("s1_kernel_0", "s0_tiles")
    own = runs.deviation(*(f"matmul/{row}/1024x1024x1024/cold" for row in rows))
    (row,) = re.findall(r"^\| \[C12\].*$", ours["README.md"].decode(), re.M)
    assert own and f"margin {margin(math.expm1(own))}; " in row


def test_pages_say_the_same_of_each_claim(ours: dict[str, bytes], tmp_path: Path) -> None:
    """The summary, the claims' page, the terminal and verdicts.json: one answer, of each claim one
    verdict and one figure; and no check of a claim says a verdict of its own."""
    judged = json.loads(ours["verdicts.json"])["claims"]
    summary, claims = (ours[name].decode() for name in ("README.md", "claims.md"))
    for name in ("README.md", "verdicts.json"):
        (tmp_path / name).write_bytes(ours[name])
    answer, *lines, _ = last_lines(tmp_path)
    assert f"\n# {answer}\n" in summary
    holds, fails = map(int, re.findall(r"(\d+) of \d+ claims hold, (\d+) fail$", answer)[0])
    count = Counter(each["verdict"] for each in judged)
    assert (holds, fails) == (count["holds"], count["fails here"] + count["wrong as printed"])
    assert {line.split(" (")[0] for line in lines} == {f"{k}: {n}" for k, n in count.items()}
    assert not re.search(rf"^- (Also measured: )?\*\*({'|'.join(count)}|fails)\*\*", claims, re.M)
    for number, anchor in re.findall(r"\[(\d+)\]\(claims\.md#([\w-]+)\)", summary):
        (listed,) = re.findall(rf'^- <a id="{anchor}"></a>.*$', claims, re.M)
        of = [each["id"] for each in judged if each["verdict"].replace(" ", "-") == anchor]
        assert re.findall(r"\[(\w+)\]", listed) == of and len(of) == int(number)
    assert len(judged) > 70
    for each in judged:
        name = each["id"]
        (row,) = re.findall(rf"^\| \[{name}\]\(.*$", summary, re.M)
        (line,) = re.findall(rf'^<a id="claim-{name.lower()}"></a>.*$', claims, re.M)
        word = each["verdict"]
        assert f"| **{word}** |" in row and f"**{name} {word}: " in line
        measured = re.split("; (tested|asked): ", row.split(" | ")[2])[0]
        assert measured in ("–", *re.findall(re.escape(measured), line))


def test_a_winner_is_named_with_its_ratio(ours: dict[str, bytes]) -> None:
    """The fastest fp32 row at 4096³, against the library, on the first page and on its own, be the
    difference significant or not."""
    row, time = r"\[`\w+`\]\(matmul\.md#\w+\)", r"\d[\d.]* ms"
    ratio = rf"{row} is [\d.]+ times as fast as {row} \[[\d.]+, [\d.]+\]: {time} against {time}"
    found = []
    for page in ("README.md", "matmul.md"):
        text = ours[page].decode().replace(NBSP, " ")
        found += re.findall(ratio, text.split("## ")[0])[:1]
        # no point of a sweep, no part, and no row that only picks another one
        assert not re.search(r"\[`(best|\w+_promotion\d+|constant_copy)`\]", text)
    assert len(found) == 2 and found[0] == found[1] and "`cublas" in found[0]
    # an older record has rows of our own as well
    (whose,) = re.findall(r"the fastest (.*), and the library\*\*:", ours["README.md"].decode())
    alone = "`stream_k`" not in ours["matmul.md"].decode()
    assert whose == ("of the kernels that follow the documents" if alone else "in this record")


def test_what_is_said_of_accuracy_is_so(ours: dict[str, bytes]) -> None:
    """The least accurate row at the headline and its error, and whether the library's is as large
    as the fastest row's, from the cases that the page holds."""
    data = json.loads(element(ours["report.html"].decode(), "data"))
    columns, many = data["cases"], range(len(data["cases"]["row"]))
    cases = [{name: of[at] for name, of in columns.items()} for at in many]
    for experiment in data["experiments"]:
        errors = {
            data["rows"][each["row"]]["name"]: each["error"]
            for each in cases
            if data["rows"][each["row"]]["experiment"] == experiment["name"]
            if data["rows"][each["row"]]["contends"] and not data["rows"][each["row"]]["sweep"]
            if data["texts"][each["shape"]] == experiment["headline"] and each["error"]
            if data["texts"][each["regime"]] == "cold"
        }
        pattern = rf'data-answer="{experiment["name"]}">(.*)</p>'
        said = "".join(re.findall(pattern, ours["report.html"].decode()))
        said = said.replace("\N{NON-BREAKING HYPHEN}", "-")
        assert bool(said) == bool(errors and experiment["ordinary"])
        if said:
            best = re.findall(r"The fastest but the library, <code>(\w+)</code>", said)[0]
            ratio = errors[best] / errors[experiment["vendor"]]
            assert ("as accurate as" in said) == (1 / 1.1 < ratio < 1.1)
            assert ("more accurate than" in said.split(". ")[1]) == (ratio < 1 / 1.1)
            least = max(errors.values())
            assert said.endswith(f" ({least:.1e}).")


def test_another_collection_reads_as_its_own(theirs: dict[str, bytes]) -> None:
    text = text_of(theirs)
    title = "Optimizing Parallel Reduction in CUDA"
    assert f"\n# {title}, rechecked on NVIDIA H200: " in theirs["README.md"].decode()
    assert f"Each sentence of “{title}” that can be tested" in text
    # nothing is explained that does not occur in it
    for word in ("the documents", "The documents", "inner", "the library |", "†", "‡", "§", "S3",
                 "A01", "much faster", "important", "left open"):  # fmt: skip
        assert word not in text.replace(NBSP, " "), word
    assert "   # in the repository of reduction\n" in text and "errata.md" not in theirs
