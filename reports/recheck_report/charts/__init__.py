"""The charts of a report.

A chart is a file of this folder, with its TITLE and draw(). It follows from the record alone; a
collection lists those of its experiments, and names the kernels of some. Where a chart has no
data, its page gives the reason. The sentences of charts stand in say/charts.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module

from recheck_report.charts import sustained
from recheck_report.charts.claims import strip
from recheck_report.charts.drawing import NotDrawn
from recheck_report.claims.measured import Measured
from recheck_report.fallback import or_placeholder
from recheck_report.record.record import MEMORY_LEVELS, Experiment
from recheck_report.say.nodes import Picture
from recheck_report.write.svg import Card


@dataclass(frozen=True)
class Chart:
    picture: Picture
    svg: bytes | None  # None where it is not drawn


# of an experiment whose collection plans no charts: what fits any
_ANY = ("ladder", "cpu_gpu")


def _plan(own: Measured, experiment: Experiment) -> list[list[str]]:
    """The kinds of charts of one experiment, in the order of the report, each with the rows that it
    shows where that is not for the record to say."""
    found = own.collection.settings.charts.get(experiment.name, _ANY)
    if experiment.name == MEMORY_LEVELS:
        found = ("levels",)
    elif own.collection.stories:  # of kernels beyond the documents
        found = ("story",) if experiment.name in own.collection.stories else ("ladder",)
    return [kind.split() for kind in found]


def charts(own: Measured) -> dict[str, list[Chart]]:
    """All charts of a report, by experiment, and in "" that of the claims; one without data comes
    with a reason instead."""
    record, made = own.record, dict[str, list[Chart]]()
    if own.judgement.claims:
        made[""] = [_draw("claims.svg", "Said against measured", "Verdicts", partial(strip, own))]
    changing = dict.fromkeys(experiment.name for experiment, *_ in sustained.losing(own))
    levels = [each for each in record.experiments if each.name == MEMORY_LEVELS]
    for experiment in record.ordinary + [each for each in levels if record.cases_of(each)]:
        for kind, *rows in _plan(own, experiment):
            chart = import_module(f"{__name__}.{kind}")
            name = f"{experiment.name}_{kind}.svg"
            draw = partial(chart.draw, own, experiment, *rows)
            new = _draw(name, chart.TITLE, experiment.title, draw)
            made.setdefault(experiment.name, []).append(new)
    if changing:
        draw = partial(sustained.draw, own)
        over = _draw("sustained.svg", sustained.TITLE, "All experiments", draw)
        for name in changing:
            made.setdefault(name, []).append(over)
    return made


def _draw(name: str, title: str, about: str, draw: Callable[[], Card]) -> Chart:
    def drawn() -> Chart:
        card = draw()
        alt = f"{card.message}. ({about}: {title})"
        return Chart(Picture(name, title, alt), card.svg(alt))

    def missing(why: str) -> Chart:
        return Chart(Picture(name, title, "", why), None)

    try:
        return or_placeholder(
            drawn, lambda why: missing(f"this chart could not be made: {why}"), NotDrawn
        )
    except NotDrawn as why:
        return missing(str(why))
