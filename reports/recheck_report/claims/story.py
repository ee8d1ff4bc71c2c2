"""The steps from an experiment's first kernel to its fastest: <experiment>/story.toml, as typed
values.

A step is a row, and its text explains the change. Texts contain no measured figures, but refer to
checks by their keys. A text that is true only for one GPU or one outcome names it.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from recheck_report.claims.checks import Check, checks_of
from recheck_report.claims.outcome import Outcome
from recheck_report.claims.toml import BadClaim, Said, load_tables, one_of
from recheck_report.record.typed import Is, Strict, Unfit, read_toml, typed

STORY = "story.toml"
GAIN = "gain"  # the check of every step but the first: it is faster than its base


@dataclass(frozen=True)
class Part(Strict):
    """Sentences that explain a verdict or a step; {key} stands for the outcome of a check."""

    text: Said
    of: str = GAIN  # in a step: the key of the check that `verdict` is about
    # of that check, or of the claim, for which the text is true; empty: for all
    verdict: Annotated[str, Is(one_of=("", "holds", "fails", "depends", "undecided"))] = ""
    gpu: str = ""  # "NVIDIA A", "NVIDIA A or NVIDIA B"; empty: true on all

    @property
    def keys(self) -> tuple[str, ...]:
        """The checks that the text refers to."""
        return tuple(re.findall(r"{(\w*)}", self.text))

    def applies(self, verdict: str, gpu: str, outcomes: Mapping[str, Outcome]) -> bool:
        """Whether the text is true for that verdict and GPU, and its checks are measured."""
        spoken = (outcomes.get(key) for key in self.keys)
        here = not self.gpu or gpu in self.gpu.split(" or ")
        measured = all(outcome and outcome.value is not None for outcome in spoken)
        return here and self.verdict in ("", verdict) and measured


@dataclass(frozen=True)
class Step(Strict):
    row: Annotated[str, Is(pattern="^[a-z0-9_]+$", form="the name of a row")]
    # short, as charts have little room
    idea: Annotated[str, Is(pattern="^.{1,32}$", form="1 to 32 letters")]
    text: Annotated[tuple[Part, ...], Is(filled=True)]  # the paragraph
    base: str = ""  # the earlier step to compare with; default: the previous one
    check: tuple[Check, ...] = ()
    binds: str = ""  # the case whose counters show its bottleneck
    effective: str = ""  # the real work, if it is less than the nominal work

    def validate(self) -> None:
        keys = [check.key for check in self.check if check.key]
        if len(keys) > len(set(keys)) or GAIN in keys:
            raise Unfit(f"must differ between checks, and from {GAIN}", "key")
        if self.binds and not re.fullmatch(r"\w+/\w+/\d+(x\d+)*/cold", self.binds):
            raise Unfit(f"{self.binds!r} is not a cold case", "binds")
        for at, part in enumerate(self.text):
            if part.verdict == "depends":
                raise Unfit("exists only for claims", f"text[{at}].verdict")
            for key in (*part.keys, part.of):
                if key not in (GAIN, *keys):
                    names = ", ".join((GAIN, *keys))
                    raise Unfit(f"refers to {{{key}}}; choose from {names}", f"text[{at}]")


@dataclass(frozen=True)
class Story:
    experiment: str
    title: str
    steps: tuple[Step, ...]

    def with_rows(self, rows: Container[str]) -> Story:
        """The steps of these rows, which are named like matmul/tile16."""
        steps = (step for step in self.steps if f"{self.experiment}/{step.row}" in rows)
        return replace(self, steps=tuple(steps))

    def address(self, step: Step) -> str:
        """The place of a step in its collection, for messages."""
        return f"{self.experiment}/{STORY}: step {step.row}"


def _step(table: dict[str, Any]) -> Step:
    return typed(Step, table | {"check": [*checks_of(table, "check")]})


def load(path: Path) -> Story:
    """The story of one file; raises BadClaim."""
    document = read_toml(path, BadClaim)
    try:
        title = typed(str, document.pop("title", None), "title")
        steps: list[Step] = []
        for step in load_tables(path, "step", _step, document, " and a title", unique="row"):
            earlier = [other.row for other in steps]
            if step.base:
                one_of(earlier, step.base, f"{step.row}.base")
            steps.append(replace(step, base=step.base or (earlier or [""])[-1]))
    except Unfit as error:
        raise BadClaim(f"{path}: {error}") from error
    return Story(path.parent.name, title, tuple(steps))


def load_stories(folder: Path) -> dict[str, Story]:
    """The stories of all experiments, by name; raises BadClaim."""
    return {path.parent.name: load(path) for path in sorted(folder.glob(f"*/{STORY}"))}
