"""The source that a record says it was built from: whether this repository has that commit, and
whether the record holds what a build of it measures, made of its device code."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recheck_report.collect.plan import all_rows, environment
from recheck_report.collect.programs import BadProgram, cases_of, execute
from recheck_report.model.record import Experiment, Method, Record, Row, Strategy
from recheck_report.model.typed import BadRecord, typed

# as CMake takes them: what a stranger's record names becomes an argument of a program
_ARCHITECTURES = re.compile(
    r"[1-9]\d{1,2}[af]?(-real|-virtual)?(;[1-9]\d{1,2}[af]?(-real|-virtual)?)*"
)
_MOST_ARCHITECTURES = 10  # each is another time that all kernels are compiled


class BadSource(Exception):
    """It cannot be that source; str() is one line that says why."""


class NoRepository(BadSource):
    """Nor of any other commit: nothing holds a history of the folder."""


class Source:
    """A commit of the repository that a folder is in."""

    def __init__(self, folder: Path, commit: str, branch: str) -> None:
        """Raises BadSource unless the history of the branch has the commit."""
        found = folder.resolve()
        while not found.is_dir():  # the first evidence makes it
            found = found.parent
        root = _git(found, "rev-parse", "--show-toplevel")
        if root is None:
            raise NoRepository(f"{found} is in no git repository to tell if it has {commit}")
        self.root, self.commit = Path(root.strip()), commit
        if _git(self.root, "rev-parse", "--verify", "--quiet", f"{branch}^{{commit}}") is None:
            raise BadSource(f"--branch: {self.root} has no {branch}")
        if _git(self.root, "merge-base", "--is-ancestor", commit, branch) is None:
            shallow = (_git(self.root, "rev-parse", "--is-shallow-repository") or "").strip()
            what = "measure at one of its commits"
            if shallow == "true":
                what = "this clone is shallow: git fetch --unshallow"
            raise BadSource(f"its commit {commit} is not in the history of {branch}: {what}")

    def dated(self) -> datetime:
        """When the commit was made."""
        said = _git(self.root, "show", "--no-patch", "--format=%ct", self.commit) or "0"
        return datetime.fromtimestamp(int(said), UTC)

    def before(self, other: str) -> bool:
        """Whether the commit is an earlier one than the other, of which the other has grown."""
        older = _git(self.root, "merge-base", "--is-ancestor", self.commit, other or "none")
        return older is not None and self.commit != other

    def kernels(self) -> set[str]:
        """The names that records give to the kernel files of the commit."""
        listed = _git(self.root, "ls-tree", "-r", "--name-only", self.commit, "kernels/") or ""
        names = (line.removeprefix("kernels/") for line in listed.splitlines())
        return {name for name in names if name.endswith(".cu")}

    def build(self, folder: Path, architectures: str) -> Path:
        """Builds its program with device code for these; raises BadSource with the last line that
        git or CMake says. What was built there before is built on."""
        source, built = folder / "source", folder / "build"
        # of its own, so that whoever builds does not leave a work tree in the repository
        if not (source / ".git").is_dir():
            _do("git", "clone", "--quiet", "--shared", "--no-checkout", self.root, source)
        _do("git", "-C", source, "checkout", "--quiet", "--force", "--detach", self.commit)
        chosen = f"-DCMAKE_CUDA_ARCHITECTURES={architectures}"
        _do("cmake", "-S", source, "-B", built, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", chosen)
        _do("cmake", "--build", built, "--target", "recheck")
        return built / "experiments" / "recheck"


def stray(record: Record, source: Source) -> str | None:
    """Why its checksums cannot be of that commit's kernels, or None."""
    cubins = record.environment.cubins
    names = source.kernels()
    for name in sorted(names ^ cubins.keys()) if cubins is not None else ():
        what = "no checksum of" if name in names else "a checksum of"
        which = "has" if name in names else "does not have"
        return f"it has {what} {name}, which its commit {which}"
    return None


def unlike(record: Record, program: Path) -> tuple[str | None, list[str]]:
    """Why it is not what that program, built from its commit, measures, or None; and what of that
    nobody could tell here."""
    cases, missing = cases_of(program), "its full matrix cannot be told: the program lists no case"
    if not cases:
        raise BadSource(missing)
    for name in sorted(cases - record.by_id.keys()):
        held = len(cases & record.by_id.keys())
        return f"it has {held} of its commit's {len(cases)} cases, and lacks {name}", []
    for name in sorted(record.by_id.keys() - cases):
        return f"it has {name}, which its commit does not measure", []
    try:
        built = all_rows(str(program), environment(str(program)))
        why = _told(record, built)
    except (BadProgram, BadRecord) as error:
        raise BadSource(str(error)) from error
    return (why, []) if why else _code(record, built["environment"])


def _told(record: Record, built: dict[str, Any]) -> str | None:
    """Why its program did not say of its tables and method what the record says, or None."""
    pairs: list[tuple[str, Any, Any]] = [
        ("schema", record.schema, built["schema"]),
        ("seed", record.environment.seed, built["environment"]["seed"]),
        *_members("method", record.method, typed(Method, built["method"])),
    ]
    listed = {each.name: each for each in typed(tuple[Experiment, ...], built["experiments"])}
    for experiment in record.experiments:
        theirs = listed.get(experiment.name)
        pairs += _members(f"experiment {experiment.name}", experiment, theirs)
    rows = typed(tuple[Strategy, ...], built["strategies"])
    known = {(each.experiment, each.name): each for each in rows}
    for case in {(case.experiment, case.strategy): case for case in record.cases}.values():
        row = known.get((case.experiment, case.strategy))
        pairs += _members(f"row {case.experiment}/{case.strategy}", case, row, Row)
    for what, said, theirs in pairs:
        if said != theirs:
            return f"its {what} is {said!r}, and its commit's is {theirs!r}"
    return None


def _members(
    what: str, own: Any, theirs: Any, kind: type | None = None
) -> Iterator[tuple[str, Any, Any]]:
    """What both say, member by member, so that a line can name the one that differs."""
    for each in fields(kind or own):
        yield f"{each.name} of {what}", getattr(own, each.name), getattr(theirs, each.name, None)


def _code(record: Record, built: dict[str, Any]) -> tuple[str | None, list[str]]:
    own = record.environment
    if own.flags != built["flags"]:
        return f"its flags are {own.flags!r}, and a Release build has {built['flags']!r}", []
    for what, theirs, here in (
        ("nvcc", own.nvcc, built["nvcc"]),
        ("the architectures", own.arch, built["arch"]),
    ):
        if theirs != here:
            return None, [f"device code: {what} of the record: {theirs}, of this build: {here}"]
    if own.cubins is None or built["cubins"] is None:
        return None, ["device code: this build made no checksums of it"]
    for name, checksum in sorted(own.cubins.items()):
        if built["cubins"].get(name) != checksum:
            there = built["cubins"].get(name, "none")
            return f"its device code of {name} is {checksum}, and its commit's is {there}", []
    return None, []


def architectures(record: Record) -> str:
    """Those of its device code, as CMake takes them; raises BadSource."""
    found = record.environment.arch or ""
    listed = found.split(";")
    if not _ARCHITECTURES.fullmatch(found) or len({*listed}) < len(listed):
        raise BadSource(f"environment.arch is no list of architectures: {found[:40]!r}")
    if len(listed) > _MOST_ARCHITECTURES:
        what = f"names {len(listed)} architectures; build for {_MOST_ARCHITECTURES} at most"
        raise BadSource(f"environment.arch {what}")
    return found


def _git(folder: Path, *words: str) -> str | None:
    """What git says, or None where it fails."""
    # the owner of a mounted work tree may be someone else: reading its history is harmless
    ended = execute("git", "-c", "safe.directory=*", "-C", folder, *words)
    return ended.out if ended.code == 0 else None


def _do(*words: str | Path) -> None:
    """Runs a step of a build, whose output goes to standard error."""
    ended = subprocess.run([*map(str, words)], stdout=sys.stderr, stderr=sys.stderr, check=False)
    if ended.returncode:
        raise BadSource(f"{words[0]} failed with exit code {ended.returncode}: its output says why")
