"""The steps from an experiment's first kernel to its fastest, and what there is to learn from each:
<experiment>/story.toml, as typed values.

A step is a row, and its text explains what it changes. No measured figure is typed into a text: it
speaks of checks by their keys, and what is true on one GPU alone, or of one outcome alone, says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from recheck_report.claims.checks import Check, checks_of
from recheck_report.claims.outcome import Outcome
from recheck_report.claims.toml import BadClaim, Said, list_of, load_tables, one_of, only, table_of
from recheck_report.record.typed import Is, Unfit, read_toml, typed

STORY = "story.toml"
GAIN = "gain"  # the check that every step has but the first: that it is faster than its base


@dataclass(frozen=True)
class Part:
    """Some sentences that explain a step or a verdict; {key} stands for what the check of that key
    came to."""

    text: Said
    of: str = GAIN  # of a step's: the check on which it depends whether they are true
    # of that check, or of the claim, that makes them true; empty: they are, whichever it is
    verdict: Annotated[str, Is(one_of=("", "holds", "fails", "depends", "undecided"))] = ""
    gpu: str = ""  # "NVIDIA A", "NVIDIA A or NVIDIA B"; empty where they are so on every one

    @property
    def keys(self) -> tuple[str, ...]:
        """The checks that they speak of."""
        return tuple(re.findall(r"{(\w*)}", self.text))

    def applies(self, verdict: str, gpu: str, outcomes: Mapping[str, Outcome]) -> bool:
        """Whether they are so of that verdict on that GPU, with all that they speak of measured."""
        spoken = (outcomes.get(key) for key in self.keys)
        here = not self.gpu or gpu in self.gpu.split(" or ")
        measured = all(outcome and outcome.value is not None for outcome in spoken)
        return here and self.verdict in ("", verdict) and measured


@dataclass(frozen=True)
class Step:
    row: Annotated[str, Is(pattern="^[a-z0-9_]+$", form="the name of a row")]
    # in a few words: a chart has no room for more
    idea: Annotated[str, Is(pattern="^.{1,32}$", form="1 to 32 letters")]
    text: Annotated[tuple[Part, ...], Is(filled=True)]  # the paragraph
    base: str = ""  # an earlier step's row, which it is compared with; the last one's if left out
    check: tuple[Check, ...] = ()
    binds: str = ""  # the case whose counters say what binds it
    effective: str = ""  # where it does less work than it is credited with: how much it does


@dataclass(frozen=True)
class Story:
    experiment: str
    title: str
    steps: tuple[Step, ...]

    def address(self, step: Step) -> str:
        """Where a step stands in its collection, for messages."""
        return f"{self.experiment}/{STORY}: step {step.row}"


def _check(step: Step) -> None:
    keys = [check.key for check in step.check if check.key]
    if len(keys) > len(set(keys)) or GAIN in keys:
        raise Unfit(f"is the same in two checks, or {GAIN}", "key")
    if step.binds and not re.fullmatch(r"\w+/\w+/\d+(x\d+)*/cold", step.binds):
        raise Unfit(f"{step.binds!r} is no cold case", "binds")
    for at, part in enumerate(step.text):
        if part.verdict == "depends":
            raise Unfit("is of a claim alone", f"text[{at}].verdict")
        for key in (*part.keys, part.of):
            if key not in (GAIN, *keys):
                names = ", ".join((GAIN, *keys))
                raise Unfit(f"speaks of {{{key}}}; there are {names}", f"text[{at}]")


_read = table_of(Step, _check)


def _step(table: dict[str, Any]) -> Step:
    only(table, Step.__annotations__, "")
    for at, part in enumerate(list_of(table, "text")):
        only(typed(dict[str, Any], part, f"text[{at}]"), Part.__annotations__, f"text[{at}].")
    return _read(table | {"check": [*checks_of(table, "check")]})


def load(path: Path) -> Story:
    """The story of one file; raises BadClaim."""
    document = read_toml(path, BadClaim)
    try:
        title = typed(str, document.pop("title", None), "title")
        steps: list[Step] = []
        for step in load_tables(path, document, "step", _step, " tables and a title", "row"):
            earlier = [other.row for other in steps]
            if step.base:
                one_of(earlier, step.base, f"{step.row}.base")
            steps.append(replace(step, base=step.base or (earlier or [""])[-1]))
    except Unfit as error:
        raise BadClaim(f"{path}: {error}") from error
    return Story(path.parent.name, title, tuple(steps))


def load_stories(folder: Path) -> dict[str, Story]:
    """Those of all experiments, by name; raises BadClaim."""
    return {path.parent.name: load(path) for path in sorted(folder.glob(f"*/{STORY}"))}
