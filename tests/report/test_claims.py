"""Claims: their files, and verdicts that noise can only make less certain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from made_claims import about
from recheck_report.claims.checks import Check, Choice
from recheck_report.claims.collection import Claim
from recheck_report.claims.evaluate import (
    FAILS,
    HOLDS,
    NOT_MEASURED,
    UNDECIDED,
    Absence,
    Outcome,
    above,
    all_of,
    below,
    steps,
    within,
)
from recheck_report.claims.judge import USUAL, Judged
from recheck_report.claims.toml import BadClaim
from recheck_report.record.probes import Counters, Origin, Probes, Trial
from recheck_report.record.record import Record
from recheck_report.record.verdicts_json import FAILS_HERE
from recheck_report.say.check import absence
from records import Json, few, no_gpu, scale


@pytest.mark.parametrize(
    ("low", "high", "verdicts"),
    [
        (1.1, 1.2, (HOLDS, FAILS, FAILS)),
        (0.8, 0.9, (FAILS, HOLDS, FAILS)),
        (0.9, 1.1, (UNDECIDED, UNDECIDED, UNDECIDED)),
        (0.99, 1.01, (UNDECIDED, UNDECIDED, HOLDS)),
        (1.01, 1.1, (HOLDS, FAILS, UNDECIDED)),
    ],
)
def test_an_interval_around_a_bound_decides_nothing(
    low: float, high: float, verdicts: tuple[str, ...]
) -> None:
    found = (above(low, high, 1.0), below(low, high, 1.0), within(low, high, (0.95, 1.05)))
    assert found == verdicts


def test_of_several_checks_a_failure_decides() -> None:
    assert all_of([]) == HOLDS
    assert all_of([HOLDS, UNDECIDED]) == UNDECIDED
    assert all_of([UNDECIDED, NOT_MEASURED, HOLDS]) == NOT_MEASURED
    assert all_of([NOT_MEASURED, FAILS, UNDECIDED]) == FAILS


# verdicts on a record


def _claim(*checks: Check, **more: Any) -> Claim:
    text: dict[str, Any] = dict.fromkeys(
        ("experiment", "document", "place", "quote", "english", "title", "hardware", "figure"), "x"
    )
    return Claim(id="C99", expected="x", **text, check=checks, **more)


def _probes(**more: Any) -> Probes:
    commit = few()["environment"]["git"]["commit"]
    origin = Origin(GPU, "580.159.04", commit, False, None)
    return replace(Probes(1, origin, {}, {}, {}), **more)


GPU = "NVIDIA H100 80GB HBM3"
Ask = Callable[..., tuple[str, Any]]  # an Outcome; tests assume that it has numbers


@pytest.fixture
def ask(loaded: Callable[[Json], Record]) -> Ask:
    """Judges checks against a record, as (verdict, first outcome)."""

    def judged(
        document: dict[str, Any], *checks: Check, probes: Probes | None = None
    ) -> tuple[str, Outcome]:
        (found,) = about(loaded(document), _claim(*checks), probes=probes).judgement.claims
        return FAILS if found.verdict == FAILS_HERE else found.verdict, found.outcomes[0]

    return judged


SLOW, FAST = (f"matmul/{name}/1024x1024x1024/cold" for name in ("global16", "tile16"))
RATIOS = [
    Check("ratio", base=SLOW, other=FAST, above=1),
    Check("ratio", base=SLOW, other=FAST, above=30),
    Check("ratio", base=FAST, other=SLOW, below=1),
    Check("equivalent", base=SLOW, other=FAST, within=0.5),
    Check("fraction_of_roof", of=FAST, roof=SLOW, at_least=1),
]


@pytest.mark.parametrize("check", RATIOS, ids=lambda check: check.form)
def test_a_common_factor_moves_no_verdict(check: Check, ask: Ask) -> None:
    document = few()
    verdict, outcome = ask(document, check)
    assert verdict in (HOLDS, FAILS) and outcome.low <= outcome.value <= outcome.high
    for factor in (0.5, 3.7):
        again, scaled = ask(scale(scale(document, SLOW, factor), FAST, factor), check)
        assert again == verdict
        assert scaled.value == pytest.approx(outcome.value, rel=1e-9)


def test_ratio_by_its_bounds(ask: Ask) -> None:
    document = few()
    _, outcome = ask(document, RATIOS[0])
    value = outcome.value
    assert value > 1.1 and outcome.p < 0.05
    assert ask(document, replace(RATIOS[0], above=value * 0.99))[0] == HOLDS
    assert ask(document, replace(RATIOS[0], above=value * 1.01))[0] == FAILS
    straddled = (outcome.low + outcome.high) / 2
    assert ask(document, replace(RATIOS[0], above=straddled))[0] == UNDECIDED
    # equal within the resolution: neither faster nor slower
    same = scale(document, SLOW, 1 / value)
    assert ask(same, RATIOS[0])[0] == UNDECIDED
    assert ask(same, replace(RATIOS[0], above=None, below=1.0))[0] == UNDECIDED
    assert ask(same, replace(RATIOS[3], within=0.01))[0] == HOLDS
    assert ask(scale(same, SLOW, 0.97), RATIOS[0])[0] == FAILS


def test_a_bound_is_tested_at_the_bound(ask: Ask) -> None:
    """The p-value is that of the bound, not of 1."""
    document = few()
    _, plain = ask(document, RATIOS[0])
    _, near = ask(document, replace(RATIOS[0], above=plain.value))
    assert near.p > 0.5 > plain.p


def ratio_at(base: str, other: str) -> Check:
    return Check("ratio", base=base, other=other, above=1)


@pytest.mark.usefixtures("no_variation")
def test_a_series_rises_or_falls(ask: Ask) -> None:
    document, shapes = few(), ("1024x1024x1024", "2048x2048x2048", "4096x4096x4096")
    base, other = (f"matmul/{row}/{{shape}}/cold" for row in ("global16", "cublas"))
    check = Check("monotone", base=base, other=other, shapes=shapes)
    assert ask(document, check)[0] == HOLDS
    ratios = [
        ask(document, ratio_at(base.format(shape=each), other.format(shape=each)))[1]
        for each in shapes[1:]
    ]
    level = ratios[1].value / ratios[0].value
    last = "matmul/cublas/4096x4096x4096/cold"
    assert ask(scale(document, last, level), check)[0] == UNDECIDED
    assert ask(scale(document, last, 2 * level), check)[0] == FAILS


def test_a_step_that_is_not_significant_decides_neither_way() -> None:
    rising, falling = [(1.0, 1.1), (1.2, 1.3), (1.4, 1.5)], [(1.4, 1.5), (1.2, 1.3), (1.25, 1.35)]
    assert steps(rising, [True, True]) == HOLDS
    assert steps(rising, [True, False]) == UNDECIDED
    assert steps(falling, [True, True]) == FAILS
    assert steps(falling, [False, True]) == UNDECIDED


def test_counts_attributes_tests_and_formulas(ask: Ask) -> None:
    document = few()
    counters = {SLOW: Counters(None, {"grid": 64.0}), FAST: Counters(None, {"grid": 16.0})}
    tests = {"gate:a.b": Trial(None, "pass", 0), "racecheck:a.b": Trial(None, "hazards", 3)}
    tests["compile:E20"] = Trial(None, "refused", 0)
    probes = _probes(counters=counters, tests=tests, attributes={"warp_size": 32.0})
    count = Check("count", of=SLOW, expression="grid * 256 / (m*n)", equals=64 * 256 / 1024**2)
    expected = [
        (count, HOLDS),
        (replace(count, equals=1.0), FAILS),
        (replace(count, equals=0.0157, relative=0.01), HOLDS),
        (replace(count, expression="grid", per=FAST, equals=4), HOLDS),
        (replace(count, expression="grid", per=FAST, equals=None, at_most=3), FAILS),
        (replace(count, expression="sectors"), NOT_MEASURED),
        (replace(count, of="matmul/cublas/1024x1024x1024/cold"), NOT_MEASURED),
        (Check("attribute", name="warp_size", equals=32), HOLDS),
        (Check("attribute", name="shared_bytes_per_block", at_most=16384), FAILS),
        (Check("attribute", name="total_constant_memory", equals=1), NOT_MEASURED),
        (Check("arithmetic", expression="2*16*1024*4 > shared_bytes_per_block"), FAILS),
        (Check("arithmetic", expression="64 * 16", equals=1024), HOLDS),
        (Check("test", test="gate:a.b", finds="pass"), HOLDS),
        (Check("test", test="gate:a.b", finds="fail"), FAILS),
        (Check("test", test="racecheck:a.b", finds="hazards"), HOLDS),
        (Check("test", test="racecheck:a.b", finds="clean"), FAILS),
        (Check("test", test="compile:E20", finds="refused"), HOLDS),
        (Check("test", test="compile:E20", finds="compiles"), FAILS),
        (Check("test", test="gate:never.ran", finds="pass"), NOT_MEASURED),
    ]
    for check, verdict in expected:
        found, outcome = ask(document, check, probes=probes)
        assert found == verdict, check
        assert (outcome.absence is not None) == (verdict == NOT_MEASURED), check


def test_what_is_missing_is_not_measured_and_says_what(ask: Ask) -> None:
    document = few()
    other = replace(RATIOS[0], other="matmul/absent/8x8x8/cold")
    verdict, outcome = ask(document, other)
    assert verdict == NOT_MEASURED and outcome.absence == Absence("case", other.other)
    cpu = no_gpu()
    cold = [case["id"] for case in cpu["cases"] if case["id"].endswith("/cold")]
    verdict, outcome = ask(cpu, replace(RATIOS[0], base=cold[0], other=cold[1]))
    assert verdict == NOT_MEASURED and "without the CUDA Toolkit" in absence(outcome.absence)
    count = Check("count", of=SLOW, expression="grid", equals=1)
    assert "no probes.json" in absence(ask(document, count)[1].absence)
    foreign = _probes(environment=Origin(GPU, "580.159.04", "another", False, None))
    _, outcome = ask(document, count, probes=foreign)
    assert "probes.json has commit another" in absence(outcome.absence)
    # on the same commit, nvcc gives the same answer for a snippet on any machine
    snippet = Check("test", test="compile:E20", finds="refused")
    tests = {"compile:E20": Trial(None, "refused", 0), "gate:a.b": Trial(None, "pass", 0)}
    commit = document["environment"]["git"]["commit"]
    elsewhere = Origin(None, None, commit, False, None)
    probes = _probes(environment=elsewhere, tests=tests)
    assert ask(document, snippet, probes=probes)[0] == HOLDS
    gate = Check("test", test="gate:a.b", finds="pass")
    assert "has GPU None" in absence(ask(document, gate, probes=probes)[1].absence)
    probes = _probes(environment=replace(elsewhere, commit="another"), tests=tests)
    assert "has commit another" in absence(ask(document, snippet, probes=probes)[1].absence)
    named = Check("attribute", name="sm_count", equals=132)
    assert "built without the CUDA Toolkit" in absence(ask(cpu, named)[1].absence)


def test_a_formula_without_sense_names_file_claim_and_field(ask: Ask) -> None:
    count = Check("count", of=SLOW, expression="grid / (m - n)", equals=1)
    probes = _probes(counters={SLOW: Counters(None, {"grid": 1.0})})
    for check, why in (
        (count, ".*by zero"),
        (Check("arithmetic", expression="1 + 1"), "'1 . 1' must evaluate to true"),
    ):
        with pytest.raises(BadClaim, match=f"x/claims.toml: claim C99: field expression: {why}"):
            ask(few(), check, probes=probes)


def test_a_count_against_nothing_is_not_measured(ask: Ask) -> None:
    count = Check("count", of=SLOW, per=FAST, expression="grid", equals=1)
    counters = {SLOW: Counters(None, {"grid": 1.0}), FAST: Counters(None, {"grid": 0.0})}
    verdict, outcome = ask(few(), count, probes=_probes(counters=counters))
    assert verdict == NOT_MEASURED and "its count is 0" in absence(outcome.absence)


H, F, U, N = HOLDS, FAILS, UNDECIDED, NOT_MEASURED


@pytest.mark.parametrize(
    ("scope", "configurations", "readings", "verdict"),
    [
        ("every", (H, H, H), (), "holds"),
        ("every", (H, F, H), (), "depends"),
        ("every", (F, F, F), (), "fails here"),
        ("every", (H, U, H), (), "undecided"),
        ("every", (H, N), (), "undecided"),
        ("every", (N, H), (), "not measured"),
        ("every", (F, H, N), (), "depends"),
        ("every", (H, H, H), (F,), "depends"),
        ("most", (F, H, H), (), "holds"),
        ("most", (H, F, F), (), "fails here"),
        ("most", (H, F), (), "fails here"),  # half of them are not most
        ("most", (H, U, F), (), "undecided"),
        ("most", (F, F, F), (H,), "depends"),
        ("most", (F, H, H), (F, F, F), "holds"),  # readings never vote
        ("some", (F, F, H), (), "holds"),
        ("some", (F, U, F), (), "undecided"),
        ("some", (F, F, F), (), "fails here"),
    ],
)
def test_the_quantifier_counts_configurations_and_no_readings(
    scope: str, configurations: tuple[str, ...], readings: tuple[str, ...], verdict: str
) -> None:
    check = Check("ratio")
    choices = [USUAL, *(Choice((("block", str(at)),)) for at in range(1, len(configurations)))]
    choices += [Choice(word="much", times=at + 2) for at in range(len(readings))]
    over = zip(choices, (Outcome(check, v) for v in (*configurations, *readings)), strict=True)
    outcome = Outcome(check, configurations[0], over=tuple(over))
    claim = Claim("C1", "scan", "S1", quote="", title="", expected="", scope=scope)
    assert Judged(claim, "", (outcome,), ()).verdict == verdict
