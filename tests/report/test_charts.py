"""Each chart is complete: units on its axes, every strategy named, every gap explained."""

from __future__ import annotations

import re

import pytest
from synthetic import GPU, SHAPES, make_record, matching, spoil


@pytest.fixture
def draw(save):
    """The charts of a record by kind, each as the list of its texts (matplotlib writes the text
    of every run of glyphs as a comment)."""

    def texts(record: dict) -> dict[str, list[str]]:
        from charts import charts
        from record import load

        parsed, _ = load(save(record))
        drawn = {}
        for chart in charts(parsed, parsed.experiments[0]):
            found = re.findall(r"<!-- (.*?) -->", (chart.svg or b"").decode())
            found = [text.replace("&gt;", ">") for text in found]
            drawn[chart.name.removeprefix("matmul_").removesuffix(".svg")] = found, chart
        return drawn

    return texts


UNITS = {
    "throughput": ["throughput (TFLOP/s, log)", "m = n = k (elements, log)"],
    "ladder": ["speed-up over global16 (×, log; right of 1 is faster)"],
    "cpu_gpu": ["time (s, ms or µs as at each tick, log)", "m = n = k (elements, log)"],
    "block_policy": ["depth (tiles staged at once, count)", "tile (elements)"],
}


def test_axes_have_units_and_titles_say_what_and_which_regime(draw) -> None:
    drawn = draw(make_record())
    assert set(drawn) == set(UNITS)
    for kind, labels in UNITS.items():
        texts, chart = drawn[kind]
        assert set(labels) <= set(texts), kind
        assert texts.count(next(t for t in texts if t.startswith("Matrix multiplication: "))) == 1
        assert any("cold" in text for text in texts), kind
        assert chart.alt.startswith("Matrix multiplication, ")


def test_throughput_names_every_strategy_and_the_limit(draw) -> None:
    texts, _ = draw(make_record())["throughput"]
    assert set(GPU) <= set(texts)
    assert texts.count("cublas") == texts.count("fp32 limit 66.9") == 4
    assert texts.count("not fp32-accurate") == 4


def test_ladder_keeps_unsupported_rows_and_absolute_times(draw) -> None:
    texts, _ = draw(make_record())["ladder"]
    assert set(GPU) <= set(texts)
    reason = "unsupported: needs 524288 B of shared memory per block, the device allows 232448"
    assert reason in texts
    times = [text for text in texts if re.fullmatch(r"[\d.]+ (ms|µs)", text)]
    ratios = [text for text in texts if re.match(r"[\d.]+× \[", text)]
    assert len(ratios) == len(GPU) - 2 and len(times) == len(GPU) - 1


def test_ladder_without_its_base_says_why(draw) -> None:
    record = spoil(make_record(), "/global16/4096x", "failed", "launch timed out")
    texts, chart = draw(record)["ladder"]
    assert texts == [] and chart.svg is None
    assert chart.why_not == "its base, global16 at 4096³: failed: launch timed out"


def test_crossover_is_marked(draw) -> None:
    texts, chart = draw(make_record())["cpu_gpu"]
    assert "1: tile16 end to end overtakes cpu_blas between 512 and 1024" in texts
    assert "1" in texts
    assert "faster than cpu_serial at every size" in chart.caption


def test_block_policy_shows_the_best_and_the_unsupported(draw) -> None:
    texts, _ = draw(make_record())["block_policy"]
    assert {"4096³", "1024³", "±0.25 %", "fastest", "8.99"} <= set(texts)
    record = spoil(make_record(), "/tile32_depth8/4096x", "unsupported", "needs 65536 B")
    texts, _ = draw(record)["block_policy"]
    assert "unsupported:" in texts and "needs 65536 B" in texts


def test_without_gpu_only_the_cpu_chart_is_drawn(draw) -> None:
    drawn = draw(make_record(gpu=False))
    assert [kind for kind, (_, chart) in drawn.items() if chart.svg] == ["cpu_gpu"]
    assert "GPU not measured: no CUDA device" in drawn["cpu_gpu"][0]
    for kind in ("throughput", "ladder", "block_policy"):
        assert drawn[kind][1].why_not.endswith("because no CUDA device")


@pytest.mark.parametrize("shapes", [[(80, 48, 64)], [(256,) * 3], [(1000,) * 3, (4096,) * 3]])
def test_few_shapes_still_render(draw, shapes) -> None:
    for _, chart in draw(make_record(shapes)).values():
        assert chart.svg or chart.why_not


def test_odd_rates_still_render(draw) -> None:
    record = make_record(SHAPES)
    for case in matching(record, "/8192x8192x8192/cold"):
        if case["seconds"]:
            case["seconds"]["low"] /= 50
            case["seconds"]["high"] *= 50
    assert all(chart.svg for _, chart in draw(record).values())


def test_labels_keep_apart_and_inside() -> None:
    from canvas import place

    heights = [10.0, 20.0, 10.0, 10.0]
    centres = place([50.0, 51.0, 49.0, 199.0], heights, 200.0)
    boxes = sorted((c - h / 2, c + h / 2) for c, h in zip(centres, heights, strict=True))
    assert all(a[1] <= b[0] + 1e-9 for a, b in zip(boxes, boxes[1:], strict=False))
    assert boxes[0][0] >= 0 and boxes[-1][1] <= 200
    # order follows the wanted positions, and a free label stays where it wants to be
    assert centres[2] < centres[0] < centres[1] < centres[3]
    assert place([30.0], [10.0], 200.0) == [30.0]


def test_inks_read_on_what_they_stand_on() -> None:
    from canvas import CARD, MUTED, SERIES, ink_on_card, luminance

    for color in [MUTED, *(color for color, _ in SERIES)]:
        contrast = (luminance(CARD) + 0.05) / (luminance(ink_on_card(color)) + 0.05)
        assert contrast >= 4.5, color
