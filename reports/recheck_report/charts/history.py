"""The rows of an experiment over the runs: a small panel each, on one scale, and below them what
else changed from run to run."""

from __future__ import annotations

import math
from statistics import median

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from recheck_report.charts.canvas import (
    BLUE,
    CARD,
    DASHED,
    GRID,
    MARGIN,
    MUTED,
    VERMILLION,
    WIDTH,
    Card,
    Look,
)
from recheck_report.charts.drawing import Drawing, NotDrawn
from recheck_report.claims.measured import Measured
from recheck_report.formatting import NBSP, duration, shape_label, significant
from recheck_report.history.runs import History
from recheck_report.history.steps import CODE, CUDA, DRIVER, GPU, HOST, TIMER
from recheck_report.model.record import SPECIAL, Experiment
from recheck_report.sections.history import Panel, panels, what_changed

TITLE = "Times over the runs"
COLUMNS, LEFT, GAP = 3, 74.0, 14.0  # panels in a line; points
HEIGHT, STRIP, LABELS = 58.0, 66.0, 62.0  # of a panel, of what changed, of the runs' names
LEAST = 0.03  # a chart reaches as far either way, so that noise looks like it
CHANGES = (GPU, DRIVER, CUDA, CODE, HOST, TIMER)


def draw(own: Measured, experiment: Experiment) -> Drawing:
    history, record = own.history, own.record
    shown = panels(history, record, experiment) if history else []
    if history is None or not shown:
        raise NotDrawn("none of its rungs has cold times of two runs")
    common = [each.shape for each in shown if not each.elsewhere]
    where = f" at {shape_label(common[0])}" if common and experiment.name not in SPECIAL else ""
    note = (
        "" if experiment.name in SPECIAL else f"Cold{where}, unless a panel names another shape. "
    )
    note += "0: the median of a row's runs. Bars: 95 % intervals. Dashed: a change point. Squares: "
    note += "what is not as in the run before; hollow: not known."
    lines = math.ceil(len(shown) / COLUMNS)
    body = lines * (HEIGHT + 22) + STRIP + LABELS
    card = Card(_message(history, shown), note, body)
    width = (WIDTH - LEFT - MARGIN - GAP * (COLUMNS - 1)) / COLUMNS
    reach = max(LEAST, *(abs(x - 1) for each in shown for x in _relative(each)))
    for at, each in enumerate(shown):
        line, column = divmod(at, COLUMNS)
        left = LEFT + column * (width + GAP)
        top = 18 + line * (HEIGHT + 22)
        right, bottom = WIDTH - left - width, body - top - HEIGHT
        axes = card.axes(left, right, top, bottom, title=each.strategy)
        _panel(card, axes, history, each, reach)
        axes.tick_params(labelleft=column == 0)
        if (line, column) == ((lines - 1) // 2, 0):
            axes.set_ylabel("time (%, up is slower)")
    for column in range(min(COLUMNS, len(shown))):
        left = LEFT + column * (width + GAP)
        axes = card.axes(left, WIDTH - left - width, body - LABELS - STRIP + 6, LABELS)
        _strip(axes, history, experiment, column == 0, width)
    return Drawing(card)


def _relative(panel: Panel) -> list[float]:
    times = [time.median for _, time in panel.series]
    base = median(times)
    return [time / base for time in times]


def _across(axes: Axes, history: History) -> None:
    axes.set_xlim(-0.6, len(history.runs) - 0.4)
    axes.xaxis.set_major_locator(NullLocator())


def _panel(card: Card, axes: Axes, history: History, panel: Panel, reach: float) -> None:
    base = median(time.median for _, time in panel.series)
    points, titles = [], []
    for at, time in panel.series:
        ends = (100 * (each / base - 1) for each in (time.median, time.low, time.high))
        value, low, high = ends
        points.append((at, value, low, high))
        run = history.runs[at]
        interval = f"[{duration(time.low)}, {duration(time.high)}]"
        said = f"{panel.strategy}, run {run.short} of {run.started[:10]}: "
        titles.append(f"{said}{duration(time.median)} {interval}")
    axes.axhline(0, color=GRID, linewidth=0.9, zorder=0)
    color = VERMILLION if panel.steps else BLUE
    card.line(axes, points, titles, color=color, marker="o", markersize=4, linewidth=1.2)
    _across(axes, history)
    axes.set_ylim(-112 * reach, 112 * reach)
    axes.yaxis.set_major_locator(MaxNLocator(3, symmetric=True))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: f"{y:+g}" if y else "0"))
    axes.grid(True, axis="y")
    for step in panel.steps:
        axes.axvline((step.before + step.after) / 2, color=MUTED, linewidth=0.8, linestyle=DASHED)
    if panel.steps:
        # the largest, in the corner beside its line that both levels leave free
        step = panel.steps[0]
        late = step.after > len(history.runs) / 2
        high = step.slower == late
        axes.annotate(
            "\n".join(filter(None, (_percent(step.ratio.value), shape_label(panel.elsewhere)))),
            ((step.before + step.after) / 2, 1 if high else 0), (-4 if late else 4, 0),
            xycoords=("data", "axes fraction"), textcoords="offset points", color=VERMILLION,
            ha="right" if late else "left", va="top" if high else "bottom",
        )  # fmt: skip


def _percent(ratio: float) -> str:
    """The time that it takes more: "+7.1 %"."""
    more = 100 / ratio - 100
    return f"{'+' if more > 0 else '−'}{significant(abs(more), 2)} %"


def _strip(axes: Axes, history: History, experiment: Experiment, named: bool, width: float) -> None:
    """A square for each thing that changed with a run, and the runs' names."""
    _across(axes, history)
    axes.set_ylim(len(CHANGES) - 0.4, -0.6)
    axes.set_yticks(range(len(CHANGES)), CHANGES if named else [""] * len(CHANGES))
    axes.spines["left"].set_visible(False)
    found = [what_changed(history, experiment.name, at) for at in range(len(history.runs))]
    for row in range(len(CHANGES)):
        axes.axhline(row, color=GRID, linewidth=0.7, zorder=0)
    known = {MUTED: [each.changed for each in found], CARD: [each.unknown for each in found]}
    for fill, names in known.items():
        marks = [(at, CHANGES.index(name)) for at, own in enumerate(names) for name in own]
        look: Look = {
            "linestyle": "none",
            "marker": "s",
            "markersize": 4.5,
            "mec": MUTED,
            "mfc": fill,
        }
        if marks:
            axes.plot(*zip(*marks, strict=True), **look)
    every = math.ceil(len(history.runs) * 11 / width)  # as many as there is room for
    places = range(0, len(history.runs), every)
    axes.xaxis.set_major_locator(FixedLocator(list(places)))
    axes.set_xticks(list(places), [history.runs[at].short for at in places], rotation=90)
    if named:
        axes.set_xlabel("run (commit)")


def _message(history: History, shown: list[Panel]) -> str:
    """How many rows changed, and the largest change of all."""
    rows, runs = f"the {len(shown)} rows shown", f"{len(history.runs)} runs"
    if not history.searched:
        return f"{len(shown)} rows over {runs}, in which change points have not been looked for"
    changed = [each for each in shown if each.steps]
    if not changed:
        return f"None of {rows} has a change point in {runs}"
    most = max((step for each in changed for step in each.steps), key=lambda step: step.size)
    more, name = 100 / most.ratio.value - 100, most.id.split("/")[1]
    name = f", most of all {name}, which" if len(changed) > 1 else f": {name}"
    less = f"{significant(abs(more), 2)}{NBSP}% {'more' if more > 0 else 'less'} time"
    start = history.runs[most.after].short
    return f"{len(changed)} of {rows} changed in {runs}{name} takes {less} from {start} on"
