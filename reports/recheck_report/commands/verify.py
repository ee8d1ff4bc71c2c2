"""Compares the verdicts on a record and its times with the committed ones.

DIR holds published reports, a folder for each GPU model. DIR/<gpu>/record.json is what a GPU of
that model is expected to do; both records are judged now. Three kinds of differences fail, each a
line: another verdict (an expected "undecided" allows any that was measured, and disturbed times
decide nothing), a kernel that is slower in some case by more than two runs of the same code differ,
and a kernel that lost times. Exit code 1: a difference.

example: recheck-report verify build/release/report --expected reports/results
"""

from __future__ import annotations

import argparse
from pathlib import Path

from recheck_report.claims.measured import Measured, read
from recheck_report.claims.toml import in_order
from recheck_report.commands import Failed, experiments_option
from recheck_report.files import slug
from recheck_report.formatting import count, duration, margin
from recheck_report.record.read import RECORD
from recheck_report.record.record import SPECIAL, Case
from recheck_report.say.answer import by_verdict, counted
from recheck_report.say.check import in_words
from recheck_report.say.claim import reason
from recheck_report.say.pages.compare import Pair, changed_words, place, row_of

MOST = 8  # lines on lost times; the rest is counted


def differences(report: Measured, base: Measured) -> list[str]:
    """A line for each claim whose verdict differs; only claims that both records answer."""
    result, judged, before = [], report.judgement.by_id, base.judgement.by_id
    for name in sorted(judged.keys() & before.keys(), key=in_order):
        new, old, why = judged[name], before[name].verdict, reason(judged[name]).plain
        disturbed = new.verdict == "undecided" and why
        allowed = old == "undecided" and new.verdict != "not measured"
        if new.verdict != old and not disturbed and not allowed:
            has_value = new.headline and new.headline.value is not None
            why = in_words(new.headline) if new.headline and has_value else why
            result.append(f"{name}: was {old}, is {new.verdict}: {why or 'no reason given'}")
    return result


def slower(pair: Pair) -> list[str]:
    """A line for each kernel with a case that is slower by more than two runs differ."""
    result = []
    for row in pair.rows("slower", rungs=True):
        more, rest = len(row.changes) - 1, row.cases - 1
        # a change in a single case is more often noise than the code
        also = f"so {'is' if more == 1 else 'are'} {more} of" if more else "none of"
        also = f"; {also} its {count(rest, 'other case')}" if rest else ""
        beyond = f"two runs differ by up to {margin(row.most.noise)}"
        result.append(f"slower: {changed_words(row.most).plain}; {beyond}{also}")
    return result


def gone(pair: Pair) -> list[str]:
    """A line for each kernel that lost times. Cases outside the run's plan are not lost, and
    neither are those that a slower CPU has no time for."""
    whole = pair.new.plan.full and not pair.new.plan.dropped
    lost: dict[str, list[tuple[Case, Case | None]]] = {}
    for old, new in pair.lost:
        slow_cpu = new is not None and new.target == "cpu" and new.status == "not_run"
        if old.role == "rung" and not slow_cpu and (new or whole):
            lost.setdefault(row_of(old), []).append((old, new))
    result = []
    for name, cases in lost.items():
        old, new = cases[0]
        now = f"now {new.why_not}" if new else "now not in the record"
        rest = f"; so {len(cases) - 1} more of its cases" if len(cases) > 1 else ""
        result.append(f"gone: {name} at {place(old)}: {duration(old.time.median)}, {now}{rest}")
    more = [f"gone: {len(result) - MOST} more"] if len(result) > MOST else []
    return result[:MOST] + more


def options(parser: argparse.ArgumentParser) -> None:
    says = "a report's folder, or one that `recheck` measured into"
    parser.add_argument("report", type=Path, help=says)
    says = "the published reports, a folder for each GPU"
    parser.add_argument("--expected", type=Path, metavar="DIR", help=says)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    folder = options.expected
    if folder and not folder.is_dir():
        raise Failed(f"--expected: {folder} is not a folder; name that of the published reports", 2)
    report = read(options.report, options.experiments)
    gpu = report.record.gpu  # also if every case failed
    path = folder / slug(gpu) if folder and gpu and slug(gpu) else None
    base = read(path, options.experiments) if path and path.is_dir() else None
    print(f"{counted(by_verdict(report)).plain}: {gpu or 'no GPU'}")
    if base and path:
        return _compare(report, base, path / RECORD)
    if folder:
        publish = f"no expectation for {gpu}: publish the report to make it one"
        print(publish if gpu else "no expectation for a machine without a GPU")
    return 0


def _compare(report: Measured, base: Measured, path: Path) -> int:
    """Prints how a report differs from the expected one; returns the exit code."""
    # also those of which it has no case
    names_of = ({each.name for each in of.record.experiments} for of in (report, base))
    here, there = (names - {*SPECIAL} for names in names_of)
    if not here & there:
        names = ", ".join(sorted(there)) or "none"
        print(f"no expectation: {path} is of other experiments ({names})")
        return 0
    pair = Pair(base, report)
    changed, worse, lost = differences(report, base), slower(pair), gone(pair)
    for line in (*changed, *worse, *lost):
        print(line)
    if pair.disturbed:
        print(f"disturbed: {pair.disturbed}")
    compared = count(sum(change.new.role == "rung" for change in pair.changes), "case")
    if not (changed or worse or lost):
        print(f"every verdict as expected, and none of {compared} of kernels slower: {path}")
        return 0
    kinds = [count(len(changed), "verdict")] if changed else []
    kinds += [count(len(worse), "slower kernel")] if worse else []
    kinds += ["kernels without a time"] if lost else []
    print(f"not as expected: {', '.join(kinds)}; of {compared} of kernels: {path}")
    return 1
