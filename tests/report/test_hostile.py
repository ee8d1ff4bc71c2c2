"""Files that are there to harm whoever reads them: each ends in one line or a note, and nothing
outside is touched."""

from __future__ import annotations

import bz2
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import linked, run, text_of, tree
from recheck_report.record.read import COMPRESSED, MOST_LINE, RECORD, SAMPLES, load
from recheck_report.record.typed import MOST_BYTES
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


def test_an_error_that_is_not_finite(save: Callable[..., Path], tmp_path: Path) -> None:
    """What a kernel leaves unwritten is NaN, and a wrong case must not cost the report."""
    reason = "on integers: element 7 is nan"
    record = spoil(make_record(SMALL), "/tile16/4096x", "incorrect", reason)
    for case in matching(record, "/tile16/4096x"):
        case["error"] = {"value": None, "bound": 1.0, "metric": "max |error| / (|A||B|)"}
    done = run("render", save(record), "--output", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    text = text_of(tree(tmp_path / "report")).replace("\u00a0", " ")
    assert "> **Wrong outputs: 3 cases have no result**" in text
    assert f"| `tile16` | 4096³ | cold, hot, end to end | incorrect | {reason} | 3 |" in text
    row = next(line for line in text.split("\n") if ">`tile16` |" in line)
    assert "| incorrect | incorrect | incorrect |" in row
    assert "| not finite / 1.0e+00 [why](matmul.md#without-a-time) |" in row


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
    assert "| – |" in row and "not at this shape" in row


def test_an_experiment_without_cases_is_named(report: Callable[..., str]) -> None:
    record = make_full(small=True)
    record["cases"] = [case for case in record["cases"] if case["experiment"] != "matmul"]
    text = report(record)
    assert "Not in this record: Matrix multiplication." in text
    assert "# Matrix multiplication" not in text
