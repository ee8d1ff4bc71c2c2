"""Why other harnesses give other numbers: the page, and the measuring program."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import EXPERIMENTS, called, one_line, run
from records import GOLDENS, few

MEASURE = EXPERIMENTS / "other_harnesses"
MEASURED = GOLDENS / "h100/input/other_harnesses.json"


@pytest.fixture
def measure(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program that measures, as a module."""
    monkeypatch.syspath_prepend(str(MEASURE))
    return importlib.import_module("measure")


def _measured(**methods: Any) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(MEASURED.read_text())
    document["methods"] |= methods
    return document


def test_missing_methods_have_a_reason_and_support_no_statement(tmp_path: Path) -> None:
    others = ("nvbench_cold", "do_bench", "cupy")
    missing = {"reason": "not measured: no <wheel> | here", "times": {}}
    for methods, says in (({}, 1), (dict.fromkeys(others, missing), 0)):
        (tmp_path / "other_harnesses.json").write_text(json.dumps(_measured(**methods)))
        assert run("harnesses", tmp_path).returncode == 0
        page = (tmp_path / "why_your_number_differs.md").read_text()
        assert page.count("nvbench says") == says
    assert page.count("Not measured: no &lt;wheel&gt; \\| here.") == len(others)


NEGATIVE = {"reason": None, "times": {"copy": [{"median": -1.0, "samples": 9}]}}


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": 2}', '{"schema": 1}', json.dumps(_measured(cold=NEGATIVE))]
)
def test_an_invalid_file_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "other_harnesses.json").write_text(text)
    assert "other_harnesses.json: " in one_line(run("harnesses", tmp_path), 2)


def _csv(*kernels: tuple[str, str]) -> str:
    heading = '"ID","Kernel Name","gpu__time_duration.sum"\n"","","ns"\n'
    return "==PROF== done\n" + heading + "".join(f'"0","{k}","{ns}"\n' for k, ns in kernels)


def test_a_profile_is_cut_at_its_marks(measure: Any) -> None:
    some = [("k", "1,000"), ("k", "500"), ("read_clocks_kernel(int)", "5")] * 30
    known = measure.by_mark(_csv(*some))["library"]
    assert known == {"median": pytest.approx(1.5e-6), "samples": 5}
    with pytest.raises(measure.Missing, match="ncu saw 29 of 30 launches"):
        measure.by_mark(_csv(*some[3:]))


def test_a_file_of_nvbench_gives_medians_and_samples(measure: Any) -> None:
    def said(tag: str, value: object) -> dict[str, Any]:
        data = [{"name": "value", "type": "float64", "value": value}]
        return {"tag": f"nv/{tag}", "data": data}

    cold = [said("cold/time/gpu/mean", "9"), said("cold/time/gpu/median", "5e-05")]
    rest = [said("cold/sample_size", "70"), said("batch/time/gpu/mean", "4e-05"), said("x", None)]
    axis = [{"name": "kernel", "type": "string", "value": "copy"}]
    states: list[dict[str, Any]] = [{"axis_values": axis, "summaries": cold + rest}]
    states.append({"axis_values": [], "summaries": None})  # it was skipped
    assert measure.of_nvbench({"benchmarks": [{"states": states}]}) == {
        "nvbench_cold": {"copy": {"median": 5e-5, "samples": 70}},
        "nvbench_batch": {"copy": {"median": 4e-5, "samples": 1}},
    }


def _recheck(path: Path, record: dict[str, Any]) -> list[str]:
    """The options that measure a program which writes this record."""
    (path / "known.json").write_text(json.dumps(record))
    program = path / "recheck"
    copy = (
        f'case $each in --output=*) cp "{path}/known.json" "${{each#--output=}}/record.json";; esac'
    )
    program.write_text(f"#!/bin/sh\nfor each; do {copy}; done\n")
    program.chmod(0o755)
    return ["--recheck", str(program), "--library", "none", "--ncu", "none"]


def test_unavailable_tools_are_not_measured_and_nothing_fails(
    measure: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = few()
    record["cases"] = [
        {"id": f"{case}/cold", "bytes": 1e8, "seconds": {"median": 5e-5, "samples": 80}}
        for case, _ in measure.KERNELS.values()
    ]
    real = measure.output_of

    def output_of(*words: str, **more: Any) -> str:
        if "venv" in words:  # creating one takes seconds
            raise measure.Missing("no index")
        text: str = real(*words, **more)
        return text

    monkeypatch.setattr(measure, "output_of", output_of)
    monkeypatch.setattr(measure, "FIRST_CALLS", 1)
    monkeypatch.setattr(measure, "TOOLS", {"nvbench": ("no_such_module", "cuda-bench")})
    words = [*_recheck(tmp_path, record), "--output", str(tmp_path / "out")]
    assert called(measure.main, *words).returncode == 0
    assert run("harnesses", tmp_path / "out").returncode == 0
    page = (tmp_path / "out" / "why_your_number_differs.md").read_text()
    lines = {line.split(" | ")[0]: line for line in page.splitlines() if line.startswith("| ")}
    assert "| 50.0 |" in lines["| Recheck, cold"]
    assert "Not measured: this build has no regime drained" in lines["| Recheck, drained"]
    assert "cuda-bench" in lines["| nvbench, cold"] and "be installed" in lines["| nvbench, cold"]
    assert "Not measured: ncu was not found" in lines["| Nsight Compute, defaults"]


def test_without_a_gpu_there_is_nothing_to_compare(measure: Any, tmp_path: Path) -> None:
    record = {"environment": {"gpu": None, "gpu_reason": "no CUDA device"}, "cases": []}
    words = [*_recheck(tmp_path, record), "--output", str(tmp_path / "out")]
    assert "no CUDA device" in one_line(called(measure.main, *words), 1)
    assert not [*(tmp_path / "out").iterdir()]
