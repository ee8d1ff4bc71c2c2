"""The files of a collection: one line names the file and the field of any invalid value."""

from __future__ import annotations

import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import OUTSIDE, REPORTS, git, one_line, run
from recheck_report.claims.collection import Collection, load_collection
from recheck_report.claims.names import Tables, faults
from recheck_report.claims.toml import BadClaim, in_order
from recheck_report.record.case import Row, Source

Steps = tuple[str | int, ...]

CLAIMS, FIGURES, STORY = (f"scan/{name}.toml" for name in ("claims", "figures", "story"))
CASE, OTHER = "scan/kernel1/4194304/cold", "scan/kernel2{blocks}/4194304/cold"
COUNTED, SUM = "at_most = 0.05", 'form = "arithmetic", expression = "16 * 1024 / 4 == 4096"'
COUNT = 'form = "count", of = "scan/kernel2/4194304/cold", expression = "shared_bank_conflicts / '
COUNT += f'elements", {COUNTED}'
SHARE = 'form = "fraction_of_roof", of = "scan/kernel2/4194304/cold", roof ='
TEST = 'form = "test", test ='
BINDS = 'binds = "scan/kernel2/4194304/cold"'
# for each file of the documentation's example collection: the text replaced, its replacement, and
# part of the message
BAD = {
    CLAIMS: [
        ('above = "faster"', "above = 1, below = 2", "needs exactly one of above, below"),
        (', above = "faster"', "", "needs exactly one of above, below"),
        ('above = "faster"', "above = -1", "scan.2: field check[0].above must be at least 1e-12"),
        ('above = "faster"', 'above = "fast"', "unknown fast; choose from faster, much"),
        (COUNTED, f"equals = {'9' * 400}", "a finite number"),
        (COUNTED, "equals = 1, relative = 10", "relative is a share, at most 1: 84 % is 0.84"),
        (COUNTED, "at_least = 1, relative = 0.1", "relative needs equals"),
        (COUNT, f'{SHARE} "dram", at_least = 84', "at_least is a share, at most 1: 84 % is 0.84"),
        ("shared_bank_conflicts /", "mean(grid) /", "may only call min, max, ceil"),
        ("bank_conflicts /", "bank_conflict /", "counter shared_bank_conflict; nearest are share"),
        (COUNT, COUNT.replace("cold", "hot"), "is not counted: name a cold case of a GPU"),
        (COUNTED, f'{COUNTED}, shapes = ["8"]', "also[0] has shapes, but no id"),
        ('form = "ratio", ', "", "check[0].form: missing; choose from ratio, fraction_"),
        ("check = [", 'not_judged = "a wish"\ncheck = [', "check must be set, or else"),
        ("kernel1", "kernle1", "unknown row scan/kernle1; choose from k"),
        (CASE, CASE.replace("cold", "warm"), "unknown regime warm; choose from cold, "),
        (CASE, CASE.replace("cold", "hot"), "has no case 4194304/hot; choose from 4194"),
        (CASE, "kernel1", "write experiment/row/shape/regime, like "),
        (CASE, CASE.replace("4194304", "{shape}"), "holds {shape}, but the check has no shapes"),
        (CASE, CASE.replace("cold", "{regime}"), "the claim's `open` names no choice with {r"),
        (CASE, OTHER, "compares scan/kernel2/4194304/cold with itself"),
        ('document = "smith"', 'document = "smit"', "unknown smit; choose from smith"),
        ('open = ["blocks"]', 'open = ["block"]', "open: unknown block; choose from blocks"),
        ('title = "', 'titel = "', "field titel is unknown; nearest are title"),
        ("{gain.other}", "{gian}", "refers to {gian}; choose from gain"),
    ],
    FIGURES: [
        ("seconds = 8", 'lost = "x", seconds = 8', "must have exactly one of"),
        (", seconds = 8.054e-3", "", "must have exactly one of"),
        ('hardware = "G80"', 'hardware = "x"', "hardware: unknown x; choose from G80"),
        ("8.054e-3", '"8"', 'must have its unit, like "8 ms"'),
        ("scan.2", "C13", "claim: unknown C13; choose from"),
        ("smith", "S9", "field document.S9: unknown S9; choose from smith"),
        ("4194304", "4194305", "figure[0]: scan/kernel1 has no case 4194305/cold; ch"),
    ],
    STORY: [
        ("No bank conflicts", "x" * 33, "idea must be 1 to 32 letters"),
        ('row = "kernel2"', 'row = "kernel1"', "another step of this file has it too"),
        ('row = "kernel2"', 'row = "kernel2"\nbase = "k"', "unknown k; choose from kernel1"),
        ('verdict = "holds"', 'verdict = "hold"', "verdict must be one of holds"),
        ("{conflicts}", "{load}", "refers to {load}; choose from gain, conflicts"),
        ('key = "conflicts"', 'key = "gain"', "and from gain"),
        (BINDS, 'binds = "kernel2"', "must be a cold case"),
        ('[{ text = "All threads wait after each addition." }]', "[]", "text must not be empty"),
        ('row = "kernel2"', 'row = "kernel3"', "step kernel3: field row: unknown row scan/kernel3"),
        ('of = "scan/kernel2', 'of = "scan/kernel3', "field check[0]: unknown row scan/kernel3"),
        ("shared_bank_conflicts /", "conflicts /", "unknown counter conflicts"),
    ],
    "errata.toml": [
        ('by = "reading"\n', "", "smith-1: field check must be set, or else by"),
        ("check = [", 'by = "reading"\ncheck = [', "smith-2: field check must be set"),
        (SUM, f'{TEST} "build:E", finds = "refused"', "test must read like gate:suite"),
        (SUM, f'{TEST} "compile:E", finds = "pass"', "finds: must be refused or"),
        (SUM, f'{TEST} "compile:E", finds = "refused"', "errata/ has no E.cu; none are defined"),
        ('["scan.2"', '["A99"', "A99 is not a claim, algorithm, row or its document; choose"),
    ],
    "listings.toml": [
        ('general = "scan/', 'general = "matvec/', "field general must be of the row's experiment"),
        ('"smith"', '"S4"', "field document: unknown S4; choose from smith"),
        ('general = "scan/kernel2_', 'general = "scan/kernel0_', "unknown row scan/kernel0_blocks"),
    ],
    "sources.toml": [
        ("cpu_gpu", "cpu_gpus", "charts.scan[1] must be one of ladder, cpu_gpu"),
        ("own =", 'order = "year"\nown =', "order must be"),
    ],
}  # fmt: skip
SMITH = Row(experiment="scan", source=Source("smith"))
ROWS = dict.fromkeys(("kernel1", "kernel2", "kernel2_blocks128"), SMITH)
TABLES = Tables(
    {"scan": ("elements",)},
    {f"scan/{name}": row for name, row in ROWS.items()},
    frozenset({f"scan/{row}/4194304/cold" for row in ROWS} | {"scan/kernel2/4194304/hot"}),
)


def _loaded(folder: Path) -> Collection:
    load_collection.cache_clear()
    return load_collection(folder)


def _refused(folder: Path) -> str:
    """The message about a collection that the program of TABLES cannot use: one line."""
    try:
        line = next(faults(_loaded(folder), TABLES), "")
    except BadClaim as error:
        line = str(error)
    assert line and "\n" not in line and len(line) < 1300
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
        load_collection.cache_clear()
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


def test_a_wrong_misspelt_or_missing_member_is_named(
    examples: dict[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path, text in examples.items():
        for steps in _members(tomllib.loads(text)):
            for name in ("", str(steps[-1]), f"{steps[-1]}x"):
                own: Any = tomllib.loads(text)
                table = _table(own, steps)
                value = table.pop(steps[-1])
                if name == steps[-1]:  # a value of another type
                    value = 7 if isinstance(value, dict) else {"no": 1}
                table |= {name: value} if name else {}
                said = _refusal(tmp_path, text, own, monkeypatch)
                # another file may refer to the missing name
                assert not said or str(tmp_path) in said
                if name == steps[-1]:
                    assert said.startswith(str(path)), (steps, said)
                    assert str(steps[-1]) in said or str(steps[0]) in said, (steps, said)
                elif name and 0 in steps and not {"values", "open"} & {*steps}:
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
    assert len(known.claims) == len(known.changed_checks) == len(known.listings) == 1
    assert len(known.errata) == 2 and known.figures["scan"].figure
    ours = replace(
        TABLES, rows=TABLES.rows | {"scan/kernel1": replace(SMITH, source=Source("ours"))}
    )
    assert [*faults(known, TABLES)] == [*faults(known, ours)] == []


def test_tables_that_may_repeat(examples: dict[Path, str], tmp_path: Path) -> None:
    path = tmp_path / CLAIMS
    path.write_text(examples[path] + examples[path].replace("[[claim]]", "[claim]"))
    assert "several tables of a name, each begins with [[name]]" in _refused(tmp_path)
    path.write_text("[claim]\n")
    assert "[claim] must be [[claim]]" in _refused(tmp_path)


@pytest.mark.usefixtures("examples")
def test_a_file_or_folder_of_another_name_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "scan/claim.toml").touch()
    assert "claim.toml: nothing reads a file of this name; choose from cl" in _refused(tmp_path)
    (tmp_path / "scan/claim.toml").unlink()
    (tmp_path / "scan").rename(tmp_path / "scans")
    assert f"{tmp_path}/scans: unknown experiment scans; choose from scan" in _refused(tmp_path)


@pytest.mark.parametrize(
    ("commit", "preset", "refused"),
    [("HEAD", "full", True), (None, "full", True), ("unknown", "full", True),
     ("0" * 40, "full", False), ("unknown", "quick", False)],
)  # fmt: skip
def test_only_a_record_of_another_commit_or_a_partial_run_may_lack_a_row(
    commit: str | None, preset: str, refused: bool, tmp_path: Path
) -> None:
    article = shutil.copytree(OUTSIDE / "claims", tmp_path / "article" / "claims")
    old, new = (f"reduction/{row}/4194304/cold" for row in ("kernel2", "kernle2"))
    path = article / "reduction/claims.toml"
    path.write_text(path.read_text().replace(old, new, 1))
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        git(article.parent, *words)
    folder = shutil.copytree(OUTSIDE / "results/nvidia-h200", tmp_path / "measured")
    document = json.loads((folder / "record.json").read_text())
    commit = git(article.parent, "rev-parse", "HEAD") if commit == "HEAD" else commit
    document["environment"]["git"] |= {"commit": commit, "dirty": False}
    document["plan"]["preset"] = preset
    (folder / "record.json").write_text(json.dumps(document))
    done = run("render", folder, "--output", tmp_path / "out", "--experiments", article)
    if refused:
        line = one_line(done, 2)
        assert "unknown row reduction/kernle2; choose from k" in line
        assert line.endswith("fix the name, or measure again\n")
    else:
        said = json.loads((tmp_path / "out" / "verdicts.json").read_text())["claims"]
        assert said[0]["reason"] == f"the record holds no case {new}; nearest is {old}"
