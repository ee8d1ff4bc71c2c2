"""A story says of each step what the record bears out, and nothing that it does not."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from conftest import EXPERIMENTS, REPORTS, texts_of
from recheck_report.claims import BadClaim, load_collection
from recheck_report.claims.measured import Measured
from recheck_report.claims.names import Tables, faults
from recheck_report.claims.story import Story, load, load_stories
from recheck_report.collect.plan import wanted
from recheck_report.record.probes import Probes
from recheck_report.record.read import load as load_record
from recheck_report.record.record import Record
from recheck_report.record.typed import typed
from recheck_report.say.nodes import text
from recheck_report.say.story import tell
from recheck_report.write.svg import Card
from synthetic import (
    MATVEC_SMALL,
    SMALL,
    Json,
    make_matvec,
    make_record,
    make_reduction,
    matching,
    scale,
    spoil,
)

PEAK = EXPERIMENTS / "peak"
EVIDENCE = sorted((REPORTS / "results" / "peak").glob("*/record.json"))
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
  { text = "It goes on." },
  { verdict = "holds", text = "It gains: {gain}." },
  { verdict = "fails", text = "It loses: {gain}." },
  { verdict = "undecided", text = "Nobody knows." },
  { gpu = "NVIDIA H200", text = "Here." },
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


def written(folder: Path, text: str = STEP, experiment: str = "matmul") -> Story:
    path = folder / "own" / experiment / "story.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(TITLE + text, encoding="utf-8")
    return load(path)


@pytest.fixture
def own(loaded: Callable[[Json], Record], tmp_path: Path) -> Callable[..., Measured]:
    """A record with a story, and its probes if there are any."""

    def make(record: Json, text: str = STEP, probes: Json | None = None) -> Measured:
        known = load_collection(EXPERIMENTS)
        experiment = record["experiments"][0]["name"]
        stories = {experiment: written(tmp_path, text, experiment)}
        read = typed(Probes, probes, "") if probes else None
        parsed = loaded(record)
        return Measured(parsed, replace(known, stories=stories).of(parsed), {}, read)

    return make


def faster(factor: float) -> Json:
    """A record whose tile16 is so many times as fast as global16 at the headline."""
    record = make_record(SMALL)
    (base,), (case,) = (matching(record, f"/{row}/{HEAD}") for row in ("global16", "tile16"))
    ratio = base["seconds"]["median"] / case["seconds"]["median"] / factor
    return scale(record, f"/tile16/{HEAD}", ratio)


def test_no_story_without_a_gpu_or_a_file(
    own: Callable[..., Measured], report: Callable[..., str]
) -> None:
    cpu = own(make_record(SMALL, gpu=False))
    assert tell(cpu, cpu.record.experiments[0], text("")) is None
    # our own collection has one of matrix multiplication alone
    assert 'id="step-by-step"' not in report(make_matvec(MATVEC_SMALL))


def drawn(own: Measured) -> Any:
    from recheck_report.charts import charts

    (chart,) = charts(own, own.record.experiments[0], ("story",))
    return chart


def test_the_chart_has_rate_and_gain_of_each_step(own: Callable[..., Measured]) -> None:
    chart = drawn(own(faster(1.5)))
    texts = texts_of(chart.svg)
    heads = {"TFLOP/s", "× before"}
    assert heads | {"the second", "tile16", "cublas_tf32 †"} <= set(texts)
    # a row's numbers stand in the order of the heads
    at = texts.index("5.10")
    assert texts[at : at + 4] == ["5.10", "–", "7.65", "1.50"]
    assert sum(text.endswith("*") and text[0].isdigit() for text in texts) == 1
    note = " ".join(" ".join(text.split()) for text in texts)
    assert "× before: times as fast as the step before; cublas_tf32: over global16." in note
    assert "*: effective" in note
    assert re.match(
        r"At 4096³ tile16 is 1\.50* times as fast as global16 \(2\d\.\d ms\), in IEEE fp32; "
        r"cublas_tf32 † [\d.]+ times$",
        chart.message,
    )
    # what is slower is not called faster
    slow = drawn(own(faster(0.5))).message
    assert slow.startswith("At 4096³ tile16 is slower than global16 (")


def test_scales_are_linear_from_0_and_of_one_arithmetic(own: Callable[..., Measured]) -> None:
    with patch.object(Card, "panel", autospec=True, side_effect=Card.panel) as panel:
        texts = texts_of(drawn(own(faster(1.5))).svg)
    ieee, other = (call.args[1] for call in panel.call_args_list)
    assert all((axis.log, axis.low) == (False, 0) for axis in (ieee, other))
    # 388 TFLOP/s do not shorten the bars of IEEE fp32, whose panel ends right after the limit
    assert 66.9 < ieee.high < 70 < other.high
    assert texts.count("rate (TFLOP/s)") == 2
    assert "Not IEEE fp32, on a scale of their own" in texts


def test_the_chart_with_gaps(own: Callable[..., Measured]) -> None:
    record = spoil(faster(1.5), "/tile16/", "unsupported", "too old")
    chart = drawn(own(record))
    assert "rate (TFLOP/s)" in texts_of(chart.svg)
    assert "No time: tile16." in " ".join(texts_of(chart.svg))
    assert chart.message.startswith("At 4096³ cublas_tf32 † is ")
    # one step is compared with none, and of one arithmetic there is one scale
    alone = drawn(own(spoil(record, "/cublas_tf32/", "failed", "x")))
    assert alone.message.startswith("At 4096³ global16 takes 2")
    assert not any("before" in text or "Not IEEE" in text for text in texts_of(alone.svg))
    record = spoil(record, "/global16/", "failed", "x")
    assert "Not IEEE fp32" in texts_of(drawn(own(record)).svg)
    gone = drawn(own(spoil(record, "/cublas_tf32/", "failed", "x")))
    assert gone.svg is None and gone.why_not == "none of the cases that it shows was measured"


def test_any_experiment_may_have_one_by_data_alone(own: Callable[..., Measured]) -> None:
    text = "".join(
        f'[[step]]\nrow = "{row}"\nidea = "{row}"\ntext = [{{ text = "So." }}]\n'
        for row in ("interleaved", "shuffle", "vector")
    )
    found = own(make_reduction(), text)
    assert "rate (GB/s)" in texts_of(drawn(found).svg)


def test_its_comparisons_are_of_the_family(own: Callable[..., Measured]) -> None:
    none = "".join(STEP.partition('\n[[step]]\nrow = "tile16"')[:1])
    first, whole = (len(own(faster(1.5), text).comparisons.family) for text in (none, STEP))
    # tile16 against global16 at the headline is one of a finding as well, cublas_tf32 of none
    assert whole > first


# the file

BAD = {
    STEP.replace("the last", "x" * 33): "idea must be 1 to 32 letters",
    STEP.replace('row = "tile16"', 'row = "global16"'): "another step of this file has it too",
    STEP.replace('base = "global16"', 'base = "tile8"'): "there is no tile8; there are global16",
    STEP.replace('verdict = "fails"', 'verdict = "fail"'): "verdict must be one of holds",
    STEP.replace("{loads}", "{load}"): "speaks of {load}; there are gain, loads",
    STEP.replace('of = "loads"', 'of = "load"'): "speaks of {load}",
    STEP.replace('key = "loads"', 'key = "gain"').replace("loads}", "gain}"): "or gain",
    STEP.replace('binds = "matmul/tile16/4096x4096x4096/cold"', 'binds = "tile16"'): "no cold case",
    STEP.replace('[{ text = "It ends." }]', "[]"): "text must not be empty",
}


@pytest.mark.parametrize(("text", "why"), BAD.items(), ids=[*BAD.values()])
def test_bad_files_are_one_line(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "x" / "story.toml"
    path.parent.mkdir()
    path.write_text(TITLE * text.startswith("\n") + text, encoding="utf-8")
    with pytest.raises(BadClaim, match=why) as caught:
        load(path)
    assert "story.toml" in str(caught.value) and "\n" not in str(caught.value)


SLIPS = {
    ('row = "tile16"', 'row = "tile17"'): "field row: there is no row matmul/tile17",
    ("binds = \"matmul/tile16", "binds = \"matmul/tile17"): "field binds: there is no row",
    ("of = \"matmul/tile16", "of = \"matmul/tile17"): "field check[0].of: there is no row",
    ("warp_global_loads", "warp_globl_loads"): "there is no counter warp_globl_loads",
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS, ids=[*SLIPS.values()])
def test_names_that_nothing_has_are_refused(
    slip: tuple[str, str], loaded: Callable[[Json], Record], tmp_path: Path
) -> None:
    known, tables = load_collection(EXPERIMENTS), Tables.of(loaded(make_record(SMALL)))

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


def test_what_it_speaks_of_is_collected(tmp_path: Path) -> None:
    known = replace(load_collection(EXPERIMENTS), claims=(), errata=())
    asked = wanted(replace(known, stories={"matmul": written(tmp_path)}))
    assert list(asked.cases) == [f"matmul/tile16/{HEAD}"]


@pytest.mark.parametrize("path", EVIDENCE, ids=lambda path: path.parent.name)
def test_ours_names_rows_of_the_peak_program(path: Path) -> None:
    known = {case.id for case in load_record(path)[0].cases}
    (story,) = load_stories(PEAK).values()
    assert len(story.steps) > 12
    for step in story.steps:
        head = f"matmul/{step.row}/{HEAD}"
        assert head in known and {step.binds or head} <= known


def test_ours_types_in_no_measured_figure() -> None:
    """Ratios, times and rates stand in the places of checks alone."""
    (story,) = load_stories(PEAK).values()
    figure = r"\d (ms|µs|TFLOP/s|GB/s|%|times as)|\d\.\d+ times"
    for step in story.steps:
        for part in step.text:
            assert not re.search(figure, part.text), part.text
