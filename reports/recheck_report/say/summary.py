"""What a report's first page says: the answer in three sentences, how far it can be trusted, and
which row is the fastest."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from recheck_report.anchors import METHOD, page, place
from recheck_report.claims.measured import Measured
from recheck_report.formatting import cell, duration, durations, prose, shape_label, significant
from recheck_report.queries import reference
from recheck_report.record.record import Case, Experiment, Record
from recheck_report.say import sustained
from recheck_report.say.self_audit import resolution_text
from recheck_report.say.sentences import WORDS
from recheck_report.say.times import count as number_of
from recheck_report.say.verdicts import View
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


def contests(own: Measured, experiment: Experiment) -> list[Contest]:
    """Those among the GPU's rungs; without a GPU row that was timed, that of the CPU's rows."""
    record, dispatch = own.record, own.known.settings.dispatch
    gpu = _timed(record, experiment, "gpu")
    target, regime = ("gpu", record.ranked_by(experiment)) if gpu else ("cpu", "hot")
    found: dict[tuple[bool, bool], list[Case]] = {}
    for row in record.strategies(experiment):
        alike = row.target == target and row.role in ("rung", "baseline") and row.contends
        if alike and not row.sweep and row.strategy not in dispatch and (row.fp32 or row.split):
            found.setdefault((row.split, row.layout == "column_major"), []).append(row)
    kinds = {split for split, _ in found}, {columns for _, columns in found}
    made = []
    for (split, columns), rows in sorted(found.items()):
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


def result(own: Measured, experiment: Experiment, contest: Contest, shape: str) -> Result:
    def fastest(names: Iterable[str]) -> tuple[Case | None, int]:
        timed = (own.record.timed(experiment, name, shape, contest.regime) for name in names)
        cases = [case for case in timed if case]
        return min(cases, key=lambda case: case.time.median, default=None), len(cases)

    best, rows = fastest(row.strategy for row in contest.rows)
    vendor, libraries = fastest(contest.library)
    picked = rows * libraries
    ratio = own.comparisons.verdict(vendor, best, picked=picked) if vendor and best else None
    return Result(best, vendor, ratio)


def _case(case: Case, experiment: Experiment) -> str:
    return f"[`{case.strategy}`]({place(case, experiment)})"


def _result_in_words(experiment: Experiment, found: Result) -> str:
    """ "`stream_k` is 1.06 times as fast as `cublas` [1.06, 1.06]: 2.58 ms against 2.74 ms"; first
    the row that is faster."""
    best, vendor, ratio = found.best, found.vendor, found.ratio
    if not best or not vendor or not ratio:
        only = best or vendor
        assert only
        return f"{_case(only, experiment)} {duration(only.time.median)}"
    pair, shown = (best, vendor), ratio
    if ratio.value < 1:
        pair, shown = (vendor, best), ratio.inverse
    times = durations(*(case.time.median for case in pair))
    first, second = (_case(case, experiment) for case in pair)
    how = f"{WORDS[ratio.outcome]}: " if ratio.outcome in ("same", "no difference") else ""
    words = shown.as_fast_as(second)
    words += of_rounds(shown.value, *(case.time.median for case in reversed(pair)))
    return f"{how}{first} is {words}: {times[0]} against {times[1]}"


def figures(own: Measured) -> dict[str, str]:
    """The fastest row of each contest at the headline shapes, against the library, by experiment:
    "`stream_k` 2.57 ms, 1.04 times as fast as `cublas` [1.04, 1.04]"."""
    said: dict[str, list[str]] = {}
    for experiment in own.record.ordinary:
        for contest in contests(own, experiment):
            found = result(own, experiment, contest, experiment.headline)
            if not found.best or not found.vendor or not found.ratio:
                continue
            kind = f"{contest.label}, " if contest.label else ""
            takes = f"`{found.best.strategy}` {duration(found.best.time.median)}"
            ratio = found.ratio.as_fast_as(f"`{found.vendor.strategy}`")
            said.setdefault(experiment.name, []).append(f"{kind}{takes}, {ratio}")
    return {name: "; ".join(texts) for name, texts in said.items()}


def accuracy(own: Measured, experiment: Experiment) -> str:
    """At the headline shape: whether the fastest row is as accurate as the library, and which rows
    are the most and the least accurate; empty where results are exact or nothing was timed."""
    record, shape, equals = own.record, experiment.headline, contests(own, experiment)[:1]
    rows = (row for row in record.strategies(experiment) if row.contends and not row.sweep)
    found = (record.timed(experiment, r.strategy, shape, c.regime) for r in rows for c in equals)
    cases = sorted((each for each in found if each and _error(each)), key=_error)
    if not cases or not cases[0].error:
        return ""

    def named(case: Case) -> str:
        error = f"{_error(case):.1e}".replace("-", "\N{NON-BREAKING HYPHEN}")
        return f"{_case(case, experiment)}{case.marks} ({error})"

    said = f"The most accurate is {named(cases[0])}, the least {named(cases[-1])}."
    fastest = result(own, experiment, equals[0], shape)
    if fastest.best in cases and fastest.vendor in cases:
        ratio = _error(fastest.best) / _error(fastest.vendor)
        how, library = "as accurate as", named(fastest.vendor)
        if not 1 / ALIKE < ratio < ALIKE:
            how = "less accurate than" if ratio > 1 else "more accurate than"
            library += f", whose error is {significant(1 / ratio)} times as large"
        if _error(fastest.vendor) < ALIKE * _error(cases[0]):
            said = (
                f"No GPU row is more accurate by a tenth; the least accurate is {named(cases[-1])}."
            )
        said = f"The fastest but the library, {named(fastest.best)}, is {how} {library}. {said}"
    metric = cell(cases[0].error.metric)
    return f"At {shape_label(shape)}, errors against float64 as {metric}. {said}"


def _error(case: Case | None) -> float:
    return case.error.value or 0.0 if case and case.error else 0.0


def _in_fp32(own: Measured, experiment: Experiment) -> str:
    """What is compared, where one row is faster by less accurate arithmetic, and has no rank."""
    rows = own.record.strategies(experiment)
    return "" if all(row.fp32 or row.split or not row.contends for row in rows) else " in fp32"


def _contested(own: Measured, experiment: Experiment, most: int, shape: str = "") -> list[str]:
    """What came out of the first contests at a shape, else the headline's."""
    said = []
    for contest in contests(own, experiment)[:most]:
        found = result(own, experiment, contest, shape or experiment.headline)
        if found.best or found.vendor:
            label = f"{contest.label}: " if contest.label and most > 1 else ""
            said.append(label + _result_in_words(experiment, found))
    return said


def winner(own: Measured, experiment: Experiment, at: str = "") -> str:
    """The sentence that names the fastest row at a shape, else the headline's, or says why there is
    none."""
    said, shape = _contested(own, experiment, 9, at), shape_label(at or experiment.headline)
    if not said:
        planned = any(
            each.shape_name == (at or experiment.headline) for each in own.record.of(experiment)
        )
        why = f"[why]({page(experiment)}#without-a-time)" if planned else "it was not asked for"
        return f"No row has a time at {shape}: {why}."
    where = "" if _timed(own.record, experiment, "gpu") else ", on the CPU"
    return f"The fastest{_in_fp32(own, experiment)} at {shape}{where}: {'; '.join(said)}."


# the answer, and whether to trust it


def answer(own: Measured, brands: list[str]) -> list[str]:
    """What holds and what fails; what is the fastest; whether it can be trusted."""
    said = _held(own), _fastest(own), sustained.summary(own), trusted(own, brands)
    return [text for text in said if text]


def _held(own: Measured) -> str:
    view, judged = View(own), own.judgement.claims and own.record.gpu_measured
    return f"**{view.counts}.** {view.surprise}".rstrip() if judged else ""


def _fastest(own: Measured) -> str:
    """The fastest row of each experiment at its headline shape, of the rows that come first."""
    said = [
        f"{prose(each.title)}{_in_fp32(own, each)} at {shape_label(each.headline)}: {text}"
        for each in own.record.ordinary
        for text in _contested(own, each, 1)
    ]
    rows = (row for each in own.record.ordinary for row in own.record.strategies(each))
    target = "gpu" if own.record.gpu_measured else "cpu"
    found = {r.source.document for r in rows if r.role == "rung" and r.target == target}
    kind = "kernels" if target == "gpu" else "programs"
    theirs = f"of the {kind} that follow the document{'s' * (len(own.known.sources) > 1)}"
    what = theirs if found and found <= {*own.known.sources} else "in this record"
    what += ", and the library" if target == "gpu" else ", on the CPU"
    return f"**At one shape, the fastest {what}**: {'; '.join(said)}." if said else ""


def trusted(own: Measured, brands: list[str]) -> str:
    """One sentence: that nothing speaks against the numbers, or what does."""
    record = own.record
    against = [text.split("**")[1] for text in brands]
    if many := len(own.suspects):
        against.append(f"{many} suspect time{'s' if many > 1 else ''}")
    if borrowed := own.comparisons.borrowed:
        against.append(
            "they are of one process on one GPU; what another measures is not known of this model, "
            f"and verdicts allow for what those on an {borrowed} differ by"
        )
    if len(against) > len(brands):
        return f"**Read the numbers with care**: {'; '.join(against)}."
    if against:
        return ""  # it stands above
    passed = record.count()["passed"]
    if not passed:
        return "**Nothing was timed.**"
    known = own.comparisons
    limit = "no cold time is faster than the machine allows, " if record.gpu_measured else ""
    told = f"no difference of less than {resolution_text(known.resolution)} is claimed"
    if not known.audit.audited:
        told += ", by convention: there is no self-audit"
    return (
        f"**Nothing found speaks against the numbers**: {number_of(passed, 'timed case')} passed "
        f"the check, {limit}and {told}."
    )


def trust(own: Measured) -> list[list[str]]:
    """Rows of the trust box: a question, and what the record answers."""
    record, known = own.record, own.comparisons
    env, count = record.environment, record.count()
    wrong = count["incorrect"] + count["failed"]
    right = f"{number_of(count['passed'], 'case')} passed the check before being timed"
    right += f"; **{count['incorrect']} incorrect, {count['failed']} failed**" if wrong else ""
    resolution = resolution_text(known.resolution)
    told = f"[{resolution}]({METHOD}#self-audit)"
    if known.resolution > COARSEST:
        told = f"**no difference at all**: [the self-audit]({METHOD}#self-audit) failed"
    elif not known.audit.audited:
        told += ", by convention: this record has no self-audit"
    else:
        alike, wrongly = len(known.audit.alike), known.audit.false(known.resolution)
        told += f": a kernel against itself differs by more in {wrongly} of {alike} pairs"
        if count["passed"]:
            where = f", known of an {known.borrowed}" if known.borrowed else ""
            told = (
                f"the [margin]({METHOD}#run-to-run) of each ratio{where}; within this process "
                f"the self-audit tells {told}"
            )
    many = len(own.suspects)
    none = "none" if record.gpu_measured else "not looked for"
    without = {name: count[name] for name in ("unsupported", "not_run") if count[name]}
    pages = ", ".join(
        f"[{prose(each.title)}]({page(each)}#without-a-time)"
        for each in record.ordinary
        if any(not case.seconds for case in record.of(each))
    )
    reasons = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in without.items())
    state = "**with uncommitted changes**" if env.git.dirty else "clean"
    code = f"commit `{env.git.short}`, {state}"
    rows = [
        ["Results", right],
        ["Smallest difference claimed", told],
        ["Times too good to be true", f"[{many}]({METHOD}#suspect-times)" if many else none],
        ["Not timed", f"{reasons}: {pages}" if reasons else "nothing"],
        ["Code", code if env.git.known else "**no known commit**"],
    ]
    # where claims ask for tests of wrong kernels
    asked = any(MUTANT in check.test for _, check in own.known.asked)
    return [*rows, ["Broken kernels", _mutants(own)]] if asked else rows


def _mutants(own: Measured) -> str:
    """How many kernels that are wrong on purpose the check was seen to catch."""
    probes = own.probes
    if probes and probes.foreign(own.record):
        return "not known: the probes are of another run"
    tried = [each for name, each in probes.tests.items() if MUTANT in name] if probes else []
    if not tried:
        return "not known: the record has no such tests"
    tried = [each for each in tried if each.outcome]
    if not tried:
        return "not known: none of them was run here"
    caught = sum(each.outcome == "pass" for each in tried)
    of = f"{caught} of the {len(tried)} kernels"
    return f"{of} that are wrong on purpose and that claims ask for were caught"
