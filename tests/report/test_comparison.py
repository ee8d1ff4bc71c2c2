"""Comparisons: right numbers, paired where they can be, and no more certainty than there is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from recheck_report.record.record import Case, Record
from recheck_report.say.ratio import times
from recheck_report.statistics.audit import Audit
from recheck_report.statistics.ratio import Ratio
from synthetic import (
    SMALL,
    Json,
    join,
    make_audit,
    make_machine,
    make_record,
    matching,
    scale,
    set_time,
    time_of,
)
from synthetic_claims import measured

FEW = ["global16", "tile16", "cpu_blas"]
Read = Callable[[Json], Record]


@pytest.fixture
def read(loaded: Read) -> Read:
    return loaded


def _pair(read: Read, samples: list[tuple[float, float]], rounds: int | None = None) -> Ratio:
    """The comparison of two cases with one sample a round each."""
    from recheck_report.statistics.paired import compare

    record = make_record(SMALL[:2], strategies=FEW)
    for name, column in (("global16", 0), ("tile16", 1)):
        case = matching(record, f"/{name}/1024x1024x1024/cold")[0]
        case["samples"] = [pair[column] for pair in samples]
        case["blocks"] = [[at, 1] for at in range(len(samples))]
        case["clocks"] = [None] * len(samples)
        own = time_of(case["samples"]) | {"samples": len(samples)}
        case.update(clock_hz=None, seconds=case["seconds"] | own)
        if rounds is not None and column:
            case["blocks"] = [[at + len(samples) - rounds, 1] for at in range(len(samples))]
    parsed = read(record)
    base, other = (
        parsed.by_id[f"matmul/{name}/1024x1024x1024/cold"] for name in ("global16", "tile16")
    )
    return compare(base, other)


def test_student_agrees_with_the_tables() -> None:
    from recheck_report.statistics.ratio import student

    for t, freedom in ((12.706, 1), (4.303, 2), (2.571, 5), (2.228, 10), (2.045, 29)):
        assert student(t, freedom) == pytest.approx(0.05, abs=1e-4)
    assert student(0.0, 5) == 1 and student(1e9, 6) < 1e-12


def test_what_drifts_from_round_to_round_cancels(read: Read) -> None:
    """Each doubles its time from first to last round; one is 1 % faster throughout."""
    rounds = [1e-3 * (1 + at / 11) for at in range(12)]
    found = _pair(read, [(1.01 * time, time) for time in rounds])
    assert found.rounds == 12 and found.mark == ""
    assert (found.low, found.value, found.high) == pytest.approx((1.01,) * 3, rel=3e-5)
    assert found.outcome == "faster"


def test_the_estimate_is_the_median_of_the_rounds_ratios(read: Read) -> None:
    found = _pair(read, [(ratio * 1e-3, 1e-3) for ratio in (3, 1, 2, 9, 4, 2.5, 2.2)])
    assert found.value == pytest.approx(2.5)
    assert 1 < found.low <= 2 and 4 <= found.high <= 9


def test_few_common_rounds_fall_back_to_the_far_ends(read: Read) -> None:
    pairs = [(2e-3, 1e-3)] * 8
    assert _pair(read, pairs).rounds == 8
    assert _pair(read, pairs, rounds=6).rounds == 6
    apart = _pair(read, pairs, rounds=5)
    assert apart.rounds == 0 and apart.mark == "ᵉ" and times(apart).endswith("]ᵉ")


def test_other_conditions_are_not_paired(read: Read) -> None:
    from recheck_report.statistics.paired import compare

    record = read(make_record(SMALL[:2], strategies=FEW))

    def find(name: str, regime: str) -> Case:
        return record.by_id[f"matmul/{name}/1024x1024x1024/{regime}"]

    cold, hot, cpu = find("tile16", "cold"), find("tile16", "hot"), find("cpu_blas", "hot")
    assert compare(find("global16", "cold"), cold).rounds == 10
    for pair in ((cold, hot), (cpu, hot), (cpu, cold)):
        found = compare(*pair)
        assert found.rounds == 0
        a, b = (case.time for case in pair)
        assert (found.low, found.high) == (a.low / b.high, a.high / b.low)


def test_few_rounds_that_agree_are_not_certain(read: Read) -> None:
    """All of six rounds are on one side by chance in one case of 32."""
    scattered = [(1e-3 * (1 + 0.001 * at), 1e-3) for at in (4, 6, 5, 7, 5.5, 4.5)]
    found = _pair(read, scattered)
    assert found.low > 1 and 1e-6 < found.p < 0.05
    clear = _pair(read, [(2e-3 * (1 + 0.001 * at), 1e-3) for at in (4, 6, 5, 7, 5.5, 4.5)])
    assert clear.p < 1e-8


def test_holm_by_hand() -> None:
    from recheck_report.statistics.family import holm

    found = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert found == pytest.approx({"d": 0.02, "a": 0.03, "c": 0.06, "b": 0.06})
    assert holm({}) == {} and holm({"a": 0.9, "b": 0.9}) == {"a": 1.0, "b": 1.0}


def test_more_comparisons_make_a_weak_one_insignificant(read: Read) -> None:
    from recheck_report.statistics.family import Comparisons, Pair

    record = read(make_record(SMALL[:2], strategies=FEW))
    # launches so long that the clock's step does not matter
    cases = [case for case in record.cases if case.seconds and "/1024x" in case.id]
    first, second, *others = cases
    ratio = Comparisons(record).ratio
    near = 1.0002 * ratio(first, second).high  # what the two differ by, nearly
    asked = Pair(first.id, second.id, near)
    more = [Pair(first.id, each.id, ratio(first, each).value) for each in others]  # of p near 1

    def p(*family: Pair) -> float:
        return Comparisons(record, family).verdict(first, second, near).p

    alone = p(asked)
    assert 0 < alone < p(asked, *more) <= (len(more) + 1) * alone
    assert p(asked, asked) == alone
    # one that nobody announced counts as one more
    assert p(*more) == min(1, (len(more) + 1) * alone)


def _audit(read: Read, record: Json) -> Audit:
    from recheck_report.statistics.audit import audit

    return audit(read(record))


def _slower(found: Audit, extra: float) -> int:
    return sum(pair.called(found.resolution) == "slower" for pair in found.of(extra))


def test_resolution_is_the_smallest_step_that_keeps_the_false_verdicts_rare(read: Read) -> None:
    found = _audit(read, make_audit())
    assert len(found.alike) == 4 * 28 and len(found.slowed) == 4 * 3 * 4 * 8
    allowed = 0.05 * len(found.alike)
    assert found.false(found.resolution) <= allowed < found.false(found.resolution - 0.0005)
    assert found.extras == [0.01, 0.02, 0.05]
    assert [_slower(found, extra) for extra in found.extras] == [128] * 3


def test_a_lucky_name_costs_resolution_and_detection(read: Read) -> None:
    found = _audit(read, scale(make_audit(), "/same_1/", 0.985))
    # seven of 28 pairs are with it, far more than 5 %
    assert found.resolution == pytest.approx(0.015, abs=0.002)
    assert _slower(found, 0.01) < 40 and _slower(found, 0.05) == 128


def test_the_record_s_own_resolution_decides(read: Read) -> None:
    """2 % faster is faster, unless the audit says that 2 % are noise."""

    def verdict(*audits: Json) -> str:
        record = scale(make_record(SMALL, strategies=FEW), "/global16/", 1.0)
        time = matching(record, "/tile16/4096x4096x4096/cold")[0]["seconds"]["median"]
        for case in matching(record, "/global16/"):
            case.update(matching(record, case["id"].replace("global16", "tile16"))[0] | case)
        base = matching(record, "/global16/4096x4096x4096/cold")[0]
        fast = matching(record, "/tile16/4096x4096x4096/cold")[0]
        base["samples"] = [1.02 * sample for sample in fast["samples"]]
        base["seconds"] |= time_of(base["samples"])
        assert time > 0
        parsed = read(join(record, *audits))
        slower, faster = (parsed.by_id[case["id"]] for case in (base, fast))
        return measured(parsed).comparisons.verdict(slower, faster).outcome

    assert verdict() == "faster"
    assert verdict(make_audit()) == "faster"
    assert verdict(scale(make_audit(), "/same_1/", 0.97)) == "same"


MEMORY_BOUND = "matvec/shared/8192x8192/cold"


def _suspects(read: Read, record: Json) -> dict[str, str]:
    return measured(read(record)).suspects


def test_too_fast_to_be_true_is_suspect(read: Read) -> None:
    from synthetic import make_matvec

    full = join(make_matvec([(2048, 2048), (8192, 8192)]), make_audit(), make_machine())
    assert _suspects(read, full) == {}
    record = scale(full, MEMORY_BOUND, 1.0)
    for case in matching(record, MEMORY_BOUND.replace("cold", "hot")):
        set_time(case, 5.8e-5, 5.8e-5, 5.8e-5)
    set_time(matching(record, MEMORY_BOUND)[0], 5e-5, 5e-5, 5e-5)
    assert "is more than the DRAM limit of 4917 GB/s" in _suspects(read, record)[MEMORY_BOUND]
    # what fits into the cache, hot launches and parts of a launch may be that fast
    for where in ("/shared/2048x2048/", "/shared/8192x8192/hot", "/constant_copy/8192x8192/c"):
        fast = scale(full, where, 0.1)
        assert _suspects(read, fast) == {}, where


def test_flops_beyond_the_units_are_suspect(read: Read) -> None:
    full = join(make_record(SMALL), make_machine())
    # TF32 is not held against fp32 units
    assert _suspects(read, full) == {}
    found = _suspects(read, scale(full, "/cublas/4096x4096x4096/cold", 0.8))
    assert found == {}
    found = _suspects(read, scale(full, "/cublas/4096x4096x4096/cold", 0.5))
    assert "is more than the fp32 limit" in found["matmul/cublas/4096x4096x4096/cold"]


@pytest.mark.parametrize(
    "ratio,base,said",
    [(1.80, 1.66, " (median of rounds)"), (1.02, 0.99, " (median of rounds)"), (1.02, 1.04, "")],
)
def test_a_ratio_that_its_medians_do_not_give_says_so(ratio: float, base: float, said: str) -> None:
    """By much, or on the other side of 1."""
    from recheck_report.statistics.paired import of_rounds

    assert of_rounds(ratio, base, 1.0) == said
