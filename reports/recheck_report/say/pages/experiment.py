"""The page of one experiment: the fastest kernel, shape by shape, every kernel, and the gaps."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from recheck_report.anchors import CASES, page, place, row_anchor
from recheck_report.claims.documents import Figures
from recheck_report.claims.measured import Measured
from recheck_report.formatting import (
    NBSP,
    NONE,
    digits,
    duration,
    rate,
    rate_scale,
    regime_label,
    shape_label,
    significant,
    spread,
)
from recheck_report.queries import ceiling_row, first_kernel, metric_of, reference, share
from recheck_report.record.case import Error
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.record.regimes import REGIMES
from recheck_report.say import bottlenecks, standings, story, sustained, wordings
from recheck_report.say.glossary import marks
from recheck_report.say.machine import mark
from recheck_report.say.nodes import (
    Page,
    Picture,
    Section,
    Table,
    Text,
    anchor,
    blocks,
    code,
    joined,
    link,
    marked,
    paragraph,
    strong,
    table,
    text,
)
from recheck_report.say.pages import MARK, README, documents, machine
from recheck_report.statistics.ratio import Ratio

STEPS = (
    "Texts explain what the kernels' sources do, and report what was counted. An explanation "
    "without a counter is a reading of the source."
)
UNLINKED = (
    "Files are named from the root of the kernels' repository, at commit {}; this report knows no "
    "address of it."
)
MEDIANS = """\
Medians, each with the larger half of its 95 % interval. Rate, speed-ups and error belong to the
{regime} times (CPU programs: hot){drained}.{error}"""


def experiment_page(report: Measured, experiment: Experiment, charts: Sequence[Picture]) -> Page:
    """`charts`: those of the experiment, in their order."""
    record = report.record
    every = marked(f"[{CASES}]({CASES}) has every shape and regime.")
    fastest = [*standings.sentences(report, experiment)]
    gaps = not_passed(record, [experiment])
    none = paragraph("None: every case passed its check and was timed.")
    figures = report.collection.figures_of(experiment.name)
    shape = shape_label(experiment.headline)
    lead = [
        f"At {shape}, {record.ranked_by(experiment)}, each step compared with the previous one "
    ]
    lead += ["or the one that it names. ", STEPS]
    every_kernel = KernelsTable(report, experiment).table
    kernels = blocks(_how(report, experiment, every_kernel), every_kernel)
    sections = (
        standings.shapes_section(report, experiment),
        Section(text(f"Every kernel at {shape}"), kernels, "at-the-headline"),
        story.tell(report, experiment, text("".join(lead))),
        sustained.section(report, experiment),
        bottlenecks.costs(report, experiment),
        wordings.section(report, experiment),
        *then_and_here(report, experiment, figures),
        Section(text("Cases without a time"), (gaps if gaps.rows else none,), "without-a-time"),
    )
    problem = f"kernel computes {experiment.problem}" if experiment.problem else "kernel is"
    return Page(
        MARK,
        text(f"{experiment.title} on {machine(record)}"),
        blocks(fastest or standings.untimed(report, experiment), every, charts, sections),
        says=text(f"How fast each {problem}, and what could not be timed."),
        back=README,
    )


def _how(report: Measured, experiment: Experiment, kernels: Table) -> Text:
    """How to read the table of all kernels."""
    record, cases = report.record, report.record.cases_of(experiment)
    ranked = record.ranked_by(experiment)
    metrics = dict.fromkeys(case.error.metric for case in cases if case.error)
    drained = ", from a clean L2 until everything written is in DRAM" * (ranked == "drained")
    error = f" The error is {' or '.join(metrics)}, with its bound." if metrics else ""
    sentences = [
        marked(MEDIANS, regime=ranked, drained=drained, error=error),
        documents.printed(report),
        marks(kernels.rows, "§†‡ᵉ"),
    ]
    files = report.collection.settings.code.get(experiment.name)
    if files and not report.folder and not report.collection.settings.repository:
        sentences.append(text(UNLINKED.format(record.environment.git.short)))
    if others := other_problems(record, experiment):
        sentences.append(text("‡ here: ", joined("; ", others), "."))
    return joined(" ", sentences)


THEN = ["kernel", "in the document", "then", "here", "speed-up"]
# times by which no GPU of today is faster, or slower, than that of a document
FASTER, SLOWER = 1000, 30
MOST = 6  # shapes that are named
GAPS = ["kernel", "shapes", "regime", "status", "reason", "cases"]
# an expression to a spreadsheet, if a cell begins with it
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
ABSENT = "·"  # the run has no such case: nothing went wrong


def _pair(value: str, interval: str) -> str:
    """A number over its interval: narrow columns may break between the two and nowhere else."""
    return " ".join(text.replace(" ", NBSP) for text in (value, interval))


def _ratio(ratio: Ratio, scale: float = 1, unit: str = "×") -> str:
    value, interval = digits(ratio, scale, scale)
    return _pair(value + unit, interval)


def _error(error: Error) -> str:
    value = "not finite" if error.value is None else f"{error.value:.1e}"
    return f"{value} / {error.bound:.1e}".replace(" ", NBSP)


def _time(case: Case | None) -> str:
    if case is None:
        return ABSENT
    if case.seconds is None:
        return case.status.replace("_", " ")
    return _pair(duration(case.seconds.median), spread(case.seconds))


def _regimes(record: Record, experiment: Experiment) -> list[str]:
    """Those that some row of the experiment has; first calls only at the headline shape."""
    cases = record.cases_of(experiment)
    rare = {name for name, regime in REGIMES.items() if regime.only_if_named}
    names = {c.regime for c in cases if c.regime not in rare or c.shape_name == experiment.headline}
    names -= {"sustained"}  # its own table
    return [regime for regime in record.regimes if regime in names | {"hot"}] or ["hot"]


class KernelsTable:
    """One row for each strategy at the headline shape, without the points of sweeps."""

    def __init__(self, report: Measured, experiment: Experiment) -> None:
        record = report.record
        self.report, self.record, self.experiment = report, record, experiment
        self.metric = metric_of(record, experiment)
        self.regimes = _regimes(record, experiment)
        self.ranked = record.ranked_by(experiment)
        bases = first_kernel(record, experiment), reference(record, experiment)
        self.bases = [name for name in bases if name]
        self.roof = ceiling_row(record, experiment)
        self.layouts = len({row.layout for row in record.strategies(experiment)}) > 1

    @property
    def table(self) -> Table:
        columns: list[Text | str] = ["kernel", *map(regime_label, self.regimes), self.metric.unit]
        columns += [text("of ", code(self.roof))] if self.roof else []
        columns += [text("speed-up over ", code(name)) for name in self.bases]
        columns.append("error / bound")
        self.width = len(columns)
        columns += [*["layout"] * self.layouts, "source"]
        rows = self.record.strategies(self.experiment)
        lines = (self._row(row) for row in rows if not row.sweep)
        return table(columns, lines, range(1, self.width))

    def _find(self, strategy: str | None, regime: str) -> Case | None:
        return self.record.find(self.experiment, strategy or "", self.experiment.headline, regime)

    def _row(self, row: Case) -> list[Text | str]:
        cases = {regime: self._find(row.strategy, regime) for regime in self.regimes}
        main = cases.get(self.ranked if row.target == "gpu" else "hot")
        place = anchor(row_anchor(self.experiment, row.strategy))
        line: list[Text | str] = [text(place, code(row.strategy), row.marks)]
        line += [
            text(_time(case), mark(self.report, case)) if case else NONE for case in cases.values()
        ]
        tail: list[Text | str] = [
            *[row.layout.replace("_", " ")] * self.layouts,
            source_of(self.report, row),
        ]
        if main is None or main.seconds is None:
            why = link(f"{page(self.experiment)}#without-a-time", "why")
            if main and main.error:
                why = text(f"{_error(main.error)} ", why)
            line += [NONE] * (self.width - len(line) - 1)
            return [*line, why if main else "not at this shape", *tail]
        # the work that a part's record names is its whole's, so it has a time and no rate
        rate = significant(self.metric.rate(main, main.seconds.median))
        line.append(NONE if row.part_of else rate)
        if self.roof:
            of_roof = share(self.report.comparisons, self.record, main, self.roof)
            # a GPU's ceiling does not apply to a CPU, nor to a part of a launch
            apt = row.target == "gpu" and not row.part_of
            shown = _ratio(of_roof, 100, " %") if of_roof and apt else NONE
            line.append("base" if row.strategy == self.roof else shown)
        for base in (self._find(name, self.ranked) for name in self.bases):
            if base is main:
                line.append("base")
            elif row.target == "gpu" and not row.part_of and base is not None and base.seconds:
                line.append(_ratio(self.report.comparisons.ratio(base, main)) + row.marks)
            else:
                line.append(NONE)
        return [*line, _error(main.error) if main.error else NONE, *tail]


def source_of(report: Measured, row: Case) -> Text:
    """ "S1 matrix_kernel_1 (A04), `kernels/matmul/tile.cu`", with a link to that file: at the
    record's commit if the repository's address is known, else in the repository around."""
    collection, git = report.collection, report.record.environment.git
    path = collection.code_file(row.experiment, row.strategy, row.target)
    if not path:
        return text(str(row.source))
    file, to = code(path.replace("../", "")), ""
    if collection.settings.repository and git.has_commit:
        inside = os.path.relpath(collection.folder / path, collection.root)
        to = f"{collection.settings.repository}/blob/{git.commit}/{inside}"
    elif report.folder:
        to = os.path.relpath(collection.folder / path, report.folder)
    return joined(", ", (str(row.source), link(to, file) if to else file))


def other_problems(record: Record, experiment: Experiment) -> list[Text]:
    """What each row marked ‡ computes: equal texts together."""
    rows: dict[str, list[Text]] = {}
    for row in record.strategies(experiment):
        what = row.problem or (row.part_of and row.note)
        if row.part_of:
            what = f"{what or 'timed alone'}, a part of {row.part_of}"
        if what:
            rows.setdefault(what, []).append(code(row.strategy))
    return [text(joined(", ", names), f": {problem}") for problem, names in rows.items()]


def then_and_here(report: Measured, experiment: Experiment, figures: Figures) -> list[Section]:
    """The documents' own figures and this machine's, one table for each document."""
    return [
        _then(report, experiment, figures, document)
        for document in figures.document
        if figures.figures_of(document)
    ]


def _then(
    report: Measured, experiment: Experiment, figures_file: Figures, document: str
) -> Section:
    record, figures = report.record, figures_file.figures_of(document)
    usual = Counter(figures_file.hardware[figure.hardware] for figure in figures).most_common(1)[0][
        0
    ]
    rows: list[list[Text | str]] = []
    for figure in figures:
        case = figure.case(record, experiment)
        then, here = figure.time(case), case.seconds if case else None
        kernel = code(figure.strategy)
        if case:
            kernel = link(place(case, experiment), kernel) + case.marks
        name = text(kernel, f", {regime_label(figure.regime)}")
        where = f"{figure.place} ({figure.claim})" if figure.claim else figure.place
        where += f": {figure.printed}" if figure.printed else ""
        other = figures_file.hardware[figure.hardware]
        where += f"; {other}" if other != usual else ""
        then_text = (
            f"not preserved: {figure.lost}" if figure.lost else duration(then) if then else NONE
        )
        here_text = _time(case) if case else NONE
        if figure.rate:  # in the document's own unit
            value, unit, work = figure.rate
            scale, name_of = rate_scale(value, unit)
            then_text = f"{value / scale:.4g} {name_of}"
            if case and here and getattr(case, work):
                now = rate(getattr(case, work) / here.median, unit)
                here_text = _pair(now, spread(here))
        ratio: Text | str = NONE
        if here and then:
            ratio = _ratio(Ratio.over(then, here))
            if not 1 / SLOWER < then / here.median < FASTER:
                ratio = text(ratio, " ", strong("is the document's unit right?"))
        rows.append([name, where, then_text, text(here_text, mark(report, case)), ratio])
    note = f"Here: {record.gpu or 'no GPU'} and {record.environment.cpu}; then: {usual}"
    note += ", unless a line names other hardware. The documents give no intervals."
    title = text(f"Then and here: {document}, {figures_file.document[document]}")
    shown = blocks(text(note), table(THEN, rows, (2, 3, 4)))
    return Section(title, shown, f"then-{document.lower()}")


def not_passed(record: Record, experiments: Iterable[Experiment]) -> Table:
    """The cases without a time by why: strategies, shapes, regimes, status, reason, count."""
    rows = [row for experiment in experiments for row in _not_passed(record, experiment)]
    return table(GAPS, rows, (5,), "Not run, and why")


def _not_passed(record: Record, experiment: Experiment) -> Iterator[list[Text | str]]:
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in record.cases_of(experiment):
        if not case.seconds:
            groups.setdefault((case.status, case.reason or ""), []).append(case)
    for (status, reason), cases in groups.items():
        shapes = [*dict.fromkeys(shape_label(case.shape_name) for case in cases)]
        more = [f"{len(shapes) - MOST} more"] if len(shapes) > MOST + 1 else []
        names = joined(", ", map(code, dict.fromkeys(case.strategy for case in cases)))
        regimes = ", ".join(dict.fromkeys(regime_label(case.regime) for case in cases))
        where = ", ".join(shapes[: MOST if more else None] + more)
        yield [names, where, regimes, status.replace("_", " "), reason, str(len(cases))]


def cases_csv(record: Record) -> bytes:
    """Every case of a record, for spreadsheets."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(("id", "status", "reason", "seconds", "low", "high", "rate", "unit", "doubt"))
    for experiment in record.experiments:
        metric = metric_of(record, experiment)
        for case in record.cases_of(experiment):
            seconds = case.seconds
            ends = (seconds.median, seconds.low, seconds.high) if seconds else ()
            time = [*map(repr, ends)] or [""] * 3
            # the work that a part's record names is its whole's
            rated = case.seconds and not case.part_of
            rate = f"{metric.rate(case, case.time.median):.6g}" if rated else ""
            about = case.id, case.status, case.reason or ""
            doubt = case.unsure or "unsettled" * case.unsettled
            cells = (*about, *time, rate, metric.unit if rated else "", doubt)
            # a spreadsheet would run what looks like an expression
            lines.writerow(f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in cells)
    return text.getvalue().encode()
