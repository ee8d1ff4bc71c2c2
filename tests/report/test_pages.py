"""The pages of the committed evidence: short, linked, and about what their collection has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, REPORTS, linked, pages, placeholders, text_of
from recheck_report.claims.measured import read
from recheck_report.commands.render import render
from recheck_report.formatting import NBSP

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


def test_the_summary_is_short(ours: dict[str, bytes]) -> None:
    data = ours["README.md"]
    assert data.count(b"\n") <= 200 and len(data) <= 30_000


def test_no_page_is_cut(ours: dict[str, bytes]) -> None:
    assert {name: len(ours[name]) for name in pages(ours) if len(ours[name]) >= CUT} == {}


def test_every_link_leads_somewhere(ours: dict[str, bytes], theirs: dict[str, bytes]) -> None:
    linked(ours)
    linked(theirs)


def test_the_threshold_stands_beside_what_was_measured(ours: dict[str, bytes]) -> None:
    (line,) = re.findall(r"^\| \[C36\].*$", ours["README.md"].decode(), re.M)
    _, _, asked, measured = line.strip("| ").split(" | ")
    assert asked == "more than 20 times as fast as the slowest"
    assert re.match(r"[\d.]+ times as fast \[[\d.]+, [\d.]+\]", measured)


def test_a_winner_is_named_with_its_ratio(ours: dict[str, bytes]) -> None:
    """The fastest fp32 row at 4096³, against the library, in the answer and in its section, be the
    difference significant or not."""
    text = ours["README.md"].decode()
    text = text.replace("\u00a0", " ")
    rows = re.findall(r"^\| 4096³ \| \[`(\w+)`\]\(matmul\.md#\w+\) (\d\S* ms) ", text, re.M)
    ((name, time),) = rows
    own = rf"\[`{name}`\]\(matmul\.md#{name}\) {time}"
    library = r"\[`cublas`\]\(matmul\.md#cublas\) \d[\d.]* ms"
    ratio = r"(?:no significant difference, )?([\d.]+) times as fast \[[\d.]+, [\d.]+\]"
    found = re.findall(rf"(?:{own}, {library}|{library}, {own}): {ratio}", text)
    assert len(found) == 2 and found[0] == found[1]
    # no point of a sweep, no part, and no row that only picks another one
    assert not re.search(r"\[`(best|\w+_promotion\d+|constant_copy)`\]", text)


def test_another_collection_reads_as_its_own(theirs: dict[str, bytes]) -> None:
    text = text_of(theirs)
    title = "Optimizing Parallel Reduction in CUDA"
    assert f"\n# {title}, rechecked on NVIDIA H200\n" in theirs["README.md"].decode()
    assert f"Each sentence of “{title}” that can be tested" in text
    # nothing is explained that does not occur in it
    for word in ("the documents", "The documents", "inner", "the library |", "†", "‡", "§", "S3",
                 "A01", "much faster", "important", "left open"):  # fmt: skip
        apart = r"choices? that the document leaves open"
        assert word not in re.sub(apart, "", text.replace(NBSP, " ")), word
    assert "   # in the repository of reduction\n" in text
