"""Records side by side: each keeps its column and its labels, and nothing is mixed."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import one_line, run, texts_of, tree
from synthetic import SMALL, Json, make_record, scale
from synthetic_claims import make_probes

FEW = ["cpu_serial", "global16", "tile16", "s0_tiles", "s1_kernel_0", "cublas"]


def _record(name: str = "NVIDIA H200", factor: float = 1.0, **environment: Any) -> Json:
    made = scale(make_record(SMALL, strategies=FEW), "/s0_tiles/", factor)
    made["environment"]["gpu"]["name"] = name
    made["environment"] |= environment
    return made


@pytest.fixture
def place(tmp_path: Path) -> Callable[..., Path]:
    """Puts a record, and probes if given, into a folder of their own."""

    def put(name: str, record: Json, probes: Json | str | None = None) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        (folder / "record.json").write_text(json.dumps(record))
        if probes is not None:
            text = probes if isinstance(probes, str) else json.dumps(probes)
            (folder / "probes.json").write_text(text)
        return folder

    return put


def _compare(tmp_path: Path, *paths: Path, drawn: bool = False) -> str:
    result = run("compare", *paths, "--output", tmp_path / "out", drawn=drawn)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{tmp_path / 'out' / 'README.md'}\n"
    return (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def _table(text: str) -> dict[str, list[str]]:
    """The table of claims: its head, and each claim's row by its id."""
    lines = [line for line in text.split("\n") if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0].split()[0]: row[1:] for row in cells}


def test_a_column_for_each_gpu(place: Callable[..., Path], tmp_path: Path) -> None:
    first = place("a", _record())
    second = place("b", _record("NVIDIA L4", 10.0, driver="550.54"))
    text = _compare(tmp_path, second / "record.json", first)
    rows = _table(text)
    # by name, in whatever order they were given
    assert [head.split("<br>")[0] for head in rows["claim"]] == ["NVIDIA H200", "NVIDIA L4"]
    assert re.fullmatch(r"\*\*holds\*\* 1\.56\d*× \[.*\]", rows["C12"][0])
    assert re.fullmatch(r"\*\*fails\*\* 0\.156\d*× \[.*\]", rows["C12"][1])
    assert "**driver 550.54**" in rows["claim"][1] and "**driver 580.159.04**" in rows["claim"][0]
    assert "CUDA 13.0" in rows["claim"][0] and "**CUDA" not in rows["claim"][0]
    (names,) = re.findall(r"do not agree on (.*)\.", text)
    disagree = names.split(", ")
    assert "C12" in disagree and "C06" not in disagree
    assert rows["in"][0].startswith(f"{sum('holds' in r[0] for r in rows.values())} of ")
    files = tree(tmp_path / "out")
    assert {"README.md", "charts/compare_matmul.svg"} <= set(files)
    assert set(re.findall(r"\]\(([^#)]+)\)", text)) == set(files) - {"README.md"}
    # the same bytes again, and the other way round
    run("compare", first, second, "--output", tmp_path / "other")
    assert tree(tmp_path / "other") == files


def test_the_same_gpu_twice_is_two_columns(place: Callable[..., Path], tmp_path: Path) -> None:
    later: Json = {
        "started": "2026-12-01T00:00:00Z",
        "git": {"commit": "f" * 40, "dirty": True, "diff": "ab"},
    }
    paths = [
        place("a", _record()),
        place("b", _record(factor=0.9, **later)),
        place("c", _record(factor=0.9, **later)),
    ]
    text = _compare(tmp_path, *paths)
    heads = [head.split("<br>") for head in _table(text)["claim"]]
    assert [head[0] for head in heads] == [
        "NVIDIA H200, 0123456, 2026-11-21",
        "NVIDIA H200, fffffff, 2026-12-01",
        "NVIDIA H200, fffffff, 2026-12-01 (again)",
    ]
    assert "**commit 0123456**" in heads[0] and "**Uncommitted changes**" in heads[1]
    assert "> NVIDIA H200, fffffff, 2026-12-01: **Uncommitted changes** (diff ab)" in text


def test_brands_and_older_schemas_are_labels(place: Callable[..., Path], tmp_path: Path) -> None:
    old = _record("NVIDIA V100", build_type="Debug", device_debug=True)
    old["plan"]["preset"], old["finished"] = "quick", None
    new = _record("NVIDIA H200")
    new2 = copy.deepcopy(new)
    new2["environment"]["gpu"]["name"] = "NVIDIA A100"
    new2["schema"] = 2
    for case in new2["cases"]:
        for key in ("batch", "power", "blocks", "clocks"):
            del case[key]
    rows = _table(_compare(tmp_path, place("a", old), place("b", new), place("c", new2)))
    a100, h200, v100 = rows["claim"]
    assert "**schema 2**" in a100 and "**schema 3**" in h200 and "older record" not in a100
    for label in (
        "Debug build",
        "Device code built with -G",
        "Not the full matrix",
        "Unfinished record",
    ):
        assert f"<br>**{label}**" in v100 and label not in h200


def test_probes_lie_beside_each(place: Callable[..., Path], tmp_path: Path) -> None:
    first, second = _record(), _record("NVIDIA L4")
    foreign = make_probes(first)
    paths = [
        place("a", first, make_probes(first)),
        place("b", second, foreign),
        place("c", _record("NVIDIA T4")),
    ]
    rows = _table(_compare(tmp_path, *paths))
    assert [cell.split()[0] for cell in rows["C09"]] == ["**holds**", "**not", "**not"]
    assert "**Probes of another run**" in rows["claim"][1]
    assert rows["claim"][2].endswith("<br>without probes")
    assert "without probes" not in rows["claim"][0] + rows["claim"][1]


def test_one_record_is_a_comparison_too(place: Callable[..., Path], tmp_path: Path) -> None:
    text = _compare(tmp_path, place("a", _record()))
    assert "# Recheck: the claims on 1 record\n" in text and "agree" not in text.split("## ")[0]


def test_charts_have_a_marker_for_each_record(place: Callable[..., Path], tmp_path: Path) -> None:
    names = [f"NVIDIA {n}" for n in ("A", "B", "C", "D", "E", "F", "G", "H")]
    _compare(tmp_path, *(place(name, _record(name)) for name in names), drawn=True)
    texts = texts_of((tmp_path / "out" / "charts" / "compare_matmul.svg").read_bytes())
    assert set(names) <= set(texts) and "C12" in texts
    assert "how many times as fast, or the share, that the claim is about (×, log)" in texts


def test_looks_of_many_records_differ() -> None:
    from recheck_report.charts.claims import look_of

    assert len({look_of(at) for at in range(36)}) == 36


BAD = {
    "no gpu": (json.dumps(make_record(SMALL[:1], False, FEW)), None, "has no measured GPU case"),
    "cut off": ('{"schema": 3, ', None, "is not complete JSON"),
    "newer": ('{"schema": 99}', None, "has schema 99"),
    "probes": (
        json.dumps(make_record(SMALL[:1], strategies=FEW)),
        "{",
        "probes.json: is not complete",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_one_line(name: str, tmp_path: Path) -> None:
    record, probes, why = BAD[name]
    (tmp_path / "record.json").write_text(record)
    if probes:
        (tmp_path / "probes.json").write_text(probes)
    line = one_line(run("compare", tmp_path, "--output", tmp_path / "out"), 2)
    assert why in line and str(tmp_path) in line and not (tmp_path / "out").exists()


def test_missing_record_is_one_line(tmp_path: Path) -> None:
    line = one_line(run("compare", tmp_path / "none", "--output", tmp_path / "out"), 2)
    assert "none: cannot be read: No such file or directory" in line


def test_a_report_is_not_overwritten(
    report: Callable[..., str], place: Callable[..., Path], tmp_path: Path
) -> None:
    report(_record())
    before = tree(tmp_path / "report")
    path = place("a", _record())
    line = one_line(run("compare", path, "--output", tmp_path / "report"), 1)
    assert (
        "README.md: is not a comparison of Recheck" in line and tree(tmp_path / "report") == before
    )
    _compare(tmp_path, path)
    line = one_line(run("render", path, "--output", tmp_path / "out"), 1)
    assert "README.md: is not a report of Recheck" in line
