"""Comparisons: right numbers, paired where possible, and never more certain than the data."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from made_claims import measured
from recheck_report.record.record import Case, Record
from recheck_report.statistics.comparisons import Audit, Comparisons, Pair, audit, holm
from recheck_report.statistics.ratio import Ratio, compare, student
from records import Json, bend, few, h100, matching, no_gpu, scale, time_of, without

Read = Callable[[Json], Record]


def _pair(loaded: Read, samples: list[tuple[float, float]], rounds: int | None = None) -> Ratio:
    """The comparison of two cases with one sample a round each."""
    record = few()
    for name, column in (("global16", 0), ("tile16", 1)):
        case = matching(record, f"/{name}/1024x1024x1024/cold")[0]
        case["samples"] = [pair[column] for pair in samples]
        case["blocks"] = [[at, 1] for at in range(len(samples))]
        case["clocks"] = [None] * len(samples)
        own = time_of(case["samples"]) | {"samples": len(samples)}
        case.update(clock_hz=None, seconds=case["seconds"] | own)
        if rounds is not None and column:
            case["blocks"] = [[at + len(samples) - rounds, 1] for at in range(len(samples))]
    parsed = loaded(record)
    base, other = (
        parsed.by_id[f"matmul/{name}/1024x1024x1024/cold"] for name in ("global16", "tile16")
    )
    return compare(base, other)


def test_student_agrees_with_the_tables() -> None:
    for t, freedom in ((12.706, 1), (4.303, 2), (2.571, 5), (2.228, 10), (2.045, 29)):
        assert student(t, freedom) == pytest.approx(0.05, abs=1e-4)
    assert student(0.0, 5) == 1 and student(1e9, 6) < 1e-12


def test_what_drifts_from_round_to_round_cancels(loaded: Read) -> None:
    """Both times double from the first to the last round; one case is 1 % faster throughout."""
    rounds = [1e-3 * (1 + at / 11) for at in range(12)]
    found = _pair(loaded, [(1.01 * time, time) for time in rounds])
    assert found.rounds == 12 and found.mark == ""
    assert (found.low, found.value, found.high) == pytest.approx((1.01,) * 3, rel=3e-5)
    assert found.outcome == "faster"


def test_the_estimate_is_the_median_of_the_rounds_ratios(loaded: Read) -> None:
    found = _pair(loaded, [(ratio * 1e-3, 1e-3) for ratio in (3, 1, 2, 9, 4, 2.5, 2.2)])
    assert found.value == pytest.approx(2.5)
    assert 1 < found.low <= 2 and 4 <= found.high <= 9


def test_few_common_rounds_fall_back_to_the_far_ends(loaded: Read) -> None:
    pairs = [(2e-3, 1e-3)] * 8
    assert _pair(loaded, pairs).rounds == 8
    assert _pair(loaded, pairs, rounds=6).rounds == 6
    apart = _pair(loaded, pairs, rounds=5)
    assert apart.rounds == 0 and apart.mark == "ᵉ"


def test_other_conditions_are_not_paired(loaded: Read) -> None:
    record = loaded(few())

    def find(name: str, regime: str) -> Case:
        return record.by_id[f"matmul/{name}/1024x1024x1024/{regime}"]

    cold, hot, cpu = find("tile16", "cold"), find("tile16", "hot"), find("cpu_blas", "hot")
    assert compare(find("global16", "cold"), cold).rounds > 5
    for pair in ((cold, hot), (cpu, hot), (cpu, cold)):
        found = compare(*pair)
        assert found.rounds == 0
        a, b = (case.time for case in pair)
        assert (found.low, found.high) == (a.low / b.high, a.high / b.low)


def test_a_time_is_known_to_a_step_of_its_clock(loaded: Read) -> None:
    record = bend(h100("matmul"), "environment.state.host_step_nanoseconds", 70)
    steps = {(case.target, case.regime): case.batch * case.step for case in loaded(record).cases}
    assert steps["cpu", "hot"] == steps["gpu", "end_to_end"] == pytest.approx(70e-9)
    assert steps["gpu", "cold"] == pytest.approx(32e-9) and steps["gpu", "sustained"] == 0


def test_holm_by_hand() -> None:
    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert found == pytest.approx({"d": 0.02, "a": 0.03, "c": 0.06, "b": 0.06})
    assert holm({}) == {} and holm({"a": 0.9, "b": 0.9}) == {"a": 1.0, "b": 1.0}


def test_more_comparisons_make_a_weak_one_insignificant(loaded: Read) -> None:
    record = loaded(few())
    # long launches, for which the clock's step does not matter
    cases = [case for case in record.cases if case.seconds and "/1024x" in case.id]
    first, second, *others = cases
    ratio = Comparisons(record).ratio
    near = 1.0002 * ratio(first, second).high  # close to how much the two differ
    asked = Pair(first.id, second.id, near)
    more = [Pair(first.id, each.id, ratio(first, each).value) for each in others]  # of p near 1

    def p(*family: Pair) -> float:
        return Comparisons(record, family).corrected(asked).p

    alone = p(asked)
    assert 0 < alone < p(asked, *more) <= (len(more) + 1) * alone
    assert p(asked, asked) == alone
    # a comparison outside the family counts as one more
    assert p(*more) == min(1, (len(more) + 1) * alone)


def _audit(loaded: Read, record: Json) -> Audit:
    return audit(loaded(record))


def _slower(found: Audit, extra: float) -> int:
    return sum(pair.called(found.resolution) == "slower" for pair in found.slowed_by(extra))


def test_resolution_is_the_smallest_step_that_keeps_the_false_verdicts_rare(loaded: Read) -> None:
    found = _audit(loaded, scale(h100("audit/"), "/same_1/", 0.985))
    assert len(found.alike) == 2 * 28 and len(found.slowed) == 2 * 3 * 4 * 8
    allowed = 0.05 * len(found.alike)
    assert found.false(found.resolution) <= allowed < found.false(found.resolution - 0.0005)
    assert found.extras == [0.01, 0.02, 0.05] and _slower(found, 0.05) == 64
    # the lucky name is in seven of 28 pairs, far more than 5 %
    assert found.resolution == pytest.approx(0.015, abs=0.003)
    assert _slower(found, 0.01) < 32 and _slower(found, 0.05) == 64


def test_without_an_audit_the_resolution_is_half_a_per_cent(loaded: Read) -> None:
    for record in (few(), no_gpu()):
        found = _audit(loaded, record)
        assert not found.audited and found.resolution == 0.005


def test_a_difference_within_the_audit_s_noise_is_not_reported(loaded: Read) -> None:
    """2 % faster is reported as faster, unless the audit shows that 2 % is noise."""

    def verdict(record: Json) -> str:
        base, fast = (
            matching(record, f"/{row}/4096x4096x4096/cold")[0] for row in ("global16", "tile16")
        )
        base |= {"blocks": fast["blocks"], "samples": [1.02 * each for each in fast["samples"]]}
        base["seconds"] |= time_of(base["samples"])
        parsed = loaded(record)
        slower, faster = (parsed.by_id[case["id"]] for case in (base, fast))
        return measured(parsed).comparisons.verdict(slower, faster).outcome

    record = h100("matmul/global16/4096x", "matmul/tile16/4096x", "audit/")
    assert verdict(without(record, "audit/")) == verdict(record) == "faster"
    assert verdict(scale(record, "/same_1/", 0.97)) == "same"


MEMORY_BOUND = "matvec/read/8192x8192/cold"


def _suspects(loaded: Read, record: Json) -> dict[str, str]:
    return measured(loaded(record)).faster_than_ceiling


def test_a_rate_above_the_memory_s_is_suspect_unless_the_data_fits_into_a_cache(
    loaded: Read,
) -> None:
    full = h100("matvec/", "audit/", "machine/")
    assert _suspects(loaded, full) == {}
    assert MEMORY_BOUND in _suspects(loaded, scale(full, MEMORY_BOUND, 0.5))
    # data that fits into the cache, hot launches and parts of a launch may be that fast
    for where in ("/cublas/2048x2048/", "/cublas/8192x8192/hot", "/constant_copy/8192x8192/c"):
        assert matching(full, where)
        assert _suspects(loaded, scale(full, where, 0.1)) == {}, where


def test_a_rate_above_the_fp32_units_is_suspect_except_for_tf32(loaded: Read) -> None:
    name = "matmul/cublas/4096x4096x4096/cold"
    full = h100("matmul/cublas", "machine/")
    for factor, suspect in ((1.0, []), (0.8, []), (0.5, [name])):
        assert [*_suspects(loaded, scale(full, f"/{name[7:]}", factor))] == suspect
