"""The files of a collection: one line names the file and the field of any invalid value."""

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
from recheck_report.record.case import Source

Steps = tuple[str | int, ...]

CLAIMS, FIGURES = (f"scan/{name}.toml" for name in ("claims", "figures"))
COUNTED, SUM = "at_most = 0.05", 'form = "arithmetic", expression = "16 * 1024 / 4 == 4096"'
TEST = 'form = "test", test ='
# for each file of the documentation's example collection: the text replaced, its replacement, and
# part of the message
BAD = {
    CLAIMS: [
        ('above = "faster"', "above = 1, below = 2", "needs exactly one of above, below"),
        ('above = "faster"', "above = -1", "scan.2: field check[0].above must be at least 1e-12"),
        ('above = "faster"', "above = 1e-320", "above must be at least 1e-12"),
        (COUNTED, f"equals = {'9' * 400}", "a finite number"),
        (COUNTED, "equals = nan", "a finite number"),
        ("shared_bank_conflicts /", "mean(grid) /", "may only call min, max, ceil"),
        ("conflicts / elements", "conflicts /", "scan.2: field also[0].expression: 'shared_bank"),
        (COUNTED, f'{COUNTED}, shapes = ["8 by 8"]', "also[0].shapes[0] must be a shape"),
        (COUNTED, f'{COUNTED}, shapes = ["8"]', "also[0] has shapes, but no id"),
        ("kernel2/4194304", "kernel2/{shape}", "holds {shape}, but the check has no shapes"),
        ("check = [", 'not_judged = "a wish"\ncheck = [', "check must be set, or else"),
    ],
    FIGURES: [
        ("seconds = 8", 'lost = "x", seconds = 8', "must have exactly one of"),
        (", seconds = 8.054e-3", "", "must have exactly one of"),
        ('hardware = "G80"', 'hardware = "x"', "hardware: unknown x; choose from G80"),
        ('document = "smith"', 'document = "x"', "document: unknown x; choose from smith"),
        ("8.054e-3", '"8"', 'must have its unit, like "8 ms"'),
        ("8.054e-3", '"8 GB/s"', 'must have its unit, like "8 ms"'),
        ("scan.2", "C13", "claim: unknown C13; choose from"),
        ("smith", "S9", "field document.S9 is not a source; choose from smith"),
    ],
    "errata.toml": [
        ('by = "reading"\n', "", "smith-1: field check must be set, or else by"),
        ("check = [", 'by = "reading"\ncheck = [', "smith-2: field check must be set"),
        (SUM, f'{TEST} "build:E", finds = "refused"', "test must read like gate:suite"),
        (SUM, f'{TEST} "compile:E", finds = "pass"', "finds: must be refused or"),
        (SUM, f'{TEST} "gate:A.B", finds = "refused"', "finds: must be refused or"),
        (SUM, f'{TEST} "compile:E", finds = "refused"', "errata/ has no E.cu; none are defined"),
    ],
    "listings.toml": [
        ('general = "scan/', 'general = "matvec/', "field general must be of the row's experiment"),
        ('"smith"', '"S4"', "field document: unknown S4; choose from smith"),
    ],
    "sources.toml": [
        ("cpu_gpu", "cpu_gpus", "charts.scan: unknown cpu_gpus; choose from ladder, cpu_gpu"),
        ("own =", 'order = "year"\nown =', "order must be"),
    ],
}  # fmt: skip


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


@pytest.mark.parametrize(
    ("file", "old", "new", "why"), [(file, *each) for file, many in BAD.items() for each in many]
)
def test_an_invalid_value_is_one_line(
    file: str, old: str, new: str, why: str, examples: dict[Path, str], tmp_path: Path
) -> None:
    text = examples[tmp_path / file]
    assert old in text
    (tmp_path / file).write_text(text.replace(old, new), encoding="utf-8")
    line = _refused(tmp_path)
    assert why in line and line.startswith(f"{tmp_path / file}: ")


def test_ids_are_unique(examples: dict[Path, str], tmp_path: Path) -> None:
    for name in ("sources.toml", "errata.toml", "listings.toml"):
        path = tmp_path / name
        path.write_text(examples[path] + examples[path][examples[path].index("[[") :])
        forget()
        with pytest.raises(BadClaim, match="of this file has it too"):  # a line for each
            load_collection(tmp_path)
        path.write_text(examples[path])
    (tmp_path / "sum").mkdir()
    (tmp_path / "sum/claims.toml").write_text(examples[tmp_path / CLAIMS].replace("scan/", "sum/"))
    said = _refused(tmp_path)
    assert "field id: " in said and "/scan/claims.toml has it too" in said


def test_claims_are_in_file_order_or_sorted(examples: dict[Path, str], tmp_path: Path) -> None:
    text = examples[tmp_path / CLAIMS]
    claim = text[text.index("[[claim]]") :].replace("scan.2", "scan.10")
    (tmp_path / CLAIMS).write_text(text.replace("[[claim]]", f"{claim}\n[[claim]]", 1))
    assert [each.id for each in _loaded(tmp_path).claims] == ["scan.10", "scan.2"]
    path = tmp_path / "sources.toml"
    path.write_text(f'order = "id"\n{examples[path]}')
    assert [each.id for each in _loaded(tmp_path).claims] == ["scan.2", "scan.10"]
    assert sorted(["C10", "C2", "B1", "C1x"], key=in_order) == ["B1", "C1x", "C2", "C10"]


# every member of the examples, which together have every member that exists


def _members(value: Any, steps: Steps = ()) -> Iterator[Steps]:
    """The path to each member of each table."""
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
    """The message about a collection with a changed file; empty if it loads."""
    loads = tomllib.loads
    with monkeypatch.context() as patch:
        patch.setattr(tomllib, "loads", lambda own: changed if own == text else loads(own))
        try:
            _loaded(folder)
        except BadClaim as error:
            assert "\n" not in str(error)
            return str(error)
    return ""


def test_a_member_of_the_wrong_type_is_named(
    examples: dict[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in examples.items():
        for steps in _members(tomllib.loads(text)):
            own: Any = tomllib.loads(text)
            table, key = _table(own, steps), steps[-1]
            # a value of another type
            table[key] = 7 if isinstance(table[key], dict) else {"no": 1}
            said = _refusal(tmp_path, text, own, monkeypatch)
            assert said.startswith(str(path)), (steps, said)
            assert str(key) in said or str(steps[0]) in said, (steps, said)


def test_a_misspelt_or_missing_member_is_named(
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
                # another file may refer to the missing name
                assert not said or str(tmp_path) in said
                if name and 0 in steps and not {"values", "open"} & {*steps}:
                    assert said.startswith(str(path)) and str(steps[-1]) in said, steps


@pytest.mark.parametrize("broken", ["[[", "more = 1\n", "\x00"])
def test_a_file_that_is_not_toml_is_one_line(
    broken: str, examples: dict[Path, str], tmp_path: Path
) -> None:
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
