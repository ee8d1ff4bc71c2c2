"""Files that are there to harm whoever reads them: each ends in one line or a note, and nothing
outside is touched."""

from __future__ import annotations

import bz2
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import one_line, run
from recheck_report.model.read import COMPRESSED, MOST_LINE, RECORD, SAMPLES, load
from recheck_report.model.typed import MOST_BYTES, BadRecord, bytes_of
from synthetic import SMALL, make_record, pack, unpack


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
