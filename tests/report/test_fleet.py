"""The results of a fleet's jobs, read from untrusted reports such as ReFrame's."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import run
from records import Json, few, keep, no_gpu

H100, L4 = "NVIDIA H100", "NVIDIA L4"
HASHES = itertools.count(1)
Session = Callable[..., Path]


def _record(gpu: str = H100, **environment: Any) -> Json:
    made = few()
    # each record is from a different GPU
    made["environment"]["gpu"] |= {"name": gpu, "uuid_hash": f"{next(HASHES):016x}"}
    made["environment"] |= environment
    made["finished"] = made["environment"]["started"].replace("T00:00", "T00:03")
    return made


# the journal of a job that was killed after three of four cases
JOURNAL = "{}\n" + "".join(
    f'{{"id":"{name}","status":"{status}"}}\n'
    for name, status in [("a", "not_run"), ("b", "passed"), ("c", "failed"), ("d", "passed")]
)


def _case(partition: str, result: str = "pass", **more: Any) -> Json:
    """The part of ReFrame's report on a test that is read."""
    about: Json = {"name": "Measure", "system": "site", "partition": partition, "environ": "cuda"}
    about |= {"result": result, "fail_reason": None, "jobid": "7", "display_name": "Measure"}
    return {**about, "gpu_model": H100, "node": "n0", **more}


def _left(folder: Path, record: Json | None) -> None:
    """Writes the folder of a job: its record, or only the journal."""
    if record:
        keep(folder / "measured", record)
    else:
        (folder / "measured").mkdir(parents=True)
        (folder / "measured" / "record.journal.jsonl").write_text(JOURNAL)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """Writes a run of these jobs with their records; returns the folder of all runs."""

    def write(name: str, *pairs: tuple[Json, Json | None]) -> Path:
        here = tmp_path / "runs" / name
        cases = []
        for case, record in pairs:
            place = "outputdir" if case["result"] == "pass" else "stagedir"
            folder = here / case["partition"] / case["node"]
            if record:
                _left(folder, record)
            cases.append({place: str(folder), **case})
        here.mkdir(parents=True, exist_ok=True)
        (here / "report.json").write_text(json.dumps({"runs": [{"testcases": cases}]}))
        return tmp_path / "runs"

    return write


def _collect(runs: Path, code: int = 0) -> tuple[str, str]:
    result = run("fleet", runs, "--output", runs.parent / "out")
    assert result.returncode == code, result.stderr
    return (runs.parent / "out" / "README.md").read_text(encoding="utf-8"), result.stderr


def _row(page: str, place: str) -> str:
    (found,) = (line for line in page.split("\n") if line.startswith(f"| {place}"))
    return found


def test_the_newest_whole_record_of_a_place_counts(session: Session) -> None:
    """A later, incomplete record does not replace it, but is reported."""
    session("1", (_case("a", jobid="1"), _record()))
    session("2", (_case("a", jobid="2"), _record()))
    failed = _case(
        "a", "fail", fail_reason="sanity error: no whole record; Slurm says NODE_FAIL", node="n3"
    )
    runs = session("3", (failed, None))
    _left(runs / "3" / "a" / "n3", None)
    page, said = _collect(runs, 3)
    assert "whole; a later record from there counts" in _row(
        page, "site:a, cuda | NVIDIA H100 | n0 | 1"
    )
    assert "| whole | " in _row(page, "site:a, cuda | NVIDIA H100 | n0 | 2 ")
    assert said.startswith(
        "missing: site:a, cuda, job 7: cut off: 3 cases in record.journal.jsonl; "
    )
    assert said.endswith("; ReFrame says sanity error: no whole record; Slurm says NODE_FAIL\n")
    assert "# Recheck: 1 whole record from 3 jobs" in page
    # until a whole one arrives
    page, said = _collect(session("4", (_case("a", jobid="4"), _record())))
    assert said == "" and "Nothing is missing." in page
    assert "a later record from there counts" in _row(page, "site:a, cuda | NVIDIA H100 | n3")


def test_a_record_from_another_gpu_or_without_one_does_not_count(session: Session) -> None:
    none = no_gpu()
    none["finished"] = none["environment"]["started"]
    _, said = _collect(session("1", (_case("a"), _record(L4)), (_case("b"), none)), 3)
    first, second = said.splitlines()
    assert f"measured on {L4}, but the site configuration has {H100}" in first
    assert f"sent to {H100}, but the job found no GPU: " in second


BROKEN = ["", "[]", "{}", '{"runs": 3}', '{"runs": [{"testcases": [7]}]}', "[" * 100_000, None]


@pytest.mark.parametrize("text", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_report_does_not_hide_other_runs(text: str | None, session: Session) -> None:
    """A run with a broken report, or without one, gets a line even if a later run is whole."""
    runs = session("1", (_case("a"), _record()))
    for name in ("0", "2"):
        (runs / name / "stage").mkdir(parents=True)
        if text is not None:
            (runs / name / "report.json").write_text(text)
    page, said = _collect(runs, 3)
    for name, line in zip(("0", "2"), said.splitlines(), strict=True):
        if text is None:
            assert line.startswith(f"missing: {runs / name}: ReFrame has not finished; ")
            continue
        assert line.startswith(
            f"missing: {runs}/{name}/report.json: is not a report of ReFrame 4.10 ("
        )
        assert line.endswith("); move that run away") and len(line) < 400
    assert "# Recheck: 1 whole record from 1 job" in page
    # a single run can still be read
    assert "1 whole record" in _collect(runs / "1")[0]


def test_a_job_that_was_resumed_by_hand_counts(session: Session) -> None:
    """ReFrame's report does not mention the resumed run."""
    why = {"fail_reason": "aborted due to KeyboardInterrupt"}
    runs = session("1", (_case("a", "abort", **why), None))
    _left(runs / "1" / "a" / "n0", None)
    assert "cut off: 3 cases in " in _collect(runs, 3)[1]
    (runs / "1" / "a" / "n0" / "measured" / "record.journal.jsonl").unlink()
    keep(runs / "1" / "a" / "n0" / "measured", _record())
    page, said = _collect(runs)
    assert said == "" and "| whole; ReFrame says aborted due to Keyboard" in page


@pytest.mark.parametrize("place", ["/{outside}", "{runs}/1/../../outside"])
def test_nothing_outside_the_runs_is_read(place: str, session: Session, tmp_path: Path) -> None:
    _left(tmp_path / "outside", _record())
    (tmp_path / "outside" / "node").write_text("secret\n")
    folder = place.format(outside=str(tmp_path / "outside").lstrip("/"), runs=tmp_path / "runs")
    runs = session("1", (_case("a", node="", outputdir=folder), None))
    page, said = _collect(runs, 3)
    assert said == "missing: site:a, cuda, job 7: no record: the job has no folder here\n"
    assert "secret" not in page + said
