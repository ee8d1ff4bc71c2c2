"""Reads the reports of ReFrame's runs: which jobs there were, and what each brought back.

ReFrame's report.json is a file of a stranger's, like a record: what is used of it is checked. Of
its members only those below are read (ReFrame 4.10, its data version 4).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recheck_report.record.read import JOURNAL, RECORD, load
from recheck_report.record.record import Record
from recheck_report.record.typed import BadRecord, bytes_of, printable, read_json

REPORT = "report.json"  # in the folder of a run
PLACES = ("output", "stage")  # where a run has the folders of its tests
NODE = "node"  # the file in which job.sh says where it ran
MEASURED = "measured"  # the folder of a job that recheck writes into
BUILD, JOB = "Build", "Measure"  # the tests of experiments/fleet/suite.py
MOST_CHARACTERS = 600  # of a reason
# the job's script has the program and its flags, and what has to be loaded before
RESUME = "bash rfm_job.sh, or sbatch, in the job's folder goes on behind them"


@dataclass(frozen=True)
class Job:
    """One job that was to measure a GPU, or a CPU."""

    run: str  # the name of its run's folder, which begins with the time
    problem: str  # why there is no whole record; empty where there is
    place: str = ""  # "site:partition, environment"; empty: a run of which there is no job to tell
    test: str = JOB  # with its parameters: of which node, where ReFrame was told to choose
    model: str = ""  # that the site configuration says; empty: a CPU
    node: str = ""
    job: str = ""  # its number
    folder: Path | None = None  # that recheck wrote into
    record: Record | None = None
    remark: str = ""  # what ReFrame says of a job whose record is whole all the same

    @property
    def where(self) -> str:
        named = [self.place, "" if self.test == JOB else self.test, self.job and f"job {self.job}"]
        return ", ".join(filter(None, named))

    @property
    def key(self) -> tuple[str, ...]:
        """The same for the same test of the same place, in every run."""
        return (self.place, self.test) if self.place else (self.run,)


def load_runs(folder: Path) -> list[Job]:
    """The jobs of every run in a folder of runs, or of one run; in order of time. A report that
    cannot be read is one of them too, and hides no other run.

    Raises BadRecord where there is none.
    """
    if not folder.is_dir():
        raise BadRecord(f"{folder}: is no folder; experiments/fleet/run.py makes one of runs")
    every = [folder] if _is_run(folder) else [*filter(_is_run, sorted(folder.iterdir()))]
    jobs = [job for run in every for job in _jobs(run, folder)]
    if not jobs:
        raise BadRecord(f"{folder}: no job was run; experiments/fleet/README.md says how to")
    return jobs


def _is_run(folder: Path) -> bool:
    return any((folder / name).exists() for name in (REPORT, *PLACES))


def _jobs(run: Path, runs: Path) -> list[Job]:
    path, name = run / REPORT, printable(run.name)
    if not path.exists():
        says = "ReFrame did not end, or has not yet; `compare` takes the records of its jobs"
        return [Job(name, f"{printable(str(run))}: {says}")]
    try:
        report = read_json(bytes_of(path))
        cases = [case for each in report["runs"] for case in each["testcases"]]
        failed = {_place(case): _text(case, "fail_reason") for case in cases if _is(case, BUILD)}
        return [_job(case, failed, run, runs) for case in cases if _is(case, JOB)]
    except (BadRecord, OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        why = f"{path}: is no report of ReFrame 4.10 ({type(error).__name__}); move that run away"
        return [Job(name, printable(why))]


def _job(case: dict[str, Any], built: dict[str, str], run: Path, runs: Path) -> Job:
    result, why = _text(case, "result"), _text(case, "fail_reason")
    # of what failed ReFrame keeps the folder that it ran in; of what never began there is none
    own = _inside(_text(case, "outputdir" if result == "pass" else "stagedir"), run, runs)
    model, record, problem = _text(case, "gpu_model"), None, "no record: it has no folder here"
    if own:
        record, problem = brought(own / MEASURED, model)
    said = "" if result == "pass" else f"ReFrame says {why or built.get(_place(case)) or result}"
    return Job(
        run=printable(run.name),
        problem="; ".join(filter(None, [problem, said])) if problem else "",
        place=_place(case),
        test=_text(case, "display_name") or JOB,
        model=model,
        node=_text(case, "node") or (_node(own) if own else ""),
        job=_text(case, "jobid"),
        folder=own / MEASURED if own else None,
        record=record,
        remark=said,
    )


def brought(folder: Path, model: str) -> tuple[Record | None, str]:
    """The record that a job left, and why it is no whole record of the GPU that the job was sent
    to; `model` is empty where it was sent to a CPU."""
    journal = folder / JOURNAL
    if journal.is_file():
        with journal.open("rb") as file:
            cases = sum(b'","status":"' in line and b'"not_run"' not in line for line in file)
        kept = f"{cases} case{'' if cases == 1 else 's'} in {JOURNAL}"
        return None, f"cut off: {kept}; {RESUME}"
    if not (folder / RECORD).is_file():
        return None, "no record: the job left none"
    try:
        record, _ = load(folder)
    except BadRecord as error:
        said = printable(str(error).replace(f"{folder}/", ""))
        return None, f"no record that can be read: {said}"
    gpu = record.environment.gpu
    if model and gpu is None:
        return record, f"sent to {model}, and the job found no GPU: {record.no_gpu_because}"
    if model and gpu and gpu.name != model:
        return record, f"measured on {gpu.name}, and the site configuration says {model}"
    if record.finished is None:
        done = sum(case.status != "not_run" for case in record.cases)
        return record, f"cut off: {done} of {len(record.cases)} cases; {RESUME}"
    return record, ""


def _inside(folder: str, run: Path, runs: Path) -> Path | None:
    """A folder of a run, which may have been moved since ReFrame noted where it is. None where that
    is outside of RUNS: a report is a stranger's, and has no say in what else is read."""
    moved = run / Path(*Path(folder).parts[-5:])  # output, system, partition, environment, test
    found = moved if folder and moved.is_dir() else Path(folder)
    return found if folder and found.resolve().is_relative_to(runs.resolve()) else None


def _node(folder: Path) -> str:
    path = folder / NODE
    return printable(path.read_text(errors="replace")[:200].strip()) if path.is_file() else ""


def _is(case: dict[str, Any], test: str) -> bool:
    # ReFrame appends parameters, the node and a fixture's place to the name of the class
    return re.split(r"\W|_", _text(case, "name"))[0] == test


def _text(case: dict[str, Any], name: str) -> str:
    value = case.get(name)
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return " ".join(printable(text[:MOST_CHARACTERS]).split())


def _place(case: dict[str, Any]) -> str:
    return f"{_text(case, 'system')}:{_text(case, 'partition')}, {_text(case, 'environ')}"
