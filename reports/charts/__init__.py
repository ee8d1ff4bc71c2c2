"""The charts of one experiment: which there are, and what becomes of one without data.

A chart follows from the record alone; only the plans in these files name strategies and shapes. A
chart without data is not drawn and says why, and a case without a time stays visible.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from accuracy import Accuracy
from canvas import style, svg
from measured import Measured
from progress import doing
from record import Experiment

from charts.audit import audit
from charts.block_policy import block_policy
from charts.claims import compared, strip
from charts.cpu_gpu import cpu_gpu
from charts.drawing import Drawing, NotDrawn
from charts.error import error
from charts.ladder import ladder
from charts.levels import draw_levels
from charts.loops import loops
from charts.of_copy import of_copy
from charts.promotion import promotion
from charts.rows_blocks import rows_blocks
from charts.then import then
from charts.throughput import throughput
from charts.unroll import unroll


@dataclass(frozen=True)
class Chart:
    name: str
    title: str
    alt: str
    caption: str
    svg: bytes | None
    why_not: str = ""


_CHARTS: dict[str, tuple[str, Callable[..., Drawing]]] = {
    "throughput": ("Throughput against size", throughput),
    "ladder": ("The ladder", ladder),
    "cpu_gpu": ("CPU against GPU", cpu_gpu),
    "block_policy": ("Block policies", block_policy),
    "then": ("Then and here", then),
    "rows_blocks": ("Rows against block size", rows_blocks),
    "unroll": ("Unrolling", unroll),
    "of_copy": ("How near to a copy", of_copy),
    "loops": ("Outer and inner loop", loops),
    "audit": ("What comparisons can tell here", audit),
    "levels": ("Latency and bandwidth", draw_levels),
}
# in the order of the report; an experiment that nobody has planned for gets what fits any
_PLANS = {
    "matmul": ("throughput", "ladder", "cpu_gpu", "block_policy"),
    "matvec": ("ladder", "then", "rows_blocks", "unroll"),
    "audit": ("audit",),
    "memory": ("levels",),
    "transpose": ("ladder", "of_copy", "loops", "throughput"),
}
_ANY = ("throughput", "ladder", "cpu_gpu")
_OF_FIGURES = ("then", "of_copy", "loops")  # which show the documents' figures as well


def plan(experiment: Experiment) -> tuple[str, ...]:
    """The kinds of charts of one experiment, in the order of the report."""
    return _PLANS.get(experiment.name, _ANY)


def charts(
    own: Measured, experiment: Experiment, prefix: str = "", kinds: tuple[str, ...] = ()
) -> list[Chart]:
    """Draws the charts of one experiment; one without data comes with `why_not` instead."""
    drawn, kinds = [], kinds or plan(experiment)
    for at, kind in enumerate(kinds, 1):
        title, draw = _CHARTS[kind]
        draw = partial(draw, own.record, experiment)
        if kind in _OF_FIGURES:
            draw = partial(draw, own.known.figures_of(experiment.name))
        name = f"{prefix}{experiment.name}_{kind}.svg"
        with doing(f"chart {at} of {len(kinds)}"):
            drawn.append(_draw(name, title, experiment.title, draw))
    return drawn


def _draw(name: str, title: str, about: str, draw: Callable[[], Drawing]) -> Chart:
    try:
        with doing(name), style():
            drawing = draw()
            data = svg(drawing.figure)
    except NotDrawn as why:
        return Chart(name, title, "", "", None, str(why))
    return Chart(name, title, f"{about}, {title}: {drawing.subtitle}", drawing.caption, data)


def claims_chart(own: Measured) -> Chart:
    """What documents claim against what was measured."""
    title = "Claimed against measured"
    return _draw("claims.svg", title, "Verdicts", lambda: strip(own))


def accuracy_charts(accuracy: Accuracy, prefix: str = "") -> list[Chart]:
    """The errors of products of matrices: against K, and against promotion."""
    kinds = {
        "error": ("Errors against the length of the sums", error),
        "promotion": ("Errors against promotion", promotion),
    }
    return [
        _draw(f"{prefix}matmul_{kind}.svg", title, "Matrix multiplication", partial(draw, accuracy))
        for kind, (title, draw) in kinds.items()
    ]


def compared_chart(records: list[Measured], names: list[str], experiment: str) -> Chart:
    """The claims of one experiment on several records."""
    draw = lambda: compared(records, names, experiment)  # noqa: E731
    return _draw(f"compare_{experiment}.svg", "The claims across GPUs", experiment, draw)
