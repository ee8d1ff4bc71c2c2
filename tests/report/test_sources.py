"""The documents that claims are of, as data."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest
from claims import BadClaim, load_claims, load_errata, load_listings, load_sources
from claims.tables import in_order
from figures import figures
from synthetic import SMALL, make_record

GOOD = """
[[source]]
id = "harris-2007"
name = "slides on reduction"
title = "Optimizing Parallel Reduction in CUDA"
author = "Mark Harris"
found = "NVIDIA's samples"
hardware = ["GeForce 8800 GTX"]
"""
BAD = {
    "no id": ('id = "harris-2007"\n', "source number 1: field id is missing"),
    "odd id": ('"harris-2007"', "field id must be a letter"),
    "no name": ('name = "slides on reduction"\n', "source harris-2007: field name is missing"),
    "empty": ('"slides on reduction"', "fields name and found may not be empty"),
    "no place": ('found = "NVIDIA\'s samples"\n', "field found is missing"),
    "unknown": ("author", "field writer is unknown"),
    "hardware": ('["GeForce 8800 GTX"]', "field hardware must be a list"),
}
INSTEAD = {"odd id": '"2007"', "empty": '""', "unknown": "writer", "hardware": '"a GPU"'}


def _folder(folder: Path, text: str) -> Path:
    (folder / "sources.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_one_line(name: str, tmp_path: Path) -> None:
    old, message = BAD[name]
    assert old in GOOD
    with pytest.raises(BadClaim) as caught:
        load_sources(_folder(tmp_path, GOOD.replace(old, INSTEAD.get(name, ""), 1)))
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_ids_are_unique_and_a_file_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadClaim, match="sources.toml"):
        load_sources(tmp_path)
    with pytest.raises(BadClaim, match="source harris-2007: field id: another one has it too"):
        load_sources(_folder(tmp_path, GOOD + GOOD))


def test_a_claim_may_be_of_any_source_and_have_any_name(tmp_path: Path) -> None:
    claim = """
[[claim]]
id = "ID"
document = "harris-2007"
place = "slide 1"
quote = "x"
title = "x"
hardware = ""
figure = ""
expected = "x"
not_judged = "x"
"""
    (tmp_path / "reduction").mkdir()
    path = tmp_path / "reduction" / "claims.toml"
    path.write_text("".join(claim.replace("ID", name) for name in ("R10", "R2", "warp-sync")))
    assert [each.id for each in load_claims(_folder(tmp_path, GOOD))] == ["R2", "R10", "warp-sync"]


def test_numbers_in_ids_count() -> None:
    assert sorted(["C10", "C2", "B1", "C1x"], key=in_order) == ["B1", "C1x", "C2", "C10"]


def test_all_that_names_a_document_is_of_one() -> None:
    known = set(load_sources())
    named = {each.document for each in load_claims()} | {each.document for each in load_errata()}
    named |= {each.document for each in load_listings()}
    for experiment in ("matmul", "matvec", "transpose"):
        named |= set(figures(experiment).document)
    assert named == known


def test_the_report_cites_them(report: Callable[..., str]) -> None:
    text = report(copy.deepcopy(make_record(SMALL)))
    section = text.split('## <a id="sources"></a>')[1].split("\n## ")[0]
    rows = [line for line in section.split("\n") if line.startswith("| ") and ": " in line]
    assert len(rows) == len(load_sources())
    assert "風辰, 11 December 2021" in section and "(Optimising the product of a matrix" in section
