"""The documents that claims are of, as data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import EXPERIMENTS
from recheck_report.claims import BadClaim, load_collection
from recheck_report.claims.load import load_claims
from recheck_report.claims.sources import load_sources
from recheck_report.claims.toml import in_order
from synthetic import MATVEC_SMALL, SMALL, Json, make_matvec, make_record

GOOD = """
[[source]]
id = "harris-2007"
name = "slides on reduction"
title = "Optimizing Parallel Reduction in CUDA"
author = "Mark Harris"
found = "NVIDIA's samples"
hardware = ["GeForce 8800 GTX"]
"""


def _folder(folder: Path, text: str) -> Path:
    (folder / "sources.toml").write_text(text, encoding="utf-8")
    return folder


def test_ids_are_unique_and_a_file_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadClaim, match="sources.toml"):
        load_sources(tmp_path)
    with pytest.raises(BadClaim, match="harris-2007: field id: another source of this file has"):
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
    known = load_collection(EXPERIMENTS)
    named = {each.document for each in known.claims} | {each.document for each in known.errata}
    named |= {each.document for each in known.listings}
    for figures in known.figures.values():
        named |= set(figures.document)
    assert named == set(known.sources)


def test_the_report_cites_them(report: Callable[..., str]) -> None:
    def cited(record: Json) -> tuple[list[str], str]:
        section = report(record).split('## <a id="sources"></a>')[1].split("\n## ")[0]
        rows = [line for line in section.split("\n") if line.startswith("| ") and ": " in line]
        return [row[2:].split(":")[0] for row in rows], section

    # nothing in these records is of others
    assert cited(make_record(SMALL))[0] == ["S0", "S1", "S2"]
    found, section = cited(make_matvec(MATVEC_SMALL))
    assert found == ["S3", "wu-kan"]
    assert "風辰, 11 December 2021" in section and "(Optimising the product of a matrix" in section
