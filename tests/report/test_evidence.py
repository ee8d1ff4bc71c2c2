"""What a record may not say and be evidence, though it contradicts nothing that it says itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from recheck_report.contribution.evidence import doubtful
from recheck_report.history.runs import of, repeated
from recheck_report.model.record import Record, load
from synthetic import SMALL, Json, make_full, make_record, matching, pack, scale

Save = Callable[..., Path]
REDATED = "2026-11-20T03:00:00Z"


@pytest.fixture(scope="module")
def full() -> Json:
    return make_full(small=True)


def _slower(factor: float, *patterns: str) -> Callable[[Json], Json]:
    def lie(record: Json) -> Json:
        for pattern in patterns:
            record = scale(record, pattern, factor)
        return record

    return lie


def _exact(record: Json) -> Json:
    for case in matching(record, "matmul/tile16/"):
        case["error"]["value"] = 0.0
    return record


def _nearly_exact(record: Json) -> Json:
    for case in matching(record, "matmul/tile16/"):
        case["error"]["value"] = 1e-300
    return record


def _without_kernels(record: Json) -> Json:
    spent = record["overhead"]
    spent["other"] += spent["verified_kernels"]
    spent["verified_kernels"] = 0.0
    return record


def _state(record: Json) -> Json:
    record["environment"]["state"]["event_nanoseconds"] = 1_000_000
    return record


def _compiled(record: Json) -> Json:
    record["environment"]["code"] = "ptx"
    return record


LIES: dict[str, tuple[Callable[[Json], Json], str]] = {
    "an empty launch of no time": (
        _slower(0.1, "machine/launch/"),
        "is less than any launch takes",
    ),
    "cold before hot": (
        _slower(0.5, "matmul/tile16/4096x4096x4096/cold"),
        "is less than eight tenths of the same hot",
    ),
    "larger slowdowns that nobody finds": (
        _slower(1 / 1.05, "audit/slower5_"),
        "finds a larger slowdown less often than a smaller one",
    ),
    "a timer that takes a millisecond": (_state, "1e+06 ns are subtracted of each time"),
    "sums without rounding": (_exact, "has an error of 0, and sums in fp32 have more"),
    "sums with next to none": (_nearly_exact, "has an error of 1e-300, and sums in fp32 have more"),
    "samples of no kernels": (_without_kernels, "its kernels took 0 s, and its samples alone "),
    "compiled at run time": (_compiled, "compiled at run time; build it for this GPU"),
}


@pytest.mark.parametrize("name", LIES)
def test_is_doubted(name: str, full: Json, save: Save) -> None:
    lie, why = LIES[name]
    found = doubtful(_read(lie(scale(full, "", 1.0)), save))
    assert found and why in found


@pytest.mark.parametrize(
    ("method", "why"),
    [
        ({"flush_l2_sizes": 1}, "flush_l2_sizes 1, and 2 is the least"),
        ({"throttled_below": 1e-6}, "throttled_below 1e-06, and 0.5 is the least"),
        ({"queued_samples": 8}, "queued_samples 8, and one is timed at once"),
        ({}, None),
    ],
)
def test_less_than_the_method_is_doubted(
    method: Json, why: str | None, full: Json, tmp_path: Path
) -> None:
    files = pack(full)
    document = json.loads(files["record.json"])
    document["method"] |= method
    found = _doubts(document, files["samples.jsonl"], tmp_path)
    assert (why in (found or "")) if why else found is None


def test_long_launches_by_the_dozen_are_doubted(full: Json, tmp_path: Path) -> None:
    files = pack(full)
    document = json.loads(files["record.json"])
    for case in matching(document, "transpose/naive/8192x8192/hot"):
        case["batch"] = 8
        case["spent"] += 1.0
    found = _doubts(document, files["samples.jsonl"], tmp_path)
    assert found and "hot has 8 launches of " in found and "and 1 at most are timed" in found


def _doubts(document: Json, samples: bytes, folder: Path) -> str | None:
    (folder / "record.json").write_text(json.dumps(document))
    (folder / "samples.jsonl").write_bytes(samples)
    return doubtful(load(folder)[0])


def _read(record: Json, save: Save) -> Record:
    return load(save(record))[0]


def test_the_same_by_one_factor_is_a_copy(save: Save) -> None:
    record = make_record(SMALL, strategies=["cpu_serial", "global16", "tile16", "cublas"])
    first = of(_read(record, save))
    other = scale(record, "", 1.00001)
    other["environment"]["started"] = REDATED
    why = repeated(of(_read(other, save)), first)
    assert why and "all by one factor" in why
