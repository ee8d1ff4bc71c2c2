"""The sentences about S3, matvec and transpose: they follow the numbers and S3's own factors."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from recheck_report.model.record import Record
from recheck_report.sections.findings import Finding
from synthetic import (
    MATVEC_SMALL,
    TRANSPOSE_SMALL,
    Json,
    make_full,
    make_matvec,
    make_transpose,
    matching,
    scale,
    set_time,
    time_of,
)
from synthetic_claims import measured

HEAD = "/8192x8192/cold"
Judged = Callable[..., dict[str, Finding]]


@pytest.fixture
def judged(loaded: Callable[[Json], Record]) -> Judged:
    """The findings of one experiment by title."""

    def judge(record: Json, name: str = "") -> dict[str, Finding]:
        from recheck_report.sections.findings import findings

        parsed = loaded(record)
        experiment = parsed.experiment(name or parsed.experiments[0].name)
        assert experiment is not None
        return {finding.title: finding for finding in findings(measured(parsed), experiment)}

    return judge


def _at(record: Json, strategy: str, median: float, width: float = 0.001) -> Json:
    """Sets the time of a strategy at the headline, cold."""
    for case in matching(record, f"/{strategy}{HEAD}"):
        set_time(case, median, median * (1 - width), median * (1 + width))
    return record


@pytest.mark.parametrize(
    "direct,told",
    [
        # 300 µs for the transposition, 100 µs a product by shared
        (201e-6, "pays **from 3 products on** [3, 4]"),
        (401e-6, "pays **from the first product** [1, 2]"),
        (100e-6, "**does not clearly pay**"),
        (90e-6, "**never pays**"),
    ],
)
def test_break_even(judged: Judged, direct: float, told: str) -> None:
    record = make_matvec(MATVEC_SMALL)
    times = {
        "transpose_then_matvec_transpose": 300e-6,
        "s3_shared": 100e-6,
        "s3_block_per_row": direct,
    }
    for name, median in times.items():
        _at(record, name, median, 0.01 if name == "s3_shared" else 0.001)
    lines = judged(record)["The price of transposing first"].lines
    text = next(line.text for line in lines if "in place of [`s3_block_per_row`]" in line.text)
    assert told in text and "our transposition 300 µs" in text


@pytest.mark.parametrize("width", [0.005, 0.01])
def test_break_even_has_no_end_where_the_intervals_overlap(judged: Judged, width: float) -> None:
    """Round by round 1 % is clear; the medians' intervals meet, or overlap, as the clock drifts."""
    record = make_matvec(MATVEC_SMALL)
    times = {
        "transpose_then_matvec_transpose": 300e-6,
        "s3_shared": 100e-6,
        "s3_block_per_row": 101e-6,
    }
    for name, median in times.items():
        (case,) = matching(record, f"/{name}{HEAD}")
        record = scale(record, case["id"], median / case["seconds"]["median"])
        (case,) = matching(record, case["id"])
        # of 20 samples in their order, the 6th and the 15th
        case["samples"] = [median * (1 + width * (at - 9.5) / 4.5) for at in range(20)]
        case["seconds"] |= time_of(case["samples"])
    lines = judged(record)["The price of transposing first"].lines
    text = next(line.text for line in lines if "in place of [`s3_block_per_row`]" in line.text)
    assert re.search(r"pays \*\*from 30[01] products on\*\* \[\d+, ∞\]", text), text


def test_blocks_and_rows(judged: Judged) -> None:
    found = judged(make_matvec())["Keeping the multiprocessors busy"]
    assert "`s3_naive` 32 threads, " in found.lines[0].text
    assert "`s3_naive` 15.6 at 64 rows, 1244 at 1048576 rows" in found.lines[1].text
    slow = judged(scale(make_matvec(), "_block32/8192x", 100))["Keeping the multiprocessors busy"]
    assert "`s3_naive` 64 threads, " in slow.lines[0].text


def test_what_the_copies_take(judged: Judged) -> None:
    (line,) = judged(make_matvec())["What the copies into constant memory cost"].lines
    assert "at 8192 columns (1 batch) 3.00 µs of " in line.text
    assert "at 65536 columns (4 batches) " in line.text


def test_order_of_the_rungs(judged: Judged) -> None:
    title = "Other shapes, and a matrix that fits into the cache"
    record = make_matvec()
    assert "**the same order** as at 8192²" in judged(record)[title].lines[1].text
    record = scale(record, "/s3_naive/4096x8192/cold", 0.01)
    text = judged(record)[title].lines[1].text
    assert "`s3_naive` overtakes `s3_block_per_row`" in text and "the same order" not in text


def test_what_is_no_transposition_is_marked_wherever_it_is_named(judged: Judged) -> None:
    found = judged(make_transpose(TRANSPOSE_SMALL))
    copies = found["The documents' fastest transposition against the library and copies"].lines
    assert "[`copy`](transpose.md#copy) ‡" in copies[1].text
    assert "[`memcpy`](transpose.md#memcpy) ‡" in copies[2].text
    # a copy is faster than any transposition, and yet not the best of them
    assert all(line.text.startswith("At 8192² [`no_bank_conflicts`]") for line in copies)


@pytest.mark.parametrize("gpu", [True, False])
def test_no_speed_up_without_an_absolute_base(judged: Judged, gpu: bool) -> None:
    record = make_full(gpu)
    for name in ("matvec", "transpose"):
        for finding in judged(record, name).values():
            for line in finding.lines:
                ratios = re.findall(r"\d times as (?:fast|long) \[", line.text)
                times = re.findall(r"\d (?:s|ms|µs|ns)\b", line.text)
                assert len(times) >= len(ratios), line.text


def test_without_gpu_nothing_has_numbers(judged: Judged) -> None:
    for title, finding in judged(make_matvec(gpu=False)).items():
        assert {line.outcome for line in finding.lines} == {"not measured"}, title
    for title, finding in judged(make_transpose(gpu=False)).items():
        measured = {line.outcome for line in finding.lines} - {"not measured"}
        assert bool(measured) == (title == "The table of S3"), title


def test_close_times_are_told_apart(judged: Judged) -> None:
    record = _at(
        _at(make_matvec(MATVEC_SMALL), "warp_per_row", 1.1510e-3), "warp_per_row_shared", 1.1540e-3
    )
    (line,) = judged(record)["A warp's part of the vector in shared memory"].lines
    assert re.search(
        r"`warp_per_row`.* 1\.151 ms, .*`warp_per_row_shared`.* 1\.154 ms: ", line.text
    )
