"""Each chart is complete: units on its axes, every strategy named, every gap explained."""

from __future__ import annotations

import copy
import pickle
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest
from conftest import REPORTS, run, texts_of
from recheck_report.charts import Chart
from recheck_report.model.record import Record
from synthetic import (
    GPU,
    SHAPES,
    Json,
    lasting,
    make_audit,
    make_matvec,
    make_memory,
    make_record,
    make_reduction,
    make_transpose,
    matching,
    scale,
    set_time,
    spoil,
)
from synthetic_claims import measured

SVG = "{http://www.w3.org/2000/svg}"


def titles_of(chart: Chart) -> list[str]:
    """What shows where a mouse rests on a mark."""
    root = ElementTree.fromstring(chart.svg or b"<svg/>")
    marks = (mark for tag in ("use", "path") for mark in root.iter(f"{SVG}{tag}"))
    return [title.text or "" for mark in marks for title in mark.iter(f"{SVG}title")]


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


pytestmark = pytest.mark.usefixtures("no_variation")
Draw = Callable[..., Drawn]


@pytest.fixture(scope="module")
def draw(loaded: Callable[[Json], Record]) -> Draw:
    known: dict[tuple[bytes, str], dict[str, Chart]] = {}

    def texts(record: Json, name: str = "matmul") -> Drawn:
        return Drawn(loaded(record), name, known.setdefault((pickle.dumps(record), name), {}))

    return texts


UNITS = {
    "ladder": ["speed-up over global16 (×, log; right of 1 is faster)"],
    "throughput": ["throughput (TFLOP/s, log)", "m = n = k (elements, log)"],
    "cpu_gpu": ["time (s, ms or µs as at each tick, log)", "m = n = k (elements, log)"],
    "block_policy": ["depth (tiles staged at once, count)", "throughput (TFLOP/s)"],
}
S3_UNITS = {
    "matvec": {
        "ladder": ["speed-up over naive (×, log; right of 1 is faster)"],
        "then": ["time (s, ms or µs as at each tick, log)"],
        "rows_blocks": ["rows (count, log)", "throughput (GB/s, log)"],
        "unroll": ["throughput (GB/s, log)", "steps of the loop unrolled (count, log)"],
    },
    "transpose": {
        "ladder": ["speed-up over naive (×, log; right of 1 is faster)"],
        "throughput": ["throughput (% of memcpy)", "rows = columns (elements, log)"],
        "of_copy": ["share of the copy's rate (%)"],
        "loops": ["throughput (GB/s)"],
    },
}
MAKERS = {"matmul": make_record, "matvec": make_matvec, "transpose": make_transpose}


@pytest.mark.parametrize("name", MAKERS)
def test_axes_have_units_and_titles_are_messages(draw: Draw, name: str) -> None:
    drawn, units = draw(MAKERS[name](), name), {"matmul": UNITS, **S3_UNITS}[name]
    assert list(drawn) == list(units)
    for kind, labels in units.items():
        texts, chart = drawn[kind]
        assert set(labels) <= set(texts), kind
        assert chart.message and "".join(texts).count(chart.message.split()[0]), kind
        # the title may take several lines
        assert " ".join(texts).replace("\n", " ").startswith(chart.message) or any(
            chart.message.startswith(text) for text in texts
        )
        assert chart.alt.startswith(f"{chart.message}. (Matri"), kind
        assert "cold" in " ".join(texts), kind


def test_throughput_names_few_and_has_all(draw: Draw) -> None:
    texts, chart = draw(make_record())["throughput"]
    named = {"cublas", "global16", "tile32_depth2", "fp32 limit 66.9", "not fp32-accurate"}
    assert named <= set(texts) and "tile8" not in texts
    # every other row shows its name under a mouse
    assert set(GPU) <= {title.split(" at ")[0] for title in titles_of(chart)}
    assert "cublas at 1024: " in "".join(titles_of(chart))


def test_no_two_lines_of_a_panel_look_alike(draw: Draw) -> None:
    """Colour and marker of each named line are its own."""
    for record, name in ((make_record(), "matmul"), (make_transpose(), "transpose")):
        root = ElementTree.fromstring(draw(record, name)["throughput"][1].svg or b"")
        marks = {}
        for group in root.iter(f"{SVG}g"):
            uses = [use for use in group if use.tag == f"{SVG}use" and len(use)]
            if uses:
                shape = uses[0].get("{http://www.w3.org/1999/xlink}href")
                fill = uses[0].get("fill") or group.get("fill")
                marks[uses[0][0].text.split(" at ")[0]] = (shape, fill)  # type: ignore[union-attr]
        assert len(marks) > 3 and len({fill for _, fill in marks.values()}) == len(marks)


def test_ladder_goes_from_slow_to_fast(draw: Draw) -> None:
    texts, chart = draw(make_record())["ladder"]
    names = [text for text in texts if text in GPU]
    times = [t for t in texts if re.fullmatch(r"[\d.]+ (ms|µs)", t)]
    assert names[0] == "tile8" and names[-2:] == ["cublas_tf32", "cublas"]  # and the line's label
    assert names.index("tile32_depth2") < names.index("cublas") < names.index("cublas_tf32")
    assert len(times) == len(GPU) - 2
    ratios = [text for text in texts if re.match(r"[\d.]+×", text) and text not in TICKS]
    assert len(ratios) == len(GPU) - 3
    reason = "unsupported: needs 524288 B of shared memory per block, the device allows 232448 B"
    assert f"full_strip16 ({reason})" in chart.caption and "s2_full_strips" in chart.caption
    assert any(re.match(r"tile16: 1\.3\d+× \[1\.3.*\], ", title) for title in titles_of(chart))


TICKS = ("1×", "2×", "3×", "5×", "10×", "20×", "30×", "50×", "100×")


def test_ladder_without_its_base_says_why(draw: Draw) -> None:
    record = spoil(make_record(), "/global16/4096x", "failed", "launch timed out")
    texts, chart = draw(record)["ladder"]
    assert texts == [] and chart.svg is None
    assert chart.why_not == "its base, global16 at 4096³: failed: launch timed out"


def test_ladder_has_no_sweep_and_no_part_and_sets_the_roof_apart(draw: Draw) -> None:
    texts, _ = draw(make_matvec(), "matvec")["ladder"]
    assert {"naive", "shared", "cublas_column_major", "read"} <= set(texts)
    assert not [text for text in texts if re.search(r"_(block|unroll|chunk)\d", text)]
    assert "constant_copy" not in texts
    assert any(text.startswith("‡ another problem") for text in texts) and "5.83× ‡" in texts


def test_block_policies_say_what_has_no_time(draw: Draw) -> None:
    record = spoil(make_record(), "/tile32_depth8/4096x", "unsupported", "needs 65536 B")
    texts, chart = draw(record)["block_policy"]
    assert {"8 × 8", "16 × 16", "32 × 32"} <= set(texts)
    assert chart.caption == "No time at 4096³: tile32_depth8 (unsupported: needs 65536 B)."


def test_block_policies_are_the_documents_tiles_alone(draw: Draw) -> None:
    """What lies beyond them may have a tile and a depth as well: of k, not tiles staged at once."""
    record = make_record()
    for case in matching(record, "/tile32"):
        case["source"] = {**case["source"], "document": "Recheck"}
    texts = draw(record)["block_policy"][0]
    assert "32 × 32" not in texts and "16 × 16" in texts


def test_without_gpu_only_the_cpu_chart_is_drawn(draw: Draw) -> None:
    drawn = draw(make_record(gpu=False))
    assert [kind for kind, (_, chart) in drawn.items() if chart.svg] == ["cpu_gpu"]
    assert "no CUDA device" in drawn["cpu_gpu"][1].caption
    for kind in ("throughput", "ladder", "block_policy"):
        assert drawn[kind][1].why_not.endswith("because no CUDA device")


@pytest.mark.parametrize("shapes", [[(80, 48, 64)], [(256,) * 3], [(1000,) * 3, (4096,) * 3]])
def test_few_shapes_still_render(draw: Draw, shapes: list[tuple[int, ...]]) -> None:
    for _, chart in draw(make_record(shapes)).values():
        assert chart.message if chart.svg else chart.why_not


def test_odd_rates_still_render(draw: Draw) -> None:
    record = make_record(SHAPES)
    for case in matching(record, "/8192x8192x8192/cold"):
        if case["seconds"]:
            median = case["seconds"]["median"]
            set_time(case, median, median / 50, 50 * median)
    assert all(chart.svg for _, chart in draw(lasting(record)).values())


def test_then_names_both_machines_and_what_is_lost(draw: Draw) -> None:
    texts, chart = draw(make_matvec(), "matvec")["then"]
    note = " ".join(texts)
    assert "GeForce GTX 295" in note and "Intel Xeon 5405" in note
    assert "Here: NVIDIA H200, Intel(R) Xeon(R) Processor" in note
    assert {"2.62 ms", "104 µs", "25.2×"} <= set(texts)
    assert (
        texts.count("lost") == 3 and "s3_naive, s3_block_per_row, s3_warp_per_row" in chart.caption
    )
    gone = spoil(make_matvec(), "/s3_shared/8192x8192/cold", "unsupported", "x")
    assert "unsupported" in draw(gone, "matvec")["then"][0]


def test_rows_and_blocks_has_a_line_for_each_kernel(draw: Draw) -> None:
    record = spoil(make_matvec(), "/s3_naive_block1024/1024x", "failed", "launch")
    texts, chart = draw(record, "matvec")["rows_blocks"]
    kernels = {f"s3_{name}" for name in ("naive", "transposed", "constant", "shared")}
    kernels |= {"s3_block_per_row", "s3_warp_per_row"}
    assert kernels <= set(texts) and {"1 Ki", "128 Ki", "1 Mi"} <= set(texts)
    worst = next(
        title for title in titles_of(chart) if title.startswith("s3_naive_block32 at 1024×")
    )
    assert "s3_naive_block512: " in worst  # as the larger one has no time


def test_share_of_the_copy_has_a_panel_for_each_yardstick(draw: Draw) -> None:
    texts, chart = draw(make_transpose(), "transpose")["of_copy"]
    assert {"GeForce GTX 280", "Tesla M2090", "Tesla K20X", "8192²", "2048²"} <= set(texts)
    assert {"NVIDIA H200: % of memcpy", "published: % of sdk_copy"} <= set(texts)
    assert {"sdk_fine_grained ‡", "sdk_diagonal"} <= set(texts) and "memcpy ‡" not in texts
    # memcpy is the fastest of all here, so nothing is above it, however slow the copy kernels are
    slow = scale(make_transpose(), "/sdk_copy/", 5.0)
    shares = [
        float(t.split(": ")[1].split()[0]) for t in titles_of(draw(slow, "transpose")["of_copy"][1])
    ]
    assert max(shares) <= 100
    bare = spoil(make_transpose(), "/memcpy/", "failed", "launch")
    _, chart = draw(bare, "transpose")["of_copy"]
    assert chart.svg is None and chart.why_not == "none of the cases that it shows was measured"


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


def test_no_text_of_a_published_chart_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Names and values beside a panel, of the rows that there are, lie within the card."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Annotation, Text
    from recheck_report.charts.canvas import Card

    drawn, cut = Card.svg, []

    def svg(card: Card, about: str) -> bytes:
        canvas, made_for = FigureCanvasAgg(card.figure), card.figure.canvas
        renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
        for text in card.figure.findobj(Annotation):
            text.update_positions(renderer)
            # of the text alone, without its line
            box = Text.get_window_extent(text, renderer)
            if not 0 <= box.x0 <= box.x1 <= card.figure.bbox.x1:
                cut.append((card.message, text.get_text()))
        card.figure.set_canvas(made_for)
        return drawn(card, about)

    monkeypatch.setattr(Card, "svg", svg)
    shutil.copytree(REPORTS / "results" / "nvidia-h200", report := tmp_path / "report")
    done = run("render", report / "record.json", "--output", report, drawn=True)
    assert done.returncode == 0, done.stderr
    assert cut == []


def test_audit_counts_what_it_called(draw: Draw) -> None:
    texts, chart = draw(make_audit(), "audit")["audit"]
    assert {"the same kernel", "5 % more work", "112 of 112 no different"} <= set(texts)
    assert "128 of 128 slower" in texts and "±0.1 %" in " ".join(texts)
    _, chart = draw(make_audit(gpu=False), "audit")["audit"]
    assert chart.svg is None and "no two rows of the same kernel" in chart.why_not


def test_levels_of_memory_have_reads_and_writes(draw: Draw) -> None:
    record = spoil(make_memory(), "/bandwidth_l1/", "unsupported", "needs a larger L1")
    texts, chart = draw(record, "memory")["levels"]
    assert {"time of a load (as at each tick, log)", "bandwidth (GB/s, log)"} <= set(texts)
    assert {"shared memory", "DRAM", "16.8 ns", "4569", "4383"} <= set(texts)
    assert texts.count("unsupported") == 1 and chart.name == "memory_levels.svg"
    assert any(title.startswith("DRAM, written: 4383 GB/s [") for title in titles_of(chart))
    _, chart = draw(make_memory(gpu=False), "memory")["levels"]
    assert chart.svg is None and chart.why_not.endswith("because no CUDA device")


def same_as(record: Json, base: str, *others: str) -> Json:
    """A copy in which `others` were timed exactly as `base` was, at every shape and regime, but for
    the order of two samples of a round."""
    record = copy.deepcopy(record)
    known = {case["id"]: case for case in record["cases"]}
    for at, other in enumerate(others):
        for case in matching(record, f"/{other}/"):
            found = known[case["id"].replace(f"/{other}/", f"/{base}/")]
            for name in ("seconds", "samples", "blocks", "clocks", "power"):
                case[name] = copy.deepcopy(found[name])
            pair = slice(2 * at, 2 * at + 2)
            case["samples"][pair] = reversed(case["samples"][pair])
    return record


SMALLEST = make_record(strategies=["global16", "tile16", "cublas"])
FEW = scale(SMALLEST, "/cublas/128x", 0.5)  # whose launch costs more than tile16's
LATE = scale(scale(FEW, "/cublas/8192x", 50), "/cublas/4096x4096x", 50)
CPU_ALONE = make_record(gpu=False)
NO_LIBRARY = make_record(strategies=["global16", "tile16"])
MATVEC, TRANSPOSE = make_matvec(), make_transpose()
MESSAGES: dict[str, tuple[str, str, Json, str]] = {
    "none passes": ("matmul", "throughput", FEW, "No row passes cublas"),
    "from a size on": ("matmul", "throughput", LATE, "tile16 passes cublas from 4096³ on"),
    "another row": (
        "matmul", "throughput", scale(SMALLEST, "/tile16/128x", 9),
        "cublas is passed at 128³, by no row at 4096³",
    ),
    "cannot be told": (
        "matmul", "throughput", same_as(FEW, "tile16", "cublas", "global16"),
        "No row can be told to be faster than cublas",
    ),
    "share of the roof": (
        "transpose", "throughput", TRANSPOSE,
        "no_bank_conflicts reaches 83.3 % of memcpy's rate at 8192²; no row passes cublas",
    ),
    "ladder": (
        "matmul", "ladder", FEW,
        "tile16 is 1.37 times as fast as global16 (27.0 ms) and slower than cublas "
        "(2.67 ms), which is 7.35 "
        "times as fast",
    ),
    "ladder, no gain": (
        "matmul", "ladder", same_as(FEW, "global16", "tile16"),
        "global16 is slower than cublas (2.67 ms), which is 10.1 times as fast; no rung "
        "can be told to be "
        "faster than global16",
    ),
    "ladder, level": (
        "matmul", "ladder", same_as(FEW, "tile16", "cublas"),
        "tile16 is 1.37 times as fast as global16 (27.0 ms) and not to be told apart "
        "from cublas (19.6 ms)",
    ),
    "crossing": (
        "matmul", "cpu_gpu", make_record(),
        "Copies included, tile16 is faster than cpu_serial at every size that both were run at and "
        "passes cpu_blas from 1024³ on",
    ),
    "GPU slower": (
        "matmul", "cpu_gpu", scale(make_record(), "/end_to_end", 1e4),
        "Copies included, tile16 is slower than cpu_serial at every size and is slower than "
        "cpu_blas at every size",
    ),
    "policies, level": (
        "matmul", "block_policy", same_as(make_record(), "tile32_depth2", "tile32_depth4"),
        "Of 12 block policies the fastest cannot be told apart: tile32_depth2 and tile32_depth4",
    ),
    "then, slower": (
        "matvec", "then", scale(MATVEC, "/s3_shared/8192x", 1000),
        " of 7 rows are faster here than in S3: ",
    ),
    "unrolled in vain": (
        "matvec", "unroll", scale(MATVEC, "_unroll1/", 0.5),
        "Unrolling gains nothing that can be told and none passes ",
    ),
    "a copy": (
        "transpose", "of_copy", TRANSPOSE,
        "cublas moves data at 85.7 % of memcpy; sdk_fine_grained (88.1 %), which ",
    ),
    "inner loop, cache": (
        "transpose", "loops", scale(TRANSPOSE, "/inner", 0.5),
        " times the outer loop's rate, for some more than the DRAM limit allows: it times a cache",
    ),
    "one level": (
        "memory", "levels", spoil(make_memory(), "_l", "failed", "x"), "A load from DRAM takes",
    ),
    "audit": (
        "audit", "audit", make_audit(),
        "Of 112 pairs of one kernel none is called different; slowdowns are found: 100 % of those "
        "by 1 %, 2 % and 5 %",
    ),
    "a stranger's": (
        "reduction", "throughput", make_reduction(),
        "vector is the fastest by median at 1048576: 3652 GB/s",
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", MESSAGES)
def test_titles_say_what_the_record_says(which: str, draw: Draw) -> None:
    name, kind, record, says = MESSAGES[which]
    chart = draw(record, name)[kind][1]
    assert says in chart.message, chart.message
    assert chart.alt.startswith(chart.message)


def luminance(color: str) -> float:
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def inherited(root: ElementTree.Element, name: str, at: str = "") -> Iterator[tuple[str, str]]:
    """(tag, value) of an attribute, as each element below has it or has it from its group."""
    for each in root:
        if each.tag != f"{SVG}defs":
            value = each.get(name, at)
            yield each.tag.removeprefix(SVG), value
            yield from inherited(each, name, value)


ALL = (*((name, kind) for name in MAKERS for kind in {"matmul": UNITS, **S3_UNITS}[name]),
       ("audit", "audit"), ("memory", "levels"))  # fmt: skip


@pytest.mark.parametrize("name,kind", ALL)
def test_charts_read_by_day_and_by_night(draw: Draw, name: str, kind: str) -> None:
    """Every text has a contrast of 4.5 on the card, every mark one of 3, by both sets of inks, and
    no type is smaller than 9 of the card's 468 points: 16 pixels of 830, or 7.5 of 390."""
    from recheck_report.charts.canvas import CARD, DARK, GRID

    makers: dict[str, Callable[[], Json]]
    makers = {**MAKERS, "audit": make_audit, "memory": make_memory}
    made = makers[name]()
    svg = draw(made, name)[kind][1].svg or b""
    root = ElementTree.fromstring(svg)
    (style,) = (each.text or "" for each in root.iter(f"{SVG}style"))
    rules = re.findall(r'\[(\w+)="(#\w+)"\]{(\w+):(#\w+)}', style)
    night = {(what, day): dark for what, day, _, dark in rules}
    assert style.startswith("@media(prefers-color-scheme:dark){") and night["fill", CARD]
    for what in ("fill", "stroke"):
        for tag, ink in set(inherited(root, what)):
            if ink in ("", "none", CARD, GRID):
                continue
            assert ink in DARK, (tag, ink)
            least = 4.5 if tag == "text" else 3.0
            assert contrast(ink, CARD) >= least, (tag, ink)
            assert contrast(night[what, ink], DARK[CARD]) >= least, (tag, ink)
    sizes = {float(size) for tag, size in inherited(root, "font-size") if tag in ("text", "tspan")}
    assert sizes and min(sizes) >= 9 and root.get("viewBox", "").startswith("0 0 468 ")
    assert len(svg) < 32_000 and not re.search(rb' id="(figure|axes|text|patch)_', svg)
    assert root.get("role") == "img" and len(root.get("aria-label", "")) > 20


def test_the_first_thing_on_a_card_covers_it(draw: Draw) -> None:
    """It is opaque: what it stands on does not matter."""
    from recheck_report.charts.canvas import CARD

    root = ElementTree.fromstring(draw(make_record())["ladder"][1].svg or b"")
    first = next(each for each in root.iter(f"{SVG}path"))
    height = root.get("viewBox", "").split()[3]
    assert first.get("fill") == CARD and first.get("d", "").startswith(f"M0 {height}L468 {height}")
