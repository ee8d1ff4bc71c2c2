"""The pilot: processes by a stand-in for recheck, whole, cut off and failed; what is made of
them, and how they become evidence."""

from __future__ import annotations

import copy
import fcntl
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from conftest import REPORTS, one_line, run, tree
from recheck_report.commands import Failed, pilot
from recheck_report.history.committed import pilots, unpacked
from recheck_report.model.record import RECORD, Record, load
from recheck_report.queries import DISPATCH
from recheck_report.sections import another
from recheck_report.statistics import variation
from recheck_report.statistics.variation import (
    CLASSES,
    GPU,
    PROCESS,
    TABLE,
    derive,
    known,
    table_json,
)
from synthetic import SMALL, Json, make_record, pack, scale
from synthetic import unpack as written

Load = Callable[[Any], Record]
H200 = "NVIDIA H200"
NUMBERS = range(1, len(pilot.SEEDS) + 1)
# in place of recheck: puts the record of a run where it is asked to, or does as plan.json says
STAND_IN = """#!{python}
import json, os, pathlib, shutil, sys
here = pathlib.Path(__file__).parent
flags = dict(word.partition("=")[::2] for word in sys.argv[1:])
own = pathlib.Path(flags["--output"])
with (here / "calls").open("a") as calls:
    calls.write(own.name + (" --resume" if "--resume" in flags else "") + "\\n")
made = here / "runs" / own.name
record = json.loads((made / "record.json").read_bytes())
assert record["environment"]["seed"] == int(flags["--seed"])
plan = json.loads((here / "plan.json").read_text())
does = plan.get(own.name, "whole")
own.mkdir(parents=True, exist_ok=True)
journal = own / "record.journal.jsonl"
if "--resume" in flags and does == "other":
    sys.exit("recheck: cannot resume the record: it is from another environment: commit")
if does == "failed":
    sys.exit("recheck: no room")
if does == "cut" and "--resume" not in flags:
    journal.write_text("{{}}")
    os.kill(os.getpid(), 9)
if does == "interrupted":
    sys.exit(130)
assert "--resume" in flags or not journal.exists()
journal.unlink(missing_ok=True)
if not (own / "record.json").exists():
    shutil.copytree(made, own, dirs_exist_ok=True)
"""


def _runs(whose: str = "a" * 16, day: int = 20) -> list[Json]:
    """A run for each seed. Those of a seed are 1 % apart, and those of two are so by the seed."""
    made = []
    for at, seed in enumerate(pilot.SEEDS):
        factor = 1.01 ** pilot.SEEDS[:at].count(seed) * 1.1**seed
        own = scale(make_record(SMALL, strategies=["cpu_serial", "tile16", "cublas"]), "", factor)
        own["environment"]["gpu"]["uuid_hash"] = whose
        own["environment"]["cubins"] = {"matmul/tile.cu": "a" * 16}
        own["environment"]["seed"] = seed
        own["environment"]["started"] = f"2026-11-{day}T0{at}:00:00Z"
        own["finished"] = f"2026-11-{day}T0{at}:10:00Z"
        own["environment"]["git"] = {"commit": "c" * 40, "dirty": False, "diff": None}
        made.append(own)
    return made


class Bench:
    """Where a pilot is made: the stand-in, the runs that it makes, and evidence."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.program, self.out = folder, folder / "recheck", folder / "pilot"
        self.table = folder / TABLE.name
        self.results, self.kept = folder / "results", folder / "kept"
        self.program.write_text(STAND_IN.format(python=sys.executable))
        self.program.chmod(0o755)
        self.makes(_runs())
        self.plan()
        full = make_record(SMALL)
        full["environment"] |= {"cubins": {"matmul/tile.cu": "a" * 16}}
        full["environment"]["gpu"]["uuid_hash"] = "f" * 16
        written(pack(full), self.results / "nvidia-h200")

    def makes(self, runs: list[Json]) -> None:
        shutil.rmtree(self.folder / "runs", ignore_errors=True)
        for number, own in zip(NUMBERS, runs, strict=True):
            written(pack(own), self.folder / "runs" / str(number))

    def plan(self, **does: str) -> None:
        said = {name.removeprefix("run"): what for name, what in does.items()}
        (self.folder / "plan.json").write_text(json.dumps(said))

    def calls(self) -> list[str]:
        """Since they were last asked for."""
        path = self.folder / "calls"
        found = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return found

    def __call__(self, *more: object) -> subprocess.CompletedProcess[str]:
        places = ("--results", self.results, "--pilots", self.kept)
        return run("pilot", self.out, *places, *more)

    def measure(self, *more: object) -> subprocess.CompletedProcess[str]:
        return self("--program", self.program, *more)


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    monkeypatch.setattr(pilot, "no_gpu", lambda: None)
    bench = Bench(tmp_path)
    monkeypatch.setattr(pilot, "TABLE", bench.table)
    # these runs have no history, so the table may not name any
    bench.table.write_text('{"models": []}')
    return bench


def last(result: subprocess.CompletedProcess[str]) -> str:
    return result.stderr.splitlines()[-1]


def test_processes_make_a_table(bench: Bench) -> None:
    result = bench.measure()
    assert result.returncode == 0, result.stderr
    assert bench.calls() == [str(number) for number in NUMBERS]
    assert "pilot: process 5 of 6, seed 2" in result.stderr
    assert "NVIDIA H200: 7 runs" in result.stdout
    assert "another process: 15 pairs with the same device code" in result.stdout
    # those of a pilot are no six GPUs
    assert "another GPU: 1 pairs with the same device code" in result.stdout
    assert "another process, by seed: 3 pairs of one seed, 12 of two" in result.stdout
    assert re.search(r"half within 1\.0 % with one seed, 1\d % with two", result.stdout)
    assert "The seed adds to what processes differ by: in 1 of the 15 ways" in result.stdout
    (found,) = known(bench.out / "variation.json").values()
    # and one pair of GPUs says nothing of others
    assert [(each.level, each.pairs) for each in found.levels] == [(PROCESS, 15)]
    # what is whole is asked whether it is of this code, and not measured again
    before = tree(bench.out)
    assert bench.measure().stdout == result.stdout
    assert bench.calls() == [f"{number} --resume" for number in NUMBERS]
    assert tree(bench.out) == before
    # and without a program nothing is run
    assert bench().stdout == result.stdout and bench.calls() == []


def test_a_process_that_was_cut_off_is_made_again(bench: Bench) -> None:
    """Gone on with, it would be of two processes."""
    bench.plan(run3="cut")
    result = bench.measure()
    assert result.returncode == 1 and result.stdout == ""
    assert last(result) == "error: process 3 failed with exit code -9: see above"
    assert bench.calls() == ["1", "2", "3"]
    bench.plan()
    result = bench.measure()
    assert result.returncode == 0, result.stderr
    assert bench.calls() == ["1 --resume", "2 --resume", "3", "4", "5", "6"]
    assert [each.name for each in bench.out.glob("*.previous")] == ["3.previous"]


def test_a_process_that_fails_ends_it(bench: Bench) -> None:
    bench.plan(run2="failed")
    result = bench.measure()
    assert (result.returncode, bench.calls()) == (1, ["1", "2"])
    assert last(result) == "error: process 2 failed with exit code 1: see above"
    bench.plan(run2="interrupted")
    assert bench.measure().returncode == 130
    assert not (bench.out / "variation.json").exists()
    # so does a row that is wrong
    broken = _runs()
    case = next(each for each in broken[1]["cases"] if "/tile16/" in each["id"])
    case |= {"status": "incorrect", "reason": "wrong at [3, 4]", "seconds": None}
    case |= {"samples": [], "blocks": [], "clocks": [], "clock_hz": None, "power": None}
    bench.makes(broken)
    bench.plan()
    bench.calls()
    result = bench.measure()
    assert result.returncode == 1 and last(result).endswith("is incorrect: wrong at [3, 4]")
    assert bench.calls() == ["1 --resume", "2"]


def test_runs_of_other_code_are_moved_aside(bench: Bench) -> None:
    bench.measure()
    bench.calls()
    (bench.out / "1" / "mine").write_text("")
    bench.plan(run1="other")
    assert bench.measure().returncode == 0
    assert bench.calls() == ["1 --resume", "1", *(f"{number} --resume" for number in NUMBERS[1:])]
    assert (bench.out / "1.previous" / "mine").exists() and not (bench.out / "1" / "mine").exists()


def test_a_run_that_goes_on_is_left_alone(bench: Bench) -> None:
    bench.measure()
    bench.calls()
    with (bench.out / "2" / "record.journal.jsonl").open("w") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        result = bench.measure()
    assert result.returncode == 1 and bench.calls() == ["1 --resume"]
    assert "pilot/2: another process is measuring into it" in last(result)


def test_without_a_gpu_nothing_is_measured(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pilot, "no_gpu", lambda: "there is no NVIDIA driver")
    line = one_line(bench.measure(), 2)
    assert line == "error: not measured, because there is no NVIDIA driver\n"
    assert bench.calls() == [] and not bench.out.exists()
    # nor where the program finds none
    monkeypatch.setattr(pilot, "no_gpu", lambda: None)
    blind = make_record(SMALL, gpu=False)
    bench.makes([blind | {"environment": blind["environment"] | {"seed": s}} for s in pilot.SEEDS])
    result = bench.measure()
    assert result.returncode == 2 and last(result).startswith("error: not measured, because ")
    assert bench.calls() == ["1"]


# evidence


def test_the_runs_become_evidence(bench: Bench) -> None:
    bench.measure()
    result = bench("--keep")
    assert result.returncode == 0, result.stderr
    place = bench.kept / "nvidia-h200" / ("a" * 16)
    for number in NUMBERS:
        assert {each.name for each in (place / str(number)).iterdir()} == {
            "record.json", "samples.jsonl.bz2"
        }  # fmt: skip
        own, there = load(bench.out / str(number))[0], load(place / str(number))[0]
        assert own.environment == there.environment and own.cases == there.cases
    table = bench.table.read_bytes()
    assert table == (bench.out / "variation.json").read_bytes()
    # which is what evidence and what is kept make, as the committed table is
    paths = [bench.results / "nvidia-h200", *pilots(bench.kept)]
    assert table == table_json(derive([load(each)[0] for each in paths]))
    # another GPU's stand beside them, and pairs of GPUs are of one run each
    bench.makes(_runs("b" * 16, 21))
    shutil.rmtree(bench.out)
    assert bench.measure().returncode == bench("--keep").returncode == 0
    assert len([*bench.kept.rglob(RECORD)]) == 2 * len(NUMBERS)
    known.cache_clear()  # of the table as it was
    (found,) = known(bench.table).values()
    assert [(each.level, each.pairs) for each in found.levels] == [(PROCESS, 30), (GPU, 3)]
    # those of the same GPU again take the place of the earlier ones
    bench.makes(_runs("b" * 16, 22))
    shutil.rmtree(bench.out)
    assert bench.measure().returncode == bench("--keep").returncode == 0
    assert len([*bench.kept.rglob(RECORD)]) == 2 * len(NUMBERS)
    assert {each.name for each in (bench.kept / "nvidia-h200").iterdir()} == {"a" * 16, "b" * 16}


def test_one_process_says_what_another_gpu_differs_by(bench: Bench) -> None:
    bench.measure()
    assert bench("--keep").returncode == 0
    bench.calls()
    shutil.rmtree(bench.out)
    bench.makes(_runs("b" * 16, 21))
    result = bench.measure("--processes", 1)
    assert result.returncode == 0 and bench.calls() == ["1"], result.stderr
    assert bench("--processes", 1, "--keep").returncode == 0
    known.cache_clear()
    (found,) = known(bench.table).values()
    assert [(each.level, each.pairs) for each in found.levels] == [(PROCESS, 15), (GPU, 3)]
    # it never takes the place of more
    shutil.rmtree(bench.out)
    bench.makes(_runs(day=22))
    bench.measure("--processes", 1)
    result = bench("--processes", 1, "--keep")
    assert result.returncode == 1 and last(result).endswith("has 6 processes; measure as many")
    assert len([*bench.kept.rglob(RECORD)]) == len(NUMBERS) + 1
    assert bench.measure("--processes", 7).returncode == 2


def test_one_process_needs_nothing_to_be_compared_with(bench: Bench) -> None:
    shutil.rmtree(bench.results)
    bench.results.mkdir()
    result = bench.measure("--processes", 1)
    assert (result.returncode, result.stdout) == (0, "")
    assert (bench.out / "1" / RECORD).exists()


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (("environment", "git"), {"commit": "c" * 40, "dirty": True, "diff": "0" * 16}, "uncommit"),
        (("environment", "build_type"), "Debug", "comes from a Debug build"),
        (("environment", "gpu", "uuid_hash"), None, "does not know which GPU"),
        (("environment", "cubins"), None, "does not know which GPU"),
    ],
)
def test_what_is_no_evidence_is_not_kept(
    path: tuple[str, ...], value: object, why: str, bench: Bench
) -> None:
    runs = _runs()
    for own in runs:
        place = own
        for name in path[:-1]:
            place = place[name]
        place[path[-1]] = value
        own["environment"]["unknown"][".".join(path[1:])] = "no permission to ask"
    bench.makes(runs)
    bench.measure()
    before = bench.table.read_bytes()
    result = bench("--keep")
    assert result.returncode == 1 and why in last(result)
    assert not bench.kept.exists() and bench.table.read_bytes() == before


def test_runs_that_are_not_there_are_not_kept(bench: Bench) -> None:
    assert "pilot/1: cannot be read" in one_line(bench("--keep"), 2)
    bench.measure()
    # a clone without the history that the table is from
    lost = {"commit": "d" * 40, "started": "2026-01-01T00:00:00Z", "uuid_hash": "e" * 16}
    lost |= {"driver": "1", "cuda_runtime": "1"}
    bench.table.write_text(json.dumps({"models": [{"gpu": H200, "records": [lost], "levels": []}]}))
    known.cache_clear()
    assert "the history lacks 1 of the records" in one_line(bench("--keep"), 1)
    assert not bench.kept.exists()


def test_runs_of_two_gpus_are_not_kept(bench: Bench) -> None:
    runs = _runs()
    runs[3]["environment"]["gpu"]["uuid_hash"] = "b" * 16
    bench.makes(runs)
    bench.measure()
    assert "the runs are of several GPUs" in one_line(bench("--keep"), 1)


def _each(path: tuple[str, ...], values: Sequence[object]) -> Callable[[list[Json]], object]:
    def change(runs: list[Json]) -> None:
        for own, value in zip(runs, values, strict=True):
            place = own["environment"]
            for name in path[:-1]:
                place = place[name]
            place[path[-1]] = value

    return change


NO_PILOT: dict[str, tuple[Callable[[list[Json]], object], str]] = {
    "commits": (_each(("git", "commit"), [str(n) * 40 for n in NUMBERS]), "several commits"),
    "code": (_each(("cubins",), [{"a.cu": str(n) * 16} for n in NUMBERS]), "other device code"),
    "models": (_each(("gpu", "name"), [H200] * 5 + ["NVIDIA B200"]), "several GPUs"),
    "overlap": (_each(("started",), ["2026-11-20T00:00:00Z"] * 6), "two runs overlap in time"),
    "budgets": (_each(("budget_seconds",), [1.0] * 5 + [0.5]), "several budgets"),
}


@pytest.mark.parametrize("name", NO_PILOT)
def test_runs_that_are_no_pilot_are_not_kept(name: str, bench: Bench) -> None:
    change, why = NO_PILOT[name]
    runs = _runs()
    change(runs)
    bench.makes(runs)
    shutil.copytree(bench.folder / "runs", bench.out)
    assert why in one_line(bench("--keep"), 1)
    assert not bench.kept.exists()


def test_seeds_and_links_are_not_kept(bench: Bench) -> None:
    runs = _runs()
    for own in runs:
        own["environment"]["seed"] = 7
    bench.makes(runs)
    shutil.copytree(bench.folder / "runs", bench.out)
    assert "those of a pilot are (1, 2, 1, 3, 2, 3)" in one_line(bench("--keep"), 1)
    shutil.rmtree(bench.out / "6")
    (bench.out / "6").symlink_to("5")
    assert "run 6 is a link" in one_line(bench("--keep"), 1)


def test_replaced_evidence_is_in_the_history(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
        subprocess.run(["git", *who, *words], cwd=tmp_path, check=True, capture_output=True)

    if not shutil.which("git"):
        pytest.skip("git was not found")
    report = tmp_path / "results" / "nvidia-h200"
    git("init", "--quiet")
    times = []
    for own in _runs()[:2]:
        written(pack(own), report)
        times.append(own["environment"]["started"])
        git("add", ".")
        git("commit", "--quiet", "--message=Evidence")
    git("commit", "--quiet", "--allow-empty", "--message=More")
    shutil.move(report / "samples.jsonl", tmp_path / "samples.jsonl")
    found = unpacked(report, tmp_path / "out")
    read = [json.loads((each / RECORD).read_bytes()) for each in found]
    assert [each["environment"]["started"] for each in read] == times[::-1]
    # where there is no history there is what lies there
    assert unpacked(tmp_path / "elsewhere", tmp_path / "out") == [tmp_path / "elsewhere"]


# what is measured


def test_no_case_is_of_a_part_of_a_turn() -> None:
    """And by the committed record of an H200 they took less than 80 s there."""
    pattern = re.compile(pilot.FLAGS[0].partition("=")[2])
    path = REPORTS / "results" / "nvidia-h200"
    record, raw = load(path)[0], json.loads((path / RECORD).read_bytes())
    ids = {case.id for case in record.cases if pattern.match(case.id)}
    assert sum(case["spent"] for case in raw["cases"] if case["id"] in ids) <= 80

    def turns(cases: list[Any]) -> set[tuple[str, ...]]:
        # CPU rows and GPU rows of a shape are timed apart
        return {(each.experiment, each.shape_name, each.regime, each.target) for each in cases}

    chosen = [case for case in record.cases if case.id in ids]
    assert not turns(chosen) & turns([case for case in record.cases if case.id not in ids])


def test_the_cases_differ_by_what_all_do(tmp_path: Path) -> None:
    """Between the committed runs, in each class: 97 of 100 medians of the cases that there are."""
    pattern = re.compile(pilot.FLAGS[0].partition("=")[2])
    if not shutil.which("git"):
        pytest.skip("git was not found")
    records = [load(each)[0] for each in unpacked(REPORTS / "results" / "nvidia-h200", tmp_path)]
    today = load(REPORTS / "results" / "nvidia-h200")[0].by_id
    every: dict[str, list[float]] = {}
    chosen: dict[str, list[float]] = {}
    pairs = 0
    for old, new in combinations(records, 2):
        both = variation.shared(old, new, DISPATCH)
        pairs += both is not None
        for base, case in both or ():
            if case.target == "gpu" and case.id in today:
                apart = abs(math.log(case.time.median / base.time.median))
                for found in (every, chosen)[: 1 + bool(pattern.match(case.id))]:
                    found.setdefault(variation.class_of(base, case), []).append(apart)
    if pairs < 10:
        pytest.skip("the history has too few records: a shallow clone?")
    for kind in CLASSES:
        if kind not in variation.OF_CPU:
            assert len(chosen[kind]) >= 5 * pairs, kind
            of_all, of_these = (
                sorted(own[kind])[math.ceil(variation.PREDICTED * len(own[kind])) - 1]
                for own in (every, chosen)
            )
            assert 0.75 * of_all <= of_these <= 1.33 * of_all, kind


def test_runs_of_one_seed_lie_as_far_apart_as_all_do() -> None:
    seeds = pilot.SEEDS
    every = [*combinations(range(len(seeds)), 2)]
    same = [(i, j) for i, j in every if seeds[i] == seeds[j]]
    assert len(same) >= 2 and all(j > i + 1 for i, j in same)
    assert mean(j - i for i, j in same) == pytest.approx(mean(j - i for i, j in every))


def test_real_processes(tmp_path: Path) -> None:
    """recheck itself, at two small shapes, without a look at any GPU."""
    program = os.environ.get("RECHECK", "")
    if not program:
        pytest.skip("RECHECK names no program")
    flags = ["--benchmark_filter=^matmul/cpu_[a-z]*/(80x48x64|128x128x128)/hot$"]
    flags += ["--per-case=0.02"]
    for _ in range(2):  # the second time there is nothing to do
        with pytest.raises(Failed, match="not measured, because") as refused:
            pilot.measure(Path(program), tmp_path / "blind", flags=flags)
        assert refused.value.code == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Record, "gpu_measured", True)
        for _ in range(2):
            pilot.measure(Path(program), tmp_path / "out", flags=flags)
        before = {each: each.read_bytes() for each in tmp_path.glob(f"out/*/{RECORD}")}
        assert len(before) == len(pilot.SEEDS)
        # other inputs, the same cases
        records = [pilot.whole(tmp_path / "out" / str(number)) for number in NUMBERS]
        assert [each.environment.seed for each in records] == [*pilot.SEEDS]
        ids = {tuple(case.id for case in each.cases) for each in records}
        assert len(ids) == 1 and len(ids.pop()) == 4
        assert not [*tmp_path.glob("out/*.previous")]
        # other flags are another run
        pilot.measure(
            Path(program), tmp_path / "out", flags=[*flags, "--regime=hot", "--per-case=0.03"]
        )
        assert len([*tmp_path.glob("out/*.previous")]) == len(pilot.SEEDS)


# the seed


def _levels(runs: list[Json], loaded: Load) -> Any:
    (found,) = derive([loaded(each) for each in runs])
    return found


def test_a_seed_that_does_nothing_is_said_to_do_nothing(loaded: Load) -> None:
    runs = _runs()
    base = make_record(SMALL, strategies=["cpu_serial", "tile16", "cublas"])["cases"]
    for at, own in enumerate(runs):
        own["cases"] = copy.deepcopy(base)
        runs[at] = scale(own, "", 1 + 0.01 * (2, 0, 4, 1, 5, 3)[at])
    seeds = _levels(runs, loaded).at(PROCESS).seeds
    # those of one seed are no nearer to each other
    (as_far,) = seeds.as_far
    assert as_far[0] > 2 and as_far[1] == 15 and not seeds.matter
    assert "No effect of the seed" in another.whether(seeds)


def test_pairs_by_seed(loaded: Load, tmp_path: Path) -> None:
    found = _levels(_runs(), loaded)
    seeds = found.at(PROCESS).seeds
    assert (seeds.same_pairs, seeds.other_pairs) == (3, 12)
    assert seeds.as_far == ((1, 15),) and seeds.matter
    # of three pilots one may well look so by chance
    assert not replace(seeds, as_far=((1, 15), (9, 15))).matter
    for one, two in zip(seeds.same, seeds.other, strict=True):
        assert one.half == one.largest == pytest.approx(0.01, rel=1e-3)
        assert two.half >= 0.08 and two.count == 4 * one.count
    # the file has it
    (tmp_path / "table.json").write_bytes(table_json([found]))
    assert known(tmp_path / "table.json")[H200] == found
    # of one seed, or each of its own, there is nothing to compare
    for own in ((7,) * 6, (1, 2, 3, 4, 5, 6)):
        runs = _runs()
        for each, seed in zip(runs, own, strict=True):
            each["environment"]["seed"] = seed
        level = _levels(runs, loaded).at(PROCESS)
        assert level.pairs == 15 and level.seeds is None


def test_of_the_runs_of_one_gpu_the_fullest_stands_for_it(loaded: Load) -> None:
    full = copy.deepcopy(_runs()[0])
    full["environment"]["started"] = "2026-11-25T00:00:00Z"
    full["finished"] = "2026-11-25T00:10:00Z"
    far = copy.deepcopy(full)
    far["environment"]["gpu"]["uuid_hash"] = "b" * 16
    runs = _runs()
    for own in runs:
        own["cases"] = own["cases"][: len(own["cases"]) // 2]
        own["plan"]["preset"] = "chosen"
    found = _levels([*runs, full, far], loaded)
    alone = _levels([full, far], loaded)
    # it was asked for more than they were, and is not compared with them
    assert found.at(PROCESS).pairs == 15 and not found.at(PROCESS).full
    seeds = found.at(PROCESS).seeds
    assert (seeds.same_pairs, seeds.other_pairs, seeds.as_far) == (3, 12, ((1, 15),))
    assert found.at(GPU) == alone.at(GPU)


def test_the_page_has_the_pilot(
    loaded: Load, report: Callable[..., str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    table = {H200: _levels(_runs(), loaded)}
    monkeypatch.setattr(variation, "known", lambda: table)
    monkeypatch.setattr(another, "known", lambda: table)
    text = report(_runs()[0])
    section = text.split("### The same GPU, measured again")[1].split("### Another")[0]
    assert "From 6 runs on 1 GPU, this one among them" in section
    assert "15 of their 15 pairs were asked for the same and share device code" in section
    assert (
        "3 pairs of runs are of one seed and vary the former alone, 12 are of two seeds" in section
    )
    assert "none varies the GPU" in section and "1 of the 15 ways" in section
    level = table[H200].at(PROCESS)
    for one, two in zip(level.seeds.same, level.seeds.other, strict=True):
        row = next(line for line in section.split("\n\n")[3].split("\n") if one.name in line)
        cells = row.strip("| ").split(" | ")
        assert cells[:3] == [one.name, str(one.count), "1.0 %"] and cells[3] == str(two.count)
