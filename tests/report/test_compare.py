"""Records side by side: what became slower, and which verdicts changed; a column for each."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import one_line, run, tree
from records import Json, few, h100, keep


@pytest.fixture
def compared(tmp_path: Path) -> Callable[..., str]:
    """Compares these records; returns the page."""

    def compare(*records: Json) -> str:
        paths = [keep(tmp_path / f"{at}", record) for at, record in enumerate(records)]
        result = run("compare", *paths, "--output", tmp_path / "out")
        assert result.returncode == 0, result.stderr
        return (tmp_path / "out" / "README.md").read_text(encoding="utf-8")

    return compare


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


def test_the_same_record_twice_differs_in_nothing(compared: Compare) -> None:
    text = compared(h100(), h100())
    assert "none differs by more than two runs of the same code do." in _answer(text)
    assert re.search(r"The verdicts on all \d\d claims that both judge agree\.", _answer(text))


def test_times_of_two_builds_and_disturbed_ones_are_not_compared_across_gpus(
    compared: Compare,
) -> None:
    other = few()
    other["environment"]["gpu"]["name"] = "NVIDIA H200"
    assert "at the median case" in _answer(compared(few(), other))
    other["environment"]["build_type"] = "Debug"
    assert "a Debug build: no comparison." in _answer(compared(few(), other))
    other["environment"]["build_type"] = few()["environment"]["build_type"]
    for case in other["cases"]:
        case["disturbed"] = "another process used the GPU"
    assert "no case in common without a disturbed time." in _answer(compared(few(), other))
    same = {**other, "environment": few()["environment"]}
    assert "no case in common" not in _answer(compared(few(), same))
