"""Reads the reports of ReFrame's runs: which jobs there were, and what became of each.

ReFrame's report.json is a file of a stranger's, like a record: what is used of it is checked. Of
its members only those below are read (ReFrame 4.10, its data version 4).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recheck_report.fleet.brought import Brought, brought
from recheck_report.model.read import RECORD
from recheck_report.model.typed import MOST_BYTES, BadRecord, bytes_of, printable, read_json, typed

REPORT = "report.json"  # in the folder of a run
SITE = "site.json"  # beside it: the site's partitions
NODE = "node"  # the file in which job.sh says where it ran
MEASURED = "measured"  # the folder of a job that recheck writes into
BUILD, JOB = "Build", "Measure"  # the tests of experiments/fleet/suite.py
NAMED = 3  # figures
NAME = 200  # characters of a name, and of a compiler's words
MOST_CHARACTERS = 600  # of a reason


@dataclass(frozen=True)
class Job:
    """One job that was to measure a GPU, or a CPU."""

    place: str  # "site:partition, environment"
    test: str  # with its parameters: of which node and experiment, where ReFrame was told to choose
    model: str  # that the site configuration says; empty: a CPU
    node: str
    job: str  # its number
    run: str  # the name of its folder, which begins with the time
    what: Brought
    problem: str  # why there is no whole record; empty where there is
    outside: str  # which figures are not as the references expect
    reference: str  # what they were held against
    resumed: str = ""  # what ReFrame says of a job whose record was completed afterwards
    code: str = ""  # of the test and its parameters, as ReFrame names its folder
    damaged: bool = False  # it stands for a file of the run that cannot be read, and for no job

    @property
    def where(self) -> str:
        told = self.place + (f", {self.test}" if self.test not in ("", JOB) else "")
        return told + (f", job {self.job}" if self.job else "")

    @property
    def partition(self) -> str:
        return self.place.partition(",")[0]

    @property
    def key(self) -> tuple[str, str]:
        """The same for the same test of the same place, in every run."""
        return self.place, self.code or self.test

    @property
    def full(self) -> bool:
        return self.what.record is not None and self.what.record.plan.full


@dataclass(frozen=True)
class Partition:
    """A partition of the site that a run was asked for, as experiments/fleet/run.py notes it."""

    name: str  # "site:partition"
    asked: bool
    features: tuple[str, ...]
    model: str


def folders(folder: Path) -> list[Path]:
    """Those of a folder of runs, or of one run; in order of time. Raises BadRecord."""
    if not folder.is_dir():
        raise BadRecord(f"{folder}: is no folder; experiments/fleet/run.py makes one of runs")
    own = (REPORT, SITE, "stage", "output")
    every = [folder, *sorted(folder.iterdir())]
    found = [path for path in every if any((path / name).exists() for name in own)]
    return [folder] if folder in found else found


def load_runs(folder: Path) -> list[Job]:
    """The jobs of every run in a folder of runs, or of one run; in order of time. A file of a run
    that cannot be read is one of them too, and hides no other run.

    Raises BadRecord where there is none.
    """
    jobs = [job for run in folders(folder) for job in _damaged(run) + _jobs(run / REPORT, folder)]
    if not jobs:
        raise BadRecord(f"{folder}: no job was run; experiments/fleet/README.md says how to")
    return jobs


def partitions(folder: Path) -> list[Partition]:
    """As the newest run notes them, and whether any run was asked for each."""
    noted = [found for run in folders(folder) if (found := _noted(run)[0])]
    asked = {each.name for run in noted for each in run if each.asked}
    return [replace(each, asked=each.name in asked) for each in (noted[-1] if noted else [])]


def _noted(run: Path) -> tuple[list[Partition], str]:
    """What a run notes of its site, and what is wrong with that."""
    try:
        return (_partitions(run / SITE) if (run / SITE).is_file() else []), ""
    except BadRecord as error:
        return [], str(error)


def _damaged(run: Path) -> list[Job]:
    problem = _noted(run)[1]
    return [_unread(run, problem)] if problem else []


def _unread(run: Path, problem: str) -> Job:
    return replace(_no_job(run, f"{problem}; move that run away"), damaged=True)


def _no_job(run: Path, problem: str) -> Job:
    """What stands for a run of which there is no job to tell."""
    none = Brought(run / "none", None, printable(problem))
    return Job("", "", "", "", "", printable(run.name), none, none.problem, "", "")


def _partitions(path: Path) -> list[Partition]:
    with _reading(path, "is no note of a site's partitions"):
        return [
            Partition(
                name=_text(each, "name"),
                asked=each["asked"] is True,
                features=tuple(_words(name)[:NAME] for name in each["features"]),
                model=_words(each["models"][0])[:NAME] if each["models"] else "",
            )
            for each in read_json(bytes_of(path))["partitions"]
        ]


@contextmanager
def _reading(path: Path, what: str) -> Iterator[None]:
    """Whatever is wrong with a file is one line of BadRecord, which says what it is not."""
    try:
        yield
    except OSError as error:
        raise BadRecord(f"{path}: cannot be read: {error.strerror}") from error
    except BadRecord as error:
        why = str(error).removeprefix(f"{path}: ")
        raise BadRecord(f"{path}: {what} ({why})") from error
    except KeyError as error:
        raise BadRecord(f"{path}: {what} (it has no {error})") from error
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadRecord(f"{path}: {what} (it is not of that form)") from error


def _jobs(path: Path, runs: Path) -> list[Job]:
    if not path.exists():
        return _without_report(path.parent)
    try:
        with _reading(path, "is no report of ReFrame 4.10"):
            report = read_json(bytes_of(path))
            cases = [case for run in report["runs"] for case in run["testcases"]]
            builds = [case for case in cases if _is(case, BUILD)]
            failed = {_place(case): _unbuilt(case, path, runs) for case in builds}
            return [_job(case, failed, path, runs) for case in cases if _is(case, JOB)]
    except BadRecord as error:
        return [_unread(path.parent, str(error))]


def _without_report(run: Path) -> list[Job]:
    """The jobs of a run that goes on, or whose ReFrame died: from the folders that they have."""
    says = "ReFrame did not end, or has not yet"
    known = {each.name: each for each in _noted(run)[0]}
    found = []
    for folder in _begun(run):
        system, partition, environ, test = map(printable, folder.parts[-4:])
        name = f"{system}:{partition}"
        model = known[name].model if name in known and "gpu" in known[name].features else ""
        what = brought(folder / MEASURED, model)
        job = Job(
            place=f"{name}, {environ}",
            test=test,
            model=model,
            node=_node(folder),
            job="",
            run=printable(run.name),
            what=what,
            problem=f"{says}: {what.problem}" if what.problem else "",
            outside="",
            reference="",
            resumed="" if what.problem else says,
        )
        found.append(job)
    return found or [_no_job(run, f"{says}: no job has begun in {run}")]


def _begun(run: Path) -> list[Path]:
    """The folder of each test that has begun. ReFrame makes one in output/ at once, beside that in
    stage/ where the test runs, and fills it at the end."""
    found: dict[tuple[str, ...], Path] = {}
    for place in ("output", "stage"):
        for folder in sorted((run / place).glob(f"*/*/*/{JOB}*")):
            before = found.get(folder.parts[-4:])
            if before is None or not (before / MEASURED / RECORD).is_file():
                found[folder.parts[-4:]] = folder
    return [*found.values()]


def _node(folder: Path) -> str:
    return printable(_beginning(folder / NODE, NAME).partition("\n")[0])


def _beginning(path: Path, most: int) -> str:
    """Of a text file; empty where it cannot be read, or is a pipe, which would keep its reader
    waiting."""
    try:
        if not path.is_file():
            return ""
        with path.open(errors="replace") as file:
            return file.read(most)
    except OSError:
        return ""


def _own(folder: str, path: Path, runs: Path) -> Path | None:
    """A folder of a run, which may have been moved since ReFrame noted where it is. None where that
    is outside of RUNS: a report is a stranger's, and has no say in what else is read."""
    inside = Path(*Path(folder).parts[-5:])  # output or stage, system, partition, environment, test
    moved = path.parent / inside
    there = inside.parts and inside.parts[0] in ("output", "stage") and moved.is_dir()
    found = moved if there else Path(folder)
    return found if found.resolve().is_relative_to(runs.resolve()) else None


def _unbuilt(case: dict[str, Any], path: Path, runs: Path) -> str:
    """Why there is no program: ReFrame knows the exit code; what the compiler said is in files."""
    why, stage = _text(case, "fail_reason"), _text(case, "stagedir")
    folder, last = _own(stage, path, runs) if stage else None, ""
    if not why or not folder:
        return why
    for name in ("rfm_build.err", "rfm_build.out"):
        text = _beginning(folder / name, MOST_BYTES).rstrip()
        if found := re.search(r"^.*(error\b|not found).*$", text, re.IGNORECASE | re.MULTILINE):
            said = printable(text[found.start() :][: 2 * NAME])[:NAME]
            return printable(f"{why}; {folder / name} says: {said}")
        last = last or (text and f"; {folder / name} ends with: {text.splitlines()[-1][:NAME]}")
    return printable(why + last)


def _is(case: dict[str, Any], test: str) -> bool:
    # ReFrame appends parameters, the node and a fixture's place to the name of the class
    return re.match(r"\w+", _text(case, "name"))[0].split("_")[0] == test  # type: ignore[index]


def _text(case: dict[str, Any], name: str) -> str:
    value = case.get(name)
    return _words(",".join(map(str, value)) if isinstance(value, list) else value)


def _words(value: Any) -> str:
    text = "" if value is None else str(value)
    return printable(text[: 4 * MOST_CHARACTERS])[:MOST_CHARACTERS]  # spaces may go


def _place(case: dict[str, Any]) -> str:
    system, partition, environ = (case[name] for name in ("system", "partition", "environ"))
    return _words(f"{system}:{partition}, {environ}")


def _job(case: dict[str, Any], built: dict[str, str], path: Path, runs: Path) -> Job:
    result, phase, why = (_text(case, name) for name in ("result", "fail_phase", "fail_reason"))
    passed = result == "pass"
    # of what failed ReFrame keeps the folder that it ran in; of what never began there is none
    folder = _text(case, "outputdir" if passed else "stagedir")
    none = path.parent / "none"
    test, code = _text(case, "display_name"), _text(case, "hashcode")
    own, model = _own(folder, path, runs) if folder else none, _text(case, "gpu_model")
    what = brought((own or none) / MEASURED, model)
    if own is None:
        outside = printable(f"no record: its folder {folder} is outside of {runs}")
        what = replace(what, problem=outside)
    outside = _outside(case) if phase == "performance" else ""
    problem, resumed = what.problem, ""
    if not passed and not outside:
        why = why.removeprefix("sanity error: ")
        why = " ".join(re.sub(r"--- (stdout|stderr) ---", "", why).split())
        if what.record and not what.problem:
            resumed = f"ReFrame says {why or result}"
        elif phase != "sanity" and what.folder.is_dir():
            problem = f"{what.problem}; ReFrame says {why or result}"
        else:
            # ReFrame quotes the record's own problem, and knows of what there is no record of
            problem = why or built.get(_place(case)) or f"not run: ReFrame says {result}"
    return Job(
        place=_place(case),
        test=test,
        model=model,
        node=_text(case, "node") or _node(own or none),
        job=_text(case, "jobid"),
        run=printable(path.parent.name),
        what=what,
        problem=problem,
        outside=outside,
        reference=_text(case, "reference_is"),
        resumed=resumed,
        code=f"{JOB}_{code}" if code and test != JOB else "",
    )


def _number(value: Any, name: str) -> float:
    # a product of two integers may be too large to be told
    return 0.0 if value is None else float(typed(float, value, f"perfvalues.{name[:NAME]}"))


def _outside(case: dict[str, Any]) -> str:
    """Which figures are not within their references, as ReFrame has decided."""
    found = []
    for name, (*numbers, unit) in ((name, told[:5]) for name, told in case["perfvalues"].items()):
        value, expected, low, high = (_number(each, name) for each in numbers)
        least, most = expected * (1 + low), expected * (1 + high)
        if expected and not least <= value <= most:
            short = _words(name.split(":")[-1])
            own = f"{short} {value:.4g} {_words(unit)}"
            found.append(f"{own}, expected {least:.4g} to {most:.4g}")
    more = f"; and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return "; ".join(found[:NAMED]) + more
