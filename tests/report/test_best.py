"""What `best` chooses by is what a committed record says, and nothing else."""

from __future__ import annotations

import json
import re
from pathlib import Path

import best
import pytest
from best import choices, fastest, tables
from conftest import REPORTS, called, one_line
from recheck_report.model.record import Record, load
from synthetic import SMALL, Json, make_record, matching, scale, set_time

ROOT = REPORTS.parent
KERNELS = ROOT / "kernels"
SOURCE = """
constexpr Choice<MatmulArgs> choices[] = {
    {.name = "global16", .least = 75, .launch = run<global<16>>},
    {.name = "tile16", .least = 75, .launch = run<tile<16, 1>>},
};
#include "best.inc"
"""


@pytest.fixture
def kernels(tmp_path: Path) -> Path:
    """A tree of one experiment that chooses, beside tmp_path/results/a-gpu/record.json."""
    (tmp_path / "kernels/matmul").mkdir(parents=True)
    (tmp_path / "kernels/matmul/best.cu").write_text(SOURCE)
    _commit(tmp_path, make_record(SMALL))
    return tmp_path / "kernels"


def _commit(folder: Path, record: Json) -> None:
    (folder / "results/a-gpu").mkdir(parents=True, exist_ok=True)
    (folder / "results/a-gpu/record.json").write_text(json.dumps(record))


def _write(kernels: Path) -> str:
    result = called(best.main, "--results", kernels.parent / "results", "--kernels", kernels)
    assert result.returncode == 0, result.stderr
    return result.stdout


def _table(path: Path) -> list[tuple[tuple[int, int], str, str]]:
    """GPU, shape and row of each line of a table."""
    line = re.compile(r'^\{\{(\d+), (\d+)\}, \{([\d, ]+)\}, "(\w+)"\},$', re.MULTILINE)
    found = line.findall(path.read_text())
    return [((int(cc), int(sm)), shape.replace(", ", "x"), name) for cc, sm, shape, name in found]


def test_a_table_has_the_fastest_choice_at_every_shape(kernels: Path) -> None:
    record = make_record(SMALL)
    first = next(case["shape"] for case in matching(record, "/tile16/") if case["regime"] == "cold")
    shape = "x".join(map(str, first.values()))
    _commit(kernels.parent, scale(record, f"matmul/global16/{shape}/cold", 0.001))
    assert _write(kernels) == f"{kernels}/matmul/best.inc\n"
    table = _table(kernels / "matmul/best.inc")
    # what is no choice is faster everywhere, and is not in it
    assert {name for _, _, name in table} == {"global16", "tile16"}
    assert [name for _, at, name in table if at == shape] == ["global16"]
    assert len({at for _, at, _ in table}) == len(table) == len(SMALL)
    assert {gpu for gpu, _, _ in table} == {(90, 132)}


def test_behind_a_row_that_needs_more_stands_what_needs_less(kernels: Path) -> None:
    source = SOURCE.replace('"tile16", .least = 75', '"tile16", .least = 90, .most = hopper_only')
    record = make_record(SMALL)
    for case in matching(record, "/global16/"):
        record = scale(record, case["id"], 1000)
    _commit(kernels.parent, record)
    (kernels / "matmul/best.cu").write_text(source)
    assert choices(source) == {"global16": 75, "tile16": float("inf")}
    _write(kernels)
    table = _table(kernels / "matmul/best.inc")
    assert [name for _, _, name in table] == ["tile16", "global16"] * len(SMALL)
    assert [at for _, at, _ in table[::2]] == [at for _, at, _ in table[1::2]]


def test_a_table_that_holds_is_left_alone(kernels: Path) -> None:
    _write(kernels)
    before = (kernels / "matmul/best.inc").stat().st_mtime_ns
    assert _write(kernels) == ""
    assert (kernels / "matmul/best.inc").stat().st_mtime_ns == before


def test_what_was_not_measured_is_not_chosen(kernels: Path) -> None:
    record = make_record(SMALL)
    record["cases"] = [c for c in record["cases"] if "/tile16/" not in c["id"]]
    _commit(kernels.parent, record)
    _write(kernels)
    assert {name for _, _, name in _table(kernels / "matmul/best.inc")} == {"global16"}


def test_a_record_that_cannot_be_read_changes_nothing(kernels: Path) -> None:
    _write(kernels)
    before = (kernels / "matmul/best.inc").read_bytes()
    (kernels.parent / "results/a-gpu/record.json").write_text("{")
    result = called(best.main, "--results", kernels.parent / "results", "--kernels", kernels)
    assert "record.json" in one_line(result, 2)
    assert (kernels / "matmul/best.inc").read_bytes() == before


RECORDS = sorted((REPORTS / "results").glob("*/record.json"))


def _slower(record: Record, path: Path, tolerance: float) -> list[str]:
    """Where the row that a table names is slower than another choice, by the record. A row that is
    newer than the record it says nothing about."""
    needs = choices(path.with_name("best.cu").read_text())
    layout = "column_major" if "column_major" in path.name else "row_major"
    experiment = next(each for each in record.experiments if each.name == path.parent.name)
    gpu = record.environment.gpu
    assert gpu is not None
    here = (round(10 * float(gpu.compute_capability)), gpu.sm_count)
    rows = {row.strategy for row in record.strategies(experiment)}
    found = []
    for at, shape, name in _table(path):
        if at != here or (name in needs and name not in rows):
            continue
        own = record.find(experiment, name, shape, "cold")
        if own is None or own.seconds is None:
            found.append(f"{shape}: {name} has no time")
            continue
        # of those that run wherever it does
        others = {each: need for each, need in needs.items() if need <= needs[name]}
        for case in fastest(record, experiment, others, layout):
            if case.shape_name == shape and own.time.median > tolerance * case.time.median:
                found.append(f"{shape}: {name} is slower than {case.strategy}")
    timed = {case.shape_name for case in fastest(record, experiment, needs, layout)}
    known = {shape for at, shape, _ in _table(path) if at == here}
    return found + [f"{shape}: no row has a time" for shape in sorted(timed - known)]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.parent.name)
def test_the_committed_tables_choose_within_five_percent_of_the_fastest(path: Path) -> None:
    record, _ = load(path)
    if not any(case.strategy == "best" for case in record.cases):
        pytest.skip("the record is older than the tables")
    found = tables([record], KERNELS)
    assert len(found) == 4
    for inc in found:
        assert not _slower(record, inc, 1.05), inc


def test_a_wrong_choice_is_seen(kernels: Path, tmp_path: Path) -> None:
    record = make_record(SMALL)
    _commit(kernels.parent, record)
    _write(kernels)
    table = kernels / "matmul/best.inc"
    slow = [shape for _, shape, name in _table(table) if name == "tile16"]
    assert slow
    for case in matching(record, "/global16/"):
        if case["regime"] == "cold":
            set_time(case, 1e-9, 1e-9, 1e-9)
    _commit(kernels.parent, record)
    loaded, _ = load(tmp_path / "results/a-gpu/record.json")
    found = _slower(loaded, table, 1.05)
    assert found == [f"{shape}: tile16 is slower than global16" for shape in slow]


def test_of_a_row_newer_than_the_record_it_says_nothing(kernels: Path, tmp_path: Path) -> None:
    _write(kernels)
    table, source = kernels / "matmul/best.inc", kernels / "matmul/best.cu"
    table.write_text(table.read_text().replace('"tile16"', '"newcomer"'))
    loaded, _ = load(tmp_path / "results/a-gpu/record.json")
    unknown = _slower(loaded, table, 1.05)
    assert all("newcomer has no time" in line for line in unknown)
    assert len(unknown) == table.read_text().count("newcomer") > 0
    choice = '    {.name = "tile16", .least = 75, .launch = run<tile<16, 1>>},\n'
    listed = source.read_text().replace(choice, choice + choice.replace("tile16", "newcomer"))
    source.write_text(listed)
    assert _slower(loaded, table, 1.05) == []
