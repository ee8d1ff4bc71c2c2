"""Malicious files: each gives one line or a note, and nothing outside is touched."""

from __future__ import annotations

import bz2
import json
from pathlib import Path

import pytest
from conftest import Report, linked, text_of
from recheck_report.record.read import COMPRESSED, MOST_LINE, RECORD, SAMPLES, load
from recheck_report.record.typed import MOST_BYTES
from records import few, keep, matching, pack, spoil


def test_a_huge_line_of_samples_is_skipped(tmp_path: Path) -> None:
    folder = keep(tmp_path, few())
    with (folder / SAMPLES).open("a") as file:
        file.write("[" + "{}," * (MOST_LINE // 3) + "{}]\n")
    record, _ = load(folder / RECORD)
    assert any(f"has more than {MOST_LINE} bytes" in each for each in record.unread)
    assert all(case.samples for case in record.cases if case.seconds)


def test_a_compression_bomb_is_not_unpacked(tmp_path: Path) -> None:
    (tmp_path / RECORD).write_bytes(pack(few())[RECORD])
    (tmp_path / COMPRESSED).write_bytes(bz2.compress(bytes(MOST_BYTES + 1)))
    record, held = load(tmp_path)
    assert f"has more than {MOST_BYTES} bytes of samples" in record.unread[0]
    assert [*held] == [RECORD] and record.cases


@pytest.mark.parametrize("name", ["W" * 41, "a`b", "<b>", "a|b", "../../etc"])
def test_a_row_with_an_unprintable_name_is_left_out(name: str, tmp_path: Path) -> None:
    record, _ = load(keep(tmp_path, json.loads(json.dumps(few()).replace("s0_tiles", name))))
    assert record.cases and not any(case.strategy == "s0_tiles" for case in record.cases)
    assert any("must be a name" in each for each in record.unread)


def test_a_record_may_begin_with_a_byte_order_mark(report: Report, tmp_path: Path) -> None:
    path = keep(tmp_path / "marked", few()) / RECORD
    path.write_bytes(path.read_text().encode("utf-8-sig"))
    assert report(path.parent)


def test_an_infinite_error_affects_only_its_case(report: Report) -> None:
    """Elements that a kernel leaves unwritten are NaN."""
    record = spoil(few(), "/tile16/4096x", "incorrect", "on integers: element 7 is nan")
    for case in matching(record, "/tile16/4096x"):
        case["error"] = {"value": None, "bound": 1.0, "metric": "max |error| / (|A||B|)"}
    files = report(record)
    linked(files)
    assert "not finite / 1.0e+00" in text_of(files).replace("\N{NO-BREAK SPACE}", " ")
