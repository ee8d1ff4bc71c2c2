"""Errata as data: a file in form, one proof for each, and snippets that nvcc refuses."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, sourced
from recheck_report.claims import load_collection
from recheck_report.claims.collection import MENDED
from recheck_report.claims.collection import SNIPPETS as FOLDER
from recheck_report.claims.load import ERRATA, load_errata
from recheck_report.claims.toml import BadClaim
from recheck_report.collect.nvcc import compiled

ROOT = EXPERIMENTS.parent
SNIPPETS = EXPERIMENTS / FOLDER

CLAIM = """
[[claim]]
id = "C06"
document = "S0"
place = "section 1"
quote = "128 MB"
title = "Operands"
hardware = "old"
figure = ""
expected = "so much"
check = [{ form = "arithmetic", expression = "1 + 1 == 3" }]
"""

GOOD = """
[[erratum]]
id = "E02"
document = "S0"
place = "introduction"
written = "8400mg"
right = "8400M G"
concerns = ["C06", "A07", "S0"]
by = "reading"
shown = "There was none."

[[erratum]]
id = "E01"
document = "S0"
place = "section 1"
written = "128 MB"
english = "128 megabytes"
right = "128 KB"
concerns = ["C06"]
check = [{ form = "test", test = "compile:E01", finds = "refused" }]
"""

BAD = {
    "no proof": (('by = "reading"\n', ""), "E02: field check must be there, or else by"),
    "two proofs": (("check = [", 'by = "reading"\ncheck = ['), "E01: field check must be there"),
    "kind": (('"compile:E01"', '"build:E01"'), "check[0].test must read like gate:suite"),
    "a passing snippet": (('"refused"', '"pass"'), "check[0].finds: a snippet is refused or"),
    "a refused test": (('"compile:E01"', '"gate:A.B"'), "check[0].finds: a snippet is refused or"),
}  # fmt: skip


def _folder(folder: Path, text: str) -> Path:
    (folder / "matmul").mkdir()
    (folder / "matmul" / "claims.toml").write_text(CLAIM, encoding="utf-8")
    (folder / ERRATA).write_text(text, encoding="utf-8")
    return sourced(folder, "S0", "S1")


@pytest.mark.parametrize("name", BAD)
def test_bad_file_is_one_line(name: str, tmp_path: Path) -> None:
    (old, new), message = BAD[name]
    assert old in GOOD
    with pytest.raises(BadClaim) as caught:
        load_errata(_folder(tmp_path, GOOD.replace(old, new, 1)))
    line = str(caught.value)
    assert message in line and line.startswith(f"{tmp_path / ERRATA}: ") and "\n" not in line


def test_good_file(tmp_path: Path) -> None:
    first, second = load_errata(_folder(tmp_path, GOOD))
    assert (first.id, first.english, first.shown) == ("E01", "128 megabytes", "")
    assert first.check[0].test == "compile:E01" and second.check == ()
    assert second.concerns == ("C06", "A07", "S0") and second.shown == "There was none."
    assert first.address == "errata.toml: erratum E01"


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert load_errata(tmp_path) == ()


# the errata of this tree


def test_every_erratum_of_the_inventory_is_there() -> None:
    known = [erratum.id for erratum in load_collection(EXPERIMENTS).errata]
    assert known == [f"E{n:02}" for n in range(1, len(known) + 1)] and len(known) >= 35


def test_an_erratum_of_a_claim_is_of_its_document() -> None:
    documents = {claim.id: claim.document for claim in load_collection(EXPERIMENTS).claims}
    for erratum in load_collection(EXPERIMENTS).errata:
        found = {documents[name] for name in erratum.concerns if name in documents}
        assert found <= {erratum.document}, erratum.id


def test_what_is_not_english_is_translated() -> None:
    for erratum in load_collection(EXPERIMENTS).errata:
        foreign = re.search(r"[\u4e00-\u9fff]", erratum.written)
        assert bool(erratum.english) == bool(foreign), erratum.id


def test_every_algorithm_has_a_row() -> None:
    """Or is that of a row with another name, as the kernels' files say."""
    text = "".join(
        path.read_text(encoding="utf-8")
        for folder in ("experiments", "kernels")
        for path in (ROOT / folder).rglob("*.c*")
    )
    for erratum in load_collection(EXPERIMENTS).errata:
        for name in erratum.concerns:
            assert not name.startswith("A") or name in text, f"{erratum.id}: {name}"


COMPILED = sorted(
    {
        check.test
        for each in load_collection(EXPERIMENTS).errata
        for check in each.check
        if check.test.startswith("compile:")
    }
)


def test_snippets_and_errata_name_each_other() -> None:
    stems = {key.removeprefix("compile:").removesuffix(MENDED) for key in COMPILED}
    assert stems == {path.stem for path in SNIPPETS.iterdir()}
    assert {f"compile:{stem}{form}" for stem in stems for form in ("", MENDED)} == {*COMPILED}
    for erratum in load_collection(EXPERIMENTS).errata:
        for check in erratum.check:
            if check.test in COMPILED:
                assert check.test.startswith(f"compile:{erratum.id}")
                mended = check.test.endswith(MENDED)
                assert check.finds == ("compiles" if mended else "refused")


NVCC = shutil.which(os.environ.get("RECHECK_NVCC", "nvcc"))


@pytest.mark.skipif(NVCC is None, reason="nvcc was not found")
@pytest.mark.parametrize("key", COMPILED)
def test_nvcc_says_what_errata_say(key: str) -> None:
    assert NVCC is not None
    said = compiled(NVCC, key.removeprefix("compile:"), SNIPPETS)
    wanted = "compiles" if key.endswith(MENDED) else "refused"
    assert said == {"reason": None, "outcome": wanted, "count": 0}
