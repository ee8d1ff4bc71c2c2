"""The charts of a report: which there are, and what becomes of one without data.

A chart is a file of this folder, with its TITLE and draw(). It follows from the record alone; a
collection says which its experiments have, and names the rows of some. A chart without data is not
drawn and says why, and a case without a time stays visible.
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


MOST = 9  # charts of a report
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
    with `why_not` instead. Where they would be too many, each experiment keeps its first ones."""
    record, made = own.record, dict[str, list[Chart]]()
    if own.judgement.claims:
        made[""] = [_draw("claims.svg", "Said against measured", "Verdicts", partial(strip, own))]
    changing = {experiment.name for experiment, *_ in sustained.losing(own)}
    levels = [each for each in record.experiments if each.name == MEMORY_LEVELS]
    planned: list[tuple[int, Experiment, list[str]]] = []
    for experiment in record.ordinary + [each for each in levels if record.cases_of(each)]:
        planned += ((at, experiment, kind) for at, kind in enumerate(_plan(own, experiment)))
    left = MOST - len(made) - bool(changing)
    for _, experiment, (kind, *rows) in sorted(planned, key=lambda each: each[0]):
        chart = import_module(f"{__name__}.{kind}")
        name = f"{experiment.name}_{kind}.svg"
        draw = partial(chart.draw, own, experiment, *rows)
        new = _draw(name, chart.TITLE, experiment.title, draw)
        left -= new.svg is not None
        if left >= 0:
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
        return Chart(name, title, alt, card.svg(alt), message=card.message)

    def missing(why: str) -> Chart:
        return Chart(name, title, "", None, f"this chart could not be made: {why}")

    try:
        return or_placeholder(drawn, missing, NotDrawn)
    except NotDrawn as why:
        return Chart(name, title, "", None, str(why))
