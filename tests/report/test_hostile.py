"""Files that are there to harm whoever reads them: each ends in one line or a note, and nothing
outside is touched."""

from __future__ import annotations

import bz2
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import linked, one_line, run, text_of, tree
from recheck_report.model.read import COMPRESSED, MOST_LINE, RECORD, SAMPLES, load
from recheck_report.model.typed import MOST_BYTES, BadRecord, bytes_of
from synthetic import (
    SMALL,
    Json,
    make_full,
    make_matvec,
    make_record,
    make_transpose,
    matching,
    pack,
    spoil,
    unpack,
)


def test_a_pipe_keeps_nobody_waiting(report: Callable[..., str], tmp_path: Path) -> None:
    report(make_record(SMALL))
    os.mkfifo(tmp_path / "report" / "more.md")
    with pytest.raises(BadRecord, match="is no regular file"):
        bytes_of(tmp_path / "report" / "more.md")


def test_a_line_of_samples_has_an_end(tmp_path: Path) -> None:
    folder = unpack(pack(make_record(SMALL)), tmp_path / "input")
    with (folder / SAMPLES).open("a") as file:
        file.write("[" + "{}," * (MOST_LINE // 3) + "{}]\n")
    record, _ = load(folder / RECORD)
    assert any(f"has more than {MOST_LINE} bytes" in each for each in record.unread)
    assert all(case.samples for case in record.cases if case.seconds)


def test_a_bomb_of_samples_is_not_unpacked(tmp_path: Path) -> None:
    files = pack(make_record(SMALL))
    bomb = bz2.compress(bytes(MOST_BYTES + 1))
    folder = unpack({RECORD: files[RECORD], COMPRESSED: bomb}, tmp_path / "input")
    record, held = load(folder)
    assert f"has more than {MOST_BYTES} bytes of samples" in record.unread[0]
    assert [*held] == [RECORD] and record.cases


def test_a_report_is_not_written_through_a_link(
    report: Callable[..., str], tmp_path: Path, save: Callable[..., Path]
) -> None:
    report(make_record(SMALL))
    outside = tmp_path / "outside"
    charts = tmp_path / "report" / "charts"
    charts.rename(outside)
    charts.symlink_to(outside)
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    result = run("render", save(make_record(SMALL)), "--output", tmp_path / "report")
    assert "leads out of" in one_line(result, 1)
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before


@pytest.mark.parametrize("name", ["W" * 41, "a`b", "<b>", "a|b", "../../etc"])
def test_a_name_that_pages_have_no_room_for_costs_its_row(name: str, tmp_path: Path) -> None:
    text = json.dumps(make_record(SMALL)).replace("tile16_depth2", name)
    record, _ = load(unpack(pack(json.loads(text)), tmp_path / "input") / RECORD)
    assert record.cases and not any(case.strategy == "tile16_depth2" for case in record.cases)
    assert any("must be a name" in each for each in record.unread)


def test_a_byte_order_mark_of_a_record_is_nothing(
    save: Callable[..., Path], tmp_path: Path
) -> None:
    path = save(make_record(SMALL))
    path.write_bytes(path.read_text().encode("utf-8-sig"))
    assert run("render", path, "--output", tmp_path / "report").returncode == 0


# what a record lacks or holds: a report, whose tables, links and charts are whole


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
    gone = matching(record, "/s3_sse/8192x8192/hot")[0]
    record["cases"].remove(gone)
    row = next(line for line in report(record).split("\n") if ">`s3_sse` |" in line)
    assert "| – |" in row and "not in the record" in row


def test_an_experiment_without_cases_is_named(report: Callable[..., str]) -> None:
    record = make_full(small=True)
    record["cases"] = [case for case in record["cases"] if case["experiment"] != "matmul"]
    text = report(record)
    assert "Not in this record: Matrix multiplication." in text
    assert "# Matrix multiplication" not in text
