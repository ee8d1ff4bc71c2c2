"""What a report's first page says: the answer in three sentences, how far it can be trusted, and
which row is the fastest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recheck_report.anchors import METHOD, page, place
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, durations, shape_label, significant
from recheck_report.queries import reference
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.say import sustained
from recheck_report.say.claim import View
from recheck_report.say.nodes import Code, Text, code, joined, link, strong, text, texts
from recheck_report.say.ratio import speedup
from recheck_report.say.remark import Remark
from recheck_report.say.self_audit import resolution_text
from recheck_report.say.sentences import WORDS
from recheck_report.say.times import count as number_of
from recheck_report.statistics.paired import of_rounds
from recheck_report.statistics.ratio import COARSEST, Ratio

ALIKE = 1.1  # errors of two rows that differ by a smaller factor are called as accurate
MUTANT = "Mutant.IsCaught/"  # in the name of the test that the gate catches one


# who wins


@dataclass(frozen=True)
class Contest:
    """Rows of an experiment that are compared as equals: of one arithmetic, on one layout."""

    label: str  # what sets them apart from the others; empty where there are none
    rows: tuple[Case, ...]
    library: tuple[str, ...]  # the rows of the library that they are compared with
    regime: str


def contests(report: Measured, experiment: Experiment) -> list[Contest]:
    """Those among the GPU's rungs; without a GPU row that was timed, that of the CPU's rows."""
    record, dispatch = report.record, report.known.settings.dispatch
    gpu = _timed(record, experiment, "gpu")
    target, regime = ("gpu", record.ranked_by(experiment)) if gpu else ("cpu", "hot")
    rows_by_kind: dict[tuple[bool, bool], list[Case]] = {}
    for row in record.strategies(experiment):
        alike = row.target == target and row.role in ("rung", "baseline") and row.contends
        if alike and not row.sweep and row.strategy not in dispatch and (row.fp32 or row.split):
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


def _timed(record: Record, experiment: Experiment, target: str) -> bool:
    return any(case.target == target and case.seconds for case in record.of(experiment))


@dataclass(frozen=True)
class Result:
    """Of a contest at one shape: the fastest row, and the fastest of the library."""

    best: Case | None
    vendor: Case | None
    ratio: Ratio | None  # how many times as fast as the library the best row is


def result(report: Measured, experiment: Experiment, contest: Contest, shape: str) -> Result:
    def fastest(names: Iterable[str]) -> tuple[Case | None, int]:
        timed = (report.record.timed(experiment, name, shape, contest.regime) for name in names)
        cases = [case for case in timed if case]
        return min(cases, key=lambda case: case.time.median, default=None), len(cases)

    best, rows = fastest(row.strategy for row in contest.rows)
    vendor, libraries = fastest(contest.library)
    picked = rows * libraries
    ratio = report.comparisons.verdict(vendor, best, picked=picked) if vendor and best else None
    return Result(best, vendor, ratio)


def _case(case: Case, experiment: Experiment) -> Text:
    return link(place(case, experiment), Code(case.strategy))


def _result_in_words(experiment: Experiment, outcome: Result) -> Text:
    """ "`stream_k` is 1.06 times as fast as `cublas` [1.06, 1.06]: 2.58 ms against 2.74 ms"; first
    the row that is faster."""
    best, vendor, ratio = outcome.best, outcome.vendor, outcome.ratio
    if not best or not vendor or not ratio:
        only = best or vendor
        assert only
        return text(_case(only, experiment), f" {duration(only.time.median)}")
    pair, shown = (best, vendor), ratio
    if ratio.value < 1:
        pair, shown = (vendor, best), ratio.inverse
    times = durations(*(case.time.median for case in pair))
    first, second = (_case(case, experiment) for case in pair)
    how = f"{WORDS[ratio.outcome]}: " if ratio.outcome in ("same", "no difference") else ""
    rounds = of_rounds(shown.value, *(case.time.median for case in reversed(pair)))
    ends = f"{rounds}: {times[0]} against {times[1]}"
    return text(how, first, " is ", speedup(shown, second), ends)


def figures(report: Measured) -> dict[str, Text]:
    """The fastest row of each contest at the headline shapes, against the library, by experiment:
    "`stream_k` 2.57 ms, 1.04 times as fast as `cublas` [1.04, 1.04]"."""
    said: dict[str, list[Text]] = {}
    for experiment in report.record.ordinary:
        for contest in contests(report, experiment):
            outcome = result(report, experiment, contest, experiment.headline)
            if not outcome.best or not outcome.vendor or not outcome.ratio:
                continue
            kind = f"{contest.label}, " if contest.label else ""
            takes = text(
                kind, Code(outcome.best.strategy), f" {duration(outcome.best.time.median)}, "
            )
            ratio = speedup(outcome.ratio, code(outcome.vendor.strategy))
            said.setdefault(experiment.name, []).append(takes + ratio)
    return {name: joined("; ", texts) for name, texts in said.items()}


def accuracy(report: Measured, experiment: Experiment) -> Text:
    """At the headline shape: whether the fastest row is as accurate as the library, and which rows
    are the most and the least accurate; empty where results are exact or nothing was timed."""
    record, shape, equals = report.record, experiment.headline, contests(report, experiment)[:1]
    rows = (row for row in record.strategies(experiment) if row.contends and not row.sweep)
    timed = (record.timed(experiment, r.strategy, shape, c.regime) for r in rows for c in equals)
    cases = sorted((case for case in timed if case and _error(case)), key=_error)
    if not cases or not cases[0].error:
        return Text()

    def named(case: Case) -> Text:
        error = f"{_error(case):.1e}".replace("-", "\N{NON-BREAKING HYPHEN}")
        return text(_case(case, experiment), f"{case.marks} ({error})")

    least = named(cases[-1])
    said = text("The most accurate is ", named(cases[0]), ", the least ", least, ".")
    fastest = result(report, experiment, equals[0], shape)
    if fastest.best in cases and fastest.vendor in cases:
        ratio = _error(fastest.best) / _error(fastest.vendor)
        how, library = "as accurate as", named(fastest.vendor)
        if not 1 / ALIKE < ratio < ALIKE:
            how = "less accurate than" if ratio > 1 else "more accurate than"
            library += f", whose error is {significant(1 / ratio)} times as large"
        if _error(fastest.vendor) < ALIKE * _error(cases[0]):
            most = "No GPU row is more accurate by a tenth; the least accurate is "
            said = text(most, least, ".")
        lead = "The fastest but the library, "
        said = text(lead, named(fastest.best), f", is {how} ", library, ". ", said)
    metric = cases[0].error.metric
    return text(f"At {shape_label(shape)}, errors against float64 as {metric}. ", said)


def _error(case: Case | None) -> float:
    return case.error.value or 0.0 if case and case.error else 0.0


def _in_fp32(report: Measured, experiment: Experiment) -> str:
    """What is compared, where one row is faster by less accurate arithmetic, and has no rank."""
    rows = report.record.strategies(experiment)
    return "" if all(row.fp32 or row.split or not row.contends for row in rows) else " in fp32"


def _contested(report: Measured, experiment: Experiment, most: int, shape: str = "") -> list[Text]:
    """What came out of the first contests at a shape, else the headline's."""
    said = []
    for contest in contests(report, experiment)[:most]:
        outcome = result(report, experiment, contest, shape or experiment.headline)
        if outcome.best or outcome.vendor:
            label = f"{contest.label}: " if contest.label and most > 1 else ""
            said.append(text(label, _result_in_words(experiment, outcome)))
    return said


def winner(report: Measured, experiment: Experiment, at: str = "") -> Text:
    """The sentence that names the fastest row at a shape, else the headline's, or says why there is
    none."""
    said, shape = _contested(report, experiment, 9, at), shape_label(at or experiment.headline)
    if not said:
        planned = any(
            case.shape_name == (at or experiment.headline) for case in report.record.of(experiment)
        )
        why = link(f"{page(experiment)}#without-a-time", "why")
        return text(
            f"No row has a time at {shape}: ", why if planned else "it was not asked for", "."
        )
    where = "" if _timed(report.record, experiment, "gpu") else ", on the CPU"
    head = f"The fastest{_in_fp32(report, experiment)} at {shape}{where}: "
    return text(head, joined("; ", said), ".")


# the answer, and whether to trust it


def answer(report: Measured, brands: list[Remark]) -> list[Text]:
    """What holds and what fails; what is the fastest; whether it can be trusted."""
    said = _held(report), _fastest(report), sustained.summary(report), trusted(report, brands)
    return [sentence for sentence in said if sentence]


def _held(report: Measured) -> Text:
    view, judged = View(report), report.judgement.claims and report.record.gpu_measured
    if not judged:
        return Text()
    return joined(" ", (strong(view.counts, "."), view.furthest))


def _fastest(report: Measured) -> Text:
    """The fastest row of each experiment at its headline shape, of the rows that come first."""
    said = []
    for experiment in report.record.ordinary:
        where = f"{_in_fp32(report, experiment)} at {shape_label(experiment.headline)}: "
        said += [
            experiment.title + where + sentence for sentence in _contested(report, experiment, 1)
        ]
    if not said:
        return Text()
    rows = (
        row for experiment in report.record.ordinary for row in report.record.strategies(experiment)
    )
    target = "gpu" if report.record.gpu_measured else "cpu"
    documents = {r.source.document for r in rows if r.role == "rung" and r.target == target}
    kind = "kernels" if target == "gpu" else "programs"
    theirs = f"of the {kind} that follow the document{'s' * (len(report.known.sources) > 1)}"
    what = theirs if documents and documents <= {*report.known.sources} else "in this record"
    what += ", and the library" if target == "gpu" else ", on the CPU"
    return text(strong(f"At one shape, the fastest {what}"), ": ", joined("; ", said), ".")


def trusted(report: Measured, brands: list[Remark]) -> Text:
    """One sentence: that nothing speaks against the numbers, or what does."""
    record = report.record
    against = [remark.title for remark in brands]
    if many := len(report.suspects):
        against.append(f"{many} suspect time{'s' if many > 1 else ''}")
    if borrowed := report.comparisons.borrowed:
        against.append(
            "they are of one process on one GPU; what another measures is not known of this model, "
            f"and verdicts allow for what those on an {borrowed} differ by"
        )
    if len(against) > len(brands):
        return text(strong("Read the numbers with care"), f": {'; '.join(against)}.")
    if against:
        return Text()  # it stands above
    passed = record.count()["passed"]
    if not passed:
        return strong("Nothing was timed.")
    comparisons = report.comparisons
    limit = "no cold time is faster than the machine allows, " if record.gpu_measured else ""
    limit_of_differences = (
        f"no difference of less than {resolution_text(comparisons.resolution)} is claimed"
    )
    if not comparisons.audit.audited:
        limit_of_differences += ", by convention: there is no self-audit"
    return text(
        strong("Nothing found speaks against the numbers"),
        f": {number_of(passed, 'timed case')} passed the check, {limit}and {limit_of_differences}.",
    )


def trust(report: Measured) -> list[tuple[Text, ...]]:
    """Rows of the trust box: a question, and what the record answers."""
    record = report.record
    env, count = record.environment, record.count()
    right = text(f"{number_of(count['passed'], 'case')} passed the check before being timed")
    if count["incorrect"] + count["failed"]:
        right += "; " + strong(f"{count['incorrect']} incorrect, {count['failed']} failed")
    many = len(report.suspects)
    suspects = text("none" if record.gpu_measured else "not looked for")
    if many:
        suspects = link(f"{METHOD}#suspect-times", f"{many}")
    without = {name: count[name] for name in ("unsupported", "not_run") if count[name]}
    pages = [
        link(f"{page(experiment)}#without-a-time", experiment.title)
        for experiment in record.ordinary
        if any(not case.seconds for case in record.of(experiment))
    ]
    reasons = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in without.items())
    state = strong("with uncommitted changes") if env.git.dirty else "clean"
    commit = text("commit ", Code(env.git.short), ", ", state)
    rows = [
        texts(("Results", right)),
        texts(("Smallest difference claimed", _smallest(report))),
        texts(("Times too good to be true", suspects)),
        texts(("Not timed", text(f"{reasons}: ", joined(", ", pages)) if reasons else "nothing")),
        texts(("Code", commit if env.git.known else strong("no known commit"))),
    ]
    # where claims ask for tests of wrong kernels
    asked = any(MUTANT in check.test for _, check in report.known.asked)
    return [*rows, texts(("Broken kernels", _mutants(report)))] if asked else rows


def _smallest(report: Measured) -> Text:
    """The smallest difference that the report claims, and how that is known."""
    comparisons = report.comparisons
    here = link(f"{METHOD}#self-audit", resolution_text(comparisons.resolution))
    if comparisons.resolution > COARSEST:
        audit = link(f"{METHOD}#self-audit", "the self-audit")
        return text(strong("no difference at all"), ": ", audit, " failed")
    if not comparisons.audit.audited:
        return here + ", by convention: this record has no self-audit"
    alike, wrongly = len(comparisons.audit.alike), comparisons.audit.false(comparisons.resolution)
    here += f": a kernel against itself differs by more in {wrongly} of {alike} pairs"
    if not report.record.count()["passed"]:
        return here
    where = f", known of an {comparisons.borrowed}" if comparisons.borrowed else ""
    margin = link(f"{METHOD}#run-to-run", "margin")
    within = f" of each ratio{where}; within this process the self-audit tells "
    return text("the ", margin, within, here)


def _mutants(report: Measured) -> str:
    """How many kernels that are wrong on purpose the check was seen to catch."""
    probes = report.probes
    if probes and probes.foreign(report.record):
        return "not known: the probes are of another run"
    tried = [trial for name, trial in probes.tests.items() if MUTANT in name] if probes else []
    if not tried:
        return "not known: the record has no such tests"
    tried = [trial for trial in tried if trial.outcome]
    if not tried:
        return "not known: none of them was run here"
    caught = sum(trial.outcome == "pass" for trial in tried)
    of = f"{caught} of the {len(tried)} kernels"
    return f"{of} that are wrong on purpose and that claims ask for were caught"
