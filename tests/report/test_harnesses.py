"""Why other harnesses give other numbers: from a made-up file to the page, and what measures it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import EXPERIMENTS, called, one_line, run
from synthetic import SMALL, keep, make_record

MEASURE = EXPERIMENTS / "other_harnesses"
GPU = "NVIDIA H200"
# microseconds; nvbench is our clock with its flush, 1.3 µs of events, and 0.5 %
COLD, FLUSHED, EVENTS = 43.2, 50.0, 1.3


def _method(*microseconds: float, reason: str | None = None) -> dict[str, Any]:
    processes = [{"median": each * 1e-6, "samples": 100} for each in microseconds]
    return {"reason": reason, "times": {"copy": processes} if processes else {}}


def _document(**methods: dict[str, Any]) -> dict[str, Any]:
    known = {
        "cold": _method(COLD, COLD),
        "read_flush": _method(COLD, 1.002 * COLD),
        "memset_flush": _method(FLUSHED, FLUSHED),
        "nvbench_cold": _method(1.005 * (FLUSHED + EVENTS), 1.005 * (FLUSHED + EVENTS)),
        "cupy": _method(reason="not measured: no <CuPy> | here"),
        "first": _method(270, 540),
    }
    return {
        "schema": 1,
        "environment": {
            "gpu": GPU,
            "dram_bytes_per_second": 4.8e12,
            "event_seconds": EVENTS * 1e-6,
            "versions": {"nvbench": "0.3.0"},
        },
        "kernels": {"copy": {"case": "transpose/copy/4096x4096", "bytes": 1.34e8}},
        "methods": known | methods,
    }


def _page(folder: Path, document: object) -> str:
    (folder / "other_harnesses.json").write_text(json.dumps(document))
    result = run("harnesses", folder)
    assert result.returncode == 0, result.stderr
    return (folder / "why_your_number_differs.md").read_text()


def test_a_page_says_what_the_flush_and_the_events_take(tmp_path: Path) -> None:
    page = _page(tmp_path, _document())
    for fact in (
        "51.6\xa0µs, and Recheck 43.2",
        "6.76\xa0µs",
        "1.30\xa0µs apart",
        "within 0.50 %, so nothing else differs",
    ):
        assert fact in page
    # of two first launches nobody expects the same; 134 MB in 43.2 µs are 65 % of 4.8 TB/s
    assert "They differ by 0.20 % at most" in page and "65\xa0%" in page


def test_what_is_missing_has_its_reason_and_is_no_claim(tmp_path: Path) -> None:
    page = _page(tmp_path, _document(nvbench_cold=_method(reason="not measured: no wheel")))
    assert "*Not measured: no wheel.*" in page and "no &lt;CuPy&gt; \\| here" in page
    assert "agrees with" not in page
    assert "Not measured: not in the file" in page  # as of drained


def test_clocks_that_disagree_and_rates_above_the_pins_are_said(tmp_path: Path) -> None:
    page = _page(tmp_path, _document(nvbench_cold=_method(60.0), hot=_method(20.0)))
    assert "within 17 % (most apart: `copy`)" in page and "nothing else" not in page
    assert "**A time is too short for the memory's pins**: Recheck, hot, `copy`" in page


def test_a_small_table_has_the_methods_that_were_measured(tmp_path: Path) -> None:
    _page(tmp_path, _document())
    lines = run("harnesses", tmp_path, "--short").stdout.splitlines()
    assert (
        lines[0] == "| µs | Recheck cold | nvbench cold |" and lines[2] == "| copy | 43.2 | 51.6 |"
    )


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": 2}', '{"schema": 1}', json.dumps(_document(cold=_method(-1.0)))]
)
def test_a_file_that_is_not_in_form_is_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "other_harnesses.json").write_text(text)
    assert "other_harnesses.json: " in one_line(run("harnesses", tmp_path), 2)


def test_a_report_takes_the_page_of_its_gpu_along(tmp_path: Path) -> None:
    record = make_record(SMALL)
    record["environment"]["gpu"]["name"] = GPU
    keep(tmp_path / "record.json", record)
    for name, has in ((GPU, True), ("NVIDIA L4", False)):
        document = _document()
        document["environment"]["gpu"] = name
        (tmp_path / "other_harnesses.json").write_text(json.dumps(document))
        report = tmp_path / name
        assert run("render", tmp_path, "--output", report).returncode == 0
        linked = "(why_your_number_differs.md)" in (report / "README.md").read_text()
        assert linked == has == (report / "other_harnesses.json").exists()


# a package that fails, a profiler's output that is cut off, and our own program without a GPU
def test_what_cannot_measure_says_why(tmp_path: Path) -> None:
    sys.path.insert(0, str(MEASURE))
    try:
        import measure
    finally:
        sys.path.remove(str(MEASURE))
    with pytest.raises(measure.Missing, match="exit code 3: no wheel"):
        measure.output_of(sys.executable, "-c", "print('no wheel'); exit(3)")
    with pytest.raises(measure.Missing, match="ncu saw 1 of 30 launches"):
        measure.by_mark(_csv(("k", "1,000"), ("recheck_read_clocks_kernel", "5")))
    some = [("k", "1,000"), ("k", "500"), ("recheck_read_clocks_kernel(int)", "5")] * 30
    assert measure.by_mark(_csv(*some))["library"] == {
        "median": pytest.approx(1.5e-6),
        "samples": 5,
    }
    record = {"environment": {"gpu": None, "gpu_reason": "no CUDA device"}, "cases": []}
    recheck = tmp_path / "recheck"
    recheck.write_text(
        f"#!/bin/sh\nfor each; do case $each in --output=*) echo '{json.dumps(record)}' "
        '>"${each#--output=}/record.json";; esac; done\n'
    )
    recheck.chmod(0o755)
    out = tmp_path / "out"
    words = ["--recheck", str(recheck), "--library", "none", "--output", str(out)]
    assert "no CUDA device" in one_line(called(measure.main, *words), 1)
    assert not [*out.iterdir()]


def _csv(*kernels: tuple[str, str]) -> str:
    heading = '"ID","Kernel Name","gpu__time_duration.sum"\n"","","ns"\n'
    return "==PROF== done\n" + heading + "".join(f'"0","{k}","{ns}"\n' for k, ns in kernels)
