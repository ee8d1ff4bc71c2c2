"""The files of a collection: whichever member is not in form, one line names the file and it."""

from __future__ import annotations

import copy
import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import REPORTS, forget
from recheck_report.claims import BadClaim, Collection, load_collection
from recheck_report.claims.names import Tables, faults
from recheck_report.claims.toml import in_order
from recheck_report.model.case import Source

Steps = tuple[str | int, ...]

# a collection with a file of each kind
GOOD = {
    "sources.toml": """
[[source]]
id = "S0"
name = "slides on reduction"
title = "Optimizing Parallel Reduction in CUDA"
author = "Mark Harris"
found = "NVIDIA's samples"
hardware = ["GeForce 8800 GTX"]
""",
    "matmul/claims.toml": """
[[claim]]
id = "C12"
document = "S0"
place = '''a
  b'''
quote = "x"
title = "x"
hardware = ""
figure = "1.5 times"
claimed = 1.5
expected = "x"
check = [{ form = "ratio", base = "matmul/a/8x8x8/cold", other = "matmul/b/8x8x8/cold", above = 1 }]
also = [{ form = "count", of = "matmul/a/{shape}/cold", expression = "grid", equals = 1, shapes = ["8x8x8", "9x9x9"] }]

[[claim]]
id = "C2"
document = "S0"
place = "x"
quote = "x"
title = "x"
hardware = ""
figure = ""
expected = "x"
not_judged = "a wish"
""",  # noqa: E501
    "matmul/figures.toml": """
figure = [
  { strategy = "a", regime = "hot", shape = "8x8", hardware = "h", document = "S0", place = "p", seconds = 1.0 },
]
hardware.h = "old GPU"
document.S0 = "a document"
""",  # noqa: E501
    "errata.toml": """
[[erratum]]
id = "E02"
document = "S0"
place = "introduction"
written = "8400mg"
right = "8400M G"
concerns = ["C12", "A07", "S0"]
by = "reading"
shown = "There was none."

[[erratum]]
id = "E01"
document = "S0"
place = "section 1"
written = "128 MB"
english = "128 megabytes"
right = "128 KB"
concerns = ["C12"]
check = [{ form = "test", test = "compile:E01", finds = "refused" }]
""",
    "listings.toml": """
[[listing]]
row = "matmul/a"
general = "matmul/b"
document = "S0"
place = "p"
keeps = "k"
differs = "d"
""",
}
CLAIMS, FIGURES = (f"matmul/{name}.toml" for name in ("claims", "figures"))

# by the file: what stands there instead of what, and what is said of it
BAD = {
    CLAIMS: [
        ("above = 1", "above = 1, below = 2", "needs exactly one of above, below"),
        ("above = 1", "above = -1", "C12: field check[0].above must be at least 1e-12"),
        ("above = 1", "above = 1e-320", "above must be at least 1e-12"),
        ("equals = 1", f"equals = {'9' * 400}", "a finite number"),
        ("equals = 1", "equals = -1e301", "a finite number"),
        ("equals = 1", "equals = nan", "a finite number"),
        ('"grid"', '"mean(grid)"', "'mean(grid)' calls what is none of min, max, ceil"),
        ('"grid"', '"grid +"', "C12: field also[0].expression: 'grid +' is no formula"),
        ('["8x8x8", ', '["8 by 8", ', "C12: field also[0].shapes[0] must be a shape"),
        (', shapes = ["8x8x8", "9x9x9"]', "", "holds {shape}, and there are no shapes"),
        ("a/{shape}/cold", "a/8x8x8/cold", "also[0] holds shapes, and no id"),
        ('not_judged = "a wish"', "", "check must be there, or else not_judged says"),
    ],
    FIGURES: [
        ("seconds = 1.0", 'seconds = 1.0, lost = "x"', "must have exactly one of"),
        (", seconds = 1.0", "", "must have exactly one of"),
        ('hardware = "h"', 'hardware = "x"', "hardware must be one of h: the file"),
        ('document = "S0"', 'document = "x"', "document must be one of S0: the file"),
        ("seconds = 1.0", 'seconds = 1.0, claim = "C13"', "claim: there is no C13; there are"),
        ("S0", "S9", "field document.S9 is no source; there are S0"),
    ],
    "errata.toml": [
        ('by = "reading"\n', "", "E02: field check must be there, or else by"),
        ("check = [", 'by = "reading"\ncheck = [', "E01: field check must be there"),
        ('"compile:E01"', '"build:E01"', "check[0].test must read like gate:suite"),
        ('"refused"', '"pass"', "check[0].finds: a snippet is refused or"),
        ('"compile:E01"', '"gate:A.B"', "check[0].finds: a snippet is refused or"),
    ],
    "listings.toml": [
        ('general = "matmul/', 'general = "matvec/', "field general is of another experiment"),
        ('"S0"', '"S4"', "field document: there is no S4; there are S0"),
    ],
}


def _loaded(folder: Path) -> Collection:
    forget()
    return load_collection(folder)


def _refused(folder: Path) -> str:
    with pytest.raises(BadClaim) as caught:
        _loaded(folder)
    line = str(caught.value)
    assert "\n" not in line and len(line) < 1300
    return line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "matmul").mkdir()
    (tmp_path / "errata").mkdir()
    (tmp_path / "errata" / "E01.cu").touch()
    for name, text in GOOD.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_a_good_collection(folder: Path) -> None:
    known = _loaded(folder)
    first, second = known.claims  # as they stand in the file
    assert (first.id, first.experiment, first.claimed, first.place) == ("C12", "matmul", 1.5, "a b")
    assert [check.of for check in first.also] == ["matmul/a/8x8x8/cold", "matmul/a/9x9x9/cold"]
    assert first.check[0].ids == ("matmul/b/8x8x8/cold", "matmul/a/8x8x8/cold")
    assert second.not_judged == "a wish"
    two, one = known.errata
    assert (one.id, one.english, one.address) == (
        "E01",
        "128 megabytes",
        "errata.toml: erratum E01",
    )
    assert one.check[0].test == "compile:E01" and (two.check, two.by) == ((), "reading")
    (figure,) = known.figures["matmul"].of("S0")
    assert figure.seconds == 1.0 and figure.lost is None and figure.claim == ""
    (listing,) = known.listings
    assert (listing.strategies, listing.shape) == (("a", "b"), "")
    assert sorted(["C10", "C2", "B1", "C1x"], key=in_order) == ["B1", "C1x", "C2", "C10"]
    (folder / "sources.toml").write_text(f'order = "id"\n{GOOD["sources.toml"]}')
    assert [claim.id for claim in _loaded(folder).claims] == ["C2", "C12"]


@pytest.mark.parametrize(
    ("file", "old", "new", "why"), [(file, *each) for file, many in BAD.items() for each in many]
)
def test_what_has_no_sense_is_one_line(
    file: str, old: str, new: str, why: str, folder: Path
) -> None:
    assert old in GOOD[file]
    (folder / file).write_text(GOOD[file].replace(old, new), encoding="utf-8")
    line = _refused(folder)
    assert why in line and line.startswith(f"{folder / file}: ")


@pytest.mark.parametrize("file", ["sources.toml", "errata.toml", "listings.toml"])
def test_ids_are_unique(file: str, folder: Path) -> None:
    (folder / file).write_text(GOOD[file] + GOOD[file], encoding="utf-8")
    assert "of this file has it too" in _refused(folder)


def test_ids_are_unique_over_files(folder: Path) -> None:
    (folder / "matvec").mkdir()
    (folder / "matvec/claims.toml").write_text(GOOD[CLAIMS].replace("matmul", "matvec"))
    assert "field id: " in (said := _refused(folder)) and "/matmul/claims.toml has it too" in said


# any member of the documentation's examples, in which each file has all that it may


@pytest.fixture
def examples(tmp_path: Path) -> dict[Path, str]:
    text = (REPORTS / "README.md").read_text(encoding="utf-8")
    found = {}
    for name, example in re.findall(r"^```toml\n# (\S+)\n(.*?)^```", text, re.M | re.S):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(example, encoding="utf-8")
        found[path] = example
    assert len(found) >= 7
    return found


def _members(value: Any, steps: Steps = ()) -> Iterator[Steps]:
    """The way to each member of each table."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in entries:
        yield from [(*steps, key)] if isinstance(value, dict) else []
        if isinstance(inner, dict | list):
            yield from _members(inner, (*steps, key))


def _table(document: Any, steps: Steps) -> Any:
    for step in steps[:-1]:
        document = document[step]
    return document


def _refusal(folder: Path, text: str, changed: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """What is said against a collection one of whose files has these contents; or nothing."""
    loads = tomllib.loads
    with monkeypatch.context() as patch:
        patch.setattr(tomllib, "loads", lambda own: changed if own == text else loads(own))
        try:
            _loaded(folder)
        except BadClaim as error:
            assert "\n" not in str(error)
            return str(error)
    return ""


def test_any_member_that_is_not_in_form_is_named(
    examples: dict[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in examples.items():
        for steps in _members(tomllib.loads(text)):
            own: Any = tomllib.loads(text)
            table, key = _table(own, steps), steps[-1]
            # of another type, whichever it has
            table[key] = 7 if isinstance(table[key], dict) else {"no": 1}
            said = _refusal(tmp_path, text, own, monkeypatch)
            assert said.startswith(str(path)), (steps, said)
            assert str(key) in said or str(steps[0]) in said, (steps, said)


def test_any_member_that_is_misspelt_or_missing_is_named(
    examples: dict[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in examples.items():
        for steps in _members(tomllib.loads(text)):
            for name in ("", f"{steps[-1]}x"):
                own = copy.deepcopy(tomllib.loads(text))
                table = _table(own, steps)
                value = table.pop(steps[-1])
                table |= {name: value} if name else {}
                said = _refusal(tmp_path, text, own, monkeypatch)
                # who names what is gone may stand in another file
                assert not said or str(tmp_path) in said
                if name and 0 in steps and not {"values", "open"} & {*steps}:
                    assert said.startswith(str(path)) and str(steps[-1]) in said, steps


@pytest.mark.parametrize("broken", ["[[", "more = 1\n", "\x00"])
def test_so_is_a_file_that_is_none(broken: str, examples: dict[Path, str], tmp_path: Path) -> None:
    for path, text in examples.items():
        path.write_text(broken + text, encoding="utf-8")
        assert _refused(tmp_path).startswith(str(path))
        path.write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("examples")
def test_the_examples_of_the_documentation_are_a_collection(tmp_path: Path) -> None:
    known = _loaded(tmp_path)
    assert len(known.claims) == len(known.changes) == len(known.listings) == 1
    assert len(known.errata) == 2 and known.figures["scan"].figure
    source = Source("smith", "", "")
    rows = dict.fromkeys(("scan/kernel1", "scan/kernel2", "scan/kernel2_blocks128"), source)
    cases = frozenset(f"{row}/4194304/cold" for row in rows)
    tables = Tables({"scan": ("elements",)}, rows, cases)
    assert [*faults(known, tables)] == []
    tables = replace(tables, rows=rows | {"scan/kernel1": Source("ours", "", "")})
    assert [*faults(known, tables)] == []
