"""The changes that two runs can detect, and verdicts that allow for run-to-run noise."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest
from recheck_report.record.record import Case, Record
from recheck_report.statistics import variation
from recheck_report.statistics.changes import changes, lost
from recheck_report.statistics.comparisons import Comparisons
from recheck_report.statistics.variation import CLASSES, class_of
from records import Json, few, matching, set_time, spoil, without

Load = Callable[[Any], Record]


@pytest.fixture
def record() -> Json:
    return few()


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


def _one(record: Json, loaded: Load, *times: tuple[float, float, float]) -> str:
    """The outcome of a case in the class "cold, 1 ms and more" with these two times."""
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


def test_the_whole_interval_has_to_lie_beyond_the_noise(record: Json, loaded: Load) -> None:
    limit = 1 + variation.noise("cold, 1 ms and more")
    old = 0.02, 0.02 * 0.999, 0.02 * 1.001
    for factor, slower in ((limit * 1.003, True), (limit * 1.001, False), (1.0, False)):
        new = (old[0] * factor, old[1] * factor, old[2] * factor)
        assert _one(record, loaded, old, new) == ("slower" if slower else "no difference")
        # in the other order it is faster
        assert _one(record, loaded, new, old) == ("faster" if slower else "no difference")


def test_a_gpu_model_measured_once_borrows_the_noise_of_another(
    record: Json, loaded: Load, differ: Callable[[float], None]
) -> None:
    differ(0.02)
    own = loaded(record)
    base, other = (own.by_id[f"matmul/{row}/1024x1024x1024/cold"] for row in ("global16", "tile16"))
    assert Comparisons(own).ratio(base, other).resolution == pytest.approx(0.02)


def test_cases_that_lost_their_time_are_found(record: Json, loaded: Load) -> None:
    broken = spoil(record, "/tile16/1024x", "incorrect", "wrong at [3, 4]")
    broken = without(broken, "/global16/")
    own, new = loaded(record), loaded(broken)
    found = {old.id: each.status if each else None for old, each in lost(own, new)}
    expected = {c.id: None for c in own.cases if c.strategy == "global16" and c.seconds}
    wrong = {c.id: "incorrect" for c in own.cases if "/tile16/1024x" in c.id}
    assert found == expected | wrong and wrong
    assert lost(new, own) == []


@pytest.mark.parametrize(
    ("wide", "outcomes"),
    [
        (0.04, ["no difference", "faster", "no difference"]),
        (1e-6, ["faster", "faster", "faster"]),  # the self-audit needs more
    ],
)
def test_noise_between_processes_is_not_a_difference(
    wide: float, outcomes: list[str], record: Json, loaded: Load, differ: Callable[[float], None]
) -> None:
    """Differences of 3 % and 5 % between rows timed in turn, and of 5 % between rows timed apart,
    whose noise adds up."""
    differ(wide)
    for name, seconds in (("tile16", 0.02), ("global16", 0.0206), ("cublas", 0.021)):
        (case,) = matching(record, f"matmul/{name}/1024x1024x1024/cold")
        set_time(case, seconds, seconds, seconds)
    (hot,) = matching(record, "matmul/cublas/1024x1024x1024/hot")
    set_time(hot, 0.021, 0.021, 0.021)
    own = loaded(record)
    compare = Comparisons(own)
    tile16 = _case(own, "matmul/tile16/1024x1024x1024/cold")
    bases = ["global16/1024x1024x1024/cold", "cublas/1024x1024x1024/cold"]
    bases += ["cublas/1024x1024x1024/hot"]
    found = [compare.ratio(_case(own, f"matmul/{name}"), tile16) for name in bases]
    assert [each.outcome for each in found] == outcomes


def test_the_table_knows_every_class() -> None:
    table = variation.for_gpu()
    assert {*table.of_medians} >= {*CLASSES[:10]}
    for name in CLASSES:
        assert 0 < variation.noise(name) < math.inf
        for of in (table.of_ratios, table.of_medians):
            assert of.get(name, 0.0) >= 0


def test_threads_follow_from_the_source_not_from_the_role(record: Json, loaded: Load) -> None:
    """One loop stays one thread as a baseline; a library has several."""
    for document, kind in (("Recheck", "CPU, one thread"), ("vendor", "CPU, several threads")):
        (row,) = (each for each in record["strategies"] if each["name"] == "s1_cpu")
        row["role"], row["source"]["document"] = "baseline", document
        cases = [case for case in loaded(record).cases if case.strategy == "s1_cpu" and case.time]
        assert cases and all(class_of(case).startswith(kind) for case in cases)


def test_a_class_without_runs_has_the_largest_margin_of_similar_ones(
    record: Json, loaded: Load
) -> None:
    cases = [c for c in loaded(record).cases if c.id.startswith("matmul/tile16/4096") and c.seconds]
    runs = variation.Runs("", {}, {}, ())
    known = {"cold, under 10 µs": 0.2, "cold, 10 to 100 µs": 0.1, "inner": 0.5}
    for have, margin in ((known, 0.2), ({"inner": 0.5}, 0.0), ({}, 0.0)):
        object.__setattr__(runs, "of_medians", have)
        (cold,) = (case for case in cases if case.regime == "cold")
        assert runs.differs_by((cold,)) == margin
