"""The sentences about S3, matvec and transpose: they follow the numbers and S3's own factors."""

from __future__ import annotations

import re

import pytest
from synthetic import (
    MATVEC_SMALL,
    TRANSPOSE_SMALL,
    make_full,
    make_matvec,
    make_transpose,
    matching,
    scale,
    set_time,
    spoil,
)

HEAD = "/8192x8192/cold"


@pytest.fixture
def judged(save):
    """The findings of one experiment by title."""

    def judge(record: dict, name: str = "") -> dict:
        from findings import findings
        from record import load

        parsed, _ = load(save(record))
        experiment = parsed.experiment(name) if name else parsed.experiments[0]
        return {finding.title: finding for finding in findings(parsed, experiment)}

    return judge


def _at(record: dict, strategy: str, median: float, width: float = 0.001) -> dict:
    """Sets the time of a strategy at the headline, cold."""
    for case in matching(record, f"/{strategy}{HEAD}"):
        set_time(case, median, median * (1 - width), median * (1 + width))
    return record


def test_shared_meets_constant_at_every_unroll(judged) -> None:
    """S3 compares unroll 8 with unroll 4; here each with its equal."""
    title = "The vector in shared memory"
    record = make_matvec(MATVEC_SMALL)
    (line,) = judged(record)[title].lines
    assert line.text.count("×") == 4 and line.outcome == "faster"
    assert [f"unroll {n}: " in line.text for n in (1, 4, 8, 16)] == [True] * 4
    _at(record, "shared", 1e-3)  # the row of unroll 8
    (line,) = judged(record)[title].lines
    assert line.outcome == "mixed" and "**faster** in 3 of 4, **slower** in 1 of 4" in line.text


def test_a_comparison_that_is_missing_is_named_within_its_sentence(judged) -> None:
    record = spoil(make_matvec(MATVEC_SMALL), f"/shared_unroll16{HEAD}", "failed", "launch")
    (line,) = judged(record)["The vector in shared memory"].lines
    assert line.text.count("×") == 3
    assert line.text.endswith("; not measured: `shared_unroll16` at 8192²: failed: launch.")
    record = spoil(record, f"/shared{HEAD}", "failed", "launch")
    record = spoil(record, f"/shared_unroll1{HEAD}", "failed", "launch")
    record = spoil(record, f"/shared_unroll4{HEAD}", "failed", "launch")
    (line,) = judged(record)["The vector in shared memory"].lines
    assert line.outcome == "not measured" and line.text.startswith("Not measured: ")


@pytest.mark.parametrize(
    "direct,told",
    [
        # 300 µs for the transposition, 100 µs a product by shared
        (201e-6, "pays **from 3 products on** [3, 4]"),
        (401e-6, "pays **from 1 product on** [1, 2]"),
        (100e-6, "**cannot be told to pay**"),
        (90e-6, "**never pays**"),
    ],
)
def test_break_even(judged, direct: float, told: str) -> None:
    record = make_matvec(MATVEC_SMALL)
    times = {"transpose_then_matvec_transpose": 300e-6, "shared": 100e-6, "block_per_row": direct}
    for name, median in times.items():
        _at(record, name, median, 0.01 if name == "shared" else 0.001)
    lines = judged(record)["The price of transposing first"].lines
    text = next(line.text for line in lines if "Against [`block_per_row`]" in line.text)
    assert told in text and "the transposition 300 µs" in text


def test_blocks_and_rows(judged) -> None:
    found = judged(make_matvec())["Keeping the multiprocessors busy"]
    assert found.lines[0].outcome == "faster" and "`naive` 32 (" in found.lines[1].text
    assert "`naive` 15.6 at 64, 1244 at 1048576" in found.lines[2].text
    slow = judged(scale(make_matvec(), "_block32/8192x", 100))["Keeping the multiprocessors busy"]
    assert slow.lines[0].outcome == "slower" and "`naive` 64 (" in slow.lines[1].text


def test_constant_batches_and_their_copies(judged) -> None:
    lines = judged(make_matvec())["Vectors longer than constant memory"].lines
    assert "65536 columns, 4 batches: " in lines[0].text
    assert "at 8192 columns (1 batch; 3.00 µs of " in lines[1].text


def test_order_of_the_rungs(judged) -> None:
    title = "Other shapes, and a matrix that fits into the cache"
    record = make_matvec()
    assert "**in the order** of 8192²" in judged(record)[title].lines[1].text
    record = scale(record, "/naive/4096x8192/cold", 0.01)
    text = judged(record)[title].lines[1].text
    assert "`naive` overtakes `block_per_row`" in text and "in the order" not in text


def test_warp_against_block_over_columns(judged) -> None:
    record = scale(make_matvec(), "/warp_per_row/131072x512/cold", 0.5)
    line = judged(record)["One warp per row"].lines[0]
    assert line.outcome == "mixed"
    places = [line.text.index(f"{n} columns: ") for n in (64, 512, 8192, 65536)]
    assert places == sorted(places)


def test_diagonal_flips(judged) -> None:
    record = make_transpose(TRANSPOSE_SMALL)

    def outcomes(record: dict) -> list[str]:
        return [line.outcome for line in judged(record)["Blocks along the diagonal"].lines]

    assert outcomes(record) == ["slower", "slower"]
    assert outcomes(scale(record, "/diagonal/", 0.5)) == ["faster", "faster"]
    assert outcomes(scale(record, "/diagonal/8224x", 0.5)) == ["slower", "faster"]


def test_what_is_no_transposition_is_marked_wherever_it_is_named(judged) -> None:
    found = judged(make_transpose(TRANSPOSE_SMALL))
    text = found["A method that does not transpose"].lines[0].text
    assert "‡ is held against its own truth (tiles transposed inside, left in their places)" in text
    copies = found["The best transposition against library and copies"].lines
    assert "[`copy`](#transpose-copy) ‡" in copies[1].text
    assert "[`memcpy`](#transpose-memcpy) ‡" in copies[2].text
    # a copy is faster than any transposition, and yet not the best of them
    assert all(line.text.startswith("At 8192² [`no_bank_conflicts`]") for line in copies)


def test_transposition_beside_the_product(judged) -> None:
    title = "What transposing costs beside the product"
    found = judged(make_full(small=True), "transpose")[title]
    assert "(#matvec-shared)" in found.lines[0].text and found.lines[0].outcome == "faster"
    alone = judged(make_transpose(TRANSPOSE_SMALL))[title]
    assert alone.lines[0].outcome == "not measured"


@pytest.mark.parametrize("gpu", [True, False])
def test_no_speed_up_without_an_absolute_base(judged, gpu: bool) -> None:
    record = make_full(gpu)
    for name in ("matvec", "transpose"):
        for finding in judged(record, name).values():
            for line in finding.lines:
                ratios = re.findall(r"\d× \[", line.text)
                times = re.findall(r"\d (?:s|ms|µs|ns)\b", line.text)
                assert len(times) >= len(ratios), line.text


def test_without_gpu_only_the_cpu_programs_have_numbers(judged) -> None:
    for title, finding in judged(make_matvec(gpu=False)).items():
        measured = {line.outcome for line in finding.lines} - {"not measured"}
        assert bool(measured) == (title == "The CPU programs"), title
    for title, finding in judged(make_transpose(gpu=False)).items():
        measured = {line.outcome for line in finding.lines} - {"not measured"}
        assert bool(measured) == (title == "The table of S3"), title


def test_close_times_are_told_apart(judged) -> None:
    record = _at(_at(make_matvec(MATVEC_SMALL), "naive", 1.1510e-3), "naive_packed", 1.1540e-3)
    lines = judged(record)["Rows that start on aligned addresses"].lines
    assert "1.151 ms against 1.154 ms" in lines[0].text
