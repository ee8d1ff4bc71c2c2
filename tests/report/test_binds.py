"""What binds a case is what was counted of it; what was not counted says why."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import EXPERIMENTS
from recheck_report.commands import lint
from recheck_report.model.probes import Probes
from recheck_report.model.record import load, typed
from recheck_report.sections.bottlenecks import CASE, UNITS, bound_cases, busy
from recheck_report.sections.findings import findings
from recheck_report.sections.findings.sentences import Line
from synthetic import SMALL, Json, make_record, matching, scale, set_time
from synthetic_claims import make_probes, measured

FAST, HEAD = "matmul/best/4096x4096x4096/cold", "4096x4096x4096"


def test_every_case_exists() -> None:
    program = os.environ.get("RECHECK")
    if not program:
        pytest.skip("RECHECK does not say which program to ask")
    listed = subprocess.run(
        [program, "--benchmark_list_tests"], capture_output=True, text=True, check=True
    ).stdout
    known = {line.split("/iterations:")[0] for line in listed.split("\n")}
    assert bound_cases(EXPERIMENTS) and set(bound_cases(EXPERIMENTS)) <= known


def test_units_are_counters_that_are_collected() -> None:
    from recheck_report.claims.load import COUNTERS

    assert {*UNITS, "sm_hertz", "shared_wavefronts", "shared_bank_conflicts"} <= set(COUNTERS)


BAD = {
    "cases = [": "is no TOML",
    "cases = 1": "must be a list",
    "cases = []\nmore = 1": "the only field",
    'cases = ["matvec/read/8192x8192/cold"]': "is no cold case of this experiment",
    'cases = ["matmul/tile16/64x64x64/hot"]': "is no cold case",
    "cases = [1]": "1 is no cold case",
}


@pytest.mark.parametrize(("text", "why"), BAD.items())
def test_bad_files_are_one_line(text: str, why: str, tmp_path: Path) -> None:
    from recheck_report.model.record import BadRecord

    (tmp_path / "matmul").mkdir()
    (tmp_path / "matmul" / "binds.toml").write_text(text)
    with pytest.raises(BadRecord, match=why) as caught:
        bound_cases(tmp_path)
    assert "binds.toml" in str(caught.value) and "\n" not in str(caught.value)


def _probes(values: dict[str, float], **more: Any) -> tuple[Probes, Json]:
    """Probes of one case, and the record that they belong to."""
    record = make_record(SMALL)
    probes = make_probes(record)
    probes["counters"] = {FAST: {"reason": None, "values": values, **more}}
    return typed(Probes, probes, ""), record


def _said(save: Callable[..., Path], values: dict[str, float], **more: Any) -> tuple[str, str]:
    probes, record = _probes(values, **more)
    return busy(probes, load(save(record))[0], FAST)


def test_the_busiest_unit_comes_first(save: Callable[..., Path]) -> None:
    values = {"issue_percent": 93.6, "fma_percent": 83.2, "dram_percent": 4.04, "l2_percent": 0.1}
    more = {"shared_wavefronts": 1000.0, "shared_bank_conflicts": 25.0, "sm_hertz": 1.65e9}
    text, why = _said(save, {**values, **more})
    assert why == ""
    assert text == (
        "busiest are **issue slots 93.6 %**, then FMA pipes 83.2 %, DRAM 4.04 %; "
        "2.5 % of shared memory's cycles are bank conflicts; SM clock 1.65 GHz under the profiler"
    )
    assert _said(save, {**values, "dram_percent": 95.0})[0].startswith(
        "busiest are **DRAM 95.0 %**"
    )


def test_what_was_not_counted_says_why(save: Callable[..., Path]) -> None:
    assert _said(save, {}, reason="not measured: ncu | was <not> found")[1] == (
        "ncu \\| was &lt;not&gt; found"
    )
    assert _said(save, {"launches": 1.0}) == ("", "this Nsight Compute has none of the counters")
    probes, record = _probes({"issue_percent": 50.0})
    loaded, _ = load(save(record))
    assert busy(None, loaded, FAST)[1] == "there is no `probes.json` beside the record"
    assert busy(probes, loaded, "matmul/tile16/64x64x64/cold")[1] == (
        "nobody counted anything there"
    )
    record["environment"]["driver"] = "another"
    assert "driver" in busy(probes, load(save(record))[0], FAST)[1]


# the row that picks a rung for each shape


def _with_best(factors: dict[str, float]) -> dict[str, Any]:
    """A record whose tile32 is `best`: by shape, how many times as fast as cuBLAS."""
    text = json.dumps(make_record(SMALL)).replace("/tile32/", "/best/")
    record: Json = json.loads(text.replace('"strategy": "tile32"', '"strategy": "best"'))
    for case in matching(record, "/best/"):
        case["source"] = {"document": "Recheck", "place": "whichever was fastest", "algorithm": ""}
    for shape, factor in factors.items():
        base = next(c for c in matching(record, f"/cublas/{shape}/") if c["regime"] == "cold")
        median = base["seconds"]["median"]
        own = next(c for c in matching(record, f"/best/{shape}/") if c["regime"] == "cold")
        set_time(own, median / factor, 0.999 * median / factor, 1.001 * median / factor)
    return record


def _findings(save: Callable[..., Path], record: dict[str, Any]) -> dict[str, tuple[Line, ...]]:
    parsed, _ = load(save(record))
    return {f.title: f.lines for f in findings(measured(parsed), parsed.experiments[0])}


def test_dispatch_is_held_against_the_library_at_every_shape(save: Callable[..., Path]) -> None:
    title = "One function for every shape, `best`, against the library"
    shapes = ["x".join(map(str, shape)) for shape in SMALL]
    found = _findings(save, _with_best(dict.fromkeys(shapes, 2.0)))
    (line,) = found[title]
    assert line.text.endswith(f"is faster at {len(SMALL)}.")
    found = _findings(save, _with_best({**dict.fromkeys(shapes, 2.0), shapes[-1]: 0.5}))
    (line,) = found[title]
    assert f"is faster at {len(SMALL) - 1}, slower at 1: slower at " in line.text
    assert "0.500×" in line.text or "0.50×" in line.text
    assert title not in _findings(save, make_record(SMALL))


def test_a_report_of_it_keeps_the_rules(
    save: Callable[..., Path], report: Callable[..., str], tmp_path: Path
) -> None:
    fast = dict.fromkeys(("x".join(map(str, shape)) for shape in SMALL), 2.0)
    record = _with_best({**fast, HEAD: 0.5})
    probes = make_probes(record)
    said = {"reason": None, "values": {"issue_percent": 93.6, "dram_percent": 4.0}}
    probes["counters"] |= dict.fromkeys(bound_cases(EXPERIMENTS), said)
    save(probes, "probes.json")
    assert "slower at 4096³ (0.5" in report(record, drawn=True)
    assert not any(lint.lint(lint.load(tmp_path / "report")).values())


def test_the_row_that_dispatches_is_no_rung_of_its_own(save: Callable[..., Path]) -> None:
    record = _with_best({HEAD: 2.0})
    record = scale(record, "/tile16/", 1.0)
    for case in matching(record, "/tile16/"):
        case["source"] = {"document": "Recheck", "place": "a rung", "algorithm": ""}
    lines = _findings(save, record)["Beyond the documents, IEEE fp32 on CUDA cores"]
    said = " ".join(line.text for line in lines)
    assert "`tile16`" in said and "`best`" not in said


def test_cases_are_of_one_form() -> None:
    assert all(CASE.fullmatch(case) for case in bound_cases(EXPERIMENTS))
