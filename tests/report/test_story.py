"""A story has the texts that the record supports, and its file names only what exists."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, Report, sourced
from recheck_report.claims.collection import Story, load_collection, load_story
from recheck_report.claims.names import Tables
from recheck_report.collect.plan import wanted
from recheck_report.record.record import Record
from records import Json, h100, matching, scale, spoil, without

HEAD = "4096x4096x4096/cold"
STEP = """
[[step]]
row = "global16"
idea = "the first"
text = [{ text = "It begins." }]

[[step]]
row = "tile16"
idea = "the second"
text = [
  { text = "It continues." },
  { verdict = "holds", text = "It gains: {gain}." },
  { verdict = "fails", text = "It loses: {gain}." },
  { verdict = "undecided", text = "It is unclear." },
  { gpu = "NVIDIA H100 80GB HBM3", text = "Here." },
  { gpu = "NVIDIA A100", text = "There." },
  { of = "loads", verdict = "holds", text = "Its loads: {loads}." },
]
binds = "matmul/tile16/4096x4096x4096/cold"

[[step.check]]
form = "count"
key = "loads"
of = "matmul/tile16/4096x4096x4096/cold"
expression = "warp_global_loads"
at_least = 1

[[step]]
row = "cublas_tf32"
base = "global16"
idea = "the last"
effective = "half of the work"
text = [{ text = "It ends." }]
"""
TITLE = 'title = "A story"\n'


def written(folder: Path, text: str = STEP) -> Story:
    path = folder / "own" / "matmul" / "story.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TITLE + text, encoding="utf-8")
    return load_story(path)


def faster(factor: float) -> Json:
    """A record whose tile16 is `factor` times faster than global16 at the headline."""
    record = h100(*(f"matmul/{row}/4096x" for row in ("global16", "tile16", "cublas_tf32")))
    (base,), (case,) = (matching(record, f"/{row}/{HEAD}") for row in ("global16", "tile16"))
    case |= {name: base[name] for name in ("samples", "blocks", "clocks", "seconds")}
    return scale(record, f"/tile16/{HEAD}", 1 / factor)


@pytest.fixture
def told(report: Report, tmp_path: Path) -> Callable[[Json], str]:
    """The step of tile16 on the page of matrix multiplication."""

    def tell(record: Json) -> str:
        written(tmp_path)
        files = report(record, "--experiments", sourced(tmp_path / "own", "S0", "S1", "S2"))
        return files["matmul.md"].decode().split('id="step-tile16"')[1].split("\n#")[0]

    return tell


def test_texts_are_those_of_the_verdict_and_the_gpu(told: Callable[[Json], str]) -> None:
    assert re.search(r" It continues\. It gains: 1\.50.*× faster .*\. Here\.\n", told(faster(1.5)))
    assert re.search(r" It continues\. It loses: 2\.0.*× slower .*\. Here\.\n", told(faster(0.5)))
    assert " It continues. It is unclear. Here.\n" in told(faster(1.0))
    # a gain needs a time of both rows
    for gone in (without(faster(1.5), "/global16/"), spoil(faster(1.5), "/tile16/", "failed", "x")):
        assert " It continues. Here.\n" in told(gone)
    record = faster(1.5)
    record["environment"]["gpu"]["name"] = "NVIDIA A100"
    assert " There.\n" in told(record)


def test_a_step_whose_row_an_older_record_lacks_is_left_out(
    loaded: Callable[[Json], Record], tmp_path: Path
) -> None:
    rows = Tables.from_record(loaded(h100())).rows
    story = written(tmp_path, STEP.replace("tile16", "tile17")).with_rows(rows)
    assert [step.row for step in story.steps] == ["global16", "cublas_tf32"]


def test_counters_that_a_story_names_are_collected(tmp_path: Path) -> None:
    known = replace(load_collection(EXPERIMENTS), claims=(), errata=(), listings=())
    asked = wanted(replace(known, stories={"matmul": written(tmp_path)}), {})
    assert list(asked.cases) == [f"matmul/tile16/{HEAD}"]
