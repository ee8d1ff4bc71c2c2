"""Each chart is complete: units on its axes, every strategy named, every gap explained."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable, Iterator, Mapping

import pytest
from conftest import texts_of
from recheck_report.charts import Chart
from recheck_report.model.record import Record
from synthetic import (
    GPU,
    MATVEC_SMALL,
    SHAPES,
    Json,
    make_audit,
    make_matvec,
    make_memory,
    make_record,
    make_transpose,
    matching,
    spoil,
)
from synthetic_claims import measured


class Drawn(Mapping[str, tuple[list[str], Chart]]):
    """The charts of one experiment by kind, each drawn when a test first looks at it: the list of
    its texts, and the chart. `known`: those that were drawn of an equal record."""

    def __init__(self, record: Record, name: str, known: dict[str, Chart]) -> None:
        self.record, self.known = record, known
        self.experiment = next(each for each in record.experiments if each.name == name)

    def __iter__(self) -> Iterator[str]:
        from recheck_report.charts import plan

        return iter(plan(self.experiment))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __getitem__(self, kind: str) -> tuple[list[str], Chart]:
        from recheck_report.charts import charts

        if kind not in self.known:
            (self.known[kind],) = charts(measured(self.record), self.experiment, kinds=(kind,))
        chart = self.known[kind]
        assert chart.name == f"{self.experiment.name}_{kind}.svg"
        return texts_of(chart.svg), chart


Draw = Callable[..., Drawn]


@pytest.fixture(scope="module")
def draw(loaded: Callable[[Json], Record]) -> Draw:
    known: dict[tuple[bytes, str], dict[str, Chart]] = {}

    def texts(record: Json, name: str = "matmul") -> Drawn:
        return Drawn(loaded(record), name, known.setdefault((pickle.dumps(record), name), {}))

    return texts


UNITS = {
    "throughput": ["throughput (TFLOP/s, log)", "m = n = k (elements, log)"],
    "ladder": ["speed-up over global16 (×, log; right of 1 is faster)"],
    "cpu_gpu": ["time (s, ms or µs as at each tick, log)", "m = n = k (elements, log)"],
    "block_policy": ["depth (tiles staged at once, count)", "tile (elements)"],
}


def test_axes_have_units_and_titles_say_what_and_which_regime(draw: Draw) -> None:
    drawn = draw(make_record())
    assert set(drawn) == set(UNITS)
    for kind, labels in UNITS.items():
        texts, chart = drawn[kind]
        assert set(labels) <= set(texts), kind
        assert texts.count(next(t for t in texts if t.startswith("Matrix multiplication: "))) == 1
        assert any("cold" in text for text in texts), kind
        assert chart.alt.startswith("Matrix multiplication, ")


def test_throughput_names_every_strategy_and_the_limit(draw: Draw) -> None:
    texts, _ = draw(make_record())["throughput"]
    assert set(GPU) <= set(texts)
    assert texts.count("cublas") == texts.count("fp32 limit 66.9") == 4
    assert texts.count("not fp32-accurate") == 4


def test_ladder_keeps_unsupported_rows_and_absolute_times(draw: Draw) -> None:
    texts, _ = draw(make_record())["ladder"]
    assert set(GPU) <= set(texts)
    reason = "unsupported: needs 524288 B of shared memory per block, the device allows 232448"
    assert reason in texts
    times = [text for text in texts if re.fullmatch(r"[\d.]+ (ms|µs)", text)]
    ratios = [text for text in texts if re.match(r"[\d.]+× \[", text)]
    assert len(ratios) == len(GPU) - 3 and len(times) == len(GPU) - 2


def test_ladder_without_its_base_says_why(draw: Draw) -> None:
    record = spoil(make_record(), "/global16/4096x", "failed", "launch timed out")
    texts, chart = draw(record)["ladder"]
    assert texts == [] and chart.svg is None
    assert chart.why_not == "its base, global16 at 4096³: failed: launch timed out"


def test_crossover_is_marked(draw: Draw) -> None:
    texts, chart = draw(make_record())["cpu_gpu"]
    assert "1: tile16 end to end overtakes cpu_blas between 512 and 1024" in texts
    assert "1" in texts
    assert "faster than cpu_serial at every size" in chart.caption


def test_block_policy_shows_the_best_and_the_unsupported(draw: Draw) -> None:
    texts, _ = draw(make_record())["block_policy"]
    assert {"4096³", "1024³", "±0.25 %", "fastest", "8.99"} <= set(texts)
    record = spoil(make_record(), "/tile32_depth8/4096x", "unsupported", "needs 65536 B")
    texts, _ = draw(record)["block_policy"]
    assert "unsupported:" in texts and "needs 65536 B" in texts


def test_block_policies_are_the_documents_tiles_alone(draw: Draw) -> None:
    """What lies beyond them may have a tile and a depth as well: of k, not tiles staged at once."""
    record = make_record()
    for case in matching(record, "/tile32"):
        case["source"] = {**case["source"], "document": "Recheck"}
    drawn = draw(record)
    assert "32 × 32" not in drawn["block_policy"][0] and "16 × 16" in drawn["block_policy"][0]
    panels = set(drawn["throughput"][0])
    assert "Beyond the documents" in panels and "32 × 32 tiles, by depth" not in panels


def test_without_gpu_only_the_cpu_chart_is_drawn(draw: Draw) -> None:
    drawn = draw(make_record(gpu=False))
    assert [kind for kind, (_, chart) in drawn.items() if chart.svg] == ["cpu_gpu"]
    assert "GPU not measured: no CUDA device" in drawn["cpu_gpu"][0]
    for kind in ("throughput", "ladder", "block_policy"):
        assert drawn[kind][1].why_not.endswith("because no CUDA device")


@pytest.mark.parametrize("shapes", [[(80, 48, 64)], [(256,) * 3], [(1000,) * 3, (4096,) * 3]])
def test_few_shapes_still_render(draw: Draw, shapes: list[tuple[int, ...]]) -> None:
    for _, chart in draw(make_record(shapes)).values():
        assert chart.svg or chart.why_not


def test_odd_rates_still_render(draw: Draw) -> None:
    record = make_record(SHAPES)
    for case in matching(record, "/8192x8192x8192/cold"):
        if case["seconds"]:
            case["seconds"]["low"] /= 50
            case["seconds"]["high"] *= 50
    assert all(chart.svg for _, chart in draw(record).values())


S3_UNITS = {
    "matvec": {
        "ladder": ["speed-up over naive (×, log; right of 1 is faster)"],
        "then": ["time (s, ms or µs as at each tick, log; left is faster)"],
        "rows_blocks": ["rows (count)", "threads per block (count)"],
        "unroll": ["throughput (GB/s, log)", "steps of the loop unrolled (count, log)"],
    },
    "transpose": {
        "ladder": ["speed-up over naive (×, log; right of 1 is faster)"],
        "of_copy": ["share of the throughput of sdk_copy (%, right is faster)"],
        "loops": ["throughput (GB/s)"],
        "throughput": ["throughput (GB/s, log)", "rows = columns (elements, log)"],
    },
}
MAKERS = {"matvec": make_matvec, "transpose": make_transpose}


@pytest.mark.parametrize("name", S3_UNITS)
def test_charts_of_s3_have_units_and_titles(draw: Draw, name: str) -> None:
    drawn = draw(MAKERS[name](), name)
    assert list(drawn) == list(S3_UNITS[name])
    for kind, labels in S3_UNITS[name].items():
        texts, chart = drawn[kind]
        assert set(labels) <= set(texts), kind
        assert any("cold" in text for text in texts), kind
        assert chart.alt and chart.svg


def test_ladder_has_no_sweep_and_no_part_and_sets_the_roof_apart(draw: Draw) -> None:
    texts, _ = draw(make_matvec(), "matvec")["ladder"]
    assert {"naive", "shared", "cublas_column_major", "read"} <= set(texts)
    assert not [text for text in texts if re.search(r"_(block|unroll|chunk)\d", text)]
    assert "constant_copy" not in texts
    names = [text for text in texts if text in ("naive", "warp_per_row", "cublas", "read")]
    assert names[-1] == "read" and any(text.startswith("‡ another problem") for text in texts)
    ratio = next(text for text in texts if text.startswith("5.82"))
    assert ratio.endswith("‡")


def test_then_names_both_machines_and_what_is_lost(draw: Draw) -> None:
    texts, chart = draw(make_matvec(), "matvec")["then"]
    assert any("GeForce GTX 295" in text and "Intel Xeon 5405" in text for text in texts)
    assert "dots, here: NVIDIA H200, Intel(R) Xeon(R) Processor" in texts
    assert {"2.62 ms", "104 µs", "25.2× [25.1, 25.2]"} <= set(texts)
    assert (
        texts.count("lost") == 3 and "s3_naive, s3_block_per_row, s3_warp_per_row" in chart.caption
    )
    assert (
        "unsupported"
        in draw(spoil(make_matvec(), "/s3_shared/8192x8192/cold", "unsupported", "x"), "matvec")[
            "then"
        ][0]
    )


def test_without_a_gpu_then_and_here_keeps_the_cpu(draw: Draw) -> None:
    drawn = dict(draw(make_matvec(gpu=False), "matvec"))
    assert [kind for kind, (_, chart) in drawn.items() if chart.svg] == ["then"]
    assert drawn["then"][0].count("not run") == 6
    assert not [
        chart for _, chart in draw(make_transpose(gpu=False), "transpose").values() if chart.svg
    ]


def test_rows_and_blocks_has_a_panel_for_each_kernel(draw: Draw) -> None:
    record = spoil(make_matvec(), "/s3_naive_block1024/1024x", "failed", "launch")
    texts, chart = draw(record, "matvec")["rows_blocks"]
    kernels = {f"s3_{name}" for name in ("naive", "transposed", "constant", "shared")}
    kernels |= {"s3_block_per_row", "s3_warp_per_row"}
    assert kernels <= set(texts) and "failed" in texts
    # 64 rows belong to no sweep: five other blocks in six panels
    assert texts.count("·") == 30
    assert {"64", "1 Ki", "128 Ki", "1 Mi"} <= set(texts)
    assert "s3_block_per_row at 1048576×64 with blocks of 32" in chart.caption


def test_unrolling_stands_under_the_roof(draw: Draw) -> None:
    texts, _ = draw(make_matvec(MATVEC_SMALL), "matvec")["unroll"]
    assert {"s3_naive", "s3_transposed", "s3_constant", "s3_shared", "read ‡ 4438", "16"} <= set(
        texts
    )


def test_share_of_the_copy_stands_beside_the_published(draw: Draw) -> None:
    texts, _ = draw(make_transpose(), "transpose")["of_copy"]
    assert {"GeForce GTX 280", "Tesla M2090", "Tesla K20X", "NVIDIA H200, 2048²"} <= set(texts)
    assert {"sdk_fine_grained ‡", "sdk_diagonal", "memcpy ‡"} <= set(texts)
    bare = spoil(make_transpose(), "/sdk_copy/", "failed", "launch")
    _, chart = draw(bare, "transpose")["of_copy"]
    assert chart.svg is None and chart.why_not == "none of the cases that it shows was measured"


def test_loops_give_inner_over_outer_then_and_here(draw: Draw) -> None:
    texts, _ = draw(make_transpose(), "transpose")["loops"]
    assert {"1.19×", "1.07×", "0.985×"} <= set(texts)
    assert len([text for text in texts if re.match(r"1\.2\d× \[", text)]) == 8


def test_labels_keep_apart_and_inside() -> None:
    from recheck_report.charts.canvas import place

    heights = [10.0, 20.0, 10.0, 10.0]
    centres = place([50.0, 51.0, 49.0, 199.0], heights, 200.0)
    boxes = sorted((c - h / 2, c + h / 2) for c, h in zip(centres, heights, strict=True))
    assert all(a[1] <= b[0] + 1e-9 for a, b in zip(boxes, boxes[1:], strict=False))
    assert boxes[0][0] >= 0 and boxes[-1][1] <= 200
    # order follows the wanted positions, and a free label stays where it wants to be
    assert centres[2] < centres[0] < centres[1] < centres[3]
    assert place([30.0], [10.0], 200.0) == [30.0]


def test_the_name_of_a_line_that_ends_early_stays_inside_its_panel() -> None:
    from recheck_report.charts.canvas import INK, Label, card, end_labels, log_axes

    figure = card(5, "title", "subtitle")
    axes = figure.add_axes((0.1, 0.2, 0.4, 0.6))
    sizes = [128, 256, 512, 1024, 2048, 4096, 8192]
    log_axes(axes, sizes, 0.1, 100)
    early = [Label(x, 10, f"split_fp16x3 {x}", INK) for x in (128, 512, 1024, 2048, 4096)]
    end_labels(axes, [*early, Label(8192, 20, "cublas", INK)])
    figure.canvas.draw()
    panel = axes.get_window_extent()
    boxes = {text.get_text(): text.get_window_extent() for text in axes.texts}
    assert len(boxes) == 6
    for label in early:
        box = boxes[label.text]
        assert panel.x0 <= box.x0 and box.x1 <= panel.x1, label
        # to the right where there is room
        end = axes.transData.transform((label.x, label.y))[0]
        assert (box.x0 > end) == (label.x <= 1024), label


def test_inks_read_on_what_they_stand_on() -> None:
    from recheck_report.charts.canvas import CARD, MUTED, SERIES, ink_on_card, luminance

    for color in [MUTED, *(color for color, _ in SERIES)]:
        contrast = (luminance(CARD) + 0.05) / (luminance(ink_on_card(color)) + 0.05)
        assert contrast >= 4.5, color


def test_audit_shows_every_pair_and_the_resolution(draw: Draw) -> None:
    texts, chart = draw(make_audit(), "audit")["audit"]
    assert "the same kernel, 112 pairs" in texts and "5 % more work, 128 pairs" in texts
    assert texts.count("more time (%, right is slower)") == 4 and "±0.1 %" in chart.alt
    assert {"called slower", "called faster", "called same", "called no difference"} <= set(texts)
    _, chart = draw(make_audit(gpu=False), "audit")["audit"]
    assert chart.svg is None and "no two rows of the same kernel" in chart.why_not


def test_levels_of_memory_have_two_panels(draw: Draw) -> None:
    record = spoil(make_memory(), "/bandwidth_l1/", "unsupported", "needs a larger L1")
    texts, chart = draw(record, "memory")["levels"]
    assert {"time of a load (ns or µs as at each tick, log)", "bandwidth (GB/s, log)"} <= set(texts)
    assert {"shared memory", "DRAM", "16.8 ns ±0.25 %", "4569 GB/s ±0.25 %"} <= set(texts)
    assert texts.count("unsupported") == 1 and chart.name == "memory_levels.svg"
    _, chart = draw(make_memory(gpu=False), "memory")["levels"]
    assert chart.svg is None and chart.why_not.endswith("because no CUDA device")
