"""The section "Rehearsed for other GPUs": what became of each row in code for earlier ones, and how
good a choice `best` makes there."""

from __future__ import annotations

from dataclasses import dataclass

from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, cell, significant
from recheck_report.model.rehearsal import GOOD, KINDS, LIBRARY, Choices, Product, Rehearsal

_ABSENT = "there is no `rehearsal.json` beside the record; the target `rehearsal` makes it"
_WORDS = {"passed": "passed", "not_run": "not run", "failed": "**failed**"}
_CHOOSES = "best"  # the row by which a record is known to have something to rehearse


@dataclass(frozen=True)
class Chosen:
    """`best` at random products."""

    sentence: str
    rows: list[list[str]] | None = None  # every product, the worst ratio first
    columns: tuple[str, ...] = ("m×n×k", "`best` takes", "fastest row", "ratio")
    numbers: tuple[int, ...] = (3,)


@dataclass(frozen=True)
class Rehearsed:
    """What the template lays out; with `why_not` nothing else is there."""

    why_not: str = ""
    linked: bool = True  # whether the report's folder holds the file
    sentence: str = ""
    columns: list[str] | None = None
    counts: list[list[str]] | None = None
    rows: list[list[str]] | None = None  # rows with the same outcomes in one line
    reasons: list[list[str]] | None = None
    chosen: list[Chosen] | None = None


def rehearsed(own: Measured) -> Rehearsed | None:
    """None for a record of which nothing could be rehearsed."""
    rehearsal = own.rehearsal
    if rehearsal is None:
        chooses = any(case.strategy == _CHOOSES for case in own.record.cases)
        return Rehearsed(_ABSENT, linked=False) if chooses and own.record.gpu_measured else None
    if foreign := rehearsal.foreign(own.record):
        return Rehearsed(cell(foreign))
    failed = sum(
        outcome.status == "failed" for test in rehearsal.tests for outcome in test.outcomes
    )
    verdict = (
        f"**Outcomes that are failures: {failed}.**"
        if failed
        else "Each has passed, or says why it did not run."
    )
    names = [_capability(build.architecture) for build in rehearsal.builds]
    return Rehearsed(
        sentence=f"Rows, mutants and other tests: {len(rehearsal.tests)}, in code for compute "
        f"capability {', '.join(names)}. {verdict}",
        columns=names,
        counts=_counts(rehearsal),
        rows=_rows(rehearsal),
        reasons=_reasons(rehearsal),
        chosen=[_chosen(choices) for choices in rehearsal.choices],
    )


def _capability(architecture: int) -> str:
    return f"{architecture // 10}.{architecture % 10}"


def _counts(rehearsal: Rehearsal) -> list[list[str]]:
    found = []
    for kind, what in KINDS.items():
        tests = [test for test in rehearsal.tests if test.kind == kind]
        for status, word in _WORDS.items():
            counts = [
                sum(test.outcomes[at].status == status for test in tests)
                for at in range(len(rehearsal.builds))
            ]
            found.append([f"{what} {word}", *map(str, counts)])
    return found


def _rows(rehearsal: Rehearsal) -> list[list[str]]:
    groups: dict[tuple[str, ...], list[str]] = {}
    for test in rehearsal.tests:
        if test.kind == "row":
            words = tuple(_WORDS[outcome.status] for outcome in test.outcomes)
            groups.setdefault(words, []).append(f"`{test.name}`")
    return [[", ".join(names), *words] for words, names in groups.items()]


def _reasons(rehearsal: Rehearsal) -> list[list[str]]:
    """Every reason, with the capabilities where it is one, and of what."""
    found: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for test in rehearsal.tests:
        for build, outcome in zip(rehearsal.builds, test.outcomes, strict=True):
            if outcome.reason is not None:
                key = _WORDS[outcome.status], cell(outcome.reason)
                where, what = found.setdefault(key, ({}, {}))
                where[_capability(build.architecture)] = None
                what[f"`{test.name}`"] = None
    return [
        [word, reason, ", ".join(where), ", ".join(what)]
        for (word, reason), (where, what) in found.items()
    ]


def _chosen(choices: Choices) -> Chosen:
    code = (
        "the machine code that records are measured with"
        if choices.architecture is None
        else f"code for {_capability(choices.architecture)}"
    )
    rated = [(ratio, at) for at in choices.shapes if (ratio := choices.ratio(at)) is not None]
    if not rated:
        return Chosen(
            f"In {code}: not measured, because no product has a time of `best` and of another row."
        )
    rated.sort(key=lambda each: (each[0], each[1].m, each[1].n, each[1].k))
    low = sum(ratio < GOOD for ratio, _ in rated)
    untimed = len(choices.shapes) - len(rated)
    without = f" Products without both times: {untimed}." if untimed else ""
    return Chosen(
        sentence=f"In {code} `best` was timed beside {len(choices.rows)} rows at {len(rated)} "
        f"random products (seed {choices.seed}, cold). "
        f"It reaches {significant(rated[0][0])} of the fastest row's speed at worst, "
        f"{significant(rated[len(rated) // 2][0])} in the median, and less than {GOOD} at {low} "
        f"of them.{_second(choices)}{_library(choices)}{without} These are medians of few samples, "
        "so a ratio may differ from 1 where both are the same row.",
        rows=[_line(choices, at, ratio) for ratio, at in rated],
    )


def _second(choices: Choices) -> str:
    """At how many products times were taken a second time, and what they said at first."""
    again = [at for at in choices.shapes if at.again or at.first is not None]
    if not again:
        return ""
    first = [at.first for at in again if at.first is not None]
    then = f"; at first it had less than {GOOD} at {sum(own < GOOD for own in first)} of these"
    where = "it or the row that it takes" if first else "it"
    return (
        f" At {len(again)}, where {where} seemed to have less than 0.95, it and what was faster "
        "were timed a second time, with ten times the budget, and those times count"
        f"{then if first else ''}."
    )


def _library(choices: Choices) -> str:
    """How `best` does against the vendor's library, if that was timed."""
    if LIBRARY not in choices.rows:
        return ""
    own = choices.rows.index(LIBRARY)
    times = [(at.seconds[own], at.best) for at in choices.shapes]
    ratios = sorted(theirs / ours for theirs, ours in times if theirs and ours)
    if not ratios:
        return ""
    return (
        f" Against `{LIBRARY}` it is {significant(ratios[0])} times as fast at worst, "
        f"{significant(ratios[len(ratios) // 2])} times in the median, and at "
        f"{sum(ratio < 1 for ratio in ratios)} of {len(ratios)} products slower."
    )


def _line(choices: Choices, at: Product, ratio: float) -> list[str]:
    # no times: a rehearsal keeps no intervals
    fastest = choices.fastest(at)
    name = fastest[0] if fastest else NONE
    text = significant(ratio)
    return [
        f"{at.m}×{at.n}×{at.k}",
        f"`{cell(at.choice)}`",
        f"`{cell(name)}`",
        f"**{text}**" if ratio < GOOD else text,
    ]
