"""Charts are legible in light and dark mode and at any width, and their labels do not overlap."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from xml.etree import ElementTree

import pytest
from conftest import REPORTS, run, tree
from made_claims import about
from records import GOLDENS, few

SVG = "{http://www.w3.org/2000/svg}"
RECORDS = (GOLDENS / "h100/input", REPORTS / "results/peak/nvidia-h100-80gb-hbm3")


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, bytes]]:
    """The charts of both collections by name, and in `cut` the texts that exceed their card."""
    from recheck_report.write.svg import TYPE, WIDTH, Card, width_of

    draw, cut = Card.text, []

    def text(card: Card, x: float, y: float, text: str, *look: Any, **more: Any) -> float:
        end = draw(card, x, y, text, *look, **more)
        size = look[1] if len(look) > 1 else more.get("size", TYPE)
        if end > WIDTH or end - width_of(text, size, bold=more.get("bold", False)) < 0:
            cut.append(f"{card.title}: {text}")
        return end

    files: dict[str, bytes] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Card, "text", text)
        for at, record in enumerate(RECORDS):
            out = tmp_path_factory.mktemp("drawn")
            words = ("--experiments", REPORTS.parent / "experiments/peak") * at
            done = run("render", record, "--output", out, *words)
            assert done.returncode == 0, done.stderr
            files |= {f"{at}/{name}": data for name, data in tree(out / "charts").items()}
    assert len(files) > 10
    yield {**files, "cut": "\n".join(cut).encode()}


def test_no_text_of_a_chart_is_cut_off(drawn: dict[str, bytes]) -> None:
    assert drawn["cut"] == b""


@pytest.mark.parametrize(
    ("noise", "more"),
    [(0.0, ""), (0.41, ", beyond noise from 4096 up"), (9.0, ", but only within noise")],
)
def test_noise_hides_no_faster_gpu(
    noise: float, more: str, loaded: Any, differ: Callable[[float], None]
) -> None:
    from recheck_report.charts import cpu_gpu

    differ(noise)
    report = about(loaded(few()))
    (experiment,) = report.record.ordinary
    title = cpu_gpu.draw(report, experiment, "tile16").title
    assert title == f"Copies included, the GPU (tile16) leads every CPU program at every size{more}"


def luminance(color: str) -> float:
    parts = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_charts_are_legible_in_light_and_dark_mode(drawn: dict[str, bytes]) -> None:
    """In both colour schemes texts have a contrast of 4.5 on the card, and marks of 3. No text is
    smaller than 11 pixels where the card is 358 wide, as on a phone."""
    from recheck_report.write.svg import CARD, DARK, GRID, TYPE, WIDTH

    for svg in (drawn[name] for name in drawn if name != "cut"):
        root = ElementTree.fromstring(svg)
        (style,) = (each.text or "" for each in root.iter(f"{SVG}style"))
        rules = re.findall(r'\[(\w+)="(#\w+)"\]{(\w+):(#\w+)}', style)
        night = {(what, day): dark for what, day, _, dark in rules}
        assert style.startswith("@media(prefers-color-scheme:dark){") and night["fill", CARD]
        for what in ("fill", "stroke"):
            for tag, ink in {(e.tag.removeprefix(SVG), e.get(what, "")) for e in root}:
                if ink in ("", "none", CARD, GRID):
                    continue
                assert ink in DARK, (tag, ink)
                least = 4.5 if tag == "text" else 3.0
                assert contrast(ink, CARD) >= least, (tag, ink)
                assert contrast(night[what, ink], DARK[CARD]) >= least, (tag, ink)
        sizes = {float(e.get("font-size", TYPE)) for e in root.iter(f"{SVG}text")}
        assert min(sizes) * 358 / WIDTH >= 11 and root.get("viewBox", "").startswith("0 0 356 ")
        assert len(svg) < 40_000 and not re.search(rb' id="(figure|axes|text|patch)_', svg)
        assert root.get("role") == "img" and len(root.get("aria-label", "")) > 20
        # the first element covers the card, so the background does not matter
        first = next(each for each in root if each.get("fill"))
        assert first.attrib == {"width": "100%", "height": "100%", "fill": CARD}
