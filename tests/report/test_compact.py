"""An SVG in fewer bytes is the same drawing, well formed, and the same bytes every time."""

from __future__ import annotations

from xml.etree import ElementTree

from recheck_report.charts.compact import SVG, compact

STYLE = "fill: none; stroke: #0072b2; stroke-width: 0.7"
DRAWN = f"""<?xml version="1.0" encoding="utf-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN"
  "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 720 302.4" xmlns="{SVG}">
 <title>a &lt; b</title>
 <defs><style type="text/css">*{{stroke-linejoin: round; stroke-linecap: butt}}</style></defs>
 <g id="figure_1">
  %s
 </g>
</svg>
"""


def _compact(marks: str) -> ElementTree.Element:
    """What becomes of these marks; the same again from its own bytes."""
    more = "A,B", {"#0072b2": "#62b0f0", "#123456": "#654321"}, "what it says"
    found = compact((DRAWN % marks).encode(), *more)
    assert found == compact((DRAWN % marks).encode(), *more)
    return ElementTree.fromstring(found)


def _paths(root: ElementTree.Element) -> list[dict[str, str]]:
    return [path.attrib for path in root.iter(f"{{{SVG}}}path")]


def _path(course: str, style: str = STYLE, **more: str) -> str:
    return f'<path d="{course}" style="{style}" ' + " ".join(
        f'{name.replace("_", "-")}="{value}"' for name, value in more.items()
    ) + "/>"  # fmt: skip


def test_coordinates_are_hundredths() -> None:
    (path,) = _paths(
        _compact(_path("M 1.23456 -0.004 \nL 10.999 20 \nQ 3.5 -4.25 100 7.00001 \nz\n"))
    )
    assert path["d"] == "M1.23 0L11 20Q3.5 -4.25 100 7z"


def test_colours_have_their_night() -> None:
    root = _compact('<use x="1" y="2" style="fill: #0072b2"/>' + _path("M 1 2 L 3 4"))
    rules = '[fill="#0072b2"]{fill:#62b0f0}[stroke="#0072b2"]{stroke:#62b0f0}'
    assert root.findtext(f"{{{SVG}}}style") == f"@media(prefers-color-scheme:dark){{{rules}}}"
    assert (root.get("role"), root.get("aria-label")) == ("img", "what it says")


def test_a_chart_keeps_every_mark_and_text() -> None:
    """A line with intervals: before and after, the same texts and the same ends of its strokes."""
    import io

    import matplotlib
    from recheck_report.charts.canvas import BLUE, FONTS, VERMILLION, Card, log_sizes, style

    with style("a chart"):
        card = Card("title", "note", 200)
        axes = card.axes(50, 50)
        log_sizes(axes, [128, 256, 512])
        points = [(128 * 2**at, at + 1, at + 0.9, at + 1.1) for at in range(3)]
        card.line(axes, points, color=BLUE, marker="o")
        card.dots(axes, [(1, 200, 180, 220), (2, 300, 290, 310)], color=VERMILLION, marker="s")
        out = io.BytesIO()
        card.figure.savefig(out, format="svg", metadata={"Date": None})
        small = card.svg("about")
    before, after = ElementTree.fromstring(out.getvalue()), ElementTree.fromstring(small)
    assert matplotlib.rcParams["svg.fonttype"] != "none"  # the style ended
    assert len(small) < 0.8 * len(out.getvalue()) and FONTS.encode() in small
    for tag in ("text", "use", "clipPath"):
        count = [len(list(root.iter(f"{{{SVG}}}{tag}"))) for root in (before, after)]
        assert count[0] == count[1] > 0, tag
    starts = [sum(path["d"].count("M") for path in _paths(root)) for root in (before, after)]
    assert starts[0] == starts[1]
