"""Reads, adds up and writes history.json, schema 1: a GPU model's times over its runs.

It keeps what outlives a record: of each run where it comes from, and of each case the median with
its interval; no samples. The order in which runs are added leaves no trace. What a file says of
itself is not believed: a step needs runs on both of its sides, and its size is worked out anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from recheck_report import schemas
from recheck_report.model.companions import read
from recheck_report.model.record import Record, Seconds
from recheck_report.model.typed import BadRecord, Unfit
from recheck_report.statistics.variation import class_named, cpu_class

HISTORY = "history.json"
SCHEMA: int = schemas.load("history")["properties"]["schema"]["const"]
MOST_RUNS = 200  # a report shows each
EACH = 2  # runs that stand on each side of a step, at least


@dataclass(frozen=True)
class Run:
    """Where the times of one run come from; None: not known."""

    commit: str
    started: str
    uuid_hash: str | None
    driver: str | None
    cuda_runtime: str | None
    cubins: dict[str, str] | None
    cpu: str
    cpu_threads: int
    queued_samples: int | None = None  # of the timer; older runs do not say, and had many

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from every other run, in the order of time."""
        return self.started, self.commit, self.uuid_hash or ""

    @property
    def short(self) -> str:
        """The commit as a reader knows it: "a798947"."""
        return self.commit[:7]


@dataclass(frozen=True)
class Row:
    target: str
    role: str
    vendor: bool  # whose code is no experiment's


Times = tuple[tuple[float, ...] | None, ...]
Series = list[tuple[int, Seconds]]  # (run, its time) of one case, without the runs that have none


@dataclass(frozen=True, eq=False)
class History:
    """history.json, member by member."""

    schema: int
    gpu: str
    runs: tuple[Run, ...]
    rows: dict[str, Row]
    cases: dict[str, Times]
    searched: int
    steps: dict[str, tuple[int, ...]]

    def series(self, case: str) -> Series:
        """Empty for a case that no run has a time of."""
        found = enumerate(self.cases.get(case, ()))
        # how many samples it was is not kept
        return [(at, Seconds(time[0], time[1], time[2], 0, 0)) for at, time in found if time]

    def row(self, case: str) -> Row:
        return self.rows[case.rsplit("/", 2)[0]]

    def kind(self, case: str, seconds: float) -> str:
        """The class of so many seconds of a case."""
        row, name = self.row(case), case.split("/")[1]
        if row.target == "cpu":
            return cpu_class(name, row.role)
        return class_named(case.rpartition("/")[2], seconds)

    def json(self) -> bytes:
        """A run, a row, a case and the steps of one a line, in an order that depends on nothing."""

        def lines(values: Iterator[str]) -> str:
            return ",\n  ".join(values)

        def members(values: dict[str, str]) -> str:
            return lines(f"{_text(name)}: {value}" for name, value in sorted(values.items()))

        parts = {
            "runs": f"[\n  {lines(_text(asdict(each)) for each in self.runs)}]",
            "rows": f"{{\n  {members({n: _text(asdict(row)) for n, row in self.rows.items()})}}}",
            "cases": f"{{\n  {members({n: _text(times) for n, times in self.cases.items()})}}}",
            "searched": _text(self.searched),
            "steps": f"{{\n  {members({n: _text(runs) for n, runs in self.steps.items()})}}}",
        }
        head = f'{{"schema": {self.schema}, "gpu": {_text(self.gpu)}'
        text = ",\n ".join([head, *(f'"{name}": {part}' for name, part in parts.items())])
        return f"{text}}}\n".encode()

    @cached_property
    def _newest(self) -> dict[str, int]:
        """By row, the last run that has a time of it."""
        found: dict[str, int] = {}
        for case in self.cases:
            name, last = case.rsplit("/", 2)[0], self.series(case)[-1][0]
            found[name] = max(last, found.get(name, 0))
        return found

    def newest(self, row: str) -> tuple[str, str, str]:
        return self.runs[self._newest[row]].key


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def of(record: Record) -> History:
    """The history that is this record alone; it must have a measured GPU case."""
    env = record.environment
    assert env.gpu is not None
    run = Run(
        env.git.commit or "unknown",
        env.started,
        env.gpu.uuid_hash,
        env.driver,
        env.cuda_runtime,
        env.cubins,
        env.cpu,
        env.cpu_threads,
        record.method.queued_samples if record.method else None,
    )
    timed = [(case, case.seconds) for case in record.cases if case.seconds]
    rows = {
        f"{case.experiment}/{case.strategy}": Row(
            case.target, case.role, case.source.document == "vendor"
        )
        for case, _ in timed
    }
    cases: dict[str, Times] = {
        case.id: (tuple(float(f"{x:.6g}") for x in (time.median, time.low, time.high)),)
        for case, time in timed
    }
    return History(SCHEMA, env.gpu.name, (run,), rows, cases, 0, {})


def added(history: History | None, other: History) -> History:
    """Both in one, whichever comes first; what both have is there once.

    Raises BadRecord if they are of two GPU models, if one run has two different times in them, or
    if there are too many.
    """
    if history is None:
        return other
    if history.gpu != other.gpu:
        raise BadRecord(f"is of {history.gpu}, and not of {other.gpu}")
    keys = {each.key: each for each in (*other.runs, *history.runs)}
    runs = tuple(keys[key] for key in sorted(keys))
    if len(runs) > MOST_RUNS:
        raise BadRecord(f"has {MOST_RUNS} runs, the most there may be; move it away to begin anew")
    at = {each.key: number for number, each in enumerate(runs)}
    cases = {}
    for name in sorted(history.cases.keys() | other.cases.keys()):
        times: list[tuple[float, ...] | None] = [None] * len(runs)
        for each in (history, other):
            for number, time in enumerate(each.cases.get(name, ())):
                if time:
                    times[at[each.runs[number].key]] = time
        cases[name] = tuple(times)
    made = replace(history, runs=runs, cases=cases, rows=_rows(history, other))
    for each in (history, other):
        places = [at[run.key] for run in each.runs]
        for name, times_of in cases.items():
            own = each.cases.get(name, (None,) * len(places))
            if tuple(times_of[place] for place in places) != own:
                run = next(r for r, place, time in zip(each.runs, places, own, strict=True)
                           if times_of[place] != time)  # fmt: skip
                raise BadRecord(
                    f"has run {run.short} of {run.started} with another time of {name}; "
                    "one of the two was edited"
                )
    # steps stay where they are as long as no run comes before their last one
    if runs[: history.searched] != history.runs[: history.searched]:
        made = replace(made, searched=0, steps={})
    return made


def _rows(history: History, other: History) -> dict[str, Row]:
    found = {}
    for name in sorted(history.rows.keys() | other.rows.keys()):
        there = [each for each in (history, other) if name in each.rows]
        found[name] = max(there, key=lambda each: each.newest(name)).rows[name]
    return found


def load(path: Path) -> History | None:
    """The history.json in a report's folder, beside a record, or `path` itself; None where there is
    none. Raises BadRecord with one line that names the file and the field."""
    return read(History, path, HISTORY, "make it from its records", check=_check)


def _check(found: History) -> None:
    """What the form alone does not say; raises Unfit."""
    keys = [each.key for each in found.runs]
    if not all(a < b for a, b in pairwise(keys)):
        raise Unfit("must be in the order of time, each once").at("runs")
    if len(keys) > MOST_RUNS:
        raise Unfit(f"must have at most {MOST_RUNS} entries").at("runs")
    if found.searched > len(keys):
        raise Unfit("must be at most the number of runs").at("searched")
    used = set()
    for name, times in found.cases.items():
        used.add(name.rsplit("/", 2)[0])
        if len(times) != len(keys):
            raise Unfit("must have one entry for each run").at(f"cases.{name}")
        for at, time in enumerate(times):
            # the same outer bounds as of a record
            if time and not (len(time) == 3 and 1e-12 < time[1] <= time[0] <= time[2] < 1e9):
                why = "must be a median between the low and the high end of its interval"
                raise Unfit(why).at(f"[{at}]").at(f"cases.{name}")
        if not any(times):
            raise Unfit("must have a time").at(f"cases.{name}")
    if used != found.rows.keys():
        raise Unfit("must be the rows of the cases, and no others").at("rows")
    for name, steps in found.steps.items():
        timed = [at for at, _ in found.series(name) if at < found.searched]
        places = [timed.index(step) if step in timed else -1 for step in steps]
        if any(b - a < EACH for a, b in pairwise([0, *places, len(timed)])):
            why = f"must be runs with a time, {EACH} or more from each other and from the ends"
            raise Unfit(why).at(f"steps.{name}")
