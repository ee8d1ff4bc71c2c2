"""The charts of one experiment: which there are, and what becomes of one without data.

A chart is a file of this folder, with its TITLE and draw(). It follows from the record alone; a
collection says which its experiments have, and names the rows of some. A chart without data is not
drawn and says why, and a case without a time stays visible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from recheck_report.charts.claims import strip
from recheck_report.charts.drawing import NotDrawn
from recheck_report.claims.measured import Measured
from recheck_report.fallback import or_placeholder
from recheck_report.record.record import MEMORY_LEVELS, Experiment
from recheck_report.say.nodes import Picture
from recheck_report.write.svg import Card


@dataclass(frozen=True)
class Chart:
    name: str
    title: str  # what it is about, for where it is not drawn
    alt: str  # its message, and what it is about
    svg: bytes | None
    why_not: str = ""
    message: str = ""  # what it shows, as a sentence made of the record: the title of the picture

    @property
    def picture(self) -> Picture:
        """It on a page."""
        return Picture(self.name, self.title, self.alt, self.why_not)


# of an experiment whose collection plans no charts: what fits any
_ANY = ("ladder", "cpu_gpu")


def plan(own: Measured, experiment: Experiment) -> dict[str, list[str]]:
    """The kinds of charts of one experiment, in the order of the report, each with the rows that it
    shows where that is not for the record to say."""
    found = own.collection.settings.charts.get(experiment.name, _ANY)
    if experiment.name == MEMORY_LEVELS:
        found = ("levels",)
    elif own.collection.stories:  # of kernels beyond the documents
        found = ("story",) if experiment.name in own.collection.stories else ("ladder",)
    if any(case.regime == "sustained" for case in own.record.cases_of(experiment)):
        found = (*found, "sustained")
    return {kind: rows for kind, *rows in map(str.split, found)}


def charts(own: Measured, experiment: Experiment, kinds: tuple[str, ...] = ()) -> list[Chart]:
    """Draws the charts of one experiment; one without data comes with `why_not` instead."""
    drawn, planned = [], plan(own, experiment)
    for kind in kinds or planned:
        chart = import_module(f"{__name__}.{kind}")
        name = f"{experiment.name}_{kind}.svg"
        draw = partial(chart.draw, own, experiment, *planned.get(kind, ()))
        drawn.append(_draw(name, chart.TITLE, experiment.title, draw))
    return drawn


def _draw(name: str, title: str, about: str, draw: Callable[[], Card]) -> Chart:
    def drawn() -> Chart:
        card = draw()
        alt = f"{card.message}. ({about}: {title})"
        return Chart(name, title, alt, card.svg(alt), message=card.message)

    def missing(why: str) -> Chart:
        return Chart(name, title, "", None, f"this chart could not be made: {why}")

    try:
        return or_placeholder(drawn, missing, NotDrawn)
    except NotDrawn as why:
        return Chart(name, title, "", None, str(why))


def claims_chart(own: Measured) -> Chart:
    """What documents claim against what was measured."""
    title = "Asked against measured"
    return _draw("claims.svg", title, "Verdicts", lambda: strip(own))
