"""Every check of a claim can fail, and noise makes none fail."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from conftest import EXPERIMENTS, REPORTS
from made_claims import measured
from recheck_report.claims.checks import Check
from recheck_report.claims.collection import Claim, load_collection
from recheck_report.claims.evaluate import FAILS, TIMELESS, UNDECIDED, Outcome, Questions
from recheck_report.claims.expression import names
from recheck_report.record.probes import PROBES, Counters, Probes, Trial, read_probes
from recheck_report.record.read import load
from recheck_report.record.record import AUDIT, Case, Record
from recheck_report.statistics.comparisons import Comparisons

EVIDENCE = REPORTS / "results" / "nvidia-h200" / "record.json"
CHECKS = [
    pytest.param(claim, check, id=f"{claim.id}-{at}")
    for claim in load_collection(EXPERIMENTS).claims
    for at, check in enumerate(claim.check)
]


@pytest.fixture(scope="module")
def record() -> Record:
    return load(EVIDENCE)[0]


@pytest.fixture(scope="module")
def probes(record: Record) -> Probes:
    found = read_probes(EVIDENCE.with_name(PROBES))
    assert found is not None
    return found


def _slower(case: Case, factor: float) -> Case:
    """The case with every time multiplied by `factor`."""
    assert case.seconds
    seconds = case.seconds
    longer = {key: getattr(seconds, key) * factor for key in ("median", "low", "high")}
    samples = tuple(factor * each for each in case.samples)
    step = factor * case.step  # else the clock's step would hide picoseconds
    return replace(case, seconds=replace(seconds, **longer), samples=samples, step=step)


def _with(record: Record, cases: Iterable[Case]) -> Record:
    return replace(record, cases=tuple(cases))


def _refuted(record: Record, check: Check) -> Record | None:
    """A record with only the check's cases that refutes it; None for a check without times."""
    far = 1e6
    factors: dict[str, float] = {}
    if check.form == "ratio":
        factors[check.other] = far if check.above is not None else 1 / far
    elif check.form == "equivalent":
        factors[check.other] = far
    elif check.form == "extremes":
        slowest = max(record.by_id[name].time.median for name in check.cases)
        for name in check.cases:
            factors[name] = slowest / record.by_id[name].time.median
    elif check.form == "fraction_of_roof":
        factors[check.of] = far if check.at_least is not None else 1 / far
    elif check.form == "monotone":
        factors[check.at(check.shapes[-1])[1]] = far
    else:
        return None
    found = [record.by_id[name] for name in check.ids if name in record.by_id]
    return _with(record, (_slower(c, factors.get(c.id, 1.0)) for c in found))


@pytest.mark.parametrize("claim,check", CHECKS)
def test_every_check_can_fail(record: Record, probes: Probes, claim: Claim, check: Check) -> None:
    for one in [each for _, each in check.over] or [check]:
        _one_can_fail(record, probes, claim, one)


def _one_can_fail(record: Record, probes: Probes, claim: Claim, check: Check) -> None:
    if any(name not in record.by_id or record.by_id[name].status != "passed" for name in check.ids):
        pytest.skip("the committed record lacks some of its cases")
    changed = _refuted(record, check)
    if check.form == "count":
        # `_other` gives counts beyond any bound
        counts = dict.fromkeys(check.ids[:1], Counters(None, _other(check)))
        probes = replace(probes, counters={**probes.counters, **counts})
    elif check.form == "attribute":
        gpu = record.environment.gpu
        assert gpu
        if hasattr(gpu, check.name):
            changed = _on(record, {check.name: 10**12 + 1})
        probes = replace(probes, attributes={**probes.attributes, check.name: 1e12 + 1})
    elif check.form == "test":
        other = {"pass": "fail", "fail": "pass", "hazards": "clean", "clean": "hazards"}
        trial = Trial(None, other[check.finds], 1)
        probes = replace(probes, tests={**probes.tests, check.test: trial})
    elif check.form == "arithmetic":
        # a formula of constants cannot change; another device's attributes refute the others
        wanted = names(check.expression)
        if not wanted:
            return
        verdicts = {_of_device(record, probes, claim, check, each) for each in (0, 1, 10**12)}
        assert FAILS in verdicts
        return
    outcome = _asked(changed or record, probes, check)
    assert outcome.verdict == FAILS, outcome
    assert (outcome.p is None) == (check.form in (*TIMELESS, "monotone", "rate"))


def _asked(record: Record, probes: Probes, check: Check) -> Outcome:
    return Questions(record, probes, Comparisons(record)).ask(check)


def _on(record: Record, attributes: dict[str, Any]) -> Record:
    """A record without cases, from another GPU."""
    gpu = record.environment.gpu
    assert gpu
    env = replace(record.environment, gpu=replace(gpu, **attributes))
    return replace(record, environment=env, cases=())


def _other(check: Check) -> dict[str, float]:
    """Counts that satisfy no check."""
    upper = check.at_most is not None or check.equals is not None
    wild = 1e15 if upper else 0.0
    return dict.fromkeys((*names(check.expression),), wild) | {"requests": 3.0}


def _of_device(record: Record, probes: Probes, claim: Claim, check: Check, value: int) -> str:
    gpu = record.environment.gpu
    assert gpu
    changed = _on(record, {n: value for n in names(check.expression) if hasattr(gpu, n)})
    rest = {**probes.attributes, **dict.fromkeys(names(check.expression), float(value))}
    return _asked(changed, replace(probes, attributes=rest), check).verdict


def test_noise_moves_verdicts_only_towards_undecided(record: Record, probes: Probes) -> None:
    """The audit's times are spread, as if timings of one kernel did not repeat."""

    def verdicts(spread: float) -> dict[str, str]:
        def apart(case: Case) -> Case:
            if case.experiment != AUDIT or not case.seconds:
                return case
            names = sum(map(ord, case.strategy)) % 9
            return _slower(case, 1 + spread * names / 8)

        noisy = _with(record, map(apart, record.cases))
        return {each.claim.id: each.verdict for each in measured(noisy, probes).judgement.claims}

    before = verdicts(0.0)
    assert {"holds", "depends", "fails here"} <= set(before.values())
    for spread in (0.03, 0.10, 0.60):
        after = verdicts(spread)
        changed = {name for name in before if after[name] != before[name]}
        assert {after[name] for name in changed} <= {UNDECIDED}, spread
        # a verdict that was undecided with less noise stays undecided with more
        assert all(after[n] == UNDECIDED for n in before if before[n] == UNDECIDED)
        before = after
    timed = [
        each
        for each in load_collection(EXPERIMENTS).claims
        if any(c.form in ("ratio", "monotone") for c in each.check)
    ]
    assert all(after[each.id] in (UNDECIDED, "not measured") for each in timed)
