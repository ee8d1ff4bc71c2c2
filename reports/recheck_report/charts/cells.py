"""A cell of a heat map: a rate in its colour, with its interval, or the reason for its absence."""

from __future__ import annotations

import math
import textwrap
from typing import Any

import matplotlib
from matplotlib.patches import Rectangle

from recheck_report.charts.canvas import CARD, FAINT, MUTED, VERMILLION, Look, ink_on_fill
from recheck_report.formatting import significant, spread
from recheck_report.model.record import Case


def draw_cell(
    axes: Any, x: int, y: int, case: Case | None, rate: float | None,
    scale: tuple[float, float], best: bool, small: bool = False,
) -> None:  # fmt: skip
    """`small`: the number alone, in colours of a log scale, and no hatch for a case that is not."""
    box: Look = {"xy": (x - 0.475, y - 0.46), "width": 0.95, "height": 0.92, "clip_on": False}
    middle: Look = {"ha": "center", "va": "center"}
    if small and case is None:
        axes.text(x, y, "·", color=MUTED, fontsize=8, **middle)
        return
    if case is None or rate is None:
        axes.add_patch(Rectangle(**box, facecolor=CARD, edgecolor=FAINT, hatch="////"))
        why = case.why_not if case else "not in this record"
        text = "\n".join(textwrap.wrap(why, 17, max_lines=5, placeholder=" …"))
        text = case.status.replace("_", "\n") if small and case else text
        look = {
            "fontsize": 5 if small else 6.5,
            "bbox": {"facecolor": CARD, "edgecolor": "none", "pad": 1},
        }
        axes.text(x, y, text, **middle, **look)
        return
    low, high = scale
    # a small map spans orders of magnitude, which a linear scale would paint in one colour
    low, high, at = (math.log(v) if small else v for v in (low, high, rate))
    fill = matplotlib.colormaps["cividis"](0.08 + 0.9 * (at - low) / (high - low or 1))
    ink = ink_on_fill(fill)
    axes.add_patch(Rectangle(**box, facecolor=fill, edgecolor="none"))
    if best:
        outline: Look = {
            "facecolor": "none",
            "edgecolor": VERMILLION,
            "linewidth": 1.5 if small else 3,
            "zorder": 5,
        }
        axes.add_patch(Rectangle(**box, **outline))
    weight = "bold" if best else "normal"
    if small:
        text = significant(rate)
        axes.text(x, y, text, color=ink, fontsize=6.8, fontweight=weight, **middle)
        return
    axes.text(x, y - 0.06, significant(rate), color=ink, fontsize=12, fontweight=weight, **middle)
    axes.text(x, y + 0.27, spread(case.time), color=ink, fontsize=7, **middle)
    if best:
        axes.text(x, y - 0.32, "fastest", color=ink, fontsize=7, **middle)
