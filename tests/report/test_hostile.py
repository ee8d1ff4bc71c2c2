"""Files that are there to harm whoever reads them: each ends in one line, and nothing outside is
touched."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import REPORTS, one_line, run
from recheck_report.model.record import MOST_LINE, RECORD, SAMPLES, load
from recheck_report.model.typed import BadRecord, bytes_of
from synthetic import SMALL, make_record, pack, unpack

COMMITTED = REPORTS / "results" / "nvidia-h200"


def test_a_pipe_keeps_nobody_waiting(report: Callable[..., str], tmp_path: Path) -> None:
    report(make_record(SMALL))
    os.mkfifo(tmp_path / "report" / "more.md")
    with pytest.raises(BadRecord, match="is no regular file"):
        bytes_of(tmp_path / "report" / "more.md")
    assert "is no regular file" in one_line(run("lint", tmp_path / "report"), 2)


@pytest.mark.parametrize(
    "name",
    ["README.md", "matmul.md", "record.json", "report.html", "CITATION.cff", "verdicts.json"],
)
def test_a_pipe_among_the_files_of_a_report_is_not_read(
    name: str, save: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    os.mkfifo(tmp_path / "out" / name)
    line = one_line(run("render", save(make_record(SMALL)), "--output", tmp_path / "out"), 1)
    assert "is no plain file; move it away, or choose another --output" in line


def test_nor_is_one_in_a_report_beside_it(report: Callable[..., str], tmp_path: Path) -> None:
    report(make_record(SMALL))
    (tmp_path / "report" / "beside" / "mine").mkdir(parents=True)
    os.mkfifo(tmp_path / "report" / "beside" / "mine" / "README.md")
    report(make_record(SMALL))
    assert (tmp_path / "report" / "beside" / "mine" / "README.md").is_fifo()


def test_a_pipe_is_not_received(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "c.zip")
    line = one_line(run("receive", tmp_path / "c.zip", "--results", tmp_path / "results"), 2)
    assert "c.zip: not received: is no regular file" in line


def test_a_huge_page_is_refused_unread(report: Callable[..., str], tmp_path: Path) -> None:
    report(make_record(SMALL))
    with (tmp_path / "report" / "more.md").open("wb") as file:
        file.truncate(1 << 40)
    assert "has more than" in one_line(run("lint", tmp_path / "report"), 2)


def test_samples_of_nothing_are_refused(tmp_path: Path) -> None:
    folder = unpack(pack(make_record(SMALL)), tmp_path / "input")
    lines = [json.loads(line) for line in (folder / SAMPLES).read_text().splitlines()]
    lines[0]["samples"][0] = 5e-324
    (folder / SAMPLES).write_text("\n".join(map(json.dumps, lines)))
    with pytest.raises(BadRecord, match="must be above 1e-12 and below 1e9"):
        load(folder / RECORD)


def test_a_line_of_samples_has_an_end(tmp_path: Path) -> None:
    folder = unpack(pack(make_record(SMALL)), tmp_path / "input")
    with (folder / SAMPLES).open("a") as file:
        file.write("[" + "{}," * (MOST_LINE // 3) + "{}]\n")
    with pytest.raises(BadRecord, match="has more than"):
        load(folder / RECORD)


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


def test_an_error_sends_no_commands_to_the_terminal(save: Callable[..., Path]) -> None:
    record = make_record(SMALL)
    record["\x1b]0;owned\x07"] = 1
    line = one_line(run("render", save(record), "--output", "/nonexistent"), 2)
    assert "owned" in line and "\x1b" not in line and "\x07" not in line


def test_a_name_that_charts_have_no_room_for_is_refused(tmp_path: Path) -> None:
    text = json.dumps(make_record(SMALL)).replace("tile16", "W" * 41)
    with pytest.raises(BadRecord, match="name"):
        load(unpack(pack(json.loads(text)), tmp_path / "input") / RECORD)


def test_the_committed_record_keeps_these_rules() -> None:
    record, _ = load(COMMITTED / RECORD)
    assert record.cases
