"""Records side by side: what became slower, which verdicts turned; each keeps its own column."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPORTS, one_line, run, slowed, tree
from synthetic import SMALL, Json, keep, make_full, make_record, scale

FEW = ["cpu_serial", "global16", "tile16", "s0_tiles", "s1_kernel_0", "cublas"]


def _record(name: str = "NVIDIA H200", factor: float = 1.0, **environment: Any) -> Json:
    made = scale(make_record(SMALL, strategies=FEW), "/s0_tiles/", factor)
    made["environment"]["gpu"]["name"] = name
    made["environment"] |= environment
    made["finished"] = made["environment"]["started"].replace("T00:00", "T00:03")
    return made


@pytest.fixture
def place(tmp_path: Path) -> Callable[..., Path]:
    """Puts a record into a folder of its own."""
    return lambda name, record: keep(tmp_path / name / "record.json", record).parent


def _compare(tmp_path: Path, *paths: Path, drawn: bool = False) -> str:
    result = run("compare", *paths, "--output", tmp_path / "out", drawn=drawn)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{tmp_path / 'out' / 'README.md'}\n"
    return (tmp_path / "out" / "README.md").read_text(encoding="utf-8")


def _table(text: str) -> dict[str, list[str]]:
    """The table of claims: its head, and each claim's row by its id."""
    part = text.split("## Claim by claim\n")[1]
    lines = [line for line in part.split("\n") if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0].split()[0]: row[1:] for row in cells}


def test_a_column_for_each_gpu(place: Callable[..., Path], tmp_path: Path) -> None:
    first = place("a", _record())
    second = place("b", _record("NVIDIA L4", 10.0, driver="550.54"))
    text = _compare(tmp_path, first / "record.json", second)
    rows = _table(text)
    assert [head.split("<br>")[0] for head in rows["claim"]] == ["NVIDIA H200", "NVIDIA L4"]
    assert re.fullmatch(r"\*\*depends\*\* 1\.57 times as fast \[.*\]", rows["C12"][0])
    assert re.fullmatch(r"\*\*fails here\*\* 6\.39 times as long \[.*\]", rows["C12"][1])
    assert "**driver 550.54**" in rows["claim"][1] and "**driver 580.159.04**" in rows["claim"][0]
    assert "CUDA 13.0" in rows["claim"][0] and "**CUDA" not in rows["claim"][0]
    (names,) = re.findall(r"do not agree on (.*)\.", text)
    disagree = names.split(", ")
    assert "C12" in disagree and "C06" not in disagree
    assert rows["in"][0].startswith(f"{sum('holds' in r[0] for r in rows.values())} of ")
    files = tree(tmp_path / "out")
    assert {"README.md"} == set(files) and not re.findall(r"\]\(([^#)]+)\)", text)
    # the same bytes again; the other way round the other is the first
    run("compare", first, second, "--output", tmp_path / "other")
    assert tree(tmp_path / "other") == files
    text = _compare(tmp_path, second, first)
    assert text.split("\n")[1] == "# Recheck: NVIDIA L4, then NVIDIA H200"
    assert [head.split("<br>")[0] for head in _table(text)["claim"]] == ["NVIDIA L4", "NVIDIA H200"]


def test_a_report_is_not_overwritten(
    report: Callable[..., str], place: Callable[..., Path], tmp_path: Path
) -> None:
    report(_record())
    before = tree(tmp_path / "report")
    path = place("a", _record())
    line = one_line(run("compare", path, "--output", tmp_path / "report"), 1)
    assert "README.md: is no file of such a report" in line and tree(tmp_path / "report") == before
    _compare(tmp_path, path)
    line = one_line(run("render", path, "--output", tmp_path / "out"), 1)
    assert "README.md: is no file of such a report" in line


# times

H200 = REPORTS / "results" / "nvidia-h200"
committed = pytest.mark.skipif(not H200.exists(), reason="no record of an H200 is committed")


def _answer(text: str) -> str:
    """The first paragraph below the title."""
    return text.split("\n")[3]


def _rows(text: str, title: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head; none without the heading."""
    if f"### {title}\n" not in text:
        return []
    part = re.split(r"\n##", text.split(f"### {title}\n")[1])[0]
    lines = [line for line in part.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


@committed
def test_three_rows_slowed_are_found_and_nothing_else(tmp_path: Path) -> None:
    rows = ("matmul/tile16/", "matvec/s3_shared/", "transpose/coalesced/")
    after = slowed(H200, tmp_path / "after", rows, 1.2)
    text = _compare(tmp_path, H200, after)
    assert re.search(r"Of [\d,]+ cases that .* \d\d became slower and none faster", _answer(text))
    found = _rows(text, "Rungs: slower")
    assert {f"{row[0].strip('`')}/" for row in found} == set(rows)
    for row in found:
        changed, cases = map(int, row[1].split(" of "))
        assert cases // 2 <= changed <= cases and row[5].startswith("1.20")
    assert "Rungs: faster" not in text and "Other rows" not in text
    # and the other way round they became faster
    text = _compare(tmp_path, after, H200)
    assert [row[0] for row in _rows(text, "Rungs: faster")] == [row[0] for row in found]
    assert "Rungs: slower" not in text


@committed
def test_the_same_record_twice_differs_in_nothing(tmp_path: Path) -> None:
    text = _compare(tmp_path, H200, H200)
    assert "none differs by more than two runs of the same code do." in _answer(text)
    assert re.search(r"The verdicts on all \d\d claims that both judge agree\.", _answer(text))
    assert "No difference that two runs could tell." in text and "(again)" in text


def test_of_two_models_the_question_is_how_much_faster(
    place: Callable[..., Path], tmp_path: Path
) -> None:
    # a quarter as long, but one rung
    other = scale(scale(make_record(SMALL, strategies=FEW), "matmul/", 0.25), "/s0_tiles/", 8.0)
    other["environment"]["gpu"]["name"] = "NVIDIA B200"
    text = _compare(tmp_path, place("a", _record()), place("b", other))
    wanted = (
        r"NVIDIA B200 is 4\.00 times as fast as NVIDIA H200 at the median of \d+ cases \(cold; "
    )
    assert re.match(wanted + r"3\.12 to 4\.00 times in the middle half\)\.", _answer(text))
    assert "C12 (depends, now fails here)" in _answer(text)
    assert [row[0] for row in _rows(text, "Rungs: slower on NVIDIA B200")] == ["`matmul/s0_tiles`"]
    # the other way round it takes as long
    text = _compare(tmp_path, tmp_path / "b", tmp_path / "a")
    assert "NVIDIA H200 takes 4.00 times as long as NVIDIA B200" in _answer(text)


def test_turned_verdicts_stand_with_both_effects(
    place: Callable[..., Path], tmp_path: Path
) -> None:
    later: Json = {"started": "2026-12-01T00:00:00Z"}
    text = _compare(tmp_path, place("a", _record()), place("b", _record(factor=1.6, **later)))
    turned = {row[0]: row[2:] for row in _rows(text, "Verdicts that turned")}
    was, now, then, here, asked = turned["C12"]
    assert (was, now) == ("depends", "fails here") and "much faster" in asked
    assert then.startswith("1.57") and here.startswith("0.9")
    assert re.search(r"\d verdicts? differs?: .*C12 \(depends, now fails here\)", _answer(text))


def test_many_records_are_held_against_the_first(
    place: Callable[..., Path], tmp_path: Path
) -> None:
    slow = scale(_record("NVIDIA L4"), "matmul/", 3.0)
    paths = [place("a", _record()), place("b", slow), place("c", _record("NVIDIA T4"))]
    text = _compare(tmp_path, *paths)
    assert "Each record is held against the first, NVIDIA H200." in _answer(text)
    first, second = re.findall(r"^- (.*)$", text, re.M)
    assert "NVIDIA L4 takes 3.00 times as long as NVIDIA H200" in first
    assert "NVIDIA T4 is 1.00 times as fast as NVIDIA H200" in second


def _cpu(name: str, factor: float) -> Json:
    made = scale(make_full(gpu=False, small=True), "/", factor)
    made["environment"]["cpu"] = name
    return made


def test_records_without_a_gpu_are_compared(place: Callable[..., Path], tmp_path: Path) -> None:
    first, second = place("a", _cpu("A 9000", 1.0)), place("b", _cpu("B 100", 2.0))
    text = _compare(tmp_path, first, second)
    assert text.split("\n")[1] == "# Recheck: A 9000, then B 100"
    assert "B 100 takes 2.00 times as long as A 9000 at the median of" in _answer(text)
    rows = _table(text)
    assert "C39" in rows and "C01" not in rows  # which needs a GPU
    assert re.search(r"Left out: \d+ claims that none of these records judges\.", text)
    assert "not measured" not in "".join(cell for row in list(rows.values())[2:-2] for cell in row)
    # one CPU twice: no two runs could tell
    text = _compare(tmp_path, first, first)
    assert "both timed on A 9000, none differs by more" in _answer(text)
    # of a record with a GPU the CPUs are compared
    text = _compare(tmp_path, place("c", make_full(small=True)), first)
    assert "at the median of" in _answer(text) and "(CPU; 1.00 to 1.00" in _answer(text)
    assert "NVIDIA H200" not in _answer(text)


def test_records_with_no_case_in_common(place: Callable[..., Path], tmp_path: Path) -> None:
    one, other = (
        make_record(SMALL, strategies=["tile16"]),
        make_record(SMALL, strategies=["cublas"]),
    )
    text = _compare(tmp_path, place("a", one), place("b", other))
    assert "have no case in common that both timed." in _answer(text)


HOSTILE = "=x`|<script>alert(1)<,script>![a](http:e.x,p)"  # no slash, which ends a name


def test_hostile_names_stay_text(place: Callable[..., Path], tmp_path: Path) -> None:
    # what ends a span of code or begins a link is refused in a row's name
    row = re.sub(r"[`<>|/\\[\]]", "", HOSTILE)

    def renamed(factor: float) -> Json:
        made = scale(make_record(SMALL, strategies=FEW), "matmul/", factor)
        made["environment"]["gpu"]["name"] = made["environment"]["driver"] = HOSTILE
        for case in made["cases"]:
            if case["strategy"] == "tile16":
                case["id"] = case["id"].replace("tile16", row)
                case["strategy"] = row
        return made

    text = _compare(tmp_path, place("a", renamed(1.0)), place("b", renamed(2.0)))
    outside = re.sub(r"`[^`\n]*`", "", text)  # code spans show tags as they are
    assert "<script" not in outside and "](http" not in outside
    assert _rows(text, "Rungs: slower")  # no name breaks a table's cells
    assert {len(row) for row in _rows(text, "Rungs: slower")} == {7}
