"""Sustained times: the order of rows changes only where both intervals show it."""

from __future__ import annotations

import pytest
from conftest import Report
from records import h100, matching, scale

HEAD = "4096x4096x4096"


@pytest.mark.parametrize(
    ("factor", "said"),
    [(1.0, "order stays"), (0.0, "No longer significant"), (8.0, "order changes")],
)
def test_the_order_changes_only_beyond_both_intervals(
    factor: float, said: str, report: Report
) -> None:
    record = h100(*(f"matmul/{row}/{HEAD}" for row in ("cublas", "tile32_depth8")))
    names = (f"matmul/{row}/{HEAD}/sustained" for row in ("cublas", "tile32_depth8"))
    fast, slow = (matching(record, name)[0]["seconds"]["median"] for name in names)
    record = scale(record, f"matmul/cublas/{HEAD}/sustained", factor or slow / fast)
    assert said in report(record)["matmul.md"].decode()
