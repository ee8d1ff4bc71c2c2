"""Then and here: the times that a document gives beside this machine's, one line per row."""

from __future__ import annotations

from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from recheck_report.charts.canvas import BLUE, CARD, MUTED, VERMILLION, Look, card, dots, note
from recheck_report.charts.drawing import Drawing, NotDrawn
from recheck_report.claims.measured import Measured
from recheck_report.formatting import duration, shape_label
from recheck_report.model.record import Experiment
from recheck_report.statistics.ratio import Ratio

TITLE = "Then and here"


def draw(own: Measured, experiment: Experiment) -> Drawing:
    record, known = own.record, own.known.figures_of(experiment.name)
    rows = [each for each in known.figure if each.shape == experiment.headline]
    if not rows:
        raise NotDrawn("no document gives a time at the headline's shape")
    cases = [each.case(record, experiment) for each in rows]
    times = [case.seconds.median for case in cases if case and case.seconds]
    if not times:
        raise NotDrawn("none of the cases that it shows was measured")
    times += [each.seconds for each in rows if each.seconds]
    hardware = ", ".join(dict.fromkeys(known.hardware[each.hardware] for each in rows))
    env = record.environment
    here = f"{env.gpu.name}, {env.cpu}" if env.gpu else env.cpu
    document = rows[0].document
    subtitle = f"{document} then: {hardware} · this machine: GPU cold, CPU hot"
    height = 1.95 + 0.29 * len(rows)
    title = f"{experiment.title}: then and here, {shape_label(experiment.headline)}"
    figure = card(height, title, subtitle)
    axes = figure.add_axes((0.145, 0.95 / height, 0.5, 1 - 2.0 / height))
    axes.set(xscale="log", xlim=(min(times) / 2, max(times) * 2), ylim=(len(rows) - 0.4, -0.6))
    axes.xaxis.set_major_locator(LogLocator(10))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: duration(x, 1)))
    axes.grid(True, axis="x")
    axes.spines["left"].set_visible(False)
    axes.set_yticks(range(len(rows)), [each.strategy for each in rows])
    axes.set_xlabel("time (s, ms or µs as at each tick, log; left is faster)")
    beside: Look = {"transform": axes.get_yaxis_transform(), "va": "center", "fontsize": 8}
    columns = {"then": 1.025, "here": 1.165, "speed-up [95 % interval]": 1.305}
    for text, x in columns.items():
        axes.text(x, -0.95, text, color=MUTED, **beside)
    points = []
    for at, (each, case) in enumerate(zip(rows, cases, strict=True)):
        seconds = case.seconds if case else None
        if each.seconds and seconds:
            axes.plot(
                [seconds.median, each.seconds], [at, at], color=MUTED, linewidth=0.8, zorder=1
            )
            ratio = Ratio.over(each.seconds, seconds)
            axes.text(1.305, at, str(ratio), **beside)
        if each.seconds:
            look: Look = {"marker": "s", "color": VERMILLION, "markersize": 6, "mec": CARD}
            axes.plot([each.seconds], [at], linestyle="none", **look)
        axes.text(1.025, at, duration(each.seconds) if each.seconds else "lost", **beside)
        if seconds is None:
            text = case.status.replace("_", " ") if case else "–"
            axes.text(1.165, at, text, color=MUTED, **beside)
            continue
        points.append((at, seconds.median, seconds.low, seconds.high))
        axes.text(1.165, at, duration(seconds.median), **beside)
    dots(axes, points, color=BLUE, marker="o", markersize=6)
    note(figure, 38, f"squares: as {document} has it, without an interval", fontsize=8, color=MUTED)
    key = f"dots, here: {here}"
    note(figure, 24, key, fontsize=8, color=MUTED)
    lost = [each.strategy for each in rows if each.lost]
    caption = f"Lost in every copy of the document: the times of {', '.join(lost)}." if lost else ""
    return Drawing(figure, subtitle, caption)
