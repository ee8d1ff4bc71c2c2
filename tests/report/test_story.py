"""A story has the texts that the record supports, and its file names only what exists."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import EXPERIMENTS, Report, sourced
from recheck_report.claims import BadClaim, load_collection
from recheck_report.claims.names import Tables, faults
from recheck_report.claims.story import Story, load
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
    return load(path)


def faster(factor: float) -> Json:
    """A record whose tile16 is `factor` times faster than global16 at the headline."""
    record = h100("matmul/")
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


# the file

BAD = {
    STEP.replace("the last", "x" * 33): "idea must be 1 to 32 letters",
    STEP.replace('row = "tile16"', 'row = "global16"'): "another step of this file has it too",
    STEP.replace('base = "global16"', 'base = "tile8"'): "unknown tile8; choose from global16",
    STEP.replace('verdict = "fails"', 'verdict = "fail"'): "verdict must be one of holds",
    STEP.replace("{loads}", "{load}"): "refers to {load}; choose from gain, loads",
    STEP.replace('of = "loads"', 'of = "load"'): "refers to {load}",
    STEP.replace('key = "loads"', 'key = "gain"').replace("loads}", "gain}"): "and from gain",
    STEP.replace(
        'binds = "matmul/tile16/4096x4096x4096/cold"', 'binds = "tile16"'
    ): "not a cold case",
    STEP.replace('[{ text = "It ends." }]', "[]"): "text must not be empty",
}


@pytest.mark.parametrize(("text", "why"), BAD.items(), ids=[*BAD.values()])
def test_a_bad_story_is_one_line(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(BadClaim, match=why) as caught:
        written(tmp_path, text)
    assert "story.toml" in str(caught.value) and "\n" not in str(caught.value)


SLIPS = {
    ('row = "tile16"', 'row = "tile17"'): "field row: unknown row matmul/tile17",
    ("binds = \"matmul/tile16", "binds = \"matmul/tile17"): "field binds: unknown row",
    ("of = \"matmul/tile16", "of = \"matmul/tile17"): "field check[0].of: unknown row",
    ("warp_global_loads", "warp_globl_loads"): "unknown counter warp_globl_loads",
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS, ids=[*SLIPS.values()])
def test_an_unknown_name_is_refused(
    slip: tuple[str, str], loaded: Callable[[Json], Record], tmp_path: Path
) -> None:
    known, tables = load_collection(EXPERIMENTS), Tables.from_record(loaded(h100()))

    def said(text: str, *, whole: bool) -> list[str]:
        stories = {"matmul": written(tmp_path, text)}
        return [
            line
            for line in faults(replace(known, stories=stories), replace(tables, whole=whole))
            if "/story.toml" in line
        ]

    assert said(STEP, whole=True) == [] and STEP.count(slip[0]) == 1
    (line,) = said(STEP.replace(*slip), whole=True)
    assert SLIPS[slip] in line and "/matmul/story.toml: step " in line
    # a record may be older than a row, and its report leaves the step out
    of_record = said(STEP.replace(*slip), whole=False)
    assert of_record == ([] if slip[0].startswith("row") else [line])


def test_counters_that_a_story_names_are_collected(tmp_path: Path) -> None:
    known = replace(load_collection(EXPERIMENTS), claims=(), errata=(), listings=())
    asked = wanted(replace(known, stories={"matmul": written(tmp_path)}), {})
    assert list(asked.cases) == [f"matmul/tile16/{HEAD}"]
