"""Two cases in a sentence, and who is the fastest of the kernels that are compared as equals and
of the library.

A sentence names two cases with their times, then their ratio with its interval. It calls them equal
if the interval lies within what the self-audit can detect, and a tie if the interval with its noise
includes 1 or the difference is not significant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from recheck_report.anchors import page, place
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NBSP, SCOPES, duration, durations, margin, shape_label
from recheck_report.queries import MEMORY, metric_of, reference
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.say.glossary import marks
from recheck_report.say.machine import doubt, mark
from recheck_report.say.nodes import (
    Section,
    Text,
    blocks,
    code,
    joined,
    link,
    marked,
    speedup,
    strong,
    table,
    text,
    texts,
)
from recheck_report.statistics.ratio import Ratio, median_of_rounds

WON, TIED, LOST = "won", "tied", "lost"
_OUTCOMES = {"faster": WON, "slower": LOST}


@dataclass(frozen=True)
class Contest:
    """Kernels of an experiment that are compared as equals: of one arithmetic, on one layout."""

    label: str  # what sets them apart from the other contests; empty for the only contest
    rows: tuple[Case, ...]
    library: tuple[str, ...]  # the rows of the library that they are compared with
    regime: str

    @property
    def on_cpu(self) -> bool:
        return any(row.target == "cpu" for row in self.rows)


@dataclass(frozen=True)
class Standing:
    """The fastest kernel of a contest and the fastest of the library, at one shape in one regime.
    Among the CPU's programs, which have no library, the next fastest takes its place.

    `ratio`: how many times faster than the library the kernel is; None unless both have a time.
    """

    shape: str
    regime: str
    best: Case | None
    library: Case | None
    ratio: Ratio | None

    @property
    def pair(self) -> tuple[Case | None, Case | None]:
        return self.best, self.library

    @property
    def names(self) -> list[str]:
        return [case.strategy for case in self.pair if case]

    @property
    def outcome(self) -> str:
        """won, lost, or tied: neither is sure (see the glossary); empty without a ratio."""
        return _OUTCOMES.get(self.ratio.outcome, TIED) if self.ratio else ""

    @property
    def words(self) -> Text:
        """ "2.2 % faster [2.1, 2.4]", "2.6 % faster [2.1, 3.4]: a tie, as runs differ by 5 %"."""
        if not self.ratio:
            if len(self.names) != 1:
                return text("not measured")
            lacking = "the library" if self.best else "the kernels"
            return text(f"{lacking} did not run {self.regime.replace('_', ' ')}")
        if self.outcome != TIED:
            return speedup(self.ratio)
        why = ""
        if any(case and case.unsure for case in self.pair):
            why = ", as a time is disturbed"
        elif self.ratio.masked_by_run_to_run:
            why = f", as runs differ by {margin(self.ratio.resolution)}"
        elif self.ratio.low > 1 or self.ratio.high < 1:
            why = " ≈"
        return text(speedup(self.ratio), ": a tie", why)


def named(report: Measured, case: Case | None, time: bool = True) -> Text:
    """ "`tile32_depth8` 14.4 ms", with a link to its row, and a doubt about its time."""
    if case is None:
        return text("–")
    leads_to = place(case, report.record.experiment_of(case))
    kernel = link(leads_to, code(case.strategy)) + case.marks
    shown = text(" ", duration(case.time.median).replace(" ", NBSP)) if time else Text()
    return text(kernel, shown, mark(report, case))


def contenders(report: Measured, experiment: Experiment, target: str = "gpu") -> list[Case]:
    """The rows that compete: no points of a sweep."""
    rows = report.record.strategies(experiment)
    return [row for row in rows if not row.sweep and row.target == target and row.contends]


def contests(report: Measured, experiment: Experiment) -> list[Contest]:
    """Those among the GPU's kernels; without a GPU time, that of the CPU's programs."""
    record = report.record
    gpu = is_timed(record, experiment, "gpu")
    target, regime = ("gpu", record.ranked_by(experiment)) if gpu else ("cpu", "hot")
    rows_by_kind: dict[tuple[bool, bool], list[Case]] = {}
    for row in contenders(report, experiment, target):
        if row.role in ("rung", "baseline") and (row.fp32 or row.split):
            rows_by_kind.setdefault((row.split, row.layout == "column_major"), []).append(row)
    kinds = {split for split, _ in rows_by_kind}, {columns for _, columns in rows_by_kind}
    made = []
    for (split, columns), rows in sorted(rows_by_kind.items()):
        words = ["tensor cores, split inputs" if split else "IEEE fp32"] * (len(kinds[0]) > 1)
        words += ["matrix by columns" if columns else "matrix by rows"] * (len(kinds[1]) > 1)
        layout = "column_major" if columns else ""
        vendor = reference(record, experiment, layout) if target == "gpu" else None
        library = [row.strategy for row in rows if vendor and row.role == "baseline"]
        library = [vendor, *(name for name in library if name != vendor)] if vendor else []
        others = tuple(row for row in rows if row.strategy not in library)
        if others or not split:
            made.append(Contest(", ".join(words), others, tuple(library), regime))
    return made


def is_timed(record: Record, experiment: Experiment, target: str) -> bool:
    return any(case.target == target and case.seconds for case in record.cases_of(experiment))


def standing(
    report: Measured, experiment: Experiment, contest: Contest, shape: str = "", regime: str = ""
) -> Standing:
    """At a shape, by default the headline's, in a regime, by default the one that ranks."""
    shape, regime = shape or experiment.headline, regime or contest.regime

    def by_time(names: Iterable[str]) -> list[Case]:
        timed = (report.record.timed(experiment, name, shape, regime) for name in names)
        return sorted((case for case in timed if case), key=lambda case: case.time.median)

    rows, libraries = by_time(row.strategy for row in contest.rows), by_time(contest.library)
    if not contest.library and contest.on_cpu:
        libraries = rows[1:]
    best, library = (next(iter(cases), None) for cases in (rows, libraries))
    ratio = None
    if library and best:
        picked = len(rows) * len(libraries)
        ratio = report.comparisons.verdict(library, best, picked=picked)
    return Standing(shape, regime, best, library, ratio)


def over_shapes(report: Measured, experiment: Experiment, contest: Contest) -> list[Standing]:
    """At every shape at which a kernel and the library have times."""
    shapes = report.record.shapes(experiment) if contest.library else ()
    all_of_them = (standing(report, experiment, contest, shape) for shape in shapes)
    return [shown for shown in all_of_them if shown.ratio]


def in_all(report: Measured, experiment: Experiment, contest: Contest) -> list[Standing]:
    """Those over the shapes, then the sustained one."""
    warm = standing(report, experiment, contest, regime="sustained")
    return [*over_shapes(report, experiment, contest), *[warm] * (warm.ratio is not None)]


def where(shown: Standing) -> str:
    return shape_label(shown.shape) + ", sustained" * (shown.regime == "sustained")


def losses(report: Measured, experiment: Experiment) -> Iterator[tuple[Text, ...]]:
    """A row for each loss to the library: where, the ratio, the two kernels."""
    for contest in contests(report, experiment):
        for shown in in_all(report, experiment, contest):
            if shown.outcome == LOST:
                at = ", ".join(filter(None, (experiment.title, where(shown), contest.label)))
                yield texts((at, shown.words, *(named(report, case) for case in shown.pair)))


def tally(standings: Iterable[Standing]) -> str:
    """ "1 won, 2 tied, 5 lost"; empty without a standing."""
    counts = Counter(shown.outcome for shown in standings)
    return ", ".join(f"{counts[way]} {way}" for way in (WON, TIED, LOST)) if counts else ""


def not_drained(report: Measured, experiment: Experiment) -> bool:
    """Whether memory limits the kernels, so that written bytes count, and no time is drained."""
    record = report.record
    if metric_of(record, experiment) is not MEMORY or not is_timed(record, experiment, "gpu"):
        return False
    return not any(c.regime == "drained" and c.seconds for c in record.cases_of(experiment))


def in_fp32(report: Measured, experiment: Experiment) -> str:
    """What is compared, if a row is faster by less accurate arithmetic and so has no rank."""
    rows = report.record.strategies(experiment)
    if len(contests(report, experiment)) > 1:
        return ""  # each names its arithmetic
    return "" if all(row.fp32 or row.split or not row.contends for row in rows) else " in fp32"


def _against(report: Measured, shown: Standing) -> Text:
    """ "`stream_k` 2.57 ms against `cublas` 2.66 ms: 4.2 % faster [4.1, 4.4]"."""
    cases = joined(" against ", (named(report, case) for case in shown.pair if case))
    return text(cases, ": ", shown.words) if shown.ratio else cases


def sentences(report: Measured, experiment: Experiment, shape: str = "") -> Iterator[Text]:
    """A paragraph for each contest: the fastest kernel against the library at a shape, by default
    the headline's with the sustained ratio and a tally of all shapes."""
    for contest in contests(report, experiment):
        shown = standing(report, experiment, contest, shape)
        if not shown.best and not shown.library:
            continue
        label = f", {contest.label}" if contest.label else ""
        regime = shown.regime if is_timed(report.record, experiment, "gpu") else "on the CPU"
        where = f"{in_fp32(report, experiment)} at {shape_label(shown.shape)}{label}, {regime}"
        parts = [text(strong("Fastest"), f"{where}: ", _against(report, shown), ".")]
        if contest.library and shown.ratio and not shape:
            warm = standing(report, experiment, contest, regime="sustained")
            over = _against(report, warm) if warm.ratio else warm.words
            parts += [text("Sustained: ", over, ".")]
            if not_drained(report, experiment):
                parts.append(text("Drained: not measured."))
            counts = tally(over_shapes(report, experiment, contest))
            to_shapes = link(f"{page(experiment)}#shapes", "shapes")
            parts.append(text("All ", to_shapes, f": {counts}."))
        yield joined(" ", parts)


def untimed(report: Measured, experiment: Experiment, shape: str = "") -> Text:
    """Why there is no fastest kernel at a shape."""
    shape = shape or experiment.headline
    planned = any(case.shape_name == shape for case in report.record.cases_of(experiment))
    why = f"[why]({page(experiment)}#without-a-time)" if planned else "the run did not include it"
    return marked(f"No kernel has a time at {shape_label(shape)}: {why}.")


def shapes_section(report: Measured, experiment: Experiment) -> Section | None:
    """The fastest kernel against the library at each shape, losses marked; None without a pair."""
    made = contests(report, experiment)
    rows = []
    for contest in made:
        for shown in in_all(report, experiment, contest):
            outcome = strong(LOST) if shown.outcome == LOST else text(shown.outcome)
            kind = [contest.label] if len(made) > 1 else []
            pair = (named(report, case) for case in shown.pair)
            rows.append(texts((where(shown), *kind, *pair, shown.words, outcome)))
    if not rows:
        return None
    columns = ["shape", *["contest"] * (len(made) > 1), "fastest kernel", "library"]
    note = text(
        f"The fastest kernel against the library's fastest, {made[0].regime} unless the "
        "shape says sustained. Tied: the interval with its noise includes 1, or p is 5 % or more. ",
        marks(rows),
    )
    columns += ["kernel against library", "outcome"]
    shown_table = table(columns, rows, title=f"{experiment.title}, shape by shape")
    return Section(text("Against the library, shape by shape"), blocks(note, shown_table), "shapes")


def timed(report: Measured, experiment: Experiment, strategy: str, shape: str) -> Case | Text:
    """A case in the regime that ranks, or the sentence that it has no time and why."""
    record = report.record
    case = record.find(experiment, strategy, shape, record.ranked_by(experiment))
    if case and case.seconds:
        return case
    why = case.why_not if case else "the record holds no such case"
    return text("Not measured: ", code(strategy), f" at {shape_label(shape)}: {why}.")


def row_link(report: Measured, case: Case) -> Text:
    """A kernel's name, which leads to its row, with its scope and a doubt about its time."""
    word = doubt(report, case)
    return text(
        link(place(case, report.record.experiment_of(case)), code(case.strategy)),
        f"{' ‡' * ('‡' in case.marks)}{SCOPES.get(case.regime, '')}",
        text(" (", strong(word), ")") if word else "",
    )


def against(report: Measured, base: Case, other: Case) -> tuple[str, Text]:
    """The outcome, and how `other` does against `base`: "At 4096³ `tile16` takes 17.9 ms, `cublas`
    2.74 ms: 6.53× slower [6.52, 6.54]"; without a full stop."""
    ratio = report.comparisons.verdict(base, other)
    first, second = durations(other.time.median, base.time.median)
    more, how = "", speedup(ratio)
    if ratio.masked_by_run_to_run:
        more = f"; two processes may differ by {margin(ratio.resolution)}"
    elif ratio.outcome == "no difference" and not ratio.low <= 1 <= ratio.high:
        # the interval lies clear of 1, and p is not small enough after Holm's correction
        more = "; not significant after the correction for all comparisons"
    if ratio.outcome in ("same", "no difference"):
        how = text(strong("equal" if ratio.outcome == "same" else "tie"), ", ", how)
    rounds = median_of_rounds(ratio.value, base.time.median, other.time.median)
    head = text(f"At {shape_label(base.shape_name)} ", row_link(report, other), f" takes {first}, ")
    return ratio.outcome, text(head, row_link(report, base), f" {second}: ", how, rounds, more)
