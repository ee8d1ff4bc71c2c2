"""The same algorithm in other words, and sustained load, on the page of an experiment."""

from __future__ import annotations

import pytest
from conftest import Report
from records import Json, copied, h100, matching, probes_of, scale

AT = "1024x1024x1024/cold"
TITLE = "The same algorithm in other words"
# how long each wording takes, compared with the listing, and the shared loads of a trip
WORDS = {
    "a_padded_by_1": (1.28, "A's tile padded by one float", {"trip_shared_loads_4": 32}),
    "a_padded_by_4": (1.0, "by four", {"trip_shared_loads_4": 16, "trip_shared_loads_16": 4}),
    "unroll1": (0.5, "#pragma unroll 1", {"trip_shared_loads_4": 2}),
}


def made() -> tuple[Json, Json]:
    """A record with S1's tile kernel in other words, and its probes."""
    record, probes = h100("audit/", "machine/", "matmul/"), probes_of()
    listing = next(case for case in record["cases"] if case["id"] == f"matmul/s1_kernel_1/{AT}")
    row = next(row for row in record["strategies"] if row["name"] == "s1_kernel_1")
    printed = {"registers": 32, "trip_ffma": 16, **WORDS["a_padded_by_4"][2]}
    probes["counters"][listing["id"]] = {"reason": None, "values": printed}
    for word, (factor, note, loads) in WORDS.items():
        name = f"s1_kernel_1_{word}"
        record["strategies"].append({**copied(row), "name": name, "note": note, "sweep": True})
        record["cases"].append({**copied(listing), "id": f"matmul/{name}/{AT}"})
        record = scale(record, f"/{name}/", factor)
        values = {"registers": 31, "trip_ffma": 1 if word == "unroll1" else 16, **loads}
        probes["counters"][f"matmul/{name}/{AT}"] = {"reason": None, "values": values}
    return record, probes


def section(files: dict[str, bytes]) -> str:
    page = files["matmul.md"].decode()
    return page.partition(f"</a>{TITLE}\n")[2].partition("\n## ")[0]


def line(shown: str, name: str) -> str:
    found = next(line for line in shown.splitlines() if line.startswith(f"| `{name}`"))
    return found.replace("\N{NO-BREAK SPACE}", " ")


def test_a_page_tells_why_a_word_makes_a_listing_slower(report: Report) -> None:
    record, probes = made()
    files = report(record, probes=probes)
    shown = section(files)
    assert "as printed" in line(shown, "s1_kernel_1")
    padded = line(shown, "s1_kernel_1_a_padded_by_1")
    assert "1.2800× slower" in padded and "| 32 × 4 B |" in padded and "| 31 |" in padded
    assert "| 4 × 16 B, 16 × 4 B |" in line(shown, "s1_kernel_1_a_padded_by_4")
    assert "general form" in line(shown, "tile16")
    # loads for as many multiply-adds
    assert "- A's tile padded by one float: 1.2800× slower" in shown
    assert "with 32 shared loads per 16 multiply-adds, not 20" in shown
    assert "#pragma unroll 1: 2.0000× faster" in shown
    assert "- the other changes: within run-to-run noise" in shown
    # the summary leads there
    slower = "[changes of one word](matmul.md#other-words) that slow it down: A's tile padded"
    assert f"{slower} by one float\n" in files["README.md"].decode()
    # a sweep is in no ranking
    assert "unroll1" not in files["README.md"].decode()
    assert files["matmul.md"].decode().count("s1_kernel_1_unroll1") == 1


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
