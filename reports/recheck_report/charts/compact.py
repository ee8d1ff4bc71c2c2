"""Makes of matplotlib's SVG the one that a report holds: smaller, dark where a reader prefers dark,
with a title on each mark.

Matplotlib gives each mark a group, a style, a clip path and six decimals. Here a style becomes
attributes, which a rule for dark may override and which renderers without such rules understand;
what the marks of a group have in common stands once; strokes that differ in their course alone are
one path; and the smallest part of a coordinate is a hundredth of a point. Of matplotlib's names
those stay that something refers to; what tests look for is a class: line2d, trend, or label, of an
axis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SVG = "http://www.w3.org/2000/svg"
GROUP, DEFS, PATH, USE, TEXT, TITLE, STYLE = (
    f"{{{SVG}}}{name}" for name in ("g", "defs", "path", "use", "text", "title", "style")
)
_PREFIXES = {
    "": SVG,
    "xlink": "http://www.w3.org/1999/xlink",
    "dc": "http://purl.org/dc/elements/1.1/",
    "cc": "http://creativecommons.org/ns#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
}
# what an element is without saying so
_DEFAULTS = {"text-anchor": "start", "stroke-linejoin": "round", "stroke-linecap": "butt"}
# what a group passes on to its marks
_SHARED = {"fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-weight"}
_SHARED |= {"text-anchor", "clip-path"}


def compact(
    drawn: bytes, families: str, dark: dict[str, str], titles: dict[str, list[str]], about: str
) -> bytes:
    """`drawn` in fewer bytes, its text in the first of these font families that a reader has.

    `dark`: the colour that takes the place of each where a reader prefers dark; `titles`: those of
    the marks, in order, by the id of their group; `about`: what the chart says, for screen readers.
    """
    root = ElementTree.fromstring(drawn)
    for defs in root.findall(DEFS):
        # a rule for each and every element, so that none could inherit from its group
        if defs.find(STYLE) is not None:
            root.remove(defs)
    for each in root.iter():
        _shorten(each)
    for group in root.iter(GROUP):
        name = group.attrib.pop("id", "")
        if name in titles:
            _give_titles(group, titles[name])
        if name.startswith(("line2d", "trend")):
            group.set("class", name.rstrip("_0123456789"))
        elif name.startswith("matplotlib.axis"):
            # its own texts; those of its ticks are in groups of theirs
            for text in group.findall(f"{GROUP}/{TEXT}"):
                text.set("class", "label")
    _join(root)
    width, height = (float(size) for size in root.attrib["viewBox"].split()[2:])
    root.attrib |= {"width": "830", "height": f"{830 * height / width:.0f}", "role": "img"}
    root.attrib |= {"aria-label": about, "font-family": families, "stroke-linejoin": "round"}
    rules = Element(STYLE)
    rules.text, rules.tail = _rules(root, dark), "\n"
    root.insert(0, rules)
    for prefix, uri in _PREFIXES.items():
        ElementTree.register_namespace(prefix, uri)
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data


def _rules(root: Element, dark: dict[str, str]) -> str:
    """What changes in the dark, of the colours that there are."""
    there = {(name, each.get(name, "")) for each in root.iter() for name in ("fill", "stroke")}
    found = [f'[{n}="{c}"]{{{n}:{dark[c]}}}' for n, c in sorted(there) if c in dark]
    return f"@media(prefers-color-scheme:dark){{{''.join(found)}}}"


def _give_titles(group: Element, titles: list[str]) -> None:
    """Its marks, or the lines of a group that has no marks, get one title each."""
    defined = {id(path) for defs in group.iter(DEFS) for path in defs}
    marks = list(group.iter(USE)) or [p for p in group.iter(PATH) if id(p) not in defined]
    for mark, text in zip(marks, titles, strict=True):
        ElementTree.SubElement(mark, TITLE).text = text


def _shorten(element: Element) -> None:
    for name in ("d", "x", "y", "width", "height", "transform"):
        if name in element.attrib:
            # the grammar of paths and transforms needs no blank beside a letter
            text = re.sub(r"\s*([A-Za-z])\s*", r"\1", element.attrib[name].strip())
            element.set(name, re.sub(r"-?\d+\.\d+", _rounded, text))
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    for rule in element.attrib.pop("style", "").split("; "):
        name, _, value = rule.partition(": ")
        if value and name != "font-family" and _DEFAULTS.get(name) != value:
            element.set(name, value.removesuffix("px"))
    # a line for each element, so that differences can be read
    element.tail = "\n"
    if len(element):
        element.text = "\n"


def _rounded(number: re.Match[str]) -> str:
    text = f"{float(number[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _join(group: Element) -> None:
    """Dissolves wrappers, makes one path of strokes alike, and gives the group what all share."""
    kept: list[Element] = []
    for child in _dissolved(group):
        if kept and _strokes_alike(kept[-1], child):
            kept[-1].set("d", kept[-1].attrib["d"] + child.attrib["d"])
        else:
            kept.append(child)
    group[:] = kept
    marks = [each for each in kept if each.tag not in (DEFS, TITLE)]
    if group.tag != GROUP or len(marks) < 2:
        return
    for name in sorted(_SHARED.intersection(marks[0].attrib)):
        value = marks[0].attrib[name]
        if name not in group.attrib and all(each.get(name) == value for each in marks):
            group.set(name, value)
            for each in marks:
                del each.attrib[name]


def _dissolved(group: Element) -> Iterator[Element]:
    """The children, and those of a group that says nothing in its place."""
    for child in list(group):
        _join(child)
        if child.tag == GROUP and (not len(child) or not child.attrib):
            yield from child
        else:
            yield child


def _strokes_alike(one: Element, other: Element) -> bool:
    first, second = ({**each.attrib, "d": ""} for each in (one, other))
    # it matters how often a translucent one is painted
    stroke = one.get("fill") == "none" and not {"opacity", "stroke-opacity", "id"} & {*first}
    plain = one.tag == other.tag == PATH and not len(one) and not len(other)
    return stroke and plain and first == second
