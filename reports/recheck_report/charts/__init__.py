"""The charts of a report.

A chart is a file of this folder, with its KIND, its title and draw(). It follows from the record. A
collection lists those of its experiments, and names the kernels of some. Where a chart has no data,
its page gives the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from recheck_report.charts import claims, sustained
from recheck_report.charts.drawing import NotDrawn
from recheck_report.claims.measured import Measured
from recheck_report.fallback import or_placeholder
from recheck_report.record.record import Experiment
from recheck_report.say.nodes import Picture
from recheck_report.write.svg import Card

# of an experiment whose collection plans no charts: what fits any
_ANY = ("ladder", "cpu_gpu")


def _plan(report: Measured, experiment: Experiment) -> list[list[str]]:
    """The kinds of charts of one experiment, in the order of the report, each with the rows that it
    shows where that is not for the record to say."""
    found = report.collection.settings.charts.get(experiment.name, _ANY)
    if report.collection.stories:  # of kernels beyond the documents
        found = ("story",) if experiment.name in report.collection.stories else ("ladder",)
    return [kind.split() for kind in found]


def charts(report: Measured) -> dict[str, list[Picture]]:
    """All charts of a report, by experiment, and in "" that of the claims; one without data comes
    with a reason instead."""
    made = dict[str, list[Picture]]()
    if report.judgement.claims:
        made[""] = [_draw("claims.svg", claims.KIND, "Verdicts", claims.draw, report)]
    for experiment in report.record.ordinary:
        for kind, *rows in _plan(report, experiment):
            chart = import_module(f"{__name__}.{kind}")
            name = f"{experiment.name}_{kind}.svg"
            about = name, chart.KIND, experiment.title
            new = _draw(*about, chart.draw, report, experiment, *rows)
            made.setdefault(experiment.name, []).append(new)
    if changing := dict.fromkeys(experiment.name for experiment, *_ in sustained.losing(report)):
        about = "sustained.svg", sustained.KIND, "All experiments"
        over = _draw(*about, sustained.draw, report)
        for name in changing:
            made.setdefault(name, []).append(over)
    return made


def _draw(name: str, title: str, about: str, draw: Callable[..., Card], *given: object) -> Picture:
    def drawn() -> Picture:
        card = draw(*given)
        alt = f"{card.title}. ({about}: {title})"
        return Picture(name, title, alt, card.svg(alt))

    def missing(why: object) -> Picture:
        return Picture(name, title, why_not=f"{why}")

    failed = "this chart could not be made: "
    try:
        return or_placeholder(drawn, lambda why: missing(failed + why), NotDrawn)
    except NotDrawn as why:
        return missing(why)
