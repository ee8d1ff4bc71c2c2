"""Reads the reports of ReFrame's runs: the jobs and their records.

report.json may come from a stranger, so values are checked. It has the form of ReFrame 4.10, data
version 4.
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
PLACES = ("output", "stage")  # the folders of tests in a run
NODE = "node"  # the file with the node's name, from job.sh
MEASURED = "measured"  # the folder that recheck writes into, in a job's folder
BUILD, JOB = "Build", "Measure"  # the tests of experiments/fleet/suite.py
MOST_CHARACTERS = 600  # of a reason
RESUME = "bash rfm_job.sh, or sbatch, in the job's folder continues"


@dataclass(frozen=True)
class Job:
    """One job that was to measure a GPU, or a CPU."""

    run: str  # the name of its run's folder, which begins with the time
    problem: str  # why it has no whole record; empty if it has one
    place: str = ""  # "site:partition, environment"; empty: a run without jobs
    test: str = JOB  # with parameters, such as the node that ReFrame chose
    model: str = ""  # of the GPU in the site configuration; empty: a CPU
    node: str = ""
    job: str = ""  # its number
    folder: Path | None = None  # with the record
    record: Record | None = None
    remark: str = ""  # ReFrame's error for a job that has a whole record

    @property
    def where(self) -> str:
        named = [self.place, "" if self.test == JOB else self.test, self.job and f"job {self.job}"]
        return ", ".join(filter(None, named))

    @property
    def key(self) -> tuple[str, ...]:
        """Equal for all runs of a test at a place."""
        return (self.place, self.test) if self.place else (self.run,)


def load_runs(folder: Path) -> list[Job]:
    """The jobs of every run in a folder, or of one run, in order of time. An unreadable report
    counts as a job. Raises BadRecord if no jobs are found."""
    if not folder.is_dir():
        raise BadRecord(f"{folder}: is not a folder; the target fleet_run makes one of runs")
    every = [folder] if _is_run(folder) else [*filter(_is_run, sorted(folder.iterdir()))]
    jobs = [job for run in every for job in _jobs(run, folder)]
    if not jobs:
        how = "experiments/fleet/README.md explains how to run some"
        raise BadRecord(f"{folder}: no job ran; {how}")
    return jobs


def _is_run(folder: Path) -> bool:
    return any((folder / name).exists() for name in (REPORT, *PLACES))


def _jobs(run: Path, runs: Path) -> list[Job]:
    path, name = run / REPORT, printable(run.name)
    if not path.exists():
        says = "ReFrame has not finished; `compare` can read the records of its jobs"
        return [Job(name, f"{printable(str(run))}: {says}")]
    try:
        report = read_json(bytes_of(path))
        cases = [case for testrun in report["runs"] for case in testrun["testcases"]]
        failed = {_place(case): _text(case, "fail_reason") for case in cases if _is(case, BUILD)}
        return [_job(case, failed, run, runs) for case in cases if _is(case, JOB)]
    except (BadRecord, LookupError, TypeError, ValueError, AttributeError) as error:
        why = f"is not a report of ReFrame 4.10 ({type(error).__name__}); move that run away"
        return [Job(name, printable(f"{path}: {why}"))]


def _job(case: dict[str, Any], built: dict[str, str], run: Path, runs: Path) -> Job:
    result, why = _text(case, "result"), _text(case, "fail_reason")
    # ReFrame keeps the stage folder of failed jobs; jobs that never started have none
    folder = _inside(_text(case, "outputdir" if result == "pass" else "stagedir"), run, runs)
    model, record, problem = _text(case, "gpu_model"), None, "no record: the job has no folder here"
    if folder:
        record, problem = read_record(folder / MEASURED, model)
    node = _text(case, "node")
    if folder and not node and (folder / NODE).is_file():
        node = printable((folder / NODE).read_text(errors="replace")[:200])
    said = "" if result == "pass" else f"ReFrame says {why or built.get(_place(case)) or result}"
    return Job(
        run=printable(run.name),
        problem="; ".join(filter(None, [problem, said])) if problem else "",
        place=_place(case),
        test=_text(case, "display_name") or JOB,
        model=model,
        node=node,
        job=_text(case, "jobid"),
        folder=folder / MEASURED if folder else None,
        record=record,
        remark=said,
    )


def read_record(folder: Path, model: str) -> tuple[Record | None, str]:
    """A job's record, and why it is not a whole record of the GPU model of the site configuration;
    `model` is empty for a CPU."""
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
        return None, f"unreadable record: {said}"
    gpu = record.environment.gpu
    if model and gpu is None:
        return record, f"sent to {model}, but the job found no GPU: {record.no_gpu_because}"
    if model and gpu and gpu.name != model:
        return record, f"measured on {gpu.name}, but the site configuration has {model}"
    if record.finished is None:
        done = sum(case.status != "not_run" for case in record.cases)
        return record, f"cut off: {done} of {len(record.cases)} cases; {RESUME}"
    return record, ""


def _inside(folder: str, run: Path, runs: Path) -> Path | None:
    """A job's folder, also after the run was moved. None outside RUNS: an untrusted report
    must not choose which files are read."""
    moved = run / Path(*Path(folder).parts[-5:])  # output, system, partition, environment, test
    path = moved if folder and moved.is_dir() else Path(folder)
    return path if folder and path.resolve().is_relative_to(runs.resolve()) else None


def _is(case: dict[str, Any], test: str) -> bool:
    # ReFrame appends parameters, the node and a fixture's place to the name of the class
    return re.split(r"\W|_", _text(case, "name"))[0] == test


def _text(case: dict[str, Any], name: str) -> str:
    value = case.get(name)
    text = ",".join(map(str, value)) if isinstance(value, list) else str(value or "")
    return printable(text[:MOST_CHARACTERS])


def _place(case: dict[str, Any]) -> str:
    return f"{_text(case, 'system')}:{_text(case, 'partition')}, {_text(case, 'environ')}"
