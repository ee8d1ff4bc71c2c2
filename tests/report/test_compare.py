"""Records side by side: what became slower, and which verdicts changed; a column for each."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import one_line, run, tree
from records import Json, few, h100, keep, scale


def _named(gpu: str, factor: float = 1.0) -> Json:
    made = scale(few(), "/s0_tiles/", factor)
    made["environment"]["gpu"]["name"] = gpu
    return made


@pytest.fixture
def compared(tmp_path: Path) -> Callable[..., str]:
    """Compares these records; returns the page."""

    def compare(*records: Json) -> str:
        paths = [keep(tmp_path / f"{at}", record) for at, record in enumerate(records)]
        result = run("compare", *paths, "--output", tmp_path / "out")
        assert result.returncode == 0, result.stderr
        return (tmp_path / "out" / "README.md").read_text(encoding="utf-8")

    return compare


def _cells(text: str, title: str) -> list[list[str]]:
    """The cells of the table below a heading, without its head; none without the heading."""
    if f"# {title}\n" not in text:
        return []
    part = re.split(r"\n##", text.split(f"# {title}\n")[1])[0]
    lines = [line for line in part.split("\n") if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[2:]]


def _answer(text: str) -> str:
    """The first paragraph below the title."""
    return text.split("\n")[3]


Compare = Callable[..., str]


def test_a_page_of_another_kind_is_not_overwritten(compared: Compare, tmp_path: Path) -> None:
    compared(few())
    folder, out = tmp_path / "0", tmp_path / "out"
    line = one_line(run("render", folder, "--output", out), 1)
    assert "README.md: is not a file of such a report" in line
    assert run("render", folder, "--output", tmp_path / "report").returncode == 0
    report = tree(tmp_path / "report")
    line = one_line(run("compare", folder, "--output", tmp_path / "report"), 1)
    assert (
        "README.md: is not a file of such a report" in line and tree(tmp_path / "report") == report
    )


def test_exactly_the_slowed_rows_are_found(compared: Compare) -> None:
    rows = ("matmul/tile16/", "matvec/warp_per_row/", "transpose/diagonal/")
    before = after = h100(*(row.split("/")[0] for row in rows))
    for row in rows:
        after = scale(after, row, 1.2)
    text = compared(before, after)
    assert "became slower and none faster" in _answer(text)
    found = _cells(text, "Slower")
    assert {f"{row[0].strip('`')}/" for row in found} == set(rows)
    for cells in found:
        changed, cases = map(int, cells[1].split(" of "))
        assert cases // 2 <= changed <= cases and cells[5].startswith("1.20")
    assert not _cells(text, "Faster")
    # the other way round they became faster
    text = compared(after, before)
    assert [each[0] for each in _cells(text, "Faster")] == [each[0] for each in found]
    assert not _cells(text, "Slower")


def test_the_same_record_twice_differs_in_nothing(compared: Compare) -> None:
    text = compared(h100(), h100())
    assert "none differs by more than two runs of the same code do." in _answer(text)
    assert re.search(r"The verdicts on all \d\d claims that both judge agree\.", _answer(text))
