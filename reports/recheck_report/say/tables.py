"""The tables of one experiment as rows of Markdown cells; the template only lays them out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from recheck_report.anchors import page, row_anchor
from recheck_report.claims.figures import Figures
from recheck_report.claims.measured import Measured
from recheck_report.formatting import (
    NBSP,
    NONE,
    cell,
    duration,
    rate,
    rate_scale,
    shape_label,
    significant,
    spread,
)
from recheck_report.queries import first_rung, metric_of, reference, roof, share
from recheck_report.record.case import Error
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.say.machine import mark
from recheck_report.say.times import regime
from recheck_report.statistics.ratio import Ratio

THEN = ["row", "in the document", "then", "here", "times as fast here"]
# times by which no GPU of today is faster, or slower, than that of a document
FASTER, SLOWER = 1000, 30
MOST = 6  # shapes that are named
GAPS = ["strategy", "shapes", "regime", "status", "reason", "cases"]
ABSENT = "·"  # the run has no such case: nothing went wrong


def _pair(value: str, interval: str) -> str:
    """A number over its interval: narrow columns may break between the two and nowhere else."""
    return " ".join(text.replace(" ", NBSP) for text in (value, interval))


def _ratio(ratio: Ratio) -> str:
    return _pair(*str(ratio).split(" ", 1))


def _share(ratio: Ratio | None) -> str:
    if ratio is None:
        return NONE
    value, interval = ratio.percent.split(" [", 1)
    return _pair(value, f"[{interval}")


def _error(error: Error) -> str:
    value = "not finite" if error.value is None else f"{error.value:.1e}"
    return f"{value} / {error.bound:.1e}".replace(" ", NBSP)


def _time(case: Case | None) -> str:
    if case is None:
        return ABSENT
    if case.seconds is None:
        return case.status.replace("_", " ")
    return _pair(duration(case.seconds.median), spread(case.seconds))


def _odd(ratio: float) -> bool:
    """Whether a document's number is in another unit than its table says, by all appearances."""
    return not 1 / SLOWER < ratio < FASTER


@dataclass(frozen=True)
class Table:
    """A table with a heading; `numbers` are the columns to align right."""

    title: str
    anchor: str
    columns: list[str]
    rows: list[list[str]]
    numbers: list[int]
    notes: list[str]


def _regimes(record: Record, experiment: Experiment) -> list[str]:
    """Those that some row of the experiment has."""
    found = {case.regime for case in record.of(experiment)} - {"sustained"}  # its own table
    return [regime for regime in record.regimes if regime in found | {"hot"}] or ["hot"]


class Headline:
    """One row for each strategy at the headline shape, without the points of sweeps."""

    def __init__(self, own: Measured, experiment: Experiment) -> None:
        record = own.record
        self.own, self.record, self.experiment = own, record, experiment
        self.metric = metric_of(record, experiment)
        self.regimes = _regimes(record, experiment)
        self.ranked = record.ranked_by(experiment)
        bases = first_rung(record, experiment), reference(record, experiment)
        self.bases = [name for name in bases if name]
        self.roof = roof(record, experiment)
        rows = record.strategies(experiment)
        self.layouts = len({row.layout for row in rows}) > 1
        self.columns = ["strategy", *map(regime, self.regimes)]
        self.columns += [self.metric.unit] + ([f"of `{self.roof}`"] if self.roof else [])
        self.columns += [f"speed-up over `{name}`" for name in self.bases]
        self.columns.append("error / bound")
        self.numbers = list(range(1, len(self.columns)))
        self.columns += ["layout"] * self.layouts + ["source"]
        self.rows = [self._row(row) for row in rows if not row.sweep]

    def _find(self, strategy: str | None, regime: str) -> Case | None:
        return self.record.find(self.experiment, strategy or "", self.experiment.headline, regime)

    def _row(self, row: Case) -> list[str]:
        cases = {regime: self._find(row.strategy, regime) for regime in self.regimes}
        main = cases.get(self.ranked if row.target == "gpu" else "hot")
        place = f'<a id="{row_anchor(self.experiment, row.strategy)}"></a>'
        line = [f"{place}`{row.strategy}`{row.marks}"]
        line += [_time(case) + mark(self.own, case) if case else NONE for case in cases.values()]
        tail = ([row.layout.replace("_", " ")] if self.layouts else []) + [cell(str(row.source))]
        if main is None or main.seconds is None:
            why = f"[why]({page(self.experiment)}#without-a-time)"
            if main and main.error:
                why = f"{_error(main.error)} {why}"
            line += [NONE] * (len(self.numbers) - len(self.regimes) - 1)
            return [*line, why if main else "not at this shape", *tail]
        # the work that a part's record names is its whole's, so it has a time and no rate
        rate = significant(self.metric.rate(main, main.seconds.median))
        line.append(NONE if row.part_of else rate)
        if self.roof:
            of_roof = share(self.own.comparisons, self.record, main, self.roof)
            # what a GPU can do at best is no yardstick for a CPU, nor for a part of a launch
            apt = row.target == "gpu" and not row.part_of
            line.append("base" if row.strategy == self.roof else _share(of_roof if apt else None))
        for base in (self._find(name, self.ranked) for name in self.bases):
            if base is main:
                line.append("base")
            elif row.target == "gpu" and not row.part_of and base is not None and base.seconds:
                line.append(_ratio(self.own.comparisons.ratio(base, main)) + row.marks)
            else:
                line.append(NONE)
        return [*line, _error(main.error) if main.error else NONE, *tail]


def other_problems(record: Record, experiment: Experiment) -> list[str]:
    """What each row marked ‡ computes: equal texts together."""
    found: dict[str, list[str]] = {}
    for row in record.strategies(experiment):
        what = row.problem or (row.part_of and row.note)
        if row.part_of:
            what = f"{what or 'timed alone'}, a part of {row.part_of}"
        if what:
            found.setdefault(cell(what), []).append(f"`{row.strategy}`")
    return [f"{', '.join(names)}: {problem}" for problem, names in found.items()]


def then_and_here(record: Record, experiment: Experiment, known: Figures) -> list[Table]:
    """The documents' own figures beside this machine's, one table for each document."""
    return [
        _then(record, experiment, known, document)
        for document in known.document
        if known.of(document)
    ]


def _then(record: Record, experiment: Experiment, known: Figures, document: str) -> Table:
    figures = known.of(document)
    usual = Counter(known.hardware[each.hardware] for each in figures).most_common(1)[0][0]
    rows = []
    for each in figures:
        case = each.case(record, experiment)
        then, here = each.time(case), case.seconds if case else None
        name = f"`{each.strategy}`{case.marks if case else ''}"
        where = f"{each.place} ({each.claim})" if each.claim else each.place
        where += f": {each.printed}" if each.printed else ""
        other = known.hardware[each.hardware]
        where += f"; {other}" if other != usual else ""
        told = f"not preserved: {each.lost}" if each.lost else duration(then) if then else NONE
        found = _time(case) if case else NONE
        if each.rate:  # in the document's own unit
            value, unit, work = each.rate
            scale, name_of = rate_scale(value, unit)
            told = f"{value / scale:.4g} {name_of}"
            if case and here and getattr(case, work):
                own = rate(getattr(case, work) / here.median, unit)
                found = _pair(own, spread(here))
        line = [f"{name}, {regime(each.regime)}", cell(where), cell(told), found]
        if not here or not then:
            line.append(NONE)
        elif _odd(then / here.median):
            line.append(f"{_ratio(Ratio.over(then, here))} **is the document's unit right?**")
        else:
            line.append(_ratio(Ratio.over(then, here)))
        rows.append(line)
    gpu = record.environment.gpu.name if record.environment.gpu else "no GPU"
    note = f"Here: {cell(gpu)} and {cell(record.environment.cpu)}; then: {cell(usual)}"
    note += ", unless a row names other hardware. The documents give no intervals."
    title = cell(f"Then and here: {document}, {known.document[document]}")
    return Table(title, f"then-{document.lower()}", THEN, rows, [2, 3, 4], [note])


def not_passed(record: Record, experiment: Experiment) -> list[list[str]]:
    """The cases without a time by why: [strategies, shapes, regimes, status, reason, count]."""
    found: dict[tuple[str, str], list[Case]] = {}
    for case in record.of(experiment):
        if not case.seconds:
            found.setdefault((case.status, case.reason or ""), []).append(case)
    rows = []
    for (status, reason), cases in found.items():
        shapes = [*dict.fromkeys(shape_label(case.shape_name) for case in cases)]
        more = [f"{len(shapes) - MOST} more"] if len(shapes) > MOST + 1 else []
        names = dict.fromkeys(f"`{case.strategy}`" for case in cases)
        regimes = dict.fromkeys(regime(case.regime) for case in cases)
        line = [names, shapes[: MOST if more else None] + more, regimes]
        about = [status.replace("_", " "), cell(reason), str(len(cases))]
        rows.append([*map(", ".join, line), *about])
    return rows
