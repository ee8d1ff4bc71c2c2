"""Asked against measured: a row for each claim that was timed, on one axis whatever its unit.

A mark's place is how far what was measured goes beyond what the claim's check asks for: right of
the line it is as the claim says, left of it it is not, whether the claim is of "faster", of
"slower" or of a share. A thin bar is the range over what the document leaves open.
"""

from __future__ import annotations

from dataclasses import dataclass

from matplotlib.axes import Axes

from recheck_report.charts.canvas import (
    BLUE,
    CARD,
    FAINT,
    INK,
    MUTED,
    OCHRE,
    SERIES,
    VERMILLION,
    Card,
    Interval,
    Look,
    beside,
    log_values,
)
from recheck_report.charts.drawing import Drawing, NotDrawn
from recheck_report.charts.message import factor, listed
from recheck_report.claims import Check, Claim, Judged, Outcome
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, significant
from recheck_report.sections import gpus
from recheck_report.sections.verdicts import WORDS, shortest

# colour, marker: the shape alone tells the verdicts apart
LOOKS = {
    "holds": (BLUE, "o"),
    "fails": (VERMILLION, "X"),
    "inconclusive": (OCHRE, "D"),
    "not_measured": (MUTED, "P"),
}
AXIS = "measured over asked (times, log; right of the line is as the claim says)"
Row = tuple[Claim, list[tuple[int, Judged, Outcome]]]  # with the numbers of its records


@dataclass(frozen=True)
class Asked:
    """The bound of a check."""

    bound: float
    kind: str  # ">", "<", or "±" for a share on both sides of 1

    def beyond(self, value: float) -> float:
        """By which factor a value is on the claim's side of the bound; below 1 it is not."""
        if self.kind == "±":
            return (1 + self.bound) / max(value, 1 / value)
        return value / self.bound if self.kind == ">" else self.bound / value

    def text(self, unit: str) -> str:
        if self.kind == "±":
            return f"1 ± {100 * self.bound:g} %"
        return f"{self.kind} {shown(self.bound, unit)}"


UNITS = {"×": (1.0, "×"), "": (0.01, " %"), "B/s": (1e9, " GB/s"), "flop/s": (1e12, " TFLOP/s")}


def shown(value: float, unit: str) -> str:
    """ "1.23×", "11.4 %": three digits, without an interval."""
    if unit == "s":
        return duration(value)
    scale, name = UNITS.get(unit, (1.0, f" {unit}"))
    return f"{float(significant(value / scale)):g}{name}"


def asked(check: Check) -> Asked | None:
    """None of a check that asks for no factor."""
    if check.form == "equivalent":
        return Asked(check.within or 0.0, "±")
    if check.form == "order":
        return Asked(1.0, ">")
    bounds = [(check.above, ">"), (check.at_least, ">"), (check.below, "<"), (check.at_most, "<")]
    return next((Asked(bound, kind) for bound, kind in bounds if bound and bound > 0), None)


def _ends(outcome: Outcome) -> tuple[float, float, float] | None:
    """Where its mark stands, with the interval; None of what has no interval or no bound."""
    bound = asked(outcome.check)
    if not bound or not outcome.value or not outcome.low or not outcome.high:
        return None
    low, high = sorted((bound.beyond(outcome.low), bound.beyond(outcome.high)))
    value = bound.beyond(outcome.value)
    # an interval around 1 is nearest to "the same" inside
    return value, min(low, value), max(high, value)


def _rows(records: list[Measured], claims: list[Claim]) -> list[Row]:
    found = []
    for claim in claims:
        of = []
        for at, each in enumerate(records):
            judged = each.judgement.find(claim.id)
            effect = judged.effect if judged and judged.verdict != "not_measured" else None
            if judged and effect and _ends(effect):
                of.append((at, judged, effect))
        if of:
            found.append((claim, of))
    return found


def strip(own: Measured) -> Drawing:
    """The claims on one record, with what each asks for and its verdict."""
    rows = _rows([own], [judged.claim for judged in own.judgement.claims])
    if not rows:
        raise NotDrawn("no claim that comes to a ratio was measured")
    judged = [each for _, of in rows for _, each, _ in of]
    note = (
        "Coloured: measured, with its 95 % interval; thin: the range over what the document leaves "
    )
    note += "open, which may leave a claim inconclusive; hollow: the document's own figure. Claims "
    note += "that are counted, reckoned or tested have no interval: see the table."
    return _draw(rows, [], own, _message(judged), note)


def compared(records: list[Measured], names: list[str], experiment: str) -> Drawing:
    """The claims of one experiment on several records, a marker for each record."""
    rows = _rows(records, [c for c in gpus.claims(records) if c.experiment == experiment])
    if not rows:
        raise NotDrawn("no claim of it that comes to a ratio was measured")
    shown = [claim for claim, _ in rows]
    if len(records) == 1:
        message = f"{experiment}: {_message([judged for _, of in rows for _, judged, _ in of])}"
    else:
        who = listed(names) if len(names) == 2 else f"{len(names)} records"
        same = len(shown) - len(gpus.differing(records, shown))
        message = f"{experiment}: {who} agree on {same} of {len(shown)} claims about a ratio"
    note = "Filled: the claim holds there; hollow: it does not. Bars: 95 % intervals."
    return _draw(rows, names, records[0], message, note)


def _draw(rows: list[Row], names: list[str], own: Measured, message: str, note: str) -> Drawing:
    """`names`: of the records; none for a single one, whose verdicts stand beside the marks."""
    lane = 8.0
    step = 20 + (lane * len(names) if names else 8)
    at, heights, heads = 0.0, [], {}
    for claim, _ in rows:
        if claim.document not in heads:
            heads[claim.document] = at + 6
            at += 20
        heights.append(at)
        at += step
    lines = -(-len(names) // 2)
    card = Card(message, note, at + 44 + 14 * lines)
    axes = card.axes(20, 20 if names else 130, 4, 38 + 14 * lines)
    values = [v for _, of in rows for _, _, outcome in of for v in _ends(outcome) or ()]
    values += [v for _, of in rows for _, _, o in of for v in _range(o)]
    log_values(axes.xaxis, min(0.8, *values) / 1.3, max(1.25, *values) * 1.3, lambda x: f"{x:g}×")
    axes.set(ylim=(at, 0), yticks=[])
    axes.spines["left"].set_visible(False)
    axes.grid(True, axis="x")
    axes.axvline(1, color=INK, linewidth=1.2)
    axes.set_xlabel(AXIS)
    left = axes.get_yaxis_transform()
    text: Look = {"transform": left, "va": "center", "zorder": 5}
    text["bbox"] = {"facecolor": CARD, "edgecolor": "none", "pad": 0.6}
    sources = own.known.sources
    for document, y in heads.items():
        about = f"{document}: {sources[document].name}" if document in sources else document
        axes.text(0, y, about, color=MUTED, fontweight="bold", **text)
    points: dict[tuple[int, str], list[Interval]] = {}
    titles: dict[tuple[int, str], list[str]] = {}
    for y, (claim, of) in zip(heights, rows, strict=True):
        axes.text(0, y + 6, f"{claim.id}  {claim.title}", **text)
        for number, judged, outcome in of:
            ends, bound = _ends(outcome), asked(outcome.check)
            if not ends or not bound:
                continue
            place = y + 17 + lane * number * bool(names)
            points.setdefault((number, judged.verdict), []).append((place, *ends))
            told = f"{shortest(outcome)}, asked {bound.text(outcome.unit)}"
            who = f"{names[number]}: " if names else ""
            titles.setdefault((number, judged.verdict), []).append(
                f"{who}{claim.id} {WORDS[judged.verdict]}: {told}"
            )
            if not names:
                _beside(axes, y, judged, outcome, bound)
    for (number, verdict), of_look in points.items():
        color, marker = look_of(number) if names else LOOKS[verdict]
        fill = color if not names or verdict == "holds" else CARD
        look = {"mfc": fill, "mec": color if names else CARD, "markersize": 6, "zorder": 4}
        card.dots(axes, of_look, titles[number, verdict], color=color, marker=marker, **look)
    for number, name in enumerate(names):
        color, marker = look_of(number)
        axes.plot([], [], linestyle="none", marker=marker, color=color, label=name)
    if names:
        below = -36 / axes.get_window_extent().height
        axes.legend(loc="upper left", bbox_to_anchor=(0, below), ncols=2, borderaxespad=0)
    return Drawing(card)


def _beside(axes: Axes, y: float, judged: Judged, outcome: Outcome, bound: Asked) -> None:
    """The verdict, what was measured and what is asked for; and what has no place of its own."""
    color, _ = LOOKS[judged.verdict]
    beside(axes, y + 6, WORDS[judged.verdict], color=color, fontweight="bold")
    value = shown(outcome.value or 0.0, outcome.unit)
    beside(axes, y + 17, f"{value}, asked {bound.text(outcome.unit)}", color=INK)
    if span := _range(outcome):
        axes.plot(span, [y + 17] * 2, color=FAINT, linewidth=1.2, zorder=2)
    if judged.claim.claimed and judged.claim.claimed > 0 and outcome.unit in ("×", ""):
        look: Look = {"marker": "o", "linestyle": "none", "markersize": 7, "mfc": CARD, "mec": INK}
        axes.plot([bound.beyond(judged.claim.claimed)], [y + 17], mew=1.0, zorder=3, **look)


def _range(outcome: Outcome) -> tuple[float, ...]:
    """From the lowest to the highest, over what the document leaves open."""
    found = [ends for _, each in outcome.over if (ends := _ends(each))]
    return (min(e[1] for e in found), max(e[2] for e in found)) if found else ()


def _message(judged: list[Judged]) -> str:
    """How many hold, and by how much the worst one misses."""
    counts = {verdict: sum(each.verdict == verdict for each in judged) for verdict in WORDS}
    one = {"holds": "holds", "fails": "fails", "inconclusive": "is inconclusive"}
    many = {"holds": "hold", "fails": "fail", "inconclusive": "are inconclusive"}
    parts = [
        f"{count or 'none'} {many[verdict] if count > 1 else one[verdict]}"
        for verdict, count in counts.items()
        if verdict in one
    ]
    text = f"Of {len(judged)} claims about a ratio {listed(parts)}"
    missing = []
    for each in judged:
        ends = _ends(each.effect) if each.verdict == "fails" and each.effect else None
        if ends and ends[0] < 1:
            missing.append((ends[0], each.claim.id))
    if missing:
        value, name = min(missing)
        text += f"; {name} misses by the most, a factor of {factor(1 / value)}"
    return text


def look_of(at: int) -> tuple[str, str]:
    """Colour and marker of a record's series; no two alike among the first 36."""
    color, _ = SERIES[at % len(SERIES)]
    _, marker = SERIES[(at + at // len(SERIES)) % len(SERIES)]
    return color, marker
