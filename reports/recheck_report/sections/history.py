"""The times of a GPU model over its runs: which rows a chart shows, where a time changed and what
else did then, and whether this run is slower than those before it."""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

from recheck_report.anchors import page, row_anchor
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NONE, cell, duration, margin, shape_label, spread
from recheck_report.history.runs import History, Run, Series, added, of
from recheck_report.history.search import FEWEST
from recheck_report.history.steps import (
    CODE,
    ENOUGH,
    LEAST,
    MANY,
    Differences,
    Step,
    differences,
    expected,
    steps,
)
from recheck_report.model.record import AUDIT, SPECIAL, Case, Experiment, Record, Seconds
from recheck_report.model.typed import BadRecord
from recheck_report.queries import DISPATCH, elements, reference
from recheck_report.sections.times import Changed, Pair, Row, code, count, place, words
from recheck_report.sections.verdicts import prose
from recheck_report.statistics.changes import Change

RUNS = ["run", "date", "GPU", "driver", "CUDA", "device code", "slower", "faster", "other rows"]
RUNS_NUMBERS = (6, 7, 8)
AGAINST = ["row", "cases", "most of all", "last level", "this run", "how much", "margin"]
AGAINST += ["since run", "what changed there"]
STEPS = ["row", "at", "from run", "to run", "before", "after", "how much", "margin", "what changed"]
MOST = 12  # rows in a chart
STRONGEST = 40  # change points in a table; the rest is counted


@dataclass(frozen=True)
class Panel:
    """One row of an experiment at the shape that its chart shows."""

    strategy: str
    shape: str
    elsewhere: str  # that shape, if the others have another
    series: Series
    steps: list[Step]


@dataclass(frozen=True)
class Section:
    """One experiment's change points, ready for the template."""

    experiment: Experiment
    title: str
    anchor: str
    page: str
    none: str  # why there are none; empty where there are
    rungs: list[list[str]]
    more: str  # what of them is not shown
    others: list[list[str]]


def anchor(experiment: Experiment) -> str:
    return f"runs-of-{experiment.name}"


def what_changed(history: History, experiment: str, at: int) -> Differences:
    """What is not as in the run before; nothing of the first."""
    return differences(history, experiment, at - 1, at) if at else Differences((), ())


def _shown(case: Case) -> bool:
    plain = case.role == "rung" and case.contends and not case.sweep
    return bool(plain and case.seconds and case.regime == "cold" and case.strategy not in DISPATCH)


def panels(history: History, record: Record, experiment: Experiment) -> list[Panel]:
    """Of an experiment, up to MOST rows in the order of the table: the rungs whose cold times
    changed, at the shape where they did so most, the fastest others at the headline, and the
    library, which no change of ours reaches, at the largest shape that they all have. Of the
    machine, each row."""
    at_steps: dict[str, list[Step]] = {}
    for each in steps(history):
        at_steps.setdefault(each.id, []).append(each)
    if experiment.name in SPECIAL:
        chosen = {case.strategy: case for case in record.of(experiment) if case.seconds}
        shape = ""
    else:
        cold = [case for case in record.of(experiment) if case.regime == "cold" and case.seconds]
        rungs = [case for case in cold if _shown(case) and len(history.series(case.id)) > 1]
        # steps come with the largest first
        by_id = {case.id: case for case in rungs}
        chosen = {}
        for name in at_steps:
            if name in by_id and len(chosen) < MOST - 1:
                chosen.setdefault(by_id[name].strategy, by_id[name])
        fastest = [case for case in rungs if case.shape_name == experiment.headline]
        fastest = [case for case in fastest if case.strategy not in chosen]
        fastest = sorted(fastest, key=lambda case: case.time.median)[: MOST - 1 - len(chosen)]
        others = [case.strategy for case in fastest]
        others += [name for name in (reference(record, experiment),) if name]
        shape = _largest([case for case in cold if case.strategy in others], len(others))
        chosen |= {c.strategy: c for c in cold if c.strategy in others and c.shape_name == shape}
    order = [row.strategy for row in record.strategies(experiment)]
    found = []
    for name in sorted(chosen, key=order.index)[:MOST]:
        case = chosen[name]
        elsewhere = "" if case.shape_name == shape or not shape else case.shape_name
        series, own = history.series(case.id), at_steps.get(case.id, [])
        found.append(Panel(name, case.shape_name, elsewhere, series, own))
    return [each for each in found if len(each.series) > 1]


def _largest(cases: list[Case], rows: int) -> str:
    """The largest shape of so many rows; empty if none has them all."""
    found = Counter(case.shape_name for case in cases)
    shapes = [shape for shape, number in found.items() if number == rows]
    return max(shapes, key=lambda shape: (elements(shape), shape), default="")


class View:
    """What the page says, by the names of its template's variables."""

    runs_columns, runs_numbers, steps_columns = RUNS, RUNS_NUMBERS, STEPS
    against_columns = AGAINST
    fewest, enough = FEWEST, ENOUGH
    many, least = MANY, margin(LEAST)

    def __init__(self, history: History, record: Record) -> None:
        self.history, self.record = history, record
        self.steps = steps(history)
        self._own = of(record).runs[0].key

    @cached_property
    def answer(self) -> list[str]:
        """What is known, in a few sentences."""
        history, rungs = self.history, [each for each in self.steps if each.role == "rung"]
        first, last = history.runs[0], history.runs[-1]
        gpus = len({each.uuid_hash for each in history.runs if each.uuid_hash})
        said = (
            f"{count(len(history.runs), 'run')} of {prose(history.gpu)}, {first.started[:10]} to "
        )
        said += f"{last.started[:10]}"
        said += f", on {count(gpus, 'GPU')} that are known apart." if gpus else "."
        found = [said]
        most = max(len(history.series(case)) for case in history.cases)
        if most < FEWEST:
            needed = f"of the {FEWEST} that it takes to look for a change point"
            found.append(f"**Not enough runs**: no case has more than {most} {needed}.")
        elif history.searched:
            points = f"**{count(len(self.steps), 'change point')}**, {len(rungs)} of rungs"
            found.append(f"In {count(len(history.cases), 'case')}: {points}.")
        if history.searched < len(history.runs):
            late = len(history.runs) - history.searched
            recent = "the last run" if late == 1 else f"the last {late} runs"
            which = recent if history.searched else "these runs"
            found.append(
                f"Change points have not been looked for in {which}: "
                "`recheck-report history --add` does."
            )
        if self._own not in {each.key for each in history.runs}:
            found.append("The run that this report is about is not one of them.")
        return found

    @cached_property
    def _pair(self) -> Pair:
        old, margins = expected(self.history, self.record)
        return Pair(old, self.record, margins)

    @property
    def compared(self) -> bool:
        """Whether any case has runs enough at its last level."""
        return bool(self._pair.changes)

    @property
    def slower(self) -> list[Row]:
        """The rungs that are slower than their last level, the most so first."""
        return self._pair.rows("slower", rungs=True)

    @cached_property
    def against(self) -> str:
        """This run against the levels of those before, in one sentence."""
        rungs = sum(each.new.role == "rung" for each in self._pair.changes)
        if not self.compared:
            return (
                f"**Not enough runs**: no case has {ENOUGH} others at its last level, so there is "
                "nothing to compare this run with."
            )
        worse = len(self.slower)
        held = f"of {count(rungs, 'case')} of rungs, each compared with {ENOUGH} other runs or more"
        said = "**no rung is slower**" if not worse else f"**{count(worse, 'rung')} slower**"
        return f"Beyond [their margins](#method) {said}, {held}."

    @property
    def changed(self) -> list[Changed]:
        """The rows with a case beyond its margin: rungs first, slower before faster."""
        found = []
        for rungs, kind in ((True, "Rungs"), (False, "Libraries, yardsticks and parts")):
            for outcome in ("slower", "faster"):
                rows = self._pair.rows(outcome, rungs)
                rest = f"Not shown: {count(len(rows) - STRONGEST, 'row')}."
                if rows:
                    lines = [self._against(each) for each in rows[:STRONGEST]]
                    more = rest if len(rows) > STRONGEST else ""
                    found.append(Changed(f"{kind}: {outcome} than before", lines, more))
        return found

    def _against(self, row: Row) -> list[str]:
        most = row.most
        times = [_time(each.time) for each in (most.old, most.new)]
        many = f"{len(row.changes)} of {row.cases}"
        much = [words(most.ratio), margin(most.margin)]
        return [code(row.name), many, place(most.new), *times, *much, *self.since(most)]

    def since(self, change: Change) -> tuple[str, str]:
        """From which run on the case is where it is now, beyond its margin, and what changed
        between the run before and that one."""
        if self._whole is None:
            return NONE, NONE
        case, was = change.new, change.old.time.median
        now = math.log(case.time.median / was)
        first = [each.key for each in self._whole.runs].index(self._own)
        before = [each for each in self._whole.series(case.id) if each[0] < first]
        for at, time in reversed(before):
            apart = math.log(time.median / was)
            if abs(apart) <= math.log1p(change.margin) or (apart > 0) != (now > 0):
                row = self._whole.row(case.id)
                changed = differences(self._whole, case.experiment, at, first, row)
                return code(self._whole.runs[first].short), prose(changed.words)
            first = at
        return code(self._whole.runs[first].short), NONE

    @cached_property
    def _whole(self) -> History | None:
        """The history with this run; None where it has no room for it."""
        with contextlib.suppress(BadRecord):
            return added(self.history, of(self.record))
        return None

    @cached_property
    def runs(self) -> list[list[str]]:
        """A line for each run, the newest first."""
        counts = Counter(
            (each.after, each.slower if each.role == "rung" else None) for each in self.steps
        )
        lines = []
        for at, run in enumerate(self.history.runs):
            own = " (this run)" if run.key == self._own else ""
            name = f"{code(run.short)}{own}"
            about = [run.uuid_hash[:6] if run.uuid_hash else "not known"]
            about += [prose(each or "not known") for each in (run.driver, run.cuda_runtime)]
            tally = [str(counts[at, kind] or NONE) for kind in (True, False, None)]
            lines.append([name, run.started[:10], *about, self._code(at, run), *tally])
        return lines[::-1]

    def _code(self, at: int, run: Run) -> str:
        """The experiments whose device code is not as in the run before."""
        if run.cubins is None:
            return "not known"
        if not at:
            return NONE
        names = [each.name for each in self.record.experiments]
        of_runs = {name: differences(self.history, name, at - 1, at) for name in names}
        found = [code(name) for name, each in of_runs.items() if CODE in each.changed]
        if not found and all(CODE in each.unknown for each in of_runs.values()):
            return "not known"
        return "changed: " + ", ".join(found) if found else "the same"

    @cached_property
    def sections(self) -> list[Section]:
        """A section for each experiment that the record has, but the self-audit."""
        return [self._section(e) for e in self.record.experiments
                if e.name != AUDIT and self.record.of(e)]  # fmt: skip

    def _section(self, experiment: Experiment) -> Section:
        own = [each for each in self.steps if each.id.startswith(f"{experiment.name}/")]
        special = experiment.name in SPECIAL
        rungs = [each for each in own if each.role == "rung" or special]
        rest = rungs[STRONGEST:]
        timed = [c for c in self.history.cases if c.startswith(f"{experiment.name}/")]
        enough = sum(len(self.history.series(case)) >= FEWEST for case in timed)
        none = ""
        if not enough:
            none = f"Not enough runs: no case has the {FEWEST} that it takes."
        elif not self.history.searched:
            none = "Change points have not been looked for."
        elif not own:
            none = f"No change point in {count(enough, 'case')}."
        return Section(
            experiment,
            cell(experiment.title),
            anchor(experiment),
            page(experiment),
            none,
            [self._line(each, experiment) for each in rungs[:STRONGEST]],
            f"Not shown: {count(len(rest), 'change point')} that are smaller." if rest else "",
            []
            if special
            else [self._line(e, experiment) for e in own if e not in rungs][:STRONGEST],
        )

    def _line(self, step: Step, experiment: Experiment) -> list[str]:
        _, strategy, shape, regime = step.id.split("/")
        name = code(strategy)
        known = {case.strategy for case in self.record.strategies(experiment)}
        if strategy in known and experiment.name not in SPECIAL:
            name = f"[{name}]({page(experiment)}#{row_anchor(experiment, strategy)})"
        runs = [code(self.history.runs[at].short) for at in (step.before, step.after)]
        place = f"{shape_label(shape)}, {regime.replace('_', ' ')}"
        times = [_time(each) for each in (step.was, step.now)]
        return [name, place, *runs, *times, words(step.ratio), margin(step.margin),
                prose(step.between.words)]  # fmt: skip


_views: WeakKeyDictionary[Measured, View] = WeakKeyDictionary()


def view(own: Measured) -> View | None:
    """Of what was measured: the same each time, for as long as that is there. None without a
    history."""
    if own.history is None:
        return None
    if own not in _views:
        _views[own] = View(own.history, own.record)
    return _views[own]


def _time(seconds: Seconds) -> str:
    return f"{duration(seconds.median)} {spread(seconds)}"
