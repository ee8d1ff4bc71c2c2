"""Takes a contribution over as evidence, or refuses it: the file that `contribute` has packed on a
machine that nobody here knows.

Nothing in it is believed. It is unpacked in memory and within bounds; its files have to be those
that it lists; what a record says twice has to agree; it has to be of a commit that the history of
the branch has, of the full matrix, finished, clean and right; its device has to be able to do what
it says of itself. The report is rendered here, of the record alone, and linted. Whatever fails is
one line, and nothing is written. What nobody could check is printed as such.

Where DIR holds evidence of this GPU model already, somebody has to decide: --add takes the times
into its history and leaves its report, --replace puts this report in its place, and the times of
that stay in the history.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from recheck_report.anchors import slug
from recheck_report.claims import load_collection, verdicts_of
from recheck_report.claims.measured import Measured, read
from recheck_report.claims.names import Tables, faults
from recheck_report.commands import Failed, experiments_option
from recheck_report.commands.lint import lint, load
from recheck_report.commands.output import foreign
from recheck_report.commands.publish import continued, kept, other_evidence, publish
from recheck_report.commands.render import render
from recheck_report.commands.verify import differences
from recheck_report.contribution.beside import refuted
from recheck_report.contribution.bounds import loose
from recheck_report.contribution.evidence import refusal
from recheck_report.contribution.package import MOST_PACKED, unpacked
from recheck_report.contribution.reasons import excused
from recheck_report.contribution.sheets import unknown
from recheck_report.contribution.source import BadSource, Source, architectures, stray, unlike
from recheck_report.history.runs import of, repeated
from recheck_report.model.companions import ACCURACY, LARGER, PROBES
from recheck_report.model.contribution import (
    ASK,
    CONTRIBUTION,
    Contribution,
    check_files,
    load_contribution,
)
from recheck_report.model.derived import SLACK, moment
from recheck_report.model.record import AGAIN, RECORD, SCHEMA
from recheck_report.model.record import load as load_record
from recheck_report.model.typed import BadRecord
from recheck_report.progress import doing
from recheck_report.sections.family import close_family
from recheck_report.sections.times import count
from recheck_report.sections.verdicts import WORDS, summary

MOST_CHARACTERS = 1000  # of a line
BUILD = "build that commit, and measure again"
MOST_REASONS = 20  # lines of why cases have no time


class Refused(Exception):
    """str() says why, in one line without the name of the file."""


def plain(text: str) -> str:
    """A stranger's words as one line of bounded length, which no terminal takes for a command."""
    # the runners of CI take ##[…] for a command wherever it stands in a line
    shown = "".join(each if each.isprintable() else " " for each in text).replace("##[", "## [")
    return " ".join(shown.split())[:MOST_CHARACTERS]


def unacceptable(own: Measured) -> str | None:
    """Why nobody would take this record, whoever sent it, or None. It needs no repository."""
    record, env = own.record, own.record.environment
    if record.schema != SCHEMA:
        return f"its record has schema {record.schema}, and evidence has {SCHEMA}: measure again"
    if why := refusal(record):
        return why
    if env.cubins is None:
        why = env.why_unknown("cubins")
        return f"no checksums of its device code ({why}); build with the whole CUDA Toolkit"
    if why := excused(record) or loose(record):
        return why
    for name, found in ((PROBES, own.probes), (ACCURACY, own.accuracy), (LARGER, own.larger)):
        if found is None:
            return f"{name} is missing: measure it"
    if why := refuted(own):
        return why
    small, large = own.accuracy, own.larger
    if small and large and large.m * large.n <= small.m * small.n:
        return f"{LARGER} is of no larger product than {ACCURACY}: measure it"
    return None


def _read(data: bytes, folder: Path, experiments: Path) -> tuple[Contribution, Measured]:
    """What an archive holds, of which this folder then has the files."""
    files = unpacked(data)
    for name, each in files.items():
        (folder / name).write_bytes(each)
    found = load_contribution(folder)
    if found is None:
        what = f"{CONTRIBUTION} is missing: this is no file that `contribute` has packed"
        raise BadRecord(f"{what}; {ASK}")
    del files[CONTRIBUTION]
    check_files(found, files)
    own = read(folder, experiments)
    env = own.record.environment
    named = (("commit", found.commit, env.git.commit), ("GPU", found.gpu, env.gpu and env.gpu.name))
    for what, said, measured in named:
        if said != measured:
            raise Refused(f"{CONTRIBUTION} says {what} {said}, and the record {measured}; {ASK}")
    return found, own


def _source(own: Measured, options: argparse.Namespace) -> Source:
    """The commit that it says it is of; raises Refused and BadSource."""
    source = Source(options.results, own.record.environment.git.commit or "", options.branch)
    if why := stray(own.record, source):
        raise Refused(f"{why}; {BUILD}")
    if moment(own.record.environment.started) + SLACK < source.dated():
        what = f"before its commit was made, {source.dated():%Y-%m-%d}"
        raise Refused(f"it was measured at {own.record.environment.started}, {what}")
    return source


def _built(own: Measured, source: Source, options: argparse.Namespace) -> list[str]:
    """What could not be checked of what that commit measures; raises Refused and BadSource."""
    if options.build is None:
        what = "its cases, rows, experiments, method, seed and device code"
        return [f"{what}: --build FOLDER builds its commit to tell"]
    with doing("building its commit"):
        program = source.build(options.build.resolve(), architectures(own.record))
    why, unsaid = unlike(own.record, program)
    if why:
        raise Refused(f"{why}; {BUILD}")
    return unsaid


def _report(own: Measured) -> dict[str, bytes]:
    """The files of its report, which keeps the rules; raises Refused."""
    files = render(own, [])
    with tempfile.TemporaryDirectory() as scratch:
        for name, data in files.items():
            path = Path(scratch, name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
        broken = {name: found for name, found in lint(load(Path(scratch))).items() if found}
    for name, found in broken.items():
        raise Refused(f"its report breaks the rule {name}: {' '.join(found[0].split())}")
    return files


def _beside(own: Measured, there: Measured, target: Path) -> list[str]:
    """What is otherwise than in the evidence of this model that is there."""
    for each in (own, there):
        close_family(each)
    found = differences(
        verdicts_of(own.record, own.judgement), verdicts_of(there.record, there.judgement)
    )
    return [f"{count(len(found), 'verdict')} unlike that of {target}", *found]


def _decided(own: Measured, target: Path, source: Source, options: argparse.Namespace) -> None:
    """Raises Refused where there is evidence of this model and nobody has said what to do, where
    this run is a part of it, and where it is older than what it would replace."""
    if other := other_evidence(own.record, options.results, target):
        raise Refused(other)
    new = of(own.record)
    for folder, known in kept(options.results):
        if folder == target and known.gpu != own.gpu:
            raise Refused(f"{target} is evidence of {known.gpu!r}, and its GPU is {own.gpu!r}")
        if folder == target and new.runs[0].key in {each.key for each in known.runs}:
            raise Refused(f"{target} has this run already")
        if again := repeated(new, known):
            raise Refused(f"{folder} has its times already, {again}")
    if not (target / RECORD).exists():
        return
    env = load_record(target)[0].environment
    if not (options.add or options.replace):
        raise Refused(
            f"{target} is evidence of this model already, of {env.git.short}: "
            "--add takes the times into its history, --replace puts this report in its place"
        )
    if options.replace and source.before(env.git.commit or ""):
        raise Refused(f"its commit is older than {env.git.short}, which {target} is of; use --add")


def options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", type=Path, help="what `contribute` has packed")
    says = "the published reports, a folder for each GPU, in the repository"
    add("--results", type=Path, required=True, metavar="DIR", help=says)
    says = "whose history has to have its commit (default: %(default)s)"
    add("--branch", default="HEAD", metavar="REF", help=says)
    says = "build its commit there, and hold its cases and device code against that"
    add("--build", type=Path, metavar="FOLDER", help=says)
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--add", action="store_true", help="where its model is known: to its history"
    )
    which.add_argument("--replace", action="store_true", help="the same: in place of its report")
    experiments_option(parser)


def run(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as scratch:
        try:
            return _received(options, Path(scratch))
        except (Refused, BadSource) as why:
            raise Failed(f"{options.file}: not received: {plain(str(why))}") from why
        except BadRecord as error:
            # nobody has seen the folder, and the archive is what the reader has
            text = str(error).replace(f"{scratch}/", "").replace(AGAIN, "; measure it again there")
            raise BadRecord(f"{options.file}: not received: {plain(text)}") from error


def _received(options: argparse.Namespace, scratch: Path) -> int:
    if options.file.exists() and not options.file.is_file() and not options.file.is_dir():
        raise BadRecord("is no regular file")  # a pipe would keep its reader waiting
    try:
        with options.file.open("rb") as file:
            data = file.read(MOST_PACKED + 1)
    except OSError as error:
        raise BadRecord(f"cannot be read: {error.strerror}") from error
    with doing("reading"):
        found, own = _read(data, scratch, options.experiments)
    if why := unacceptable(own):
        raise Refused(why)
    source = _source(own, options)
    if fault := next(faults(load_collection(options.experiments), Tables.of(own.record)), None):
        raise Refused(fault)
    target = options.results / slug(own.gpu)
    _decided(own, target, source, options)
    unsaid = _built(own, source, options)  # the last of the questions, as it takes minutes
    with doing("history"):
        history, note = continued(own.record, target)
    there = read(target, options.experiments) if (target / RECORD).exists() else None
    latest = own.with_history(history) if history else own
    files = _report(latest)
    told = _beside(own, there, target) if there else []
    if there and history and options.add:
        files = render(there.with_history(history), [])
    if theirs := foreign(files, target):
        raise Refused(f"{target}: {theirs[0]} is of no report and would be lost; move it away")
    publish(files, target)
    for line in _said(found, own, unsaid, told):
        print(plain(line))
    print(target, *note, sep="\n")
    return 0


def _said(found: Contribution, own: Measured, unsaid: list[str], told: list[str]) -> Iterator[str]:
    """What a reviewer wants to know, a line each."""
    env, verdicts = own.record.environment, verdicts_of(own.record, own.judgement).claims
    counts = {word: sum(each.verdict == word for each in verdicts) for word in WORDS}
    yield f"measured {env.started[:10]} at {env.git.short} on {own.gpu}: {summary(counts)}"
    tests = f"{found.tests.passed} passed, {len(found.tests.skipped)} skipped"
    yield f"its own word: GPU tests {tests} {', '.join(found.tests.skipped)}".rstrip()
    untimed = [each for each in own.record.cases if each.target == "gpu" and not each.seconds]
    reasons = Counter(each.why_not for each in untimed).most_common()
    for why, number in reasons[:MOST_REASONS]:
        yield f"its own word: {count(number, 'GPU case')} {why}"
    if rest := sum(number for _, number in reasons[MOST_REASONS:]):
        yield f"its own word: {count(rest, 'GPU case')} for other reasons"
    probed = ("count", "test", "attribute")
    decided = sum(any(e.form in probed for e in claim.asked) for claim in own.known.claims)
    what = f"probes.json, by which {count(decided, 'claim')} are judged"
    yield f"its own word: the counters, tests and attributes of {what}"
    for each in filter(None, [unknown(own.record), *unsaid]):
        yield f"not checked: {each}"
    yield from told
