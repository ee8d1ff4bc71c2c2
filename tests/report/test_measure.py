"""measure: the claims' cases first, then a report after each phase, even after a failed one."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import EXPERIMENTS, REPORTS
from recheck_report.claims.collection import load_collection
from recheck_report.cli import main
from recheck_report.commands import measure
from recheck_report.record.record import SCHEMA, Experiment, Record

HEADLINES = {"matmul": "4096x4096x4096", "matvec": "8192x8192", "transpose": "8192x8192"}
FLAGS = ("--resume", "--cases", "--recover", "--slow-cpu")
EVIDENCE = REPORTS / "results" / "nvidia-h100-80gb-hbm3"


class World:
    """Replaces the programs: records the calls, and writes the files that each would write."""

    def __init__(self, folder: Path, ends: dict[str, Any]) -> None:
        self.folder, self.ends, self.calls = folder, ends, [""][:0]

    def start(self, words: list[str]) -> Any:
        ours = measure.AGAIN in words
        name = words[words.index(measure.AGAIN) + 1] if ours else "program"
        flags = [each.partition("=")[0] for each in words]
        flags = [each for each in flags if each in FLAGS]
        part = [each.removeprefix("--part=") for each in words if each.startswith("--part=")]
        self.calls.append(" ".join([name, *part, *flags]))
        measured = self.folder / "measured"
        if name == "program" and self.ends.get(self.calls[-1]) == -9:
            (measured / "record.journal.jsonl").touch()
        elif name == "program":
            shutil.copy(EVIDENCE / "record.json", measured)
        if name == "program" and "set aside" in self.ends:
            (measured / "probes.json").unlink()
        if ours and name == "collect":
            (measured / "probes.json").touch()
        if name == "render":
            (self.folder / "report").mkdir(exist_ok=True)
            for page in ("verdicts.json", "README.md"):
                shutil.copy(EVIDENCE / page, self.folder / "report")
        end = self.ends.get(self.calls[-1], 0)
        return Child(end() if callable(end) and end is not KeyboardInterrupt else end)


class Child:
    """Ends with that code, or is interrupted and then ends with 130."""

    def __init__(self, end: Any) -> None:
        self.end, self.returncode = end, None

    def wait(self) -> None:
        if self.end is KeyboardInterrupt:
            self.end = 130
            raise KeyboardInterrupt
        self.returncode = self.end


CLAIMS = ["collect claims", "program --cases", "render"]
WHOLE = [*CLAIMS, "collect rest", "program --resume", "render"]


Measure = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Measure:
    """Measures with these flags, on this many cores, where programs end like this; returns the exit
    code and the calls."""

    def run(*flags: str, cores: int = 2, **ends: Any) -> tuple[int, list[str]]:
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {*range(cores)})
        world = World(tmp_path, {name.replace("_", " "): end for name, end in ends.items()})
        monkeypatch.setattr(subprocess, "Popen", world.start)
        experiments = [Experiment(name, headline=shape) for name, shape in HEADLINES.items()]
        record = Record(SCHEMA, experiments=tuple(experiments))
        monkeypatch.setattr(measure, "environment", lambda *_, **__: record)
        words = ["measure", "recheck", "--measured", str(tmp_path / "measured")]
        words += ["--report", str(tmp_path / "report"), "--experiments", str(EXPERIMENTS), *flags]
        return main(words), world.calls

    return run


def test_claims_come_first_and_each_part_ends_in_a_report(
    measured: Measure, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, calls = measured()
    assert (code, calls) == (0, WHOLE)
    named = (tmp_path / "measured" / "claims.txt").read_text().split()
    known = load_collection(EXPERIMENTS)
    assert named == measure.ids(known, HEADLINES)
    assert {*named} >= {*known.claims[0].check[0].ids, "matmul/tile16/4096x4096x4096/cold"}
    first, *lines, last = capsys.readouterr().out.splitlines()
    assert last == f"report: {tmp_path / 'report' / 'README.md'}"
    assert re.fullmatch(r"Recheck on NVIDIA .*: \d+ of \d+ claims hold; \d+ fail here .*", first)
    assert lines[0].startswith("holds: ") and "C01, C02, " in lines[0]


def test_quick_is_the_first_part(measured: Measure) -> None:
    assert measured("--quick") == (0, CLAIMS)


def test_slow_cpu_rows_are_measured_next_to_the_counters(measured: Measure) -> None:
    slow, rest = "program --cases --slow-cpu", ["program --cases --resume", "render"]
    assert measured("--quick", cores=16) == (0, ["collect claims", slow, *rest])
    assert measured(cores=16)[1][-3:] == WHOLE[-3:]
    # a failure there ends the run, once the counters are there
    code, calls = measured("--quick", cores=16, **{slow: 130})
    assert (code, calls) == (130, ["collect claims", slow, "render"])
    budget = ("--quick", "--flags", "--budget=60")
    assert measured(*budget, cores=16) == (0, CLAIMS)


def test_an_interrupted_run_continues(
    measured: Measure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for asks in (["--flags", "--resume"], ()):  # without an earlier run it starts one
        assert measured(*asks) == (0, WHOLE)
        shutil.rmtree(tmp_path / "measured")
        monkeypatch.setenv(measure.RESUME, "1")
    assert measured() == (0, WHOLE)
    monkeypatch.setenv(measure.RESUME, "0")
    assert measured() == (0, WHOLE)
    monkeypatch.setenv(measure.RESUME, "1")
    # results of another machine are set aside, including counters, so they are collected again
    again = ["collect rest", "program --resume", "collect", "render"]
    assert measured(set_aside=True) == (0, again)
    assert measured() == (0, WHOLE[-3:])
    assert measured("--quick") == (0, ["program --cases --resume", "render"])


@pytest.mark.parametrize("end", [KeyboardInterrupt, 130, 1])
def test_a_part_that_ends_early_still_gives_a_report(
    measured: Measure, capsys: pytest.CaptureFixture[str], end: Any
) -> None:
    code, calls = measured(**{"program --resume": end})
    assert code == (1 if end == 1 else 130) and calls[-2:] == ["program --resume", "render"]
    code, calls = measured(**{"program --cases": end})
    assert code == (1 if end == 1 else 130) and calls == CLAIMS
    assert (
        f"== to continue: run the same command with {measure.RESUME}=1" in capsys.readouterr().err
    )


def test_a_killed_run_gets_a_report_from_its_journal(
    measured: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    code, calls = measured(**{"program --cases": -9})
    assert code == 1
    assert calls == [*CLAIMS[:2], "program --recover", "render"]
    assert "to continue" in capsys.readouterr().err


@pytest.mark.parametrize("often", [1, 2])
def test_a_failed_report_does_not_stop_the_measurement(
    measured: Measure, tmp_path: Path, capsys: pytest.CaptureFixture[str], often: int
) -> None:
    """It does not name a report that is missing or from an earlier run."""
    measured()
    capsys.readouterr()
    ends = [1] * often
    code, calls = measured(render=lambda: ends.pop() if ends else 0)
    assert calls == WHOLE and code == (1 if often == 2 else 0)
    out, err = capsys.readouterr()
    assert ("report: " in out) == (often == 1)
    assert (f"recheck-report render {tmp_path / 'measured'}" in err) == (often == 2)


def test_an_earlier_report_is_not_taken_for_this_run_s(
    measured: Measure, capsys: pytest.CaptureFixture[str]
) -> None:
    measured()
    capsys.readouterr()
    code, calls = measured(collect_claims=KeyboardInterrupt)
    out, err = capsys.readouterr()
    assert (code, calls, out) == (130, ["collect claims"], "")
    assert "nothing was measured" in err and "to continue" not in err
