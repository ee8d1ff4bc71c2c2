"""The section "How accurate": each row's errors beside cuBLAS's, and who is right on odd inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, cell, significant
from recheck_report.model.accuracy import (
    EXPERIMENT,
    GUARDED,
    LEAST_K,
    LIBRARY,
    NOT_FINITE,
    ROUNDOFF,
    Accuracy,
    Result,
    Row,
)
from recheck_report.model.record import Experiment

_ABSENT = "there is no `accuracy.json` beside the record; the target `accuracy` makes it"


@dataclass(frozen=True)
class Table:
    columns: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class HowAccurate:
    """What the template lays out; with `why_not` nothing else is there."""

    why_not: str = ""
    linked: bool = True  # whether the report's folder holds the file
    inputs: str = ""  # what was multiplied
    verdict: str = ""
    promises: tuple[str, ...] = ()  # a sentence for each row that splits its inputs
    larger: HowAccurate | None = None  # of a larger product: inputs and verdict
    special: Table | None = None
    gaps: Table | None = None


def how_accurate(own: Measured, experiment: Experiment) -> HowAccurate | None:
    """The section of an experiment; None where a study of accuracy is not about it."""
    if experiment.name != EXPERIMENT:
        return None
    accuracy = own.accuracy
    if accuracy is None:
        return HowAccurate(_ABSENT, linked=False)
    if foreign := accuracy.foreign(own.record):
        return HowAccurate(cell(foreign))
    splits = _splits(accuracy)
    return HowAccurate(
        inputs=_inputs(accuracy),
        verdict=_verdict(accuracy, splits),
        promises=_promises(accuracy, splits),
        larger=_larger(own),
        special=_special(accuracy),
        gaps=_gaps(accuracy),
    )


def _larger(own: Measured) -> HowAccurate | None:
    study = own.larger
    if study is None or study.foreign(own.record):
        return None
    splits = _splits(study)
    return HowAccurate(inputs=_inputs(study), verdict=_verdict(study, splits))


def _splits(accuracy: Accuracy) -> list[Row]:
    return [row for row in accuracy.rows if row.split and not row.sweep]


def _inputs(accuracy: Accuracy) -> str:
    ks = accuracy.ks
    lengths = f", K from {ks[0]} to {ks[-1]}" if ks else ""
    most = max((each.k for each in accuracy.results), default=0)
    if ks and most > ks[-1]:
        lengths += f", on adversarial inputs to {most}"
    return f"A ({accuracy.m}×K) by B (K×{accuracy.n}){lengths}"


# a split row's errors against the library's


def _pair(result: Result | None) -> tuple[float, float] | None:
    """The two errors that the library's bound: by norm, and by element."""
    if result is None or result.frobenius is None or result.componentwise is None:
        return None
    return result.frobenius, result.componentwise


def _ratios(accuracy: Accuracy, row: Row, distribution: str, k: int) -> tuple[float, ...] | None:
    """A row's errors over the library's; None where one of them is not there, or is 0."""
    own = _pair(accuracy.find(row.strategy, distribution, k))
    base = _pair(accuracy.find(LIBRARY, distribution, k))
    if own is None or base is None or 0 in base:
        return None
    return tuple(a / b for a, b in zip(own, base, strict=True))


def _verdict(accuracy: Accuracy, splits: list[Row]) -> str:
    if not splits:
        return "No row splits its inputs."
    found, apart, missing = [], [], 0
    for row in splits:
        for each in accuracy.ordinary:
            for k in accuracy.ks:
                if k < LEAST_K or not accuracy.find(row.strategy, each.name, k):
                    continue
                ratios = [(r, row, each, k) for r in _ratios(accuracy, row, each.name, k) or ()]
                if each.name in GUARDED:
                    apart += ratios
                else:
                    missing += not ratios
                    found += ratios
    if not found:
        base = next((r for r in accuracy.results if r.strategy == LIBRARY and r.reason), None)
        why = f"`{LIBRARY}`: {cell(base.why_not)}" if base else f"`{LIBRARY}` was not studied"
        return f"No error of a row that splits its inputs could be compared with cuBLAS's: {why}."
    larger = [each for each in found if each[0] > 1]
    product = f"products of {accuracy.m} × K by K × {accuracy.n} elements"
    scope = f" ({product}, the same ordinary inputs, K ≥ {LEAST_K}, by norm and by element)"
    notes = ""
    guarded = [cell(each.says) for each in accuracy.ordinary if each.name in GUARDED]
    if guarded:
        notes += f" Not counted: {', '.join(guarded)}, where a row may fall back on IEEE fp32"
        if apart:
            ratio, row, *_ = max(apart, key=lambda each: each[0])
            notes += f"; there the worst is {significant(ratio)} times cuBLAS's, `{row.strategy}`"
        notes += "."
    if missing:
        notes += f" Pairs of results without an error on both sides, not compared: {missing}."
    if not larger:
        return (
            f"**None of the {len(found)} errors of rows that split their inputs is larger than "
            f"cuBLAS's**{scope}.{notes}"
        )
    ratio, row, each, k = max(larger, key=lambda found: found[0])
    worse = {found[1].strategy for found in larger}
    clean = [f"`{each.strategy}`" for each in splits if each.strategy not in worse]
    notes += f" No error of {', '.join(clean)} is larger." if clean else ""
    return (
        f"**{len(larger)} of the {len(found)} errors of rows that split their inputs are larger "
        f"than cuBLAS's**{scope}. The worst is {significant(ratio)} times cuBLAS's, "
        f"`{row.strategy}` on {cell(each.says)} at K = {k}.{notes}"
    )


# what a split row promises


def _promises(accuracy: Accuracy, splits: list[Row]) -> tuple[str, ...]:
    if not splits:
        return ()
    return tuple(_promise(accuracy, row) for row in splits)


def _promise(accuracy: Accuracy, row: Row) -> str:
    """What a row promises, whether it kept that, and where it came nearest to breaking it."""
    says = {each.name: cell(each.says) for each in accuracy.distributions}
    own = [each for each in accuracy.results if each.strategy == row.strategy]
    found = [(each.of_bound, each) for each in own if each.of_bound is not None]
    # what is not finite, or wrong on special inputs, has no error and yet breaks the promise
    judged = [
        each
        for each in own
        if each.distribution not in NOT_FINITE and each.status in ("passed", "incorrect")
    ]
    wrong = [each for each in judged if each.status == "incorrect"]
    kept = f"**broken** in {len(wrong)}" if wrong else "kept in all"
    kept += f" of {len(judged)} results"
    if not found and wrong:
        return f"`{row.strategy}`: its promise is {kept}: {cell(wrong[0].why_not)}."
    if not found:
        why = next((each.why_not for each in own if each.reason), "it was not studied")
        return f"`{row.strategy}`: its promise was not measured: {cell(why)}."
    part, worst = max(found, key=lambda each: each[0])
    lacking = len([each for each in own if each.reason and not each.measured])
    return (
        f"`{row.strategy}` promises of each element {_bound([each for _, each in found], says)}: "
        f"{kept}, {significant(100 * part, 2)} % of it at the worst element of all, on "
        f"{says[worst.distribution]} at K = {worst.k}."
        + (f" Without an error: {lacking} results." if lacking else "")
    )


def _bound(results: list[Result], says: dict[str, str]) -> str:
    """What these results of a row must stay within, in words."""
    # on inputs that leave the guard down the bound is least
    least: dict[int, float] = {}
    for each in results:
        least[each.k] = min(each.bound or math.inf, least.get(each.k, math.inf))
    ends = sorted({min(least), max(least)})
    bounds = " and ".join(f"{significant(least[k] / ROUNDOFF)}·2^-24 at K = {k}" for k in ends)
    text = (
        f"|C − AB| ≤ b·|A||B| with b = {bounds}, or where its guard leaves the inputs to IEEE "
        "fp32, γ_K ≈ K·2^-24 if that is more"
    )
    # a bound that is neither this nor IEEE fp32's is one of other quantities
    other = [
        (bound, each)
        for each in results
        if (bound := (each.bound or 0) / ROUNDOFF) > 1.05 * max(least[each.k] / ROUNDOFF, each.k)
    ]
    if other:
        bound, at = max(other, key=lambda each: each[0])
        text += (
            f", and where it does fewer multiplications, from K = {min(e.k for _, e in other)} on, "
            "a bound of the largest magnitudes in a row of A and a column of B, of these inputs as "
            f"much as b = {significant(bound)}·2^-24, on {says[at.distribution]} at K = {at.k}"
        )
    return text


# all rows


def _grouped(lines: Iterable[tuple[str, list[str]]]) -> list[list[str]]:
    """Rows with the same cells in one line, in the order of the first of each."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name, cells in lines:
        found.setdefault(tuple(cells), []).append(f"`{name}`")
    return [[", ".join(names), *cells] for cells, names in found.items()]


def _special(accuracy: Accuracy) -> Table | None:
    def verdict(row: Row, distribution: str) -> str:
        found = [
            each
            for each in accuracy.results
            if each.strategy == row.strategy and each.distribution == distribution
        ]
        if not found:
            return NONE
        worst = next((each for each in found if each.status != "passed"), found[0])
        words = {"passed": "pass", "incorrect": "**fail**", "failed": "**failed**"}
        return words.get(worst.status, worst.status.replace("_", " "))

    columns = [cell(each.says) for each in accuracy.special]
    lines = [
        (row.strategy, [verdict(row, each.name) for each in accuracy.special])
        for row in accuracy.rows
    ]
    return Table(["rows", *columns], _grouped(lines)) if columns and lines else None


def _gaps(accuracy: Accuracy) -> Table | None:
    """Every result that did not pass, and why; those of one reason together."""
    says = {each.name: cell(each.says) for each in accuracy.distributions}
    reasons: dict[tuple[str, str, str], dict[str, dict[int, None]]] = {}
    for each in accuracy.results:
        if each.reason:
            key = (each.strategy, each.status.replace("_", " "), cell(each.reason))
            reasons.setdefault(key, {}).setdefault(each.distribution, {})[each.k] = None
    lines: dict[tuple[str, ...], list[str]] = {}
    for (strategy, status, reason), where in reasons.items():
        inputs = ", ".join(says[name] for name in where)
        kinds = {
            "all ordinary": accuracy.ordinary,
            "all but the special": accuracy.ordinary + accuracy.adversarial,
            "all": accuracy.distributions,
        }
        for kind, chosen in kinds.items():
            if set(where) == {each.name for each in chosen}:
                inputs = kind
        ks = sorted({k for found in where.values() for k in found})
        lengths = "all" if set(accuracy.ks) <= set(ks) else ", ".join(map(str, ks))
        lines.setdefault((inputs, lengths, status, reason), []).append(f"`{strategy}`")
    rows = [[", ".join(names), *rest] for rest, names in lines.items()]
    return Table(["rows", "inputs", "K", "status", "reason"], rows) if rows else None
