"""Which changes two runs can tell, and from which records the table of their margins is."""

from __future__ import annotations

import copy
import errno
import json
import math
import os
import shutil
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from conftest import REPORTS, one_line, run
from recheck_report import formatting
from recheck_report.claims.load import Check
from recheck_report.claims.predicates import Questions
from recheck_report.history.committed import pilots, unpacked
from recheck_report.model.record import RECORD, Case, Record, load
from recheck_report.queries import DISPATCH
from recheck_report.sections import another as sections
from recheck_report.sections import summary
from recheck_report.sections.self_audit import between_processes
from recheck_report.statistics import another, variation
from recheck_report.statistics.audit import CONVENTION
from recheck_report.statistics.changes import changes, held_to, lost
from recheck_report.statistics.family import Comparisons
from recheck_report.statistics.ratio import Ratio
from recheck_report.statistics.variation import (
    CLASSES,
    GPU,
    OF_CPU,
    ONE_THREAD,
    PROCESS,
    TABLE,
    THREADS,
    Level,
    class_of,
    cpu_class,
    derive,
    known,
    level_of,
    margin,
    table_json,
)
from synthetic import (
    SMALL,
    Json,
    keep,
    make_audit,
    make_record,
    matching,
    pack,
    scale,
    set_time,
    spoil,
    unpack,
)
from synthetic_claims import measured

Load = Callable[[Any], Record]
ROWS = ["cpu_serial", "global16", "tile16", "cublas"]
H200 = "NVIDIA H200"


@pytest.fixture
def record() -> Json:
    return make_record(SMALL, strategies=ROWS)


def _case(record: Record, name: str) -> Case:
    return next(case for case in record.cases if case.id == name)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (9.9e-6, 1.0, "cold, under 10 µs"),
        (1.0, 9.9e-6, "cold, under 10 µs"),  # the shorter one decides, in either order
        (10e-6, 11e-6, "cold, 10 to 100 µs"),
        (100e-6, 1.0, "cold, 100 µs to 1 ms"),
        (1e-3, 1e-3, "cold, 1 ms and more"),
    ],
)
def test_a_class_is_that_of_the_shorter_time(
    old: float, new: float, kind: str, record: Json, loaded: Load
) -> None:
    other = copy.deepcopy(record)
    for each, seconds in ((record, old), (other, new)):
        (case,) = matching(each, "matmul/tile16/1024x1024x1024/cold")
        set_time(case, seconds, seconds, seconds)
    pair = [_case(loaded(each), "matmul/tile16/1024x1024x1024/cold") for each in (record, other)]
    assert class_of(pair[0], pair[1]) == kind


def test_classes_of_the_host(record: Json, loaded: Load) -> None:
    own = loaded(record)
    regimes = {class_of(case, case) for case in own.cases if case.seconds}
    assert {ONE_THREAD, "end to end"} <= regimes <= set(CLASSES)


def test_cpu_rows_of_several_threads_have_a_class_of_their_own(loaded: Load) -> None:
    own = loaded(make_record(SMALL, strategies=["cpu_serial", "cpu_blas", "tile16"]))
    found = {case.strategy: case for case in own.cases if case.regime == "hot" and case.seconds}
    assert class_of(found["cpu_serial"]) == ONE_THREAD
    assert class_of(found["cpu_blas"]) == THREADS
    assert cpu_class("cpu_sse_openmp2", "rung") == THREADS
    # of two, one with threads makes both vary
    assert class_of(found["cpu_serial"], found["cpu_blas"]) == THREADS
    assert class_of(found["cpu_serial"], found["tile16"]) == ONE_THREAD


def _one(record: Json, loaded: Load, *times: tuple[float, float, float]) -> str:
    """What becomes of a case of the class cold, 1 ms and more with these two times."""
    pair = []
    for seconds in times:
        made = copy.deepcopy(record)
        (case,) = matching(made, "matmul/tile16/4096x4096x4096/cold")
        set_time(case, *seconds)
        pair.append(loaded(made))
    old, new = pair
    found = {each.new.id: each for each in changes(old, new)}
    assert all(e.outcome == "no difference" for i, e in found.items() if "tile16/4096" not in i)
    return found["matmul/tile16/4096x4096x4096/cold"].outcome


def test_the_whole_interval_has_to_lie_beyond_the_margin(record: Json, loaded: Load) -> None:
    limit = 1 + margin("cold, 1 ms and more", {H200})
    old = 0.02, 0.02 * 0.999, 0.02 * 1.001
    for factor, slower in ((limit * 1.003, True), (limit * 1.001, False), (1.0, False)):
        new = (old[0] * factor, old[1] * factor, old[2] * factor)
        assert _one(record, loaded, old, new) == ("slower" if slower else "no difference")
        # the other way round it is as much faster
        assert _one(record, loaded, new, old) == ("faster" if slower else "no difference")


def _table(path: Path, spreads: dict[str, dict[str, float]], *kinds: str) -> Path:
    """By GPU model and level, one width for all quantiles of the classes."""
    models = []
    for gpu, widths in spreads.items():
        levels = []
        for level, wide in widths.items():
            quantiles = dict.fromkeys(("half", "predicted", "margin", "largest"), wide)
            classes = [{"name": kind, "count": 9, **quantiles} for kind in kinds]
            own = {"held_out": None, "classes": classes}
            levels.append(
                dict.fromkeys(("pairs", "runs", "possible"), 1)
                | {"gpus": 3, "level": level, "medians": own, "ratios": own}
            )
        models.append({"gpu": gpu, "records": [], "levels": levels})
    path.write_text(json.dumps({"models": models}))
    return path


def test_margins_of_models_that_nobody_ran_twice_are_the_widest_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    models = {"A": {GPU: 0.01}, "B": {GPU: 0.02, PROCESS: 0.005}}
    path = _table(tmp_path / "table.json", models, "inner")
    monkeypatch.setattr(variation, "known", lambda: known(path))
    assert (margin("inner", {"A"}), margin("inner", {"B"})) == (0.01, 0.02)
    # of A two GPUs were compared, and no two processes
    assert margin("inner", {"A"}, PROCESS) == margin("inner", {"B"}, PROCESS) == 0.005
    assert margin("inner", {"A", "B"}) == margin("inner", {"A", "C"}) == margin("inner", ()) == 0.02
    assert margin("cold, under 10 µs", {"A"}) == math.inf


def test_what_is_known_beside_one_process_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, record: Json, loaded: Load
) -> None:
    here, elsewhere = {H200: {GPU: 0.04}}, {"NVIDIA B": {PROCESS: 0.02}}
    allowed = ", and verdicts allow for what those on an NVIDIA B differ by"
    for at, (models, more, least) in enumerate(
        ((here | elsewhere, allowed, 0.02), (elsewhere, allowed, 0.02), (here, "", CONVENTION))
    ):
        path = _table(tmp_path / f"{at}.json", models, *CLASSES)
        monkeypatch.setattr(variation, "known", lambda path=path: known(path))
        own = loaded(record)
        told = f"on one GPU; what another measures is not known of this model{more}."
        assert summary.trusted(measured(own), []).endswith(told)
        base, other = (own.by_id[f"matmul/{row}/1024x1024x1024/cold"] for row in ROWS[1:3])
        assert Comparisons(own).ratio(base, other).resolution == pytest.approx(least)
        (again,) = (each.reason for each in sections.levels(own) if "again" in each.title)
        assert ("on an NVIDIA B (cold, under 10 µs: 2.0 %; " in again) == bool(more)


def test_two_gpus_say_nothing_of_a_third(tmp_path: Path) -> None:
    path = _table(tmp_path / "three.json", {"A": {GPU: 0.01, PROCESS: 0.01}}, "inner")
    assert [each.level for each in known(path)["A"].levels] == [GPU, PROCESS]
    few = path.with_name("two.json")
    few.write_text(path.read_text().replace('"gpus": 3', '"gpus": 2'))
    assert [each.level for each in known(few)["A"].levels] == [PROCESS]


def test_what_lost_its_time(record: Json, loaded: Load) -> None:
    broken = spoil(record, "/tile16/1024x", "incorrect", "wrong at [3, 4]")
    broken["cases"] = [case for case in broken["cases"] if case["strategy"] != "global16"]
    own, new = loaded(record), loaded(broken)
    found = {old.id: each.status if each else None for old, each in lost(own, new)}
    expected = {c.id: None for c in own.cases if c.strategy == "global16" and c.seconds}
    wrong = {c.id: "incorrect" for c in own.cases if "/tile16/1024x" in c.id}
    assert found == expected | wrong and wrong
    assert lost(new, own) == []


# what another run would measure


def _level(tmp_path: Path, level: str, wide: float) -> Level:
    path = _table(tmp_path / f"{level}.json", {H200: {level: wide}}, *CLASSES)
    found = known(path)[H200].at(level)
    assert found
    return found


def test_a_prediction_holds_the_interval_and_the_variation(
    record: Json, loaded: Load, tmp_path: Path
) -> None:
    own = loaded(record)
    level = _level(tmp_path, GPU, 0.04)
    case = _case(own, "matmul/tile16/1024x1024x1024/cold")
    low, high = another.times(case, level)
    for end, own_end in ((low, case.time.low), (high, case.time.high)):
        parts = math.log(own_end / case.time.median), math.log(1.04)
        assert abs(math.log(end / case.time.median)) == pytest.approx(math.hypot(*parts))
    base = _case(own, "matmul/global16/1024x1024x1024/cold")
    ratio = Ratio(2.0, 2.0, 2.0)
    paired = another.ratio(ratio, (base, case), level)
    assert (paired.low, paired.high) == pytest.approx((2 / 1.04, 2 * 1.04))
    # not measured in turns: both change by themselves
    far = _case(own, "matmul/tile16/4096x4096x4096/cold")
    apart = another.ratio(ratio, (far, case), level)
    assert math.log(apart.high / 2) == pytest.approx(2 * math.log(1.04))
    serial = _case(own, "matmul/cpu_serial/1024x1024x1024/hot")
    with pytest.raises(another.Unknown, match="hosts differ"):
        another.times(serial, level)
    # another process runs on the same host
    assert another.times(serial, _level(tmp_path, PROCESS, 0.04))[1] > 1.04 * serial.time.median


@pytest.mark.parametrize(
    ("level", "wide", "outcomes"),
    [
        (GPU, 0.5, ["faster", "faster", "faster"]),  # says nothing of this GPU
        (PROCESS, 0.04, ["no difference", "faster", "no difference"]),
        (PROCESS, 1e-6, ["faster", "faster", "faster"]),  # the self-audit needs more
    ],
)
def test_what_processes_differ_by_is_no_difference(
    level: str,
    wide: float,
    outcomes: list[str],
    record: Json,
    loaded: Load,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Of 3 % and 5 % in turns; and of 5 % where two rows that were not in turns add up."""
    path = _table(tmp_path / "table.json", {H200: {level: wide}}, *CLASSES)
    monkeypatch.setattr(variation, "known", lambda: known(path))
    for name, seconds in (("tile16", 0.02), ("global16", 0.0206), ("cublas", 0.021)):
        (case,) = matching(record, f"matmul/{name}/4096x4096x4096/cold")
        set_time(case, seconds, seconds, seconds)
    (hot,) = matching(record, "matmul/cublas/4096x4096x4096/hot")
    set_time(hot, 0.021, 0.021, 0.021)
    own = loaded(record)
    compare = Comparisons(own)
    tile16 = _case(own, "matmul/tile16/4096x4096x4096/cold")
    bases = ["global16/4096x4096x4096/cold", "cublas/4096x4096x4096/cold"]
    bases += ["cublas/4096x4096x4096/hot"]
    found = [compare.ratio(_case(own, f"matmul/{name}"), tile16) for name in bases]
    assert [each.outcome for each in found] == outcomes
    said = between_processes(compare)
    assert ("two processes" in said) == (level == PROCESS)


def test_slowdowns_are_found_where_processes_allow_it(
    loaded: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for wide, said in (
        (0.003, "100 % of 128 with 1 % more work, 100 % of 128 with 2 %"),
        (0.015, "the report calls slower 100 % of 128 with 2 % more work"),
        (0.2, "if that is more."),
    ):
        path = _table(tmp_path / f"{wide}.json", {H200: {PROCESS: wide}}, *CLASSES)
        monkeypatch.setattr(variation, "known", lambda path=path: known(path))
        text = between_processes(Comparisons(loaded(make_audit())))
        assert said in text and ("1 %" in text) == (wide < 0.01)


def test_a_verdict_of_another_process_counts_its_variation_once(
    record: Json, loaded: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = _table(tmp_path / "table.json", {H200: {PROCESS: 0.04}}, *CLASSES)
    monkeypatch.setattr(variation, "known", lambda: known(path))
    for name, seconds in (("tile16", 0.02), ("global16", 0.0212)):
        (case,) = matching(record, f"matmul/{name}/4096x4096x4096/cold")
        set_time(case, seconds, seconds, seconds)
    own = loaded(record)
    names = [f"matmul/{name}/4096x4096x4096/cold" for name in ("global16", "tile16")]
    check = Check("ratio", base=names[0], other=names[1], above=1.0)
    here, there = (
        Questions(own, None, level).ask(check) for level in (None, level_of(H200, PROCESS))
    )
    assert (here.verdict, there.verdict) == ("holds", "holds")


def test_what_nobody_measured_twice_is_not_predicted(
    record: Json, loaded: Load, tmp_path: Path
) -> None:
    case = _case(loaded(record), "matmul/tile16/1024x1024x1024/cold")
    level = known(_table(tmp_path / "few.json", {H200: {GPU: 0.04}}, "inner"))[H200].at(GPU)
    assert level
    with pytest.raises(another.Unknown, match="of the class cold"):
        another.times(case, level)
    assert level_of("NVIDIA L4", GPU) is None and level_of(None, GPU) is None


def test_records_of_one_gpu_are_held_to_what_another_process_differs_by(
    record: Json, loaded: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = copy.deepcopy(record)
    other["environment"]["gpu"]["uuid_hash"] = "f" * 16
    own, same, another_gpu = loaded(record), loaded(copy.deepcopy(record)), loaded(other)
    for widths, level in (({PROCESS: 0.01, GPU: 0.05}, PROCESS), ({GPU: 0.05}, GPU)):
        path = _table(tmp_path / f"{level}.json", {H200: widths}, *CLASSES)
        monkeypatch.setattr(variation, "known", lambda path=path: known(path))
        assert held_to(own, same) == level
        assert {each.margin for each in changes(own, same)} == {widths[level]}
        assert held_to(own, another_gpu) == GPU
        assert {each.margin for each in changes(own, another_gpu)} == {0.05}


# the table


def _runs(record: Json, *factors: float, **environment: Any) -> list[Json]:
    """Runs of one code, whose GPU rows take so many times as long."""
    made = []
    for at, factor in enumerate(factors):
        own = scale(record, "matmul/", factor)
        own["environment"]["cubins"] = {"matmul/tile.cu": "a" * 16, "matmul/global.cu": "b" * 16}
        own["environment"]["started"] = f"2026-11-2{at}T00:00:00Z"
        own["finished"] = f"2026-11-2{at}T00:10:00Z"
        own["environment"] |= environment if at == len(factors) - 1 else {}
        made.append(own)
    return made


def test_quantiles_are_of_all_pairs(record: Json, loaded: Load) -> None:
    (found,) = derive([loaded(each) for each in _runs(record, 1.0, 1.1, 1.32)])
    (level,) = found.levels
    assert (found.gpu, level.pairs, len(found.records)) == (H200, 3, 3)
    for each in level.medians.classes:
        # 1.1, 1.2 and 1.32 times, as often as one another
        assert (each.half, each.predicted, each.largest) == pytest.approx((0.2, 0.32, 0.32))
        assert each.margin == each.largest and each.count % 3 == 0
    timed = sum(case["seconds"] is not None for case in record["cases"])
    assert sum(each.count for each in level.medians.classes) == 3 * timed
    # whatever hits all rows alike moves no ratio
    assert max(each.largest for each in level.ratios.classes) < 1e-12


def test_ratios_are_of_cases_measured_in_turns(record: Json, loaded: Load) -> None:
    """One row of the GPU's slower by a tenth: its ratios move, and those of the others do not."""
    runs = _runs(record, 1.0, 1.0)
    runs[1] = scale(runs[1], "matmul/tile16/", 1.1)
    (found,) = derive([loaded(each) for each in runs])
    (level,) = found.levels
    groups: dict[tuple[str, ...], list[str]] = {}
    for case in loaded(record).cases:
        if case.seconds:
            key = case.experiment, case.target, case.regime, case.shape_name
            groups.setdefault(key, []).append(case.strategy)
    pairs = sum(len(own) * (len(own) - 1) // 2 for own in groups.values())
    assert sum(each.count for each in level.ratios.classes) == pairs
    moved = {each.name: each.largest for each in level.ratios.classes}
    assert moved.pop(ONE_THREAD, 0.0) == 0.0
    assert moved and list(moved.values()) == pytest.approx([0.1] * len(moved))


@pytest.mark.parametrize(("uuid", "level"), [("0" * 16, PROCESS), ("1" * 16, GPU), (None, GPU)])
def test_levels_by_the_hash_of_the_gpu(
    uuid: str | None, level: str, record: Json, loaded: Load
) -> None:
    runs = _runs(record, 1.0, 1.1)
    for each, name in zip(runs, ("0" * 16, uuid), strict=True):
        each["environment"]["gpu"]["uuid_hash"] = name
    (found,) = derive([loaded(each) for each in runs])
    assert [each.level for each in found.levels] == [level]


def test_a_gpu_that_is_left_out_is_predicted_from_the_others(record: Json, loaded: Load) -> None:
    """Of four GPUs one is 30 % slower than the rest: none of its medians is where they say."""
    runs = _runs(record, 1.0, 1.001, 1.002, 1.3)
    for at, each in enumerate(runs):
        each["environment"]["gpu"]["uuid_hash"] = f"{at:016}"
    (found,) = derive([loaded(each) for each in runs])
    held = found.levels[0].medians.held_out
    assert held and held.kind not in OF_CPU
    # Each of four is predicted by three others. The slow one never is; and the fastest not from the
    # slow one, as no other pair lies that far apart.
    assert held.worst == pytest.approx(8 / 12, abs=1e-4)
    alone = derive([loaded(each) for each in runs[:2]])[0].levels[0]
    assert alone.medians.held_out is None


@pytest.mark.parametrize(
    "environment",
    [
        {"cubins": {"matmul/tile.cu": "c" * 16, "matmul/global.cu": "b" * 16}},
        {"cubins": None},
        {"driver": "999.9"},
        {"cuda_runtime": "99.0"},
    ],
)
def test_other_code_is_left_out(environment: Json, record: Json, loaded: Load) -> None:
    """An experiment of which a kernel file changed, or of which nobody knows."""
    (found,) = derive([loaded(each) for each in _runs(record, 1.0, 2.0, **environment)])
    assert found.levels == ()


@pytest.mark.parametrize(
    ("queued", "shares", "pairs"),
    [
        ((1, 1), (1280, 2900), 1),  # one sample at a time: the host makes no difference
        ((None, None), (1280, 1340), 1),
        ((None, None), (1280, 2900), 0),  # several: it does
        ((None, 1), (1280, 1280), 0),  # and so does how they are taken
    ],
)
def test_times_of_timers_that_differ_are_not_held_against_each_other(
    queued: tuple[int | None, int | None],
    shares: tuple[int, int],
    pairs: int,
    record: Json,
    tmp_path: Path,
) -> None:
    runs = []
    for own, count, share in zip(_runs(record, 1.0, 1.01), queued, shares, strict=True):
        own["environment"]["state"] |= {"event_nanoseconds": share}
        folder = unpack(pack(own | {"method": {"queued_samples": count}}), tmp_path)
        runs.append(load(folder)[0])
    (found,) = derive(runs)
    assert sum(each.pairs for each in found.levels) == pairs


def test_new_kernels_leave_the_old_ones_comparable(record: Json, loaded: Load) -> None:
    cubins = {"matmul/tile.cu": "a" * 16, "matmul/new.cu": "d" * 16, "transpose/naive.cu": "e" * 16}
    (found,) = derive([loaded(each) for each in _runs(record, 1.0, 1.5, cubins=cubins)])
    (level,) = found.levels
    assert level.pairs == 1 and len(level.medians.classes) > 1


def test_rows_that_the_host_decides_on_are_left_out(record: Json, loaded: Load) -> None:
    runs = [loaded(each) for each in _runs(record, 1.0, 1.5)]
    (every,), (some,) = derive(runs), derive(runs, ["tile16"])
    own = sum(c.strategy == "tile16" and c.seconds is not None for c in runs[0].cases)
    counts = [sum(e.count for e in each.levels[0].medians.classes) for each in (every, some)]
    assert counts[0] - counts[1] == own


def test_models_are_apart(record: Json, loaded: Load) -> None:
    runs = _runs(record, 1.0, 1.5, 1.0)
    runs[2]["environment"]["gpu"]["name"] = "NVIDIA L4"
    found = derive([loaded(each) for each in runs])
    assert [(e.gpu, e.levels[0].pairs) for e in found] == [(H200, 1)]


def test_the_command_writes_what_is_read(record: Json, tmp_path: Path) -> None:
    paths = []
    for at, own in enumerate(_runs(record, 1.0, 1.25)):
        paths.append(keep(tmp_path / f"{at}" / "record.json", own))
    table = tmp_path / "table.json"
    result = run("variation", *paths, "--output", table)
    assert result.returncode == 0, result.stderr
    assert "NVIDIA H200: 2 runs" in result.stdout
    assert "1 pairs with the same device code" in result.stdout
    assert "999 of 1000 within 25 %" in result.stdout
    (found,) = known(table).values()
    assert table.read_bytes() == table_json([found])
    assert {each.margin for each in found.levels[0].medians.classes} == {0.25}
    # in any order
    run("variation", *paths[::-1], "--output", tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == table.read_bytes()


@pytest.mark.parametrize("text", ["mine", "{}", "[]", ""])
def test_a_file_that_is_no_table_stays(text: str, record: Json, tmp_path: Path) -> None:
    path, mine = tmp_path / "record.json", tmp_path / "mine.json"
    keep(path, record)
    mine.write_text(text)
    line = one_line(run("variation", path, path, "--output", mine), 1)
    assert "mine.json: is no table of `variation`; name another --output" in line
    assert mine.read_text() == text


def test_a_table_is_replaced_as_a_whole(
    record: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / "0" / "record.json", tmp_path / "1" / "record.json"]
    for path, own in zip(paths, _runs(record, 1.0, 1.25), strict=True):
        keep(path, own)
    table = tmp_path / "table.json"
    table.write_text('{"models": []}')

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync", full)
        line = one_line(run("variation", *paths, "--output", table), 1)
    assert line == f"error: {table}: cannot be written: No space left on device\n"
    assert table.read_text() == '{"models": []}'
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0", "1", "table.json"]
    assert run("variation", *paths, "--output", table).returncode == 0
    assert len(known(table)) == 1


def test_one_run_makes_no_table(record: Json, tmp_path: Path) -> None:
    path = tmp_path / "record.json"
    keep(path, record)
    line = one_line(run("variation", path, "--output", tmp_path / "table.json"), 2)
    assert "no two of these records are of one GPU model" in line
    assert not (tmp_path / "table.json").exists()


def test_the_committed_table_knows_every_class() -> None:
    own = known()[H200]
    for level in own.levels:
        for what in (level.medians, level.ratios):
            assert tuple(each.name for each in what.classes) == CLASSES
            for each in what.classes:
                assert 0 < each.half <= each.predicted <= each.margin <= each.largest
                # long CPU rows are left out of pilots: five values of each pair of runs are there
                few = 5 * level.pairs if each.name in OF_CPU else 100
                assert each.count >= (500 if level.level == GPU else few)
    between = own.at(GPU)
    assert between and between.pairs > 10


def test_predictions_hold_for_a_run_that_they_do_not_come_from() -> None:
    """95 of 100 medians and ratios of a GPU, or of a process, that was left out, and 93 of 100 of
    each class."""
    for level in known()[H200].levels:
        for what in (level.medians, level.ratios):
            assert what.held_out and what.held_out.share >= 0.95 and what.held_out.worst >= 0.93


def test_the_documentation_has_these_margins() -> None:
    text = (REPORTS / "README.md").read_text(encoding="utf-8")
    for level in known()[H200].levels:
        for each, other in zip(level.medians.classes, level.ratios.classes, strict=True):
            widths = (each.half, each.predicted, each.margin, other.predicted)
            parts = [each.name, str(each.count), *map(formatting.margin, widths)]
            assert f"| {' | '.join(parts)} |\n" in text


# the records that the table is from, out of the history


@pytest.fixture(scope="module")
def every(tmp_path_factory: pytest.TempPathFactory) -> list[Record]:
    """The table's records: evidence out of the history, and pilots."""
    if not shutil.which("git"):
        pytest.skip("git was not found")
    wanted = {each["started"] for own in known().values() for each in own.records}
    paths = pilots(REPORTS / "pilot")
    for gpu in (REPORTS / "results").iterdir():
        paths += unpacked(gpu, tmp_path_factory.mktemp("runs"))
    started = {each: json.loads((each / RECORD).read_bytes())["environment"] for each in paths}
    found = [load(each)[0] for each in paths if started[each]["started"] in wanted]
    if missing := len(wanted) - len(found):
        pytest.skip(f"the history lacks {missing} of {len(wanted)} records: a shallow clone?")
    return found


@pytest.fixture(scope="module")
def runs(every: list[Record]) -> list[Record]:
    """Those of the full matrix, on an H200."""
    full = (each for each in every if each.plan.preset == "full")
    return [each for each in full if each.environment.gpu and each.environment.gpu.name == H200]


def test_the_committed_table_is_what_its_records_make(every: list[Record]) -> None:
    assert table_json(derive(every, DISPATCH)) == TABLE.read_bytes()


def test_every_kept_pilot_is_in_the_table() -> None:
    known_of = {each["started"] for own in known().values() for each in own.records}
    for path in pilots(REPORTS / "pilot"):
        own = json.loads((path / RECORD).read_bytes())["environment"]
        assert own["started"] in known_of, path


def _same_code(old: Record, new: Record) -> bool:
    hashes = [each.environment.cubins or {} for each in (old, new)]
    common = hashes[0].keys() & hashes[1].keys()
    return all(hashes[0][name] == hashes[1][name] for name in common)


def test_nearly_nothing_is_claimed_between_runs_of_the_same_code(runs: list[Record]) -> None:
    """Measured: 0 to 5 of 1990 to 2566 cases: those of pairs with the same device code."""
    pairs = [pair for pair in combinations(runs, 2) if _same_code(*pair)]
    assert len(pairs) >= 4
    for old, new in pairs:
        found = [each for each in changes(old, new) if each.outcome != "no difference"]
        assert len(found) <= 6, [each.new.id for each in found]


def test_margins_hold_for_a_run_that_they_do_not_come_from(
    runs: list[Record], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each run held against the others of the same code, by margins from these others alone.

    Measured: 3.4 of some 2400 cases on average, 8 at most.
    """
    counts = []
    for at, one in enumerate(runs):
        others = [each for each in runs if each is not one]
        path = tmp_path / f"{at}.json"
        path.write_bytes(table_json(derive(others, DISPATCH)))
        monkeypatch.setattr(variation, "known", lambda path=path: known(path))
        for other in others:
            if _same_code(other, one):
                found = changes(other, one)
                counts.append(sum(each.outcome != "no difference" for each in found))
    assert sum(counts) / len(counts) <= 6 and max(counts) <= 12, counts


@pytest.mark.parametrize(
    ("as_far", "chance"),
    [
        (((1, 15),), Fraction(1, 15)),
        (((2, 15),), Fraction(2, 15)),
        (((4, 15), (1, 15)), Fraction(10, 225)),  # 4 + 3 + 2 + 1 pairs of ranks
        (((15, 15), (1, 15)), Fraction(120, 225)),
        (((1, 2), (1, 3)), Fraction(1, 6)),
    ],
)
def test_the_seed_is_asked_about_in_all_pilots_together(
    as_far: tuple[tuple[int, int], ...], chance: Fraction
) -> None:
    seeds = variation.Seeds(3, 12, (), (), as_far)
    assert seeds.chance == chance and seeds.matter == (chance <= 0.1)
