"""Simulations that check the coverage of intervals and the error rates of p-values."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, REPORTS
from recheck_report.claims.checks import Check
from recheck_report.claims.evaluate import Questions, comparisons_of
from recheck_report.claims.measured import family, read
from recheck_report.record.case import Case, Seconds
from recheck_report.record.record import Record
from recheck_report.statistics import variation
from recheck_report.statistics.comparisons import Comparisons, Limit, Pair, holm
from recheck_report.statistics.ratio import Ratio, compare, critical, interval, p_value
from records import Json, few, rank

Load = Callable[[Json], Record]
STEP = 32e-9  # seconds: resolution of Hopper's event clock


def _values(dice: random.Random, n: int) -> list[float]:
    return sorted(dice.gauss(0, 1) for _ in range(n))


@pytest.mark.parametrize("n", [6, 7, 8, 9, 12, 25])
def test_a_paired_interval_covers_the_median(n: int) -> None:
    dice, runs = random.Random(n), 20_000
    ends = (interval(_values(dice, n)) for _ in range(runs))
    assert 0.94 <= sum(low <= 0 <= high for low, high in ends) / runs <= 0.96


def test_an_interval_excludes_a_bound_only_if_the_p_value_does() -> None:
    dice = random.Random(1)
    for _ in range(5000):
        shift, n = dice.uniform(-2, 2), dice.randint(6, 14)
        values = [shift + each for each in _values(dice, n)]
        low, high = interval(values)
        assert (low > 0 or high < 0) == (p_value(values) < 0.05)
        base, other = (
            Seconds(1.0, 1 - dice.random() / 5, 1 + dice.random() / 5, n, 0) for _ in range(2)
        )
        bound = dice.uniform(0.8, 1.25)
        ratio = Ratio.from_medians(base, other, bound, n - 1)
        assert (not ratio.low <= bound <= ratio.high) == (ratio.p < 0.05)


def test_an_interval_without_a_width_decides_nothing() -> None:
    fixed = Seconds(1.0, 1.0, 1.0, 12, 0)
    assert (
        Ratio.from_medians(fixed, replace(fixed, median=0.5, low=0.5, high=0.5), freedom=11).p == 1
    )
    # twelve equal rounds on one side: the p-value of a sign test
    assert p_value([0.1] * 12) == 2 / 2**12


def _time(values: Sequence[float]) -> Seconds:
    """A median with its interval, computed as in statistics.hpp."""
    n, ordered = len(values), sorted(values)
    if n < 6:
        half = critical(n - 1) * statistics.stdev(values) / math.sqrt(n)
        low, high = (statistics.fmean(values) + s * half for s in (-1, 1))
    else:
        low, high = ordered[(at := rank(n, 0.95)) - 1], ordered[-at]
    return Seconds(math.exp(statistics.median(values)), math.exp(low), math.exp(high), n, 0)


@pytest.mark.parametrize("n", [3, 6, 12])
def test_a_row_without_noise_does_not_make_p_values_too_small(n: int) -> None:
    """Only the other row's interval then has a width."""
    dice, runs, quiet = random.Random(n), 20_000, Seconds(1.0, 1.0, 1.0, n, 0)
    times = (_time([dice.gauss(0, 0.01) for _ in range(n)]) for _ in range(runs))
    assert (
        sum(Ratio.from_medians(quiet, each, 1.0, n - 1).p < 0.001 for each in times) <= 0.003 * runs
    )


def test_a_report_of_equal_pairs_is_wrong_in_one_of_twenty() -> None:
    dice, reports = random.Random(2), 100
    wrong = 0
    for _ in range(reports):
        values: dict[object, float] = {at: p_value(_values(dice, 12)) for at in range(300)}
        wrong += min(holm(values).values()) < 0.05
    assert wrong <= 0.05 * reports


def _case(
    dice: random.Random, seconds: float, noise: float, row: str = "row", in_time: bool = False
) -> Case:
    """Twelve blocks of eight samples on a clock with steps. `in_time`: launches begin at a tick,
    not at random times."""

    def sample() -> float:
        begun = 0.0 if in_time else dice.random()
        return STEP * math.floor(begun + dice.gauss(seconds, noise) / STEP)

    blocks = [[sample() for _ in range(8)] for _ in range(12)]
    samples = tuple(each for block in blocks for each in block)
    name, at = f"matmul/{row}/8x8x8/cold", _time([math.log(statistics.median(b)) for b in blocks])
    raw = {"samples": samples, "blocks": tuple((number, 8) for number in range(12))}
    own = {"experiment": "matmul", "strategy": row, "shape": {}, "regime": "cold"}
    return Case(id=name, status="passed", **raw, seconds=at, step=STEP, **own)  # type: ignore[arg-type]


@pytest.mark.parametrize("noise", [0.0, 5e-9, 20e-9, 50e-9, 150e-9])
def test_clock_steps_cause_no_differences(noise: float) -> None:
    """Kernels of 3 to 8 µs: intervals cover differences below one step, and equal kernels are
    neither faster nor slower."""
    dice, runs, covered = random.Random(int(noise * 1e9)), 400, 0
    errors = []
    for _ in range(runs):
        seconds, more = dice.uniform(3e-6, 8e-6), dice.choice([1.0, 1.001, 1.002, 1.004])
        found = compare(_case(dice, seconds * more, noise), _case(dice, seconds, noise))
        covered += found.low <= more <= found.high
        errors.append(abs(found.value / more - 1))
        same = compare(_case(dice, seconds, noise), _case(dice, seconds, noise))
        same = replace(same, resolution=0.001, significant=same.p <= 0.05 / 300)
        assert same.outcome not in ("faster", "slower")
    assert covered >= 0.93 * runs
    # a median would be off by half a step: a third of a per cent
    assert noise > 20e-9 or statistics.fmean(errors) < 0.0009


def test_no_interval_is_narrower_than_a_step_of_the_clock() -> None:
    """Launches that begin at a tick all take the same number of steps."""
    made = [_case(random.Random(5), 5.01e-6, 0.0, row, in_time=True) for row in ("base", "other")]
    for base, other in (made, (made[0], replace(made[1], regime="hot"))):
        found = compare(base, other)
        assert bool(found.rounds) == (base.regime == other.regime)
        half = STEP / base.time.median  # half a step of each
        assert found.low == pytest.approx(1 - half, abs=1e-4)
        assert found.high == pytest.approx(1 + half, abs=1e-4)
        assert found.p == 1


def test_extremes_of_equal_rows_do_not_differ(loaded: Load) -> None:
    """The slowest and the fastest of twelve differ by chance, because they are picked for it."""
    dice, record, runs = random.Random(3), loaded(few()), 150
    names = tuple(f"matmul/row{at}/8x8x8/cold" for at in range(12))
    check = Check("extremes", cases=names, above=1.0)
    plain = corrected = 0
    for _ in range(runs):
        cases = tuple(_case(dice, 1e-4, 1e-6, f"row{at}") for at in range(12))
        own = replace(record, cases=cases)
        (pair,) = comparisons_of(own, check)
        assert isinstance(pair, Pair)
        plain += (
            Comparisons(own, [replace(pair, picked=1)]).corrected(replace(pair, picked=1)).p < 0.05
        )
        corrected += Comparisons(own, [pair]).corrected(pair).p < 0.05
    assert corrected <= 0.05 * runs < plain


def _left_out(folder: Path) -> Iterator[bool]:
    """For each run in turn and each ratio that verdicts use: whether it lies outside the limits
    that the other runs of this GPU model give."""
    own = read(folder, EXPERIMENTS)
    record, known, runs = own.record, own.comparisons, variation.runs_of(own.gpu)
    assert runs
    # once, however many bounds it is compared with
    members = family(record, own.collection)
    pairs = {frozenset(each.ids): each for each in members if isinstance(each, Pair)}.values()
    for left in range(runs.count):
        others = {name: [*each[:left], *each[left + 1 :]] for name, each in runs.medians.items()}
        timed = {name: each for name, each in others.items() if any(each)}
        began = (*runs.began[:left], *runs.began[left + 1 :])
        before = replace(runs, medians=timed, began=began)
        for pair in pairs:
            base, other = (record.by_id.get(name) for name in pair.ids)
            if not base or not other or not base.seconds or not other.seconds:
                continue
            again = runs.ratios(pair.base, pair.other)[left]
            ratios = [each for each in before.ratios(pair.base, pair.other) if each]
            if again and len(ratios) >= variation.FEWEST:
                ratio, middle = known.ratio(base, other), statistics.median(ratios)
                wide = max(1 + known.resolution, math.exp(before.differs_by((base, other))))
                low, high = (middle * end / ratio.value for end in (ratio.low, ratio.high))
                yield not low / wide <= again <= high * wide


@pytest.mark.parametrize("folder", ["nvidia-h200", "nvidia-h100-80gb-hbm3"])
def test_another_run_lies_within_interval_and_margin(folder: str) -> None:
    outside = [*_left_out(REPORTS / "results" / folder)]
    assert len(outside) > 900 and sum(outside) <= 0.06 * len(outside)


def test_a_ratio_of_few_runs_has_at_least_its_class_s_margin() -> None:
    rows = {f"matmul/{name}": {"target": "gpu", "role": "rung"} for name in "abc"}
    steady: list[float | None] = [1e-3] * 8
    wide: list[float | None] = [1e-3, 1.1e-3, 1e-3, 0.9e-3, 1e-3, 1.1e-3, 1e-3, 1e-3]
    names = {name: f"matmul/{name}/8x8x8/cold" for name in "abc"}
    dice = random.Random(4)
    cases = [replace(_case(dice, 1e-3, 0.0, name), step=0.0) for name in "ab"]

    def margin(runs: int) -> float:
        few = [*steady[:runs], *[None] * (8 - runs)]
        medians = {
            names[name]: [*each] for name, each in zip("abc", (steady, few, wide), strict=True)
        }
        return variation.Runs("a GPU", rows, medians, ("",) * 8).differs_by(cases)

    assert margin(8) == margin(7) == 0 < margin(4) == margin(2)


def test_shares_are_corrected_and_have_a_margin(
    loaded: Load, differ: Callable[[float], None]
) -> None:
    differ(0.02)
    record = loaded(few())
    name, roof = (f"matmul/{row}/1024x1024x1024/cold" for row in ("tile16", "global16"))
    case, limit = record.by_id[name], record.ceilings["fp32_flops"].value
    share = 0.99 * case.flops / case.time.median / limit
    checks = [
        Check("fraction_of_roof", of=name, roof="fp32", at_least=share),
        Check("fraction_of_roof", of=name, roof=roof, at_most=1.5),
    ]
    asked = [each for check in checks for each in comparisons_of(record, check)]
    assert asked == [Limit(name, case.flops / share / limit), Pair(roof, name, 1.5)]
    known = Comparisons(record, asked)
    assert len(known.family) == 2
    # 1 % above the bound, which is less than two processes differ by
    outcome = Questions(record, None, known).ask(checks[0])
    assert outcome.verdict == "undecided" and outcome.run_to_run == pytest.approx(0.02)
    assert outcome.p is not None and 0 < outcome.p < 0.05
