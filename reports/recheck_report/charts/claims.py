"""What documents claim against what was measured: a row for each claim that comes to a ratio."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from recheck_report.charts.canvas import (
    BLUE,
    CARD,
    INK,
    MUTED,
    ORANGE,
    SERIES,
    VERMILLION,
    Interval,
    Look,
    card,
    dots,
    ink_on_card,
)
from recheck_report.charts.drawing import Drawing, NotDrawn
from recheck_report.claims import Claim, Judged
from recheck_report.claims.measured import Measured
from recheck_report.sections import gpus
from recheck_report.sections.verdicts import WORDS, shortest, unit

# colour, marker: the shape alone tells the verdicts apart
LOOKS = {
    "holds": (BLUE, "o"),
    "fails": (VERMILLION, "X"),
    "inconclusive": (ORANGE, "D"),
    "not_measured": (MUTED, "P"),
}
ROW, HEAD = 0.225, 0.3  # inches: of a claim, and more before the first one of a document
RIGHT = 0.72  # where the panel ends, in parts of the card
RATIOS = ("×", "%")
HOLLOW: Look = {"mfc": CARD, "mec": INK, "mew": 1.0}


@dataclass(frozen=True)
class _Effect:
    """A ratio or a share with its interval, and as text."""

    value: float
    low: float
    high: float
    text: str


def _measured(judged: Judged) -> _Effect | None:
    """The ratio, or the share, that was measured of a claim; a count is neither."""
    found = judged.effect
    if found is None or found.unit not in ("×", ""):
        return None
    if found.value is None or found.low is None or found.high is None:
        return None
    return _Effect(found.value, found.low, found.high, shortest(found))


def _shown(judged: Judged) -> bool:
    """Whether the document gives a ratio, or one was measured."""
    said = judged.claim.claimed is not None and unit(judged.claim) in RATIOS
    return said or _measured(judged) is not None


def _said(claim: Claim) -> float | None:
    return claim.claimed if unit(claim) in RATIOS else None


def _values(judged: Judged) -> Iterator[float]:
    """Every position on the axis that the row of a claim needs."""
    if (said := _said(judged.claim)) is not None:
        yield said
    if (found := _measured(judged)) is not None:
        yield from (found.value, found.low, found.high)


def _axes(
    figure: Figure, box: tuple[float, float, float, float], values: list[float], low: float
) -> Axes:
    """A log axis that holds every value and 1; y runs downwards from 0 to `low` inches."""
    ends = min(0.8, *values) / 1.3, max(1.25, *values) * 1.3
    axes = figure.add_axes(box)
    axes.set(xscale="log", xlim=ends, ylim=(low, 0))
    span = math.log10(ends[1] / ends[0])
    steps = (1,) if span > 2.5 else (1, 2, 5) if span > 0.7 else (1, 1.2, 1.5, 2, 3, 5, 7)
    ticks = [t * 10.0**e for e in range(-9, 10) for t in steps]
    axes.xaxis.set_major_locator(FixedLocator([t for t in ticks if ends[0] < t < ends[1]]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}×"))
    axes.grid(True, axis="x")
    axes.axvline(1, color=INK, linewidth=1)
    axes.spines["left"].set_visible(False)
    axes.set_yticks([])
    axes.set_xlabel("how many times as fast, or the share, that the claim is about (×, log)")
    return axes


def _left(claims: list[Claim]) -> float:
    """Where the panel begins: behind the longest title."""
    return 0.075 + 0.0057 * max(30, *(len(claim.title) for claim in claims))


def _place(claims: list[Claim], step: list[float]) -> tuple[list[float], dict[str, float], float]:
    """Where each row stands, where each document's heading does, and where all end; inches."""
    at, heights, heads = 0.05, [], {}
    for claim, height in zip(claims, step, strict=True):
        if claim.document not in heads:
            heads[claim.document] = at + HEAD / 2
            at += HEAD
        heights.append(at + height / 2)
        at += height
    return heights, heads, at + 0.05


def strip(own: Measured) -> Drawing:
    """Hollow: claimed; filled: measured, with its interval; a line joins the two of a claim."""
    rows = [judged for judged in own.judgement.claims if _shown(judged)]
    values = [value for judged in rows for value in _values(judged)]
    if not any(_measured(judged) for judged in rows):
        raise NotDrawn("no claim that comes to a ratio was measured")
    claims = [judged.claim for judged in rows]
    heights, heads, low = _place(claims, [ROW] * len(rows))
    height = low + 1.8
    subtitle = "hollow: as the document has it · filled: measured here, with its 95 % interval · "
    subtitle += "1: no difference"
    figure = card(height, "Claimed against measured", subtitle)
    left = _left(claims)
    width = RIGHT - left
    axes = _axes(figure, (left, 1.0 / height, width, low / height), values, low)
    aside: Look = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 7.5}
    places = {"name": 0.022, "id": 0.052, "value": 0.735, "verdict": 0.907}
    columns = {name: (at - left) / width for name, at in places.items()}
    for text, column in (("measured [95 % interval]", "value"), ("verdict", "verdict")):
        axes.text(columns[column], -0.05, text, color=MUTED, **aside)
    documents = own.known.sources
    for document, y in heads.items():
        axes.text(columns["name"], y, f"{document}: {documents[document].name}", color=MUTED,
                  fontweight="bold", **aside)  # fmt: skip
    points: dict[str, list[Interval]] = {}
    for y, judged in zip(heights, rows, strict=True):
        claim, found, said = judged.claim, _measured(judged), _said(judged.claim)
        color, _ = LOOKS[judged.verdict]
        axes.text(columns["name"], y, claim.id, color=MUTED, **aside)
        axes.text(columns["id"], y, claim.title, **aside)
        if said is not None and found is not None:
            axes.plot([said, found.value], [y, y], color=color, linewidth=0.9, alpha=0.7, zorder=1)
        if said is not None:
            axes.plot([said], [y], marker="o", linestyle="none", markersize=7.5, **HOLLOW)
        if found is not None:
            points.setdefault(judged.verdict, []).append((y, found.value, found.low, found.high))
            axes.text(columns["value"], y, found.text, color=INK, **aside)
        axes.text(columns["verdict"], y, WORDS[judged.verdict], color=ink_on_card(color), **aside)
    for verdict, of in points.items():
        color, marker = LOOKS[verdict]
        look: Look = {"markersize": 7.5 if marker == "X" else 6, "mec": CARD, "mew": 0.5}
        dots(axes, of, color=color, marker=marker, elinewidth=1.2, **look)
    _legend(figure)
    missing = sum(_measured(judged) is None for judged in rows)
    caption = ""
    if missing:
        caption = f"{missing} of these claims could not be measured here: the table says why."
    return Drawing(figure, f"{subtitle}; {len(rows)} claims", caption)


def _legend(figure: Figure) -> None:
    """A key below the axis: what is claimed, and a marker for each verdict."""
    box = figure.add_axes((0.0, 0.0, 1.0, 0.1))
    box.set_axis_off()
    look: Look = {"linestyle": "none", "markersize": 6, "mec": CARD, "mew": 0.5}
    box.plot([], [], marker="o", label="claimed", **look | HOLLOW)
    for verdict, (color, marker) in LOOKS.items():
        box.plot([], [], marker=marker, color=color, label=WORDS[verdict], **look)
    handles, names = box.get_legend_handles_labels()
    figure.legend(
        handles, names, loc="lower left", bbox_to_anchor=(0.012, 16 / 72 / figure.get_figheight()),
        ncols=len(names), frameon=False, fontsize=8, handletextpad=0.1, columnspacing=1.4,
    )  # fmt: skip
    box.remove()


def look_of(at: int) -> tuple[str, str]:
    """Colour and marker of a record's series; no two alike among the first 36."""
    color, _ = SERIES[at % len(SERIES)]
    _, marker = SERIES[(at + at // len(SERIES)) % len(SERIES)]
    return color, marker


def compared(records: list[Measured], names: list[str], experiment: str) -> Drawing:
    """The effects of one experiment's claims, a marker for each record; filled where one holds."""
    rows: list[tuple[Claim, list[tuple[int, Judged]]]] = []  # with the number of the record
    for claim in gpus.claims(records):
        found = [each.judgement.find(claim.id) for each in records]
        there = [(at, judged) for at, judged in enumerate(found) if judged]
        if claim.experiment == experiment and any(_measured(judged) for _, judged in there):
            rows.append((claim, there))
    if not rows:
        raise NotDrawn("no claim of it that comes to a ratio was measured")
    lane, values = 0.115, [v for _, of in rows for _, judged in of for v in _values(judged)]
    shown = [claim for claim, _ in rows]
    step = max(ROW, 0.1 + lane * len(records))
    heights, heads, low = _place(shown, [step] * len(rows))
    lines = -(-len(names) // 3)
    many = "1 record" if len(records) == 1 else f"{len(records)} records"
    height = low + 1.6 + 0.2 * lines
    subtitle = (
        "filled: the claim holds there · hollow: it does not · bar: as the document has it · "
    )
    subtitle += "whiskers: 95 % intervals"
    figure = card(height, f"{experiment}: the claims on {many}", subtitle)
    wide = 0.975
    start = _left(shown)
    box = (start, (0.8 + 0.2 * lines) / height, wide - start, low / height)
    axes = _axes(figure, box, values, low)
    aside: Look = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 7.5}
    left, name = ((at - start) / (wide - start) for at in (0.022, 0.052))
    sources = {name: s for each in records for name, s in each.known.sources.items()}
    for document, y in heads.items():
        text = f"{document}: {sources[document].name}"
        axes.text(left, y, text, color=MUTED, fontweight="bold", **aside)
    points: dict[tuple[int, bool], list[Interval]] = {}
    for y, (claim, of) in zip(heights, rows, strict=True):
        axes.text(left, y, claim.id, color=MUTED, **aside)
        axes.text(name, y, claim.title, **aside)
        if (said := _said(claim)) is not None:
            axes.plot([said, said], [y - step / 2, y + step / 2], color=INK, linewidth=1.4)
        axes.axhline(y + step / 2, color=MUTED, linewidth=0.3, alpha=0.6)
        for at, judged in of:
            effect, place = _measured(judged), y + lane * (at - (len(records) - 1) / 2)
            if effect is not None:
                of_look = points.setdefault((at, judged.verdict == "holds"), [])
                of_look.append((place, effect.value, effect.low, effect.high))
    for (at, holds), of_look in points.items():
        color, marker = look_of(at)
        look = {"mfc": color if holds else CARD, "mec": color, "mew": 1.1, "markersize": 5}
        dots(axes, of_look, color=color, marker=marker, elinewidth=1.2, **look)
    for at, label in enumerate(names):
        color, marker = look_of(at)
        axes.plot([], [], linestyle="none", marker=marker, color=color, markersize=6, label=label)
    figure.legend(
        *axes.get_legend_handles_labels(), loc="lower left",
        bbox_to_anchor=(0.012, 14 / 72 / height), ncols=3, frameon=False, fontsize=8,
        handletextpad=0.1, columnspacing=1.4,
    )  # fmt: skip
    return Drawing(figure, subtitle)
