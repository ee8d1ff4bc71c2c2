"""Each chart is complete: units on its axes, every strategy named, every gap explained."""

from __future__ import annotations

import pickle
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import REPORTS, run, texts_of
from recheck_report.charts import Chart
from recheck_report.formatting import VERDICTS
from recheck_report.record.record import Record
from synthetic import (
    SHAPES,
    Json,
    make_matvec,
    make_memory,
    make_record,
    make_transpose,
    matching,
    set_time,
)
from synthetic_claims import measured

SVG = "{http://www.w3.org/2000/svg}"


class Drawn(Mapping[str, tuple[list[str], Chart]]):
    """The charts of one experiment by kind, each drawn when a test first looks at it: the list of
    its texts, and the chart. `known`: those that were drawn of an equal record."""

    def __init__(self, record: Record, name: str, known: dict[str, Chart]) -> None:
        self.record, self.known = record, known
        self.experiment = next(each for each in record.experiments if each.name == name)

    def __iter__(self) -> Iterator[str]:
        from recheck_report.charts import plan

        return iter(plan(measured(self.record), self.experiment))

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
    "cpu_gpu": ["time (log)", "m = n = k (elements, log)"],
    "block_policy": ["depth (tiles staged at once, count)", "throughput (TFLOP/s)"],
}
S3_UNITS = {
    "matvec": {
        "ladder": ["speed-up over naive (×, log; right of 1 is faster)"],
        "rows_blocks": ["rows (count, log)", "throughput (GB/s, log)"],
    },
    "transpose": {
        "ladder": ["speed-up over naive (×, log; right of 1 is faster)"],
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


def test_without_gpu_only_the_cpu_chart_is_drawn(draw: Draw) -> None:
    drawn = draw(make_record(gpu=False))
    assert [kind for kind, (_, chart) in drawn.items() if chart.svg] == ["cpu_gpu"]
    assert "no CUDA device" in " ".join(drawn["cpu_gpu"][0])
    for kind in ("ladder", "block_policy"):
        assert drawn[kind][1].why_not == "no CUDA device"


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
    assert all(chart.svg for _, chart in draw(record).values())


def test_labels_keep_apart_and_inside() -> None:
    from recheck_report.write.svg import apart

    heights = [10.0, 20.0, 10.0, 10.0]
    centres = apart([50.0, 51.0, 49.0, 199.0], heights, 200.0)
    boxes = sorted((c - h / 2, c + h / 2) for c, h in zip(centres, heights, strict=True))
    assert all(a[1] <= b[0] + 1e-9 for a, b in zip(boxes, boxes[1:], strict=False))
    assert boxes[0][0] >= 0 and boxes[-1][1] <= 200
    # order follows the wanted positions, and a free label stays where it wants to be
    assert centres[2] < centres[0] < centres[1] < centres[3]
    assert apart([30.0], [10.0], 200.0) == [30.0]


def test_no_text_of_a_published_chart_is_cut_off(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Names and values beside a panel, of the rows that there are, lie within the card."""
    from recheck_report.write.svg import WIDTH, Card, width_of

    drawn, cut = Card.text, []

    def text(card: Card, x: float, y: float, text: str, *look: Any, **more: Any) -> float:
        end = drawn(card, x, y, text, *look, **more)
        size = look[1] if len(look) > 1 else more.get("size", 9.0)
        if end > WIDTH or end - width_of(text, size, bold=more.get("bold", False)) < 0:
            cut.append((card.message, text))
        return end

    monkeypatch.setattr(Card, "text", text)
    shutil.copytree(REPORTS / "results" / "nvidia-h200", report := tmp_path / "report")
    done = run("render", report / "record.json", "--output", report, drawn=True)
    assert done.returncode == 0, done.stderr
    assert cut == []


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
       ("memory", "levels"))  # fmt: skip


@pytest.mark.parametrize("name,kind", ALL)
def test_charts_read_by_day_and_by_night(draw: Draw, name: str, kind: str) -> None:
    """Every text has a contrast of 4.5 on the card, every mark one of 3, by both sets of inks, and
    no type is smaller than 9 of the card's 468 points: 16 pixels of 830, or 7.5 of 390."""
    from recheck_report.write.svg import CARD, DARK, GRID

    makers: dict[str, Callable[[], Json]]
    makers = {**MAKERS, "memory": make_memory}
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
    sizes = {float(size or 9) for tag, size in inherited(root, "font-size") if tag == "text"}
    assert sizes and min(sizes) >= 9 and root.get("viewBox", "").startswith("0 0 468 ")
    assert len(svg) < 32_000 and not re.search(rb' id="(figure|axes|text|patch)_', svg)
    assert root.get("role") == "img" and len(root.get("aria-label", "")) > 20
    assert {known.color for known in VERDICTS.values()} <= {*DARK}


def test_the_first_thing_on_a_card_covers_it(draw: Draw) -> None:
    """It is opaque: what it stands on does not matter."""
    from recheck_report.write.svg import CARD

    root = ElementTree.fromstring(draw(make_record())["ladder"][1].svg or b"")
    first = next(each for each in root if each.get("fill"))
    assert first.attrib == {"width": "100%", "height": "100%", "fill": CARD}
