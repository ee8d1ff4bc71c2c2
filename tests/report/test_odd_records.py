"""Whatever a record lacks or holds: a report, whose tables, links and charts are whole."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import linked, run, text_of, tree
from synthetic import (
    SMALL,
    Json,
    make_full,
    make_matvec,
    make_record,
    make_transpose,
    matching,
    spoil,
)


def test_reason_cannot_break_the_table(report: Callable[..., str], tmp_path: Path) -> None:
    reason = "a | b\n<script>alert(1)</script> $x^$ \x01 \ud800"
    text = report(spoil(make_record(SMALL), "/tile16/4096x", "failed", reason), drawn=True)
    assert "<script>" not in text and "a \\| b &lt;script&gt;" in text
    rows = [line for line in text.split("\n") if "alert(1)" in line and line.startswith("|")]
    assert rows and all(re.search(r"[^\\]\|$", row) for row in rows)
    for chart in (tmp_path / "report" / "charts").glob("*.svg"):
        from xml.etree import ElementTree

        ElementTree.parse(chart)


def test_an_error_that_is_not_finite(save: Callable[..., Path], tmp_path: Path) -> None:
    """What a kernel leaves unwritten is NaN, and a wrong case must not cost the report."""
    reason = "on integers: element 7 is nan"
    record = spoil(make_record(SMALL), "/tile16/4096x", "incorrect", reason)
    for case in matching(record, "/tile16/4096x"):
        case["error"] = {"value": None, "bound": 1.0, "metric": "max |error| / (|A||B|)"}
    done = run("render", save(record), "--output", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    text = text_of(tree(tmp_path / "report")).replace("\u00a0", " ")
    assert "> **3 cases incorrect**" in text
    assert f"| `tile16` | 4096³ | cold, hot, end to end | incorrect | {reason} | 3 |" in text
    row = next(line for line in text.split("\n") if ">`tile16` |" in line)
    assert "| incorrect | incorrect | incorrect |" in row
    assert "| not finite / 1.0e+00 [why](matmul.md#without-a-time) |" in row


def test_a_shape_of_another_experiment_fits(report: Callable[..., str], tmp_path: Path) -> None:
    """Two axes and bytes instead of flops: what nobody has planned for needs no new code."""
    record = make_record([(1024,) * 3, (4096,) * 3], strategies=["global16", "tile16", "cublas"])
    experiment = {"name": "turn", "title": "Transpose", "axes": ["rows", "columns"]}
    record["experiments"] = [{**experiment, "problem": "B = Aᵀ", "headline": "4096x4096"}]
    for case in record["cases"]:
        n = case["shape"]["m"]
        case |= {"experiment": "turn", "shape": {"rows": n, "columns": n}, "flops": 0}
        case["bytes"] = 8 * n * n
        case["id"] = f"turn/{case['strategy']}/{n}x{n}/{case['regime']}"
    text = report(record)
    page = (tmp_path / "report" / "turn.md").read_text(encoding="utf-8")
    assert "# Transpose on " in page and "GB/s" in page and "TFLOP/s" not in page
    assert "4096²" in text and matching(record, "turn")


@pytest.mark.parametrize("make", [make_matvec, make_transpose])
@pytest.mark.parametrize("shapes", [[(8192, 8192)], [(100, 7)], []])
def test_own_shapes_render(
    report: Callable[..., str],
    make: Callable[..., Json],
    shapes: list[tuple[int, int]],
    tmp_path: Path,
) -> None:
    report(make(shapes))
    linked(tree(tmp_path / "report"))


def test_a_case_that_the_run_does_not_have_is_a_dash(report: Callable[..., str]) -> None:
    record = make_matvec([(64, 1048576), (8192, 8192)])
    gone = matching(record, "/cpu_sse/8192x8192/hot")[0]
    record["cases"].remove(gone)
    row = next(line for line in report(record).split("\n") if ">`cpu_sse` |" in line)
    assert "| – |" in row and "not in the record" in row


def test_an_experiment_without_cases_is_named(report: Callable[..., str]) -> None:
    record = make_full(small=True)
    record["cases"] = [case for case in record["cases"] if case["experiment"] != "matmul"]
    text = report(record)
    assert "Not in this record: Matrix multiplication." in text
    assert "# Matrix multiplication" not in text
