"""The sentences follow the numbers: they flip with them, and stay silent when they overlap."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import EXPERIMENTS
from recheck_report.model.record import Record
from recheck_report.sections.findings.sentences import Line
from synthetic import (
    SHAPES,
    SMALL,
    Json,
    lasting,
    make_full,
    make_record,
    matching,
    scale,
    set_time,
    spoil,
)
from synthetic_claims import measured

TITLES = {
    "policy": "The best block policy",
    "serial": "GPU, copies included, against one CPU thread",
    "blas": "GPU, copies included, against the CPU's BLAS",
    "library": "The documents' fastest kernel against the library",
}
Judged = Callable[[Json], dict[str, tuple[Line, ...]]]
Compared = Callable[[Json, str, str, str], Line]


@pytest.fixture
def judged(loaded: Callable[[Json], Record]) -> Judged:
    """The findings of a record by their short names of TITLES."""

    def judge(record: Json) -> dict[str, tuple[Line, ...]]:
        from recheck_report.sections.findings import findings

        parsed = loaded(record)
        found = {f.title: f.lines for f in findings(measured(parsed), parsed.experiments[0])}
        assert set(found) == set(TITLES.values())
        return {name: found[title] for name, title in TITLES.items()}

    return judge


@pytest.fixture
def compared(loaded: Callable[[Json], Record]) -> Compared:
    """What one line says of two strategies, cold at one shape."""

    def compare(record: Json, base: str, other: str, shape: str) -> Line:
        from recheck_report.sections.findings.sentences import Sentences, finding

        parsed = loaded(record)
        say = Sentences(measured(parsed), parsed.experiments[0])
        (line,) = finding("", "", lambda: say.compare((base, "cold"), (other, "cold"), shape)).lines
        return line

    return compare


LARGE, SMALLER = "4096x4096x4096", "1024x1024x1024"


def outcomes(lines: tuple[Line, ...]) -> list[str]:
    return [line.outcome for line in lines]


def test_numbers_of_one_comparison(compared: Compared) -> None:
    record = make_record(SMALL)
    for name, median in (("global16", 30e-3), ("tile16", 20e-3)):
        case = matching(record, f"/{name}/{LARGE}/cold")[0]
        set_time(case, median, median * 0.99, median * 1.02)
    line = compared(record, "global16", "tile16", LARGE)
    # 29.7/20.4 and 30.6/19.8: the far ends of both intervals, worked by hand
    assert line.outcome == "faster" and line.text == (
        "At 4096³ [`tile16`](matmul.md#tile16) takes 20.0 ms, [`global16`](matmul.md#global16) "
        "30.0 ms: **faster**, 1.50 times as fast [1.46, 1.55]ᵉ."
    )


@pytest.mark.parametrize("other", ["tile16", "tile16_depth4"])
def test_sign_flips_with_the_data(compared: Compared, other: str) -> None:
    record = make_record(SMALL)
    fast = compared(scale(record, f"/{other}/", 0.1), "global16", other, LARGE)
    slow = compared(scale(record, f"/{other}/", 10), "global16", other, LARGE)
    assert (fast.outcome, slow.outcome) == ("faster", "slower")
    assert re.search(r"\*\*slower\*\*, \d\.\d+ times as long \[", slow.text)


def test_overlapping_intervals_are_no_difference(compared: Compared) -> None:
    record = make_record(SMALL)
    for name, low, high in (("global16", 0.95e-3, 1.05e-3), ("tile16", 0.9e-3, 1.01e-3)):
        for case in matching(record, f"/{name}/{SMALLER}/cold"):
            set_time(case, (low + high) / 2, low, high)
    line = compared(record, "global16", "tile16", SMALLER)
    assert line.outcome == "no difference"
    assert "**no clear difference**" in line.text
    assert "faster" not in line.text and "slower" not in line.text
    assert compared(record, "global16", "tile16", LARGE).outcome == "faster"


def test_a_ratio_in_words_is_never_below_one() -> None:
    from recheck_report.statistics.ratio import Ratio

    assert Ratio(1.067, 1.066, 1.068).words == "1.067 times as fast [1.066, 1.068]"
    assert Ratio(0.5, 0.4, 0.625, mark="ᵉ").words == "2.00 times as long [1.60, 2.50]ᵉ"
    assert Ratio(0.999, 0.99, 1.01).words == "1.00 times as long [0.99, 1.01]"


def test_a_bound_that_is_not_one_does_not_read_as_one() -> None:
    from recheck_report.statistics.ratio import Ratio

    assert Ratio(1.003, 1.0004, 1.006).outcome == "faster"
    assert "[1.0004, 1.0060]" in str(Ratio(1.003, 1.0004, 1.006))
    assert Ratio(1.0, 1.0, 1.0).outcome == "no difference"
    assert str(Ratio(512.3, 508.1, 516.9)) == "512× [508, 517]"


def test_missing_case_gives_its_own_reason(compared: Compared) -> None:
    record = spoil(make_record(SMALL), "/full_strip16/1024", "failed", "launch: out of resources")
    line = compared(record, "tile16", "full_strip16", SMALLER)
    assert line.outcome == "not measured"
    assert line.text == "Not measured: `full_strip16` at 1024³: failed: launch: out of resources."


def test_absent_case_is_not_measured(compared: Compared) -> None:
    record = make_record(SMALL, strategies=["global16", "tile16"])
    line = compared(record, "tile16", "tile16_depth4", SMALLER)
    assert line.outcome == "not measured" and "the record holds no such case" in line.text


def test_without_gpu_only_the_cpu_lines_have_numbers(judged: Judged) -> None:
    found = judged(make_record(SHAPES, gpu=False))
    for name in ("policy", "serial", "library"):
        assert outcomes(found[name]) == ["not measured"]
        assert "no CUDA device" in found[name][0].text
    assert outcomes(found["blas"]) == ["faster", "not measured"]


def test_best_policy_names_those_it_cannot_be_told_from(judged: Judged) -> None:
    record = make_record(SMALL)
    best = judged(record)["policy"][0]
    assert "[`tile32_depth2`](matmul.md#tile32_depth2) is the fastest" in best.text
    assert "do not separate" not in best.text
    for case in matching(record, "/tile32_depth4/4096x4096x4096/cold"):
        median = case["seconds"]["median"]
        set_time(case, median, 0.9 * median, 1.1 * median)
    assert "do not separate it from [`tile32_depth4`]" in judged(record)["policy"][0].text
    own = judged(scale(record, "/tile16/", 0.1))["policy"][0]
    assert own.outcome == "no difference" and "the documents' own" in own.text


def test_best_policy_is_one_of_the_documents(save: Callable[..., Path]) -> None:
    from recheck_report.model.record import load
    from recheck_report.sections.findings import findings

    record = make_record(SMALL)
    for case in matching(record, "/tile32_depth2/"):  # the fastest, were it theirs
        case["source"] = {**case["source"], "document": "Recheck"}
    parsed, _ = load(save(record))
    found = {f.title: f.lines for f in findings(measured(parsed), parsed.experiments[0])}
    assert "the fastest of 11 block policies" in found[TITLES["policy"]][0].text


def test_crossover_moves_with_the_copies(judged: Judged) -> None:
    record = make_record(SHAPES)
    assert "overtakes `cpu_blas` between 512 and 1024" in judged(record)["blas"][-1].text
    later = judged(scale(record, "/end_to_end", 4))["blas"][-1].text
    assert "between 4096 and 8192" in later
    never = judged(scale(record, "/end_to_end", 1e3))["blas"][-1].text
    assert "is behind `cpu_blas` at every square size that both have; " in never


def test_crossover_is_where_straight_lines_meet(save: Callable[..., Path]) -> None:
    from recheck_report.model.record import load
    from recheck_report.queries import crossings, sweep

    record = make_record([(128,) * 3, (512,) * 3], strategies=["cpu_blas", "tile16"])
    for pattern, times in (("/cpu_blas/", (1.0, 4.0)), ("/tile16/", (2.0, 2.0))):
        for case in matching(record, pattern):
            time = times["512" in case["id"]]
            set_time(case, time, time, time)
    parsed, _ = load(save(lasting(record)))
    sides = [
        sweep(parsed, parsed.experiments[0], name, regime)
        for name, regime in (("cpu_blas", "hot"), ("tile16", "cold"))
    ]
    # one doubles each time the size does, the other stays: they meet halfway, at 256 and 2 s
    (crossing,), _ = crossings(parsed, *sides)
    assert crossing.at == pytest.approx(256) and crossing.seconds == pytest.approx(2)
    assert (crossing.below, crossing.above, crossing.other_wins_above) == (128, 512, True)
    (back,), _ = crossings(parsed, *reversed(sides))
    assert back.at == pytest.approx(256) and not back.other_wins_above


def test_tf32_is_not_compared(judged: Judged) -> None:
    lines = judged(make_record(SMALL))["library"]
    tf32 = [line.text for line in lines if "cublas_tf32" in line.text]
    assert len(tf32) == 1 and "not fp32-accurate" in tf32[0] and "×" not in tf32[0]
    assert "limit" not in tf32[0]


def test_no_speed_up_without_an_absolute_base(judged: Judged) -> None:
    """A sentence gives at least one time for each ratio in it."""
    for record in (make_record(SHAPES), make_record(SHAPES, gpu=False)):
        for lines in judged(record).values():
            for line in lines:
                ratios = re.findall(r"\d times as (?:fast|long) \[", line.text)
                times = re.findall(r"\d (?:s|ms|µs|ns)\b", line.text)
                assert len(times) >= len(ratios), line.text


def test_findings_name_the_claims_that_they_are_about(save: Callable[..., Path]) -> None:
    from recheck_report.claims import load_collection
    from recheck_report.model.record import load
    from recheck_report.sections.findings import findings
    from recheck_report.sections.findings.sentences import Finding

    assert Finding("", "S3: twice (C38 to C41, C44)", ()).claims == [
        *(f"C{at}" for at in (38, 39, 40, 41, 44))
    ]
    assert Finding("", "NVIDIA's paper says so", ()).claims == []
    parsed, _ = load(save(make_full(small=True)))
    known = {claim.id for claim in load_collection(EXPERIMENTS).claims}
    said = [f for each in parsed.ordinary for f in findings(measured(parsed), each)]
    assert {name for f in said for name in f.claims} <= known
    assert {f.title: f.claims for f in said}[TITLES["serial"]] == ["C11", "C23"]
