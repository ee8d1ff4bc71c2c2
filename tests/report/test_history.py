"""The times of a GPU model over its runs: what is kept, which changes are found and put down to
what, and what is slower than before."""

from __future__ import annotations

import copy
import itertools
import json
import math
import random
import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import REPORTS, one_line, run, tree
from recheck_report.commands.publish import continued
from recheck_report.history import runs, search, steps
from recheck_report.history.committed import pilots
from recheck_report.history.runs import EACH, HISTORY, History, Row, added, of
from recheck_report.history.search import FEWEST, NoRuptures, searched
from recheck_report.model.record import Record, Seconds, load
from recheck_report.model.typed import BadRecord
from recheck_report.statistics.variation import (
    CLASSES,
    DURATIONS,
    GPU,
    MARGIN,
    OF_CPU,
    PREDICTED,
    THREADS,
    known,
    margin,
    usual,
)
from synthetic import SMALL, Json, keep, make_record, scale

Load = Callable[[Any], Record]
ROWS = ["cpu_serial", "global16", "tile16", "tile32", "cublas"]
H200, COMMITTED = "NVIDIA H200", REPORTS / "results" / "nvidia-h200"
CASE = "matmul/tile16/4096x4096x4096/cold"


def _run(at: int, **environment: Any) -> runs.Run:
    """Run number `at` of one code on one GPU."""
    own: Json = {
        "commit": f"{at:040x}",
        "started": f"2026-01-{at + 1:02}T00:00:00Z",
        "uuid_hash": "a" * 16,
        "driver": "580.1",
        "cuda_runtime": "13.0",
        "cubins": {"matmul/tile.cu": "c" * 16, "matmul/global.cu": "d" * 16},
        "cpu": "a CPU",
        "cpu_threads": 8,
    }
    return runs.Run(**own | environment)


def _history(cases: dict[str, list[float]], *of_runs: runs.Run) -> History:
    """Of these cases' medians in seconds, all of a GPU's rungs; ±0.1 % around each."""
    (count,) = {len(times) for times in cases.values()}
    rows = {case.rsplit("/", 2)[0]: Row("gpu", "rung", False) for case in cases}
    times: dict[str, runs.Times] = {
        case: tuple((time, 0.999 * time, 1.001 * time) if time else None for time in own)
        for case, own in cases.items()
    }
    return History(1, H200, of_runs or tuple(map(_run, range(count))), rows, times, 0, {})


def _record(at: int, factor: float = 1.0, pattern: str = "matmul/", **environment: Any) -> Json:
    """A record of run number `at`, in which the cases of the pattern take so many times as long."""
    own = scale(make_record(SMALL, strategies=ROWS), pattern, factor)
    run = vars(_run(at, **environment))
    own["environment"]["git"]["commit"] = run.pop("commit")
    own["environment"]["gpu"]["uuid_hash"] = run.pop("uuid_hash")
    assert run.pop("queued_samples") is None  # of this record's schema
    own["environment"] |= run
    return own


def _another(record: Json, at: int) -> Json:
    """The record of run number `at`, no two of whose cases differ by one factor from another's."""
    for number, case in enumerate(record["cases"]):
        record = scale(record, case["id"], 1 + at * (1 + number % 17) / 5000)
    return record


# what is kept


def test_a_history_has_the_times_of_a_record_and_where_they_are_from(loaded: Load) -> None:
    record = loaded(_record(3))
    found = of(record)
    assert found.runs == (replace(_run(3), queued_samples=1),) and found.gpu == H200
    timed = {case.id: case.time for case in record.cases if case.seconds}
    assert found.cases.keys() == timed.keys()
    for name, time in timed.items():
        ((at, kept),) = found.series(name)
        assert at == 0 and kept.low <= kept.median <= kept.high
        for own, other in ((kept.median, time.median), (kept.low, time.low)):
            assert own == pytest.approx(other, rel=1e-5)
    assert found.row("matmul/cublas/1024x1024x1024/cold") == Row("gpu", "baseline", True)
    assert found.row("matmul/cpu_serial/1024x1024x1024/hot").target == "cpu"


def test_the_same_run_twice_changes_nothing(loaded: Load) -> None:
    once = added(of(loaded(_record(0))), of(loaded(_record(1))))
    assert added(once, of(loaded(_record(1)))).json() == once.json()
    assert added(once, once).json() == once.json()


def test_the_order_of_adding_leaves_no_trace(loaded: Load) -> None:
    made = [_record(at) for at in range(4)]
    # rows come and go, and one changes what it is
    for at, name in ((0, "tile16"), (2, "tile32"), (3, "global16")):
        made[at]["cases"] = [case for case in made[at]["cases"] if case["strategy"] != name]
    for case in made[1]["cases"]:
        case["role"] = "baseline" if case["strategy"] == "tile32" else case["role"]
    parts = [of(loaded(each)) for each in made]
    found = set()
    for order in itertools.permutations(parts):
        whole = None
        for each in order:
            whole = added(whole, each)
        assert whole
        found.add(whole.json())
        first, second, third, fourth = order
        found.add(added(added(first, second), added(third, fourth)).json())
    (only,) = found
    kept = json.loads(only)
    assert [each["started"][:10] for each in kept["runs"]] == [
        f"2026-01-0{at}" for at in (1, 2, 3, 4)
    ]
    assert kept["rows"]["matmul/tile32"]["role"] == "rung"  # as the newest has it
    assert [bool(time) for time in kept["cases"][CASE]] == [False, True, True, True]


def test_one_run_has_one_time(loaded: Load) -> None:
    history = added(of(loaded(_record(0))), of(loaded(_record(1))))
    with pytest.raises(BadRecord, match="has run 0000000 of 2026-01-02.* another time of matmul/"):
        added(history, of(loaded(_record(1, 1.01))))


def test_two_models_are_two_histories() -> None:
    other = History(1, "NVIDIA L4", *list(vars(_history({CASE: [1.0]})).values())[2:])
    with pytest.raises(BadRecord, match="is of NVIDIA H200, and not of NVIDIA L4"):
        added(_history({CASE: [1.0]}), other)


def test_there_is_a_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_RUNS", 3)
    with pytest.raises(BadRecord, match="has 3 runs, the most there may be"):
        added(_history({CASE: [1.0] * 3}), _history({CASE: [1.0]}, _run(9)))


def test_steps_stay_where_a_later_run_is_added_and_go_with_an_earlier_one() -> None:
    history = _history({CASE: [1.0, 1.0, 2.0, 2.0]}, *map(_run, (1, 2, 3, 4)))
    history = copy.copy(history)
    vars(history).update(searched=4, steps={CASE: (2,)})
    for at, kept in ((9, (4, {CASE: (2,)})), (0, (0, {}))):
        for made in (
            added(history, _history({CASE: [2.0]}, _run(at))),
            added(history, added(history, _history({CASE: [2.0]}, _run(at)))),
        ):
            assert (made.searched, made.steps) == kept


def test_a_file_reads_as_it_was_written(tmp_path: Path) -> None:
    history = _history({CASE: [1.0, 1.1, 0.0], "matmul/tile32/8x8x8/hot": [0.0, 1e-6, 2e-6]})
    (tmp_path / HISTORY).write_bytes(history.json())
    found = runs.load(tmp_path)
    assert found and found.json() == history.json()
    (tmp_path / "other").mkdir()
    assert runs.load(tmp_path / "other") is None


def _set(*path: Any, value: Any) -> Callable[[Json], object]:
    def change(history: Json) -> None:
        node: Any = history
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value

    return change


BAD: dict[str, tuple[Callable[[Json], object], str]] = {
    "schema": (_set("schema", value=2), "has schema 2; this renderer reads schema 1"),
    "runs out of order": (lambda h: h["runs"].reverse(), "runs must be in the order of time"),
    "a run twice": (lambda h: h["runs"].__setitem__(1, h["runs"][0]), "each once"),
    "no run": (_set("runs", value=[]), "runs must not be empty"),
    "markup for a time": (_set("runs", 0, "started", value="<b>"), "field runs[0].started must be"),
    "a commit": (_set("runs", 0, "commit", value="main"), "field runs[0].commit must be"),
    "too few times": (lambda h: h["cases"][CASE].pop(), "one entry for each run"),
    "no time": (_set("cases", CASE, value=[None] * 5), "must have a time"),
    "an interval": (_set("cases", CASE, 1, value=[1.0, 1.1, 1.2]), "[1] must be a median between"),
    "half an interval": (_set("cases", CASE, 1, value=[1.0, 0.9]), "[1] must be a median between"),
    "a negative time": (_set("cases", CASE, 1, value=[-1.0, -1.0, -1.0]), "must be a median"),
    "a word": (_set("cases", CASE, 1, value="fast"), "must be a list"),
    "no row": (_set("rows", value={}), "rows must be the rows of the cases"),
    "a role": (_set("rows", "matmul/tile16", "role", value="boss"), "role must be one of"),
    "an id": (lambda h: h["cases"].update(x=[None]), "must be of the form"),
    "a step at the end": (_set("steps", CASE, value=[4]), "2 or more from each other"),
    "a step that comes back": (_set("steps", CASE, value=[3, 2]), "2 or more from each other"),
    "a step nowhere": (_set("steps", CASE, value=[77]), "2 or more from each other"),
    "a step of nothing": (_set("steps", "matmul/none/1x1x1/cold", value=[2]), "must be runs with"),
    "steps that nobody looked for": (_set("searched", value=2), "2 or more from each other"),
    "more than there is": (_set("searched", value=6), "searched must be at most"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_not_in_form_is_one_line(name: str, tmp_path: Path) -> None:
    change, why = BAD[name]
    document = json.loads(_history({CASE: [1.0, 1.0, 2.0, 2.0, 2.0]}).json())
    document |= {"searched": 5, "steps": {CASE: [2]}}
    path = tmp_path / "nvidia-h200" / HISTORY
    path.parent.mkdir()
    path.write_text(json.dumps(document))
    assert runs.load(path)
    change(document)
    path.write_text(json.dumps(document))
    line = one_line(run("history", "--results", tmp_path), 2)
    assert line.startswith(f"error: {path}: ") and why in line


# what is found: all that follows needs the package that looks


@pytest.fixture
def ruptures() -> None:
    pytest.importorskip("ruptures", reason="reports/requirements-history.txt is not installed")


def _width(kind: str, share: float) -> float:
    """What so many of the differences between two runs of a class stay within, as measured; on
    straight lines of logarithms between the quantiles that are kept."""
    level = known()[H200].at(GPU)
    spread = level.medians.of(kind) if level else None
    assert spread
    shares = (0, 0.5, PREDICTED, MARGIN, 1)
    measured = (spread.half, spread.predicted, spread.margin, spread.largest)
    ends = [math.log1p(x) for x in (spread.half / 10, *measured)]
    at = next(n for n in range(1, 5) if share <= shares[n])
    part = (share - shares[at - 1]) / (shares[at] - shares[at - 1])
    return float(ends[at - 1] * (ends[at] / ends[at - 1]) ** part)


def _noise(kind: str, count: int, rng: random.Random, share: float | None = None) -> list[float]:
    """So many runs' logarithms. A class is wide for two reasons, and nobody knows which is how much
    of it: some cases are noisy in every run, of which `share` is one, and some runs stray."""
    if share is None:
        return [rng.choice((-1, 1)) * _width(kind, rng.random()) / math.sqrt(2)
                for _ in range(count)]  # fmt: skip
    return [rng.gauss(0, _width(kind, share) / 0.954) for _ in range(count)]


def _of_class(kind: str, number: int) -> tuple[str, float]:
    """A case of a class, and the seconds that put it there."""
    regime, _, name = kind.partition(", ")
    long = dict(zip((name for _, name in DURATIONS), (5e-6, 5e-5, 5e-4, 5e-3), strict=True))
    word = {"CPU": "hot", "end to end": "end_to_end"}.get(regime, regime)
    row = "openmp" if kind == THREADS else "row"
    return f"matmul/{row}{number}/8x8x8/{word}", long.get(name, 1e-3)


def _noisy(kind: str, count: int, many: int, by_case: bool) -> dict[str, list[float]]:
    rng, found = random.Random(f"{kind} {many} {by_case}"), {}
    for number in range(count):
        case, seconds = _of_class(kind, number)
        share = rng.random() if by_case else None
        found[case] = [seconds * math.exp(x) for x in _noise(kind, many, rng, share)]
    return found


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("by_case", [True, False], ids=["noisy cases", "runs that stray"])
@pytest.mark.usefixtures("ruptures")
def test_noise_alone_is_hardly_ever_a_change_point(kind: str, by_case: bool) -> None:
    """In at most 1 of 1000 cases, in histories short and longer."""
    for many in (FEWEST, 10):
        history = _history(_noisy(kind, 1000, many, by_case))
        if kind in OF_CPU:
            vars(history)["rows"] = {name: Row("cpu", "rung", False) for name in history.rows}
        found = searched(history).steps
        assert len(found) <= 1, (many, found)


@pytest.mark.parametrize(
    ("factor", "at", "names"),
    [
        (1.03, 5, ("100 µs to 1 ms", "1 ms and more")),
        (1.04, 7, ("100 µs to 1 ms", "1 ms and more")),
        (1.1, 8, ("10 to 100 µs", "100 µs to 1 ms", "1 ms and more")),
        (1.1, 2, ("10 to 100 µs", "100 µs to 1 ms", "1 ms and more")),
        (0.9, 5, ("under 10 µs", "10 to 100 µs", "100 µs to 1 ms", "1 ms and more")),
    ],
)
@pytest.mark.parametrize("regime", ["cold", "hot"])
@pytest.mark.usefixtures("ruptures")
def test_a_step_is_found_where_it_is_and_nowhere_else(
    regime: str, factor: float, at: int, names: tuple[str, ...]
) -> None:
    """In one of 200 cases, which is as noisy as half of its class are."""
    for name in names:
        kind = f"{regime}, {name}"
        cases = _noisy(kind, 200, 10, by_case=True)
        case, seconds = _of_class(kind, 77)
        noise = _noise(kind, 10, random.Random(11), share=0.5)
        cases[case] = [
            seconds * math.exp(x) * (factor if run >= at else 1) for run, x in enumerate(noise)
        ]
        (found,) = steps.steps(searched(_history(cases)))
        assert (found.id, found.before, found.after) == (case, at - 1, at), kind
        assert found.slower == (factor > 1)
        assert 1 / found.ratio.value == pytest.approx(factor, abs=0.025)


@pytest.mark.usefixtures("ruptures")
def test_two_runs_tell_a_step_beyond_what_39_of_40_pairs_stay_within() -> None:
    """The sentence of the page: two at the end, or five against five by two fifths of it."""
    limit = usual("cold, 100 µs to 1 ms", {H200})
    for after, share in ((2, 1.0), (5, 0.4)):
        for by, found in ((1.05, 1), (0.95, 0)):
            factor = math.exp(by * share * math.log1p(limit))
            times = [5e-4] * (10 - after) + [5e-4 * factor] * after
            assert len(searched(_history({CASE: times})).steps) == found


@pytest.mark.usefixtures("ruptures")
def test_a_run_that_strays_is_no_step() -> None:
    for at in range(10):
        times = [1e-3] * 10
        times[at] *= 1.5
        assert searched(_history({CASE: times})).steps == {}


@pytest.mark.usefixtures("ruptures")
def test_runs_without_a_time_count_for_nothing() -> None:
    """A row that was added, and one that was gone for a while."""
    times = [0.0, 0.0, 1e-3, 1e-3, 1e-3, 0.0, 1.2e-3, 1.2e-3, 1.2e-3]
    (found,) = steps.steps(searched(_history({CASE: times})))
    assert (found.before, found.after) == (4, 6)
    few = [0.0, 0.0, *[1e-3] * 2, *[2e-3] * (FEWEST - 3)]
    history = _history({CASE: few, "matmul/tile16/8x8x8/cold": [*few, 2e-3][1:]})
    assert len(history.series(CASE)) == FEWEST - 1
    assert searched(history).steps == {"matmul/tile16/8x8x8/cold": (3,)}


def _population(at: int, **code: Any) -> History:
    """All cold cases take 2 % longer from run `at` on, which is on another GPU."""
    rng = random.Random(2)
    cases = {
        f"matmul/row{number}/8x8x8/{regime}": [
            5e-4 * math.exp(rng.gauss(0, 5e-4)) * (1.02 if run >= at and regime == "cold" else 1)
            for run in range(10)
        ]
        for number in range(50)
        for regime in ("cold", "hot")
    }
    other = {"uuid_hash": "b" * 16, **code}
    return _history(cases, *(_run(run, **(other if run >= at else {})) for run in range(10)))


@pytest.mark.usefixtures("ruptures")
def test_another_gpu_is_not_the_code() -> None:
    found = steps.steps(searched(_population(5)))
    assert {each.id for each in found} == {f"matmul/row{n}/8x8x8/cold" for n in range(50)}
    assert {(each.after, each.between.words) for each in found} == {(5, "GPU")}


@pytest.mark.usefixtures("ruptures")
@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            {"cubins": {"matmul/tile.cu": "e" * 16, "matmul/new.cu": "f" * 16}},
            "cannot tell which: device code (tile.cu), GPU",
        ),
        ({"driver": "590.1", "cuda_runtime": "14.0"}, "cannot tell which: driver, CUDA, GPU"),
        ({"cubins": None}, "cannot tell which: GPU; not known: device code"),
        ({"uuid_hash": "a" * 16, "driver": "590.1"}, "driver"),
        ({"uuid_hash": "a" * 16}, "nothing that records tell"),
        ({"uuid_hash": None}, "not known: GPU"),
        ({"queued_samples": 1}, "cannot tell which: GPU, timer"),
        # a file that one of the runs has alone is not the code of the other rows
        ({"cubins": {**(_run(0).cubins or {}), "matmul/new.cu": "f" * 16}}, "GPU"),
        ({"cubins": {**(_run(0).cubins or {}), "matvec/tile.cu": "f" * 16}}, "GPU"),
    ],
)
def test_what_changed_is_said_and_where_two_did_nobody_can_tell(code: Json, words: str) -> None:
    found = steps.steps(searched(_population(5, **code)))
    assert len(found) == 50 and {each.between.words for each in found} == {words}


def test_code_of_ours_changes_no_library_and_no_row_of_the_host() -> None:
    cubins = {"matmul/tile.cu": "e" * 16}
    history = _history({CASE: [1.0, 1.0]}, _run(0), _run(1, cubins=cubins, cpu="another"))
    differ = [
        steps.differences(history, "matmul", 0, 1, row).words
        for row in (None, Row("gpu", "baseline", True), Row("cpu", "rung", False))
    ]
    assert differ == ["cannot tell which: device code (tile.cu), host", "host", "CPU"]


# the command


@pytest.fixture
def saved(tmp_path: Path) -> Callable[..., list[Path]]:
    def save(*records: Json) -> list[Path]:
        paths = []
        for record in records:
            paths.append(tmp_path / f"record{len(list(tmp_path.glob('record*')))}/record.json")
            keep(paths[-1], record)
        return paths

    return save


Saved = Callable[..., list[Path]]


def _kept(folder: Path, *records: Record) -> Path:
    """A history of these records that nobody has searched."""
    history = None
    for each in records:
        history = added(history, of(each))
    assert history
    path = folder / "nvidia-h200" / HISTORY
    path.parent.mkdir(parents=True)
    path.write_bytes(history.json())
    return path


@pytest.mark.usefixtures("ruptures")
def test_records_are_added_each_to_the_history_of_its_gpu(saved: Saved, tmp_path: Path) -> None:
    other = _record(0)
    other["environment"]["gpu"]["name"] = "NVIDIA X1"
    # no two runs have the same times
    made = [_record(at, 1.3 if at > 2 else 1.0, "/tile16/") for at in range(6)]
    paths = saved(*(_another(each, at) for at, each in enumerate(made)), other)
    results = tmp_path / "results"
    result = run("history", *paths, "--add", "--results", results)
    assert result.returncode == 0, result.stderr
    assert [*tree(results)] == [f"nvidia-h200/{HISTORY}", f"nvidia-x1/{HISTORY}"]
    assert "NVIDIA H200: 6 runs, 2026-01-01 to 2026-01-06" in result.stdout
    assert "NVIDIA X1: 1 run, " in result.stdout
    # end to end nobody can tell a third
    ids = [case["id"] for case in json.loads(paths[0].read_text())["cases"]]
    tile = sum("/tile16/" in each and not each.endswith("end_to_end") for each in ids)
    assert f"  {tile} change points, {tile} of rungs\n" in result.stdout
    said = re.search(r"^  matmul/tile16 at 4096³, cold, .*$", result.stdout, re.M)
    assert said and "0000000 to 0000000: " in said[0]
    assert re.search(r": 1.3\d* times as long \[.*changed: nothing that records tell$", said[0])
    # again, and in another order: the same bytes
    before = tree(results)
    assert run("history", *paths[::-1], "--add", "--results", results).returncode == 0
    assert tree(results) == before
    again = tmp_path / "again"
    for path in paths[::-1]:
        assert run("history", path, "--add", "--results", again).returncode == 0
    assert tree(again) == before


def test_without_the_package_a_line_says_how_to_get_it(
    saved: Saved, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ruptures", None)
    line = one_line(run("history", *saved(_record(0)), "--add", "--results", tmp_path / "all"), 1)
    assert "Python package ruptures is missing" in line
    (pins,) = re.findall(r"pip install -r (.*requirements-history\.txt)\n", line)
    assert re.search(r"^ruptures==[\d.]+$", Path(pins).read_text(), re.M)
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"build_type": "Debug"}, "comes from a Debug build"),
        ({"gpu": None, "gpu_reason": "none", "state": {}}, "holds no GPU result"),
    ],
)
def test_times_that_nobody_should_believe_are_not_kept(
    change: Json, why: str, saved: Saved, tmp_path: Path
) -> None:
    record = _record(0)
    if change.get("gpu_reason"):
        record = make_record(SMALL, strategies=["cpu_serial"], gpu=False)
    else:
        record["environment"] |= change
    line = one_line(run("history", *saved(record), "--add", "--results", tmp_path / "all"), 1)
    assert why in line and not (tmp_path / "all").exists()


@pytest.mark.usefixtures("ruptures")
def test_of_a_part_of_the_matrix_the_times_are_kept(saved: Saved, tmp_path: Path) -> None:
    own = _record(0)
    own["environment"] |= {"command": "recheck --quick", "budget_seconds": 0.2}
    own["plan"]["preset"] = "quick"
    result = run("history", *saved(own), "--add", "--results", tmp_path / "all")
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(("factor", "code"), [(1.3, 1), (1.0, 0), (0.7, 0)])
def test_what_is_slower_than_before_is_named(
    factor: float, code: int, saved: Saved, loaded: Load, tmp_path: Path
) -> None:
    before = _kept(tmp_path, *(loaded(_record(at)) for at in range(3)))
    data = before.read_bytes()
    path = saved(_record(5, factor, "/tile16/4096x4096x4096/cold"))
    result = run("history", *path, "--check", "--results", tmp_path)
    assert (result.returncode, result.stderr) == (code, "")
    lines = result.stdout.splitlines()
    if code:
        assert lines[0].startswith("slower: matmul/tile16 at 4096³, cold: ")
        assert "1.3 times as long" in lines[0] or "1.30 times as long" in lines[0]
        assert lines[1].startswith("slower than in their history: 1 rung; of ") and len(lines) == 2
    else:
        assert len(lines) == 1 and lines[0].startswith("nothing is slower than in its history: ")
    assert before.read_bytes() == data  # to look changes nothing


@pytest.mark.parametrize(("runs_before", "code"), [(4, 0), (5, 1)])
def test_a_case_that_hardly_varies_is_held_to_less_than_its_class(
    runs_before: int, code: int, saved: Saved, loaded: Load, tmp_path: Path
) -> None:
    """4 % are little for the class of such times, and much for a case that five runs agree on."""
    noise = (1.0, 1.001, 0.999, 1.0005, 0.9995)[:runs_before]
    _kept(tmp_path, *(loaded(_record(at, x, "/tile16/")) for at, x in enumerate(noise)))
    kind = "cold, 1 ms and more"
    assert margin(kind, {H200}) > 0.04
    path = saved(_record(9, 1.04, "/tile16/4096x4096x4096/cold"))
    result = run("history", *path, "--check", "--results", tmp_path)
    assert result.returncode == code, result.stdout
    assert ("slower: matmul/tile16 at 4096³, cold" in result.stdout) == bool(code)
    # where the host decides, hosts that agree say nothing of another
    for case in ("/cpu_serial/", "/end_to_end"):
        path = saved(_record(9, 1.04, case))
        assert run("history", *path, "--check", "--results", tmp_path).returncode == 0


@pytest.mark.parametrize("count", [5, 8, 30])
def test_noise_is_hardly_ever_beyond_a_margin_of_its_own(count: int) -> None:
    dice = random.Random(count)
    beyond = 0
    for _ in range(4000):
        *before, last = (math.exp(dice.gauss(0, 0.02)) for _ in range(count + 1))
        level = [(at, Seconds(x, x, x, 20, 0)) for at, x in enumerate(before)]
        middle = sum(map(math.log, before)) / count
        beyond += abs(math.log(last) - middle) > math.log1p(steps.own_margin(level, 0.001))
    assert 0 < beyond < 16  # 4 are to be expected
    # as wide as the class, where the runs happen to agree; and never nothing
    same = [(at, Seconds(1.0, 1.0, 1.0, 20, 0)) for at in range(count)]
    assert steps.own_margin(same, 0.05) > 0.2 > steps.own_margin(same, 0.0) == steps.LEAST


def test_a_run_that_strayed_neither_hides_nor_makes_a_slower_rung(
    saved: Saved, loaded: Load, tmp_path: Path
) -> None:
    """The last one was slow by itself: against it alone nothing could be seen."""
    factors = (1.0, 1.0, 1.0, 1.3)
    _kept(tmp_path, *(loaded(_record(at, x, "/tile16/")) for at, x in enumerate(factors)))
    for factor, code in ((1.3, 1), (1.0, 0)):
        path = saved(_record(9, factor, "/tile16/"))
        result = run("history", *path, "--check", "--results", tmp_path)
        assert result.returncode == code, result.stdout


def test_the_last_level_is_what_counts(saved: Saved, loaded: Load, tmp_path: Path) -> None:
    """A slower level that is known already is no news; a record is not held against itself."""
    path = _kept(
        tmp_path, *(loaded(_record(at, 1.3 if at > 2 else 1.0, "/tile16/")) for at in range(6))
    )
    document = json.loads(path.read_text())
    steps_of = {case: [3] for case in document["cases"] if "/tile16/" in case}
    path.write_text(json.dumps(document | {"searched": 6, "steps": steps_of}))
    result = run("history", *saved(_record(9, 1.3, "/tile16/")), "--check", "--results", tmp_path)
    assert result.returncode == 0, result.stdout
    rungs = re.search(r"history: (\d+) cases of rungs", result.stdout)
    # without itself, two runs of tile16 are left
    result = run("history", *saved(_record(5, 1.3, "/tile16/")), "--check", "--results", tmp_path)
    fewer = re.search(r"history: (\d+) cases of rungs", result.stdout)
    assert rungs and fewer and int(rungs[1]) - int(fewer[1]) == len(steps_of)


def test_too_few_runs_are_said_to_be(saved: Saved, loaded: Load, tmp_path: Path) -> None:
    _kept(tmp_path, loaded(_record(0)), loaded(_record(1)))
    result = run("history", *saved(_record(9, 2.0)), "--check", "--results", tmp_path)
    assert result.returncode == 0 and result.stdout.startswith("not enough runs: ")
    other = _record(9, 2.0)
    other["environment"]["gpu"]["name"] = "NVIDIA L4"
    result = run("history", *saved(other), "--check", "--results", tmp_path)
    assert result.returncode == 0 and result.stdout.startswith("no history of NVIDIA L4: ")


def test_records_are_there_for_something(saved: Saved, tmp_path: Path) -> None:
    line = one_line(run("history", *saved(_record(0)), "--results", tmp_path), 2)
    assert "to --add or to --check: say which" in line
    assert "name the record" in one_line(run("history", "--check", "--results", tmp_path), 2)
    result = run("history", "--results", tmp_path)
    assert result.returncode == 0 and result.stdout.startswith("no history: ")


# the report


def _rendered(folder: Path, record: Json, history: History | None, **more: Any) -> dict[str, str]:
    (folder / "input").mkdir(exist_ok=True)
    keep(folder / "input" / "record.json", record)
    if history:
        (folder / "input" / HISTORY).write_bytes(history.json())
    result = run("render", folder / "input", "--output", folder / "report", **more)
    assert result.returncode == 0, result.stderr
    texts = tree(folder / "report").items()
    return {name: data.decode() for name, data in texts if name.endswith((".md", ".svg", ".json"))}


def _searched(history: History, **found: tuple[int, ...]) -> History:
    """As if someone had looked, and found these by strategies."""
    made = copy.copy(history)
    own = {c: at for name, at in found.items() for c in history.cases if f"/{name}/" in c}
    vars(made).update(searched=len(history.runs), steps=own)
    return made


def _many(loaded: Load, *factors: float, **environment: Any) -> History:
    """Of as many runs, in which tile16 takes so many times as long; the last is of that machine."""
    history = None
    for at, factor in enumerate(factors):
        own = environment if at == len(factors) - 1 else {}
        history = added(history, of(loaded(_record(at, factor, "/tile16/", **own))))
    assert history
    return history


def test_a_report_shows_its_history(loaded: Load, tmp_path: Path) -> None:
    history = _searched(_many(loaded, 1, 1, 1, 1.2, 1.2, 1.2), tile16=(3,))
    files = _rendered(tmp_path, _record(5, 1.2, "/tile16/"), history, drawn=True)
    text = files["history.md"]
    tile = sum("/tile16/" in case for case in history.cases)
    assert f"**{tile} change points**, {tile} of rungs" in text
    row = re.search(r"^\| \[`tile16`\]\(matmul.md#tile16\) \| 4096³, cold \|.*$", text, re.M)
    assert row and "1.2" in row[0] and "times as long [" in row[0]
    assert row[0].endswith("nothing that records tell |")
    assert (
        "(history.md)" in files["README.md"] and "history.md#runs-of-matmul" in files["matmul.md"]
    )
    chart = files["charts/matmul_history.svg"]
    assert "tile16 takes" in chart and "from 0000000 on" in chart and "global16" in chart
    assert files[HISTORY].encode() == history.json()
    result = run("lint", tmp_path / "report")
    assert "12 of 12 rules kept" in result.stdout, result.stdout
    # the folder is a record again, and gives the same
    before = tree(tmp_path / "report")
    result = run("render", tmp_path / "report", "--output", tmp_path / "report", drawn=True)
    assert result.returncode == 0 and tree(tmp_path / "report") == before


def test_without_a_history_nothing_speaks_of_one(loaded: Load, tmp_path: Path) -> None:
    files = _rendered(tmp_path, _record(0), None)
    assert not {name for name in files if "history" in name}
    assert "history.md" not in "".join(files.values())
    # and one that is gone leaves nothing behind
    _rendered(tmp_path, _record(0), _many(loaded, 1, 1))
    (tmp_path / "input" / HISTORY).unlink()
    assert not {name for name in _rendered(tmp_path, _record(0), None) if "history" in name}


def test_too_few_runs_are_an_answer(loaded: Load, tmp_path: Path) -> None:
    text = _rendered(tmp_path, _record(1), _searched(_many(loaded, 1, 1)))["history.md"]
    assert f"**Not enough runs**: no case has more than 2 of the {FEWEST}" in text
    assert f"Not enough runs: no case has the {FEWEST} that it takes." in text
    assert "nothing to compare this run with" in text


def test_who_has_not_looked_says_so(loaded: Load, tmp_path: Path) -> None:
    history = _searched(_many(loaded, 1, 1, 1, 1, 1))
    text = _rendered(tmp_path, _record(5), added(history, of(loaded(_record(5)))))["history.md"]
    assert "Change points have not been looked for in the last run" in text
    text = _rendered(tmp_path, _record(5), _many(loaded, 1, 1, 1, 1, 1))["history.md"]
    assert "in these runs" in text and "The run that this report is about is not one" in text
    assert "No change point" not in text


def test_a_slower_rung_stands_on_the_page_and_on_the_first(loaded: Load, tmp_path: Path) -> None:
    earlier = _many(loaded, 1, 1, 1)
    files = _rendered(tmp_path, _record(9, 1.5, "/tile16/"), earlier)
    text = files["history.md"]
    assert "**1 rung slower**" in text
    assert "### Rungs: slower than before" in text and "| `matmul/tile16` |" in text
    first = files["README.md"]
    assert "Read the numbers with care" in first and "1 rung slower than in earlier runs" in first
    row = r"\| Earlier runs of this GPU model \| \[\*\*1 rung slower\*\*\]\(history\.md#this-run\) "
    row += r".*`matmul/tile16` at .*: [\d.]+ \w+ before and [\d.]+ \w+ now is 1\.50 times as long "
    assert re.search(row, first)

    files = _rendered(tmp_path, _record(9), earlier)
    assert "**no rung is slower**" in files["history.md"] and "###" not in files["history.md"]
    assert "[no rung is slower](history.md#this-run) beyond its margins" in files["README.md"]
    assert "slower than in earlier" not in files["README.md"]
    # who cannot tell says nothing
    assert "Earlier runs" not in _rendered(tmp_path, _record(9), _many(loaded, 1, 1))["README.md"]


@pytest.mark.parametrize("kept", [False, True], ids=["another run", "one of the history"])
def test_since_when_it_is_slower_and_what_changed_there(
    kept: bool, loaded: Load, tmp_path: Path
) -> None:
    """The driver changed with the first of the two runs that are slower."""
    history = _many(loaded, 1, 1, 1, 1)
    for at in (4, 5):
        own = _record(at, 1.5, "/tile16/", driver="2")
        if at == 4 or kept:
            history = added(history, of(loaded(own)))
    files = _rendered(tmp_path, own, history)
    since = history.runs[4].short
    assert f"; since `{since}`: driver |" in files["README.md"]
    assert f"| `{since}` | driver |" in files["history.md"]


def test_what_a_history_says_is_no_markup(loaded: Load, tmp_path: Path) -> None:
    history = copy.copy(_searched(_many(loaded, 1, 1, 1.2, 1.2), tile16=(2,)))
    # in every text that no form holds to letters and digits
    vars(history)["runs"] = tuple(
        replace(each, driver="<script>|[x](javascript:x)`",
                cubins={"matmul/<img>[y](javascript:y)`|": f"{at:016x}"})
        for at, each in enumerate(history.runs)
    )  # fmt: skip
    text = _rendered(tmp_path, _record(0), history)["history.md"]
    assert text.count("&lt;script&gt;\\|") == 4 and "device code (&lt;img&gt;" in text
    assert not re.search(r"<(script|img)|(?<!\\)\]\(javascript", text)


def test_a_history_of_another_gpu_is_left_out_and_said(loaded: Load, tmp_path: Path) -> None:
    record = _record(0)
    record["environment"]["gpu"]["name"] = "NVIDIA L4"
    keep(tmp_path / "record.json", record)
    (tmp_path / HISTORY).write_bytes(_many(loaded, 1, 1).json())
    assert run("render", tmp_path, "--output", tmp_path / "report").returncode == 0
    line = (tmp_path / "report/README.md").read_text()
    assert f"could not be read**: {HISTORY}: is of another GPU than the record" in line


def test_a_history_with_other_times_of_this_run_is_left_out(loaded: Load, tmp_path: Path) -> None:
    keep(tmp_path / "record.json", _record(1))
    (tmp_path / HISTORY).write_bytes(_many(loaded, 1, 1.5).json())
    assert run("render", tmp_path, "--output", tmp_path / "report").returncode == 0
    line = (tmp_path / "report/README.md").read_text()
    assert f"{HISTORY}: has run " in line and " with another time of matmul/tile16" in line


def test_a_new_run_is_shown_after_those_of_the_evidence_beside_it(
    loaded: Load, tmp_path: Path
) -> None:
    """What the target `render` does: it names the committed records, this GPU's among them."""
    evidence = tmp_path / "results" / "nvidia-h200"
    evidence.mkdir(parents=True)
    keep(evidence / "record.json", _record(2))
    (evidence / HISTORY).write_bytes(_searched(_many(loaded, 1, 1, 1)).json())
    keep(tmp_path / "record.json", _record(7, 1.5, "/tile16/"))
    flags = ("--output", tmp_path / "report", "--beside", evidence / "record.json")
    assert run("render", tmp_path / "record.json", *flags).returncode == 0
    text = (tmp_path / "report" / "history.md").read_text()
    assert "4 runs of NVIDIA H200" in text and "**1 rung slower**" in text
    kept = runs.load(tmp_path / "report")
    assert kept and (len(kept.runs), kept.searched) == (4, 3)


# evidence


def test_what_is_published_goes_into_the_history_once(
    loaded: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ruptures", None)
    first, second = _record(0), _record(1)
    assert continued(loaded(first), tmp_path) == (None, [])
    keep(tmp_path / "record.json", first)
    # the same again is no second run; before there was a history, the evidence was its first run
    assert continued(loaded(first), tmp_path) == (None, [])
    history, notes = continued(loaded(second), tmp_path)
    assert history and [each.commit[-1] for each in history.runs] == ["0", "1"]
    assert len(notes) == 1 and "Python package ruptures is missing" in notes[0]
    (tmp_path / HISTORY).write_bytes(history.json())
    keep(tmp_path / "record.json", second)
    again, _ = continued(loaded(second), tmp_path)
    assert again and again.json() == history.json()
    earlier, _ = continued(loaded(first), tmp_path)
    assert earlier and earlier.json() == history.json()


@pytest.mark.parametrize("before", [True, False])
def test_publish_keeps_the_run(
    before: bool, loaded: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recheck_report.claims.measured.slips", lambda known, record: iter(()))
    results, evidence = tmp_path / "results", tmp_path / "results" / "nvidia-h200"
    if before:  # of runs that were added before any evidence was
        _kept(results, loaded(_record(0)))
    for at in (1, 2, 2):
        own = _another(_record(at), at)
        keep(tmp_path / "record.json", own)
        flags = ("--output", tmp_path / "report")
        assert run("render", tmp_path / "record.json", *flags).returncode == 0
        result = run("publish", tmp_path / "report", "--results", results)
        assert result.returncode == 0, result.stderr
    history = runs.load(evidence)
    assert history
    assert [each.commit[-1] for each in history.runs] == (["0"] if before else []) + ["1", "2"]
    # evidence is what its own files render to
    published = tree(evidence)
    assert "history.md" in published
    assert run("render", evidence, "--output", evidence).returncode == 0
    assert tree(evidence) == published


def test_an_edited_run_is_refused_by_name(loaded: Load, tmp_path: Path) -> None:
    (tmp_path / HISTORY).write_bytes(_many(loaded, 1, 1).json())
    with pytest.raises(BadRecord, match=f"^{tmp_path / HISTORY}: has run 0000000 of 2026-01-02"):
        continued(loaded(_record(1, 1.1)), tmp_path)


def test_runs_without_a_report_are_no_expectation(loaded: Load, tmp_path: Path) -> None:
    _kept(tmp_path / "results", loaded(_record(0)))
    keep(tmp_path / "record.json", _record(1))
    result = run("verify", tmp_path, "--expected", tmp_path / "results")
    assert result.returncode == 0 and "no expectation for NVIDIA H200" in result.stdout


@pytest.fixture(scope="module")
def committed() -> History:
    found = runs.load(COMMITTED)
    if found is None:
        pytest.skip("no history is committed")
    return found


def test_the_committed_history_is_small_and_has_the_committed_run(committed: History) -> None:
    size = (COMMITTED / HISTORY).stat().st_size
    assert size <= 150_000 * max(10, len(committed.runs))
    assert (COMMITTED / HISTORY).read_bytes() == committed.json()
    own = of(load(COMMITTED)[0])
    assert added(committed, own).json() == committed.json()
    # every run that the margins are from is kept as well, those of a pilot beside it
    kept = {each.started for each in committed.runs}
    kept |= {load(each)[0].environment.started for each in pilots(REPORTS / "pilot")}
    assert {each["started"] for each in known()[H200].records} <= kept


def _of_its_code(history: History, step: steps.Step) -> bool:
    """Whether the kernel file changed that the row is named after."""
    experiment, row, *_ = step.id.split("/")
    files = steps.differences(history, experiment, step.before, step.after).files
    return any(row.startswith(file.removesuffix(".cu")) for file in files)


@pytest.mark.usefixtures("ruptures")
def test_its_change_points_are_what_is_found_in_it(committed: History) -> None:
    assert searched(committed).json() == committed.json()
    # the first run on a host of two GPUs, whose timer's own share is twice as long: times became up
    # to 1.2 us less, and some from end to end longer
    timer = [run.commit[:7] for run in committed.runs].index("e06affa")
    every = [each for each in steps.steps(committed) if not _of_its_code(committed, each)]
    others = [each for each in every if each.after != timer]
    assert len(others) / len(committed.cases) < 0.01
    there = [each for each in every if each.after == timer]
    less = {each.id: each.was.median - each.now.median for each in there}
    host = [name for name, by in less.items() if 0 < by < 1.2e-6 or name.endswith("/end_to_end")]
    assert len(host) > len(there) / 2
    assert (len(there) - len(host)) / len(committed.cases) < 0.005


def test_searching_needs_nothing_to_be_shown(
    committed: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ruptures", None)
    with pytest.raises(NoRuptures):
        searched(committed)
    found = steps.steps(committed)
    assert len(found) == sum(map(len, committed.steps.values()))
    assert all(each.size > 1 and each.after - each.before >= 1 for each in found)
    assert search.PENALTY and EACH == 2
