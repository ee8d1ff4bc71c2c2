"""What `best` chooses by is what a committed record says, and nothing else."""

from __future__ import annotations

import json
import math
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import best
import cost
import pytest
from best import (
    COSTS,
    TIMES,
    Timed,
    all_tried,
    choices,
    fastest,
    retiled,
    runs_of,
    slower,
    tables,
    times_of,
    told_apart,
)
from conftest import REPORTS, called, one_line
from cost import (
    PORTABLE,
    Numbers,
    Plan,
    Times,
    costs,
    expected,
    fitted,
    kinds,
    plans,
    possible,
    tuned,
    waves,
)
from recheck_report.history.runs import HISTORY, added, of
from recheck_report.history.runs import load as load_history
from recheck_report.model.record import Record, load
from recheck_report.model.rehearsal import GOOD
from rehearsal import products
from synthetic import SMALL, Json, keep, make_record, matching, scale, set_time
from synthetic_rehearsal import make_rehearsal

ROOT = REPORTS.parent
HOPPER = 90  # which alone runs the choices that say .most
FIRST = "matvec"  # the choice that costs know nothing of
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
    keep(folder / "results/a-gpu/record.json", record)


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


@pytest.mark.parametrize("code", ["0011223344556677", "0" * 16])
def test_other_gpus_count_where_they_ran_the_same_code(
    kernels: Path, loaded: Callable[[Any], Record], code: str
) -> None:
    """On two of three GPUs, but not in the record that is committed, global16 is the fastest."""
    record = make_record(SMALL)
    record["environment"]["cubins"]["matmul/global.cu"] = "8899aabbccddeeff"
    others = []
    for at in (1, 2):
        other = scale(record, "matmul/global16/", 0.001)
        other["environment"] |= {"started": f"2026-01-0{at}T00:00:00Z"}
        other["environment"]["cubins"] = record["environment"]["cubins"] | {"matmul/tile.cu": code}
        others.append(of(loaded(other)))
    _commit(kernels.parent, record)
    _write(kernels)
    alone = _table(kernels / "matmul/best.inc")
    assert "tile16" in {name for _, _, name in alone}
    path = kernels.parent / "results/a-gpu" / HISTORY
    path.write_bytes(added(*others).json())
    _write(kernels)
    same = code == record["environment"]["cubins"]["matmul/tile.cu"]
    expected = [(gpu, shape, "global16") for gpu, shape, _ in alone] if same else alone
    assert _table(kernels / "matmul/best.inc") == expected


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


# costs

WHOLE = Plan(64, 64, 16, 2)
SHAPES = [(size, size, size) for size in (16, 64, 101, 256, 501, 1000, 1023, 2000, 4096)]


def test_costs_are_found_again_from_times_that_follow_them() -> None:
    numbers = Numbers(4.0, 3.0, 0.5, 0.4, 1.5, 0.3, 2.0, 0.3, 0.1, 1.0)
    flat = [(1400, 1401, 16), (1400, 1400, 1), (2000, 1000, 16), (1001, 2000, 32), (1400, 1400, 4)]
    flat += [(1000, 1000, 4), (600, 600, 17), (600, 601, 33), (64, 64, 1600), (1024, 1024, 1600)]
    flat += [(1024, 512, 1600), (1023, 1023, 1601)]
    times = {at: expected(WHOLE, numbers, waves(WHOLE, 132, at)) for at in [*SHAPES, *flat]}
    found = fitted(WHOLE, 132, times, times)
    assert found[:5] == pytest.approx(numbers[:5], rel=0.05)
    # of C and of waves there are as many: what they take is told by what both take
    assert found.wave > 0.2
    for at in [*times, (300, 5000, 200), (3000, 3000, 3), (4097, 4000, 60), (90, 90, 9000)]:
        cut = waves(WHOLE, 132, at)
        real = expected(WHOLE, numbers, cut)
        assert expected(WHOLE, found, cut) == pytest.approx(real, rel=0.05), at


def test_what_memory_gives_is_found_again_too() -> None:
    """Many products of few rows or columns, whose matrices take long to read."""
    plan, numbers = Plan(16, 8, 16, 2, blocks=256, cluster=1), (3, 2, 0.2, 0.2, 1, 0.1, 1, 1)
    thin = [(2, n, k) for n in (1000, 4000, 8000) for k in (16, 256, 4000)]
    thin += [(16, 8, 1024 * k) for k in (1, 4, 20, 100)]
    thin += [(128 * size, 128 * size, 2048) for size in range(1, 8)]
    for read in (2.0, 4.0):
        real = Numbers(*numbers, read, 0.1)
        times = {at: expected(plan, real, waves(plan, 132, at)) for at in thin}
        assert fitted(plan, 132, times, times).read == pytest.approx(read, rel=0.05)


def test_work_falls_to_multiprocessors_as_plans_say() -> None:
    def cut(plan: Plan, multiprocessors: int, at: tuple[int, int, int]) -> tuple[Any, ...]:
        own = waves(plan, multiprocessors, at)
        return own.launches, own.slabs, own.full, own.rest, own.vectors

    # launches, slabs of a block, full waves, blocks of the last one, vectors
    assert cut(WHOLE, 132, (64, 64, 160)) == (1, 10, 0, 1, True)
    assert cut(WHOLE, 132, (1024, 1024, 160)) == (1, 10, 1, 0, True)
    assert cut(WHOLE, 20, (1024, 1024, 17)) == (1, 2, 6, 1, False)
    split, shared = Plan(64, 64, 16, 2, 2), Plan(64, 128, 16, 3, 1, 384)
    assert cut(split, 132, (64, 64, 160)) == (1, 5, 0, 1, True)
    assert cut(shared, 132, (16, 16, 1000000)) == (2, 163, 1, 0, True)
    assert cut(shared, 132, (1024, 4096, 4096)) == (1, 256, 1, 1, True)
    even = Plan(128, 256, 16, 1, 1, 0, True)
    assert cut(even, 132, (16, 16, 1000000)) == (2, 474, 1, 0, True)
    # eight warps share k, and as many blocks as leave each warp a slab; 256 at most
    clustered = Plan(16, 32, 16, 2, 1, 0, False, 8)
    assert cut(Plan(16, 32, 16, 2, 1, 0, False, 1), 132, (1, 6, 6144)) == (1, 48, 0, 1, False)
    assert cut(clustered, 132, (1, 6, 6144)) == (1, 6, 0, 1, False)
    assert cut(clustered, 132, (1, 6, 1008)) == (1, 2, 0, 1, False)
    assert cut(clustered, 4, (16, 64, 6144)) == (1, 6, 3, 0, True)
    # of which 132 multiprocessors have room for 125 at a time
    assert cut(clustered, 132, (256, 32, 6144)) == (1, 6, 1, 0, True)
    assert cut(clustered, 132, (240, 32, 6144)) == (1, 6, 0, 1, True)
    assert cut(clustered, 132, (64, 1024, 6144)) == (1, 24, 1, 1, True)
    # or as leave it two, whose sums a second launch adds
    several = Plan(16, 32, 16, 2, 1, 256, False, 1)
    assert cut(several, 132, (1, 6, 512)) == (2, 2, 0, 1, False)
    assert cut(several, 132, (1, 6, 496)) == (1, 4, 0, 1, False)
    assert cut(several, 132, (1, 6, 98304)) == (2, 3, 1, 0, False)
    assert cut(several, 132, (64, 32, 98304)) == (2, 12, 1, 0, True)
    assert cut(several, 132, (64, 1024, 6144)) == (2, 24, 1, 0, True)
    # of two slabs 15 of 32 words lie beyond k; of a product without k nothing does
    assert waves(WHOLE, 132, (64, 64, 17)).beyond == 15 / 32
    assert waves(WHOLE, 132, (64, 64, 0)).beyond == 0
    # thousands of outputs, and whether a row of them is whole vectors, whatever k is
    # of the multiprocessor with most of the tiles: two of 128
    stored = waves(WHOLE, 100, (1000, 500, 3))
    assert (stored.outputs, stored.rows, stored.vectors) == (2 * 500 / 128, True, False)
    assert waves(even, 100, (1000, 1000, 16)).outputs == 1000 / 32
    assert waves(WHOLE, 100, (0, 1000, 16)).outputs == 0
    assert not waves(WHOLE, 100, (1000, 501, 4)).rows
    # words of A and B are read besides, and take 2 a million; words of C that are no whole vectors
    # are stored beside the slabs
    read = waves(WHOLE, 100, (1500, 500, 2000))
    assert read.words == 4.0
    free = Numbers(3, 0, 1e-9, 1e-9, 1, 0, 4, 1, 2, 0)
    assert expected(WHOLE, free, read) == pytest.approx(3 + 8, rel=1e-4)
    odd = waves(WHOLE, 100, (1280, 1001, 8))
    assert expected(WHOLE, free, odd) == pytest.approx(3 + 4 * odd.outputs, rel=1e-4)
    assert expected(WHOLE, free._replace(alone=100, each=100), odd) > 3 + 300


def test_plans_are_read_as_best_has_them() -> None:
    found = plans((KERNELS / "matmul/best.cu").read_text())
    assert found["warp_tile"] == Plan(128, 128, 16, 2)
    assert found["k_stretches"] == Plan(64, 128, 16, 3, blocks=384)
    assert found["stream_k"] == Plan(128, 256, 16, 1, even=True)
    assert found["k_clusters"] == Plan(16, 8, 16, 2, cluster=8)
    assert found["k_warps"] == Plan(16, 32, 16, 2, blocks=256, cluster=1)
    needs = choices((KERNELS / "matmul/best.cu").read_text())
    assert needs[FIRST] == 75
    assert needs.keys() - found.keys() == {FIRST}


def test_few_times_make_no_costs() -> None:
    known = {"warp_tile": WHOLE, "tile16": WHOLE}
    times = {
        at: expected(WHOLE, Numbers(4, 3, 1, 1, 1, 0.1, 1, 1, 1, 0.1), waves(WHOLE, 132, at))
        for at in SHAPES
    }
    few = dict(list(times.items())[:4])
    needs = {"warp_tile": 75.0, "tile16": 75.0}
    assert set(costs(known, 132, {"warp_tile": times, "tile16": few}, needs)) == {"warp_tile"}
    assert costs(known, 132, {"warp_tile": times}, needs, SHAPES[:5]) == {}


def test_rungs_are_chosen_from_as_code_has_them() -> None:
    needs = {"warp_tile": 75.0, "k_warps": 80.0, "k_clusters": 90.0, "stream_k": math.inf}
    groups = kinds(["stream_k", "warp_tile", "k_warps"], needs)
    assert groups == [["warp_tile", "k_warps"], ["stream_k", "warp_tile", "k_warps"]]


def _two_rungs(small: Numbers) -> tuple[dict[str, Plan], Times]:
    """Plans and times of two rungs, times that no costs say exactly."""
    chance = random.Random(1)
    known = {"small": Plan(16, 16, 16, 8), "large": WHOLE}
    real = {"small": small, "large": Numbers(3, 3, 1.2, 0.6, 1, 0.1, 0.3, 0.5, 0.1, 0.1)}
    extents = [int(2 ** chance.uniform(3, 11)) for _ in range(900)]
    shapes = list(zip(extents[::3], extents[1::3], extents[2::3], strict=True))
    times = {
        name: {
            # what lies beyond m and n costs less too, which the numbers do not say
            at: expected(plan, real[name], waves(plan, 132, at)) * (at[0] % 64 / 64 + 1) ** 0.5
            for at in shapes
        }
        for name, plan in known.items()
    }
    times["small"] = {at: time * (1 + at[1] % 16 / 64) for at, time in times["small"].items()}
    return known, times


def _fitted(known: dict[str, Plan], times: Times) -> dict[str, Numbers]:
    least = {at: min(own[at] for own in times.values()) for at in times["small"]}
    return {name: fitted(known[name], 132, times[name], least) for name in known}


def test_costs_are_tuned_to_what_is_chosen_by_them() -> None:
    """Choices lose less for it, and where one rung is alone its fitted numbers stay."""
    known, times = _two_rungs(Numbers(3, 3, 0.5, 0.2, 1, 0.2, 0.2, 0.5, 0.1, 0.1))
    own = _fitted(known, times)

    def lost(numbers: dict[str, Numbers]) -> float:
        total = 0.0
        for at in times["small"]:
            taken = min(
                known,
                key=lambda name: expected(known[name], numbers[name], waves(known[name], 132, at)),
            )
            total += math.log(times[taken][at] / min(each[at] for each in times.values()))
        return total

    both = tuned(own, known, 132, times, [list(known)])
    assert lost(both) < 0.9 * lost(own)
    alone = tuned({"large": own["large"]}, known, 132, {"large": times["large"]}, [["large"]])
    assert alone["large"] == pytest.approx(own["large"])


def test_tuning_stays_within_what_a_gpu_can_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the times say that what of a slab lies beyond k takes longer than the slab."""
    known, times = _two_rungs(Numbers(3, 3, 0.5, 0.9, 1, 0.2, 0.2, 2.5, 0.1, 0.1))
    own = _fitted(known, times)

    def within(numbers: dict[str, Numbers]) -> bool:
        return all(
            possible({name: math.log(number) for name, number in each._asdict().items()})
            for each in numbers.values()
        )

    assert within(tuned(own, known, 132, times, [list(known)]))
    monkeypatch.setattr(cost, "possible", lambda numbers: True)
    assert not within(tuned(own, known, 132, times, [list(known)]))


def test_slabs_that_do_not_hide_each_other_are_found_too() -> None:
    """Many products of one block each, which say nothing of blocks that share a multiprocessor."""
    numbers = Numbers(3.0, 3.0, 3.0, 2.0, 1.0, 0.1, 0.1, 1.0, 0.1, 0.1)
    small = [(64, 64, 16 * slabs) for slabs in range(1, 60)]
    times = {at: expected(WHOLE, numbers, waves(WHOLE, 132, at)) for at in [*small, *SHAPES[-2:]]}
    found = fitted(WHOLE, 132, times, times)
    assert (found.alone, found.each) == pytest.approx((numbers.alone, numbers.each), rel=0.05)
    for at, time in times.items():
        assert expected(WHOLE, found, waves(WHOLE, 132, at)) == pytest.approx(time, rel=0.05), at


def test_what_is_slow_beside_others_counts_less() -> None:
    """Where a rung takes ten times the fastest, its times may be other than any costs say."""
    numbers = Numbers(3.0, 3.0, 0.5, 0.4, 1.0, 0.1, 0.1, 1.0, 0.1, 0.1)
    large = [(size, size, size) for size in range(512, 1024, 16)]
    small = [(size, size, 512) for size in range(16, 400, 16)]
    times = {at: expected(WHOLE, numbers, waves(WHOLE, 132, at)) for at in large + small}
    least = times | {at: times[at] / 10 for at in small}
    times |= {at: 1.5 * times[at] for at in small}

    def off(least: dict[tuple[int, int, int], float]) -> float:
        found = fitted(WHOLE, 132, times, least)
        every = (expected(WHOLE, found, waves(WHOLE, 132, at)) / times[at] for at in large)
        return sum(abs(math.log(each)) for each in every)

    assert off(least) < 0.5 * off(times)


def test_costs_stay_within_what_a_gpu_can_do() -> None:
    """Whatever the times say: of products with few slabs and many outputs they may say nothing."""
    numbers = Numbers(3.0, 3.0, 0.4, 0.6, 0.8, 0.001, 0.7, 1.5, 0.01, 0.1)
    times = {at: expected(WHOLE, numbers, waves(WHOLE, 132, at)) for at in SHAPES}
    known = {"warp_tile": WHOLE}
    for found in (
        fitted(WHOLE, 132, times, times),
        costs(known, 132, {"warp_tile": times}, {"warp_tile": 75})["warp_tile"],
    ):
        assert found.each <= found.alone and found.store >= 0.0999
        assert found.unaligned >= 1 >= found.padding


def test_times_of_random_products_are_kept(kernels: Path, tmp_path: Path) -> None:
    """What a rehearsal timed counts on when the next one has taken its place."""
    source = KERNELS / "matmul/best.cu"
    (kernels / "matmul/best.cu").write_text(source.read_text())
    record = make_record(SMALL)
    _commit(tmp_path, record)
    beside = tmp_path / "results/a-gpu/rehearsal.json"
    kept = kernels / "matmul" / TIMES
    for seed in (1, 2):
        rehearsal = make_rehearsal(record)
        rehearsal["choices"][0]["seed"] = seed
        beside.write_text(json.dumps(rehearsal))
        _write(kernels)
        assert [each["seed"] for each in json.loads(kept.read_text())] == [1, 2][:seed]
    beside.unlink()
    assert _write(kernels) == ""
    # a rehearsal of a commit without a record lies elsewhere
    before = kept.read_bytes()
    rehearsal["choices"][0]["seed"] = 3
    alone = tmp_path / "rehearsals/a-gpu/rehearsal.json"
    alone.parent.mkdir(parents=True)
    alone.write_text(json.dumps(rehearsal))
    _write(kernels)
    assert [each["seed"] for each in json.loads(kept.read_text())] == [1, 2, 3]
    kept.write_bytes(before)
    shutil.rmtree(alone.parents[1])
    # of each product the newest counts, of rows that best may take
    first, second = json.loads(kept.read_text())
    assert first["rows"] == ["best", "tile16", "async_stages"]
    assert second["times"][1] == [[16, 16, 1000000], [1000.0, 1000.0, 800.0]]
    second["times"][1][1] = [1000.0, 7.0, None]
    kept.write_text(json.dumps([first, second]))
    known = all_tried(kept, [], ["tile16"])
    loaded, _ = load(tmp_path / "results/a-gpu/record.json")
    model, names = record["environment"]["gpu"]["name"], ["tile16", "async_stages"]
    found = times_of(loaded, known, names, models=[model])
    assert found["tile16"][16, 16, 1000000] == 7.0
    assert found["async_stages"][16, 16, 1000000] == 800.0
    assert (1, 2, 3) not in found["async_stages"]
    # of a model like it those that it has none of itself
    both = [*known, replace(known[0], gpu="a twin", rows=("best", "tile16", "another"))]
    mixed = times_of(loaded, both, [*names, "another"], models=[model, "a twin"])
    assert (16, 16, 1000000) not in mixed["another"], "a product's times are of one GPU model"
    assert times_of(loaded, both, names, models=[model, "a twin"]) == found
    found = times_of(loaded, both, names, models=["a twin", model])
    assert found["tile16"][16, 16, 1000000] == 1000.0
    found = times_of(loaded, both, names, models=["another"])
    assert (16, 16, 1000000) not in found["tile16"]
    # of a rung whose tiles are others now the record's times are another kernel's
    plan = {"tile16": Plan(16, 16, 16, 8)}
    assert retiled(loaded, plan) == set()
    assert times_of(loaded, [], plan)["tile16"]
    for case in loaded.cases:
        case.parameters["tile_m"] = 64
    assert retiled(loaded, plan) == {"tile16"}
    assert not times_of(loaded, [], plan, {"tile16"})["tile16"]


@pytest.fixture
def program() -> Path:
    found = Path(os.environ.get("RECHECK", "recheck")).with_name("recheck_best")
    if not found.exists():
        pytest.skip("RECHECK does not say where recheck_best is, or it was built without CUDA")
    return found


def _taken(program: Path, architecture: int, shapes: Iterable[Any], *flags: str) -> dict[Any, str]:
    """The rung at each of these shapes."""
    known = {"x".join(map(str, shape)): tuple(shape) for shape in shapes}
    command = [str(program), f"--gpu={architecture},132", *flags, "--shape=" + ",".join(known)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if "has no code" in done.stderr:
        pytest.skip(one_line(done, 2))
    assert done.returncode == 0, done.stderr
    lines = (line.split() for line in done.stdout.splitlines())
    return {known[shape]: rung for shape, rung in lines}


@pytest.mark.parametrize("architecture", [75, HOPPER])
def test_matvecs_best_takes_what_is_fast_where_rows_are_short_or_few(
    program: Path, architecture: int
) -> None:
    """At the shapes that its rules are by, of the rungs that a GPU has code for."""
    needs = choices((KERNELS / "matvec/best.cu").read_text())
    slow, judged = [], 0
    for each in json.loads((KERNELS / "matvec" / TIMES).read_text()):
        flags = ["--column-major"] if "column_tiles" in each["rows"] else []
        timed = {tuple(shape): times for shape, times in each["times"]}
        taken = _taken(program, architecture, timed, *flags)
        for shape, times in timed.items():
            known = dict(zip(each["rows"], times, strict=True))
            there = {name: time for name, time in known.items() if needs[name] <= architecture}
            judged += len(there) > 1
            if (ratio := min(there.values()) / known[taken[shape]]) < GOOD:
                slow.append((shape, taken[shape], round(ratio, 2)))
    assert judged > 250 and not slow


def test_vector_products_go_where_they_were_fast(program: Path) -> None:
    """Of code for 8.0, whose matvec took then what it takes now, but at the shortest rows."""
    judged, slow = 0, []
    for each in json.loads((KERNELS / "matmul/vector_times.json").read_text()):
        if each["architecture"] != PORTABLE:
            continue
        times = {tuple(at): own for at, own in each["times"] if at[2] >= 64}
        for at, taken in _taken(program, 75, times).items():
            rungs = dict(zip(each["rows"], times[at], strict=True))
            matvec = rungs.pop(FIRST)
            tiles = min(time for row, time in rungs.items() if row != "best")
            judged += 1
            ratio = tiles / matvec if taken == FIRST else matvec / tiles
            if ratio < GOOD:
                slow.append((at, taken, round(ratio, 2)))
    assert judged > 250 and not slow


def test_best_takes_what_the_costs_say(program: Path) -> None:
    """The program's arithmetic is that of the fit, for GPUs that nobody has measured."""
    text = (KERNELS / "matmul/best.cu").read_text()
    line = re.compile(r'^\{\d+, \d+, "(\w+)", (.*)\},$', re.MULTILINE)
    numbers: dict[str, Numbers] = {}
    for name, own in line.findall((KERNELS / "matmul" / COSTS).read_text()):
        numbers[name] = Numbers(*map(float, own.split(", ")))
    needs, all_plans = choices(text), plans(text)
    shapes = products(100, 3)
    words = "--shape=" + ",".join("x".join(map(str, shape)) for shape in shapes)

    def say(capability: int, multiprocessors: int, check: bool) -> subprocess.CompletedProcess[str]:
        command = [str(program), f"--gpu={capability},{multiprocessors}", words]
        return subprocess.run(command, check=check, capture_output=True, text=True)

    # the refusal names what this build has code for
    made_for = {int(each) for each in re.findall(r"\d+", say(10, 1, False).stderr.split(": it")[1])}
    assert made_for
    for capability in made_for:
        most = math.inf if capability == HOPPER else capability
        known = {name: plan for name, plan in all_plans.items() if needs[name] <= most}
        for multiprocessors in (20, 40, 72):
            said = say(capability, multiprocessors, True).stdout
            for at, line_of_it in zip(shapes, said.splitlines(), strict=True):
                chosen = line_of_it.split()[1]
                if chosen == FIRST:
                    assert 1 in at[:2], at
                    continue
                times = {
                    name: expected(plan, numbers[name], waves(plan, multiprocessors, at))
                    for name, plan in known.items()
                    if name in numbers
                }
                # to the seven digits of a float
                least = 1.00001 * min(times.values())
                assert times[chosen] <= least, (capability, line_of_it)


def test_a_score_is_of_products_that_the_fit_has_not_seen() -> None:
    result = called(best.main, "--score", "--results", REPORTS / "results")
    assert result.returncode == 0, result.stderr
    assert re.search(r"left out of the fit, at \d{4} worst 0\.\d\d of the fastest", result.stdout)
    assert re.search(r"where all of these have a time, at \d{3,4} worst 0\.", result.stdout)
    # and what `best` itself took, beside its rungs and, where a rehearsal had it, cuBLAS
    said = r"against cuBLAS at 200 products: geometric mean 1\.\d\d, below 1 at \d+, worst 0\.\d{3}"
    assert re.search(rf"`best` of \w{{7}} {said} at \d+x\d+x\d+", result.stdout)
    said = (
        r"against the fastest kept rung at 200 products: geometric mean 0\.9\d, below 0\.9 at \d+"
    )
    assert re.search(rf"`best` of \w{{7}} in code for 8\.0 {said}", result.stdout)


RECORDS = sorted((REPORTS / "results").glob("*/record.json"))


def _slower(runs: list[Timed], record: Record, path: Path, tolerance: float) -> list[str]:
    """Where the row that a table names is slower than another choice, by these runs. A row that is
    newer than the record they say nothing about."""
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
        for case in fastest(record, experiment, others, layout, runs):
            if case.shape_name == shape and slower(own, case, runs) > tolerance:
                found.append(f"{shape}: {name} is slower than {case.strategy}")
    timed = {case.shape_name for case in fastest(record, experiment, needs, layout, runs)}
    known = {shape for at, shape, _ in _table(path) if at == here}
    return found + [f"{shape}: no row has a time" for shape in sorted(timed - known)]


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.parent.name)
def test_the_committed_tables_choose_within_five_percent_of_the_fastest(path: Path) -> None:
    record, _ = load(path)
    if not any(case.strategy == "best" for case in record.cases):
        pytest.skip("the record is older than the tables")
    found = tables([path.parent], KERNELS)
    runs = runs_of(record, load_history(path.parent))
    assert len(found) == 6
    # a model that another's table serves, as it has as many multiprocessors, may lose somewhat more
    tolerance = 1.05 if path.parent in told_apart([each.parent for each in RECORDS]) else 1 / GOOD
    for inc in (each for each in found if each.name not in (COSTS, TIMES)):
        assert not _slower(runs, record, inc, tolerance), inc


def test_of_models_that_best_cannot_tell_apart_the_one_with_more_runs_has_a_table(
    kernels: Path, tmp_path: Path, loaded: Callable[[Any], Record]
) -> None:
    _write(kernels)
    alone = (kernels / "matmul/best.inc").read_text()
    twin = make_record(SMALL)
    twin["environment"]["gpu"]["name"] = "NVIDIA A-GPU with other memory"
    for case in matching(twin, "/global16/"):
        if case["regime"] == "cold":
            set_time(case, 1e-9, 1e-9, 1e-9)
    results = tmp_path / "results"
    (results / "a-twin").mkdir()
    keep(results / "a-twin/record.json", twin)
    names = ["NVIDIA H200", "NVIDIA A-GPU with other memory"]
    assert told_apart([results / "a-gpu", results / "a-twin"]) == {results / "a-gpu": names}
    assert _write(kernels) == ""
    assert (kernels / "matmul/best.inc").read_text() == alone
    earlier = twin | {"environment": twin["environment"] | {"started": "2026-01-01T00:00:00Z"}}
    history = added(of(loaded(earlier)), of(loaded(twin)))
    (results / "a-twin" / HISTORY).write_bytes(history.json())
    both = {results / "a-twin": names[::-1]}
    assert told_apart([results / "a-gpu", results / "a-twin"]) == both


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
    found = _slower(runs_of(loaded, None), loaded, table, 1.05)
    assert found == [f"{shape}: tile16 is slower than global16" for shape in slow]


def test_of_a_row_newer_than_the_record_it_says_nothing(kernels: Path, tmp_path: Path) -> None:
    _write(kernels)
    table, source = kernels / "matmul/best.inc", kernels / "matmul/best.cu"
    table.write_text(table.read_text().replace('"tile16"', '"newcomer"'))
    loaded, _ = load(tmp_path / "results/a-gpu/record.json")
    unknown = _slower(runs_of(loaded, None), loaded, table, 1.05)
    assert all("newcomer has no time" in line for line in unknown)
    assert len(unknown) == table.read_text().count("newcomer") > 0
    choice = '    {.name = "tile16", .least = 75, .launch = run<tile<16, 1>>},\n'
    listed = source.read_text().replace(choice, choice + choice.replace("tile16", "newcomer"))
    source.write_text(listed)
    assert _slower(runs_of(loaded, None), loaded, table, 1.05) == []
