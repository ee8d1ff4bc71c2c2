"""What binds a case is what was counted of it; what was not counted says why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from recheck_report.record.probes import Probes
from recheck_report.record.read import load
from recheck_report.record.typed import typed
from recheck_report.say.bottlenecks import UNITS, busy
from synthetic import SMALL, Json, make_record
from synthetic_claims import make_probes

FAST = "matmul/tile16/4096x4096x4096/cold"


def test_units_are_counters_that_are_collected() -> None:
    from recheck_report.record.counters import COUNTERS

    assert {*UNITS, "shared_wavefronts", "shared_bank_conflicts"} <= set(COUNTERS)


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
    more = {"shared_wavefronts": 1000.0, "shared_bank_conflicts": 25.0}
    text, why = _said(save, {**values, **more})
    assert why == ""
    assert text == (
        "is limited by **issue slots**, 93.6 % busy; then FMA pipes 83.2 %, DRAM 4.04 %; "
        "2.5 % of the shared-memory cycles are bank conflicts"
    )
    assert _said(save, {**values, "dram_percent": 95.0})[0].startswith(
        "is limited by **DRAM**, 95.0 % busy"
    )
    # what is half idle limits nothing
    assert _said(save, {"issue_percent": 20.0, "dram_percent": 50.0})[0] == (
        "is limited by no unit: the busiest is **DRAM**, 50.0 %; then issue slots 20.0 %"
    )
    assert _said(save, {"issue_percent": 0.1})[0] == "keeps no unit busy"


def test_what_was_not_counted_says_why(save: Callable[..., Path]) -> None:
    assert _said(save, {}, reason="not measured: ncu | was <not> found")[1] == (
        "ncu \\| was &lt;not&gt; found"
    )
    assert _said(save, {"launches": 1.0}) == ("", "this Nsight Compute has none of the counters")
    probes, record = _probes({"issue_percent": 50.0})
    loaded, _ = load(save(record))
    assert busy(None, loaded, FAST)[1] == "there is no `probes.json` beside the record"
    assert busy(probes, loaded, "matmul/tile16/64x64x64/cold")[1] == (
        "its counters were not collected"
    )
    record["environment"]["driver"] = "another"
    assert "driver" in busy(probes, load(save(record))[0], FAST)[1]
