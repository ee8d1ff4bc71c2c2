"""Prints the verdicts on a record, and holds them and its times against those committed of its GPU.

DIR holds published reports, a folder for each GPU model: DIR/<gpu>/record.json is what a GPU of
that model is expected to do. Both records are judged here and now. Three things are not as
expected, each a line: a verdict that differs (an undecided one is met by any that was measured),
a rung with a case that is slower by more than two runs of the same code differ, and a rung that
lost times. A time that is too good to be true is named, and so is what cannot be told because times
were disturbed. Exit code 0: all is as expected, or nobody has published any. 1: something is not.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.claims import load_collection
from recheck_report.claims.measured import Measured, read
from recheck_report.claims.toml import in_order
from recheck_report.commands import Failed, experiments_option
from recheck_report.formatting import NONE, VERDICTS, duration, margin
from recheck_report.record.read import RECORD
from recheck_report.record.record import SPECIAL, Case
from recheck_report.record.verdicts import Verdict, Verdicts
from recheck_report.say.claim import counted, verdicts_of
from recheck_report.say.outcome import in_words
from recheck_report.say.times import Pair, changed_words, count, place, row_of

MOST = 8  # rungs that lost times and suspect times, each a line; the rest is counted


def lines(found: Verdicts, titles: dict[str, str]) -> list[str]:
    """A line for each claim, in columns."""
    table = [
        [each.id, each.verdict, _effect(each), titles.get(each.id, "")] for each in found.claims
    ]
    widths = [max(map(len, column), default=0) for column in zip(*table, strict=True)]
    return [
        "  ".join(text.ljust(size) for text, size in zip(row, widths, strict=True)).rstrip()
        for row in table
    ]


def differences(found: Verdicts, expected: Verdicts) -> list[str]:
    """A line for each claim, of those that both records are judged by, whose verdict is not as
    expected."""
    here, there, printed = found.by_id, expected.by_id, []
    for name in sorted(here.keys() & there.keys(), key=in_order):
        new, old = here[name], there[name]
        if new.verdict == "undecided" and new.reason:
            continue  # its times were disturbed
        if old.verdict == "undecided" and new.verdict != "not measured":
            continue  # what nobody could tell is no expectation
        if new.verdict != old.verdict:
            why = _effect(new) if new.measured else new.reason or "no reason given"
            printed.append(f"{name}: was {old.verdict}, is {new.verdict}: {why}")
    return printed


def _first(lines: list[str], rest: str) -> list[str]:
    """The first MOST of some lines, and one that counts the rest."""
    more = len(lines) - MOST
    return [*lines[:MOST], *([f"{rest} {more} more"] if more > 0 else [])]


def cannot_tell(found: Verdicts, expected: Verdicts) -> list[str]:
    """A line for each claim that nothing is said of, as times were disturbed."""
    own = [
        f"cannot tell: {each.id}: {each.reason}"
        for each in found.claims
        if each.verdict == "undecided" and each.reason and each.id in expected.by_id
    ]
    return _first(own, "cannot tell:")


def slower(pair: Pair) -> list[str]:
    """A line for each rung with a case that is slower by more than two runs differ."""
    printed = []
    for row in pair.rows("slower", rungs=True):
        more, rest = len(row.changes) - 1, row.cases - 1
        # what hits one case alone is more often the run than the code
        also = f"so {'is' if more == 1 else 'are'} {more} of" if more else "none of"
        also = f"; {also} its {count(rest, 'other case')}" if rest else ""
        beyond = f"two runs differ by up to {margin(row.most.noise)}"
        printed.append(f"slower: {changed_words(row.most).plain}; {beyond}{also}")
    return printed


def gone(pair: Pair) -> list[str]:
    """A line for each rung that lost times. What a run did not plan for is not lost, nor what a
    slower CPU has not the time for."""
    plan = pair.new.plan
    whole = plan.full and not plan.dropped
    found: dict[str, list[tuple[Case, Case | None]]] = {}
    for old, new in pair.lost:
        skipped = (new is None and not whole) or (
            new is not None and new.target == "cpu" and new.status == "not_run"
        )
        if old.role == "rung" and not skipped:
            found.setdefault(row_of(old), []).append((old, new))
    printed = []
    for name, cases in found.items():
        old, new = cases[0]
        now = f"now {new.why_not}" if new else "now not in the record"
        rest = f"; so {len(cases) - 1} more of its cases" if len(cases) > 1 else ""
        printed.append(f"gone: {name} at {place(old)}: {duration(old.time.median)}, {now}{rest}")
    return _first(printed, "gone:")


def too_good(own: Measured) -> list[str]:
    """A line for each time of a record that is too good to be true."""
    return _first([f"suspect: {name}: {why}" for name, why in own.suspects.items()], "suspect:")


def _effect(judged: Verdict) -> str:
    found = judged.measured
    return in_words(found) if found else NONE


def _judged(path: Path, experiments: Path) -> tuple[Measured, Verdicts]:
    """A record with its verdicts."""
    own = read(path, experiments)
    return own, verdicts_of(own.record, own.judgement)


def _experiments(own: Measured) -> set[str]:
    """What a record is about, whatever became of its cases."""
    return {each.name for each in own.record.experiments} - {*SPECIAL}


def _say(printed: Iterable[str]) -> None:
    for line in printed:
        print(line)


def options(parser: argparse.ArgumentParser) -> None:
    says = "a report's folder, or one that `recheck` measured into"
    parser.add_argument("report", type=Path, help=says)
    says = "the published reports, a folder for each GPU"
    parser.add_argument("--expected", type=Path, metavar="DIR", help=says)
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    folder = options.expected
    if folder and not folder.is_dir():
        raise Failed(f"--expected: {folder} is no folder; name that of the published reports", 2)
    own, found = _judged(options.report, options.experiments)
    # also of a run on which all of them failed
    gpu = own.gpu if own.record.environment.gpu else None
    path = folder / slug(gpu) if folder and gpu and slug(gpu) else None
    expected = None
    if path and path.is_dir():
        expected = _judged(path, options.experiments)
    titles = {each.id: each.title for each in load_collection(options.experiments).claims}
    _say(lines(found, titles))
    counts = {v: sum(each.verdict == v for each in found.claims) for v in VERDICTS}
    print(f"\n{counted(counts).plain}: {gpu or 'no GPU'}")
    if not found.claims and own.known.left_out:
        theirs = ", ".join(sorted(_experiments(own)))
        print(f"{options.experiments} has no claim about this record's experiments: {theirs}")
    _say(too_good(own))
    if expected is None or path is None:
        publish = f"no expectation for {gpu}: publish the report to make it one"
        if folder:
            print(publish if gpu else "no expectation for a machine without a GPU")
        return 0
    return _held(own, found, *expected, path / RECORD)


def _held(own: Measured, found: Verdicts, base: Measured, expected: Verdicts, path: Path) -> int:
    """Says what is not as expected; returns the exit code."""
    _say(f"expected: {line}" for line in too_good(base))
    if not _experiments(own) & _experiments(base):
        theirs = ", ".join(sorted(_experiments(base))) or "none"
        print(f"no expectation: {path} is of other experiments ({theirs})")
        return 0
    left_out = len(found.by_id.keys() ^ expected.by_id.keys())
    if left_out:
        print(f"{count(left_out, 'claim')} of experiments that only one of the records has")
    pair = Pair(base, own)
    changed, worse, lost = differences(found, expected), slower(pair), gone(pair)
    _say([*changed, *worse, *lost, *cannot_tell(found, expected)])
    _say([f"disturbed: {pair.disturbed}"] if pair.disturbed else [])
    rungs = sum(each.new.role == "rung" for each in pair.changes)
    said = f"{count(rungs, 'case')} of rungs"
    if changed or worse or lost:
        parts = [(changed, "verdict"), (worse, "slower rung")]
        some = [count(len(each), what) for each, what in parts if each]
        some += ["rungs without a time"] if lost else []
        print(f"not as expected: {', '.join(some)}; of {said}: {path}")
        if worse:
            print(
                "of the same code 1 case in 1000 is as slow: measure again to be sure of a lone one"
            )
        return 1
    print(f"every verdict as expected, and none of {said} slower: {path}")
    return 0
