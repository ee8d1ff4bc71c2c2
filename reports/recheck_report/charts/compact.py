"""Makes an SVG of matplotlib's smaller: the same picture, with every name that a program looks for.

Matplotlib gives each mark a group, a style, a clip path and six decimals. Here what the marks of a
group have in common stands once, strokes that differ in their course alone are one path, and the
smallest part of a coordinate is a hundredth of a point.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SVG = "http://www.w3.org/2000/svg"
GROUP, DEFS, PATH, TEXT = (f"{{{SVG}}}{name}" for name in ("g", "defs", "path", "text"))
_PREFIXES = {
    "": SVG,
    "xlink": "http://www.w3.org/1999/xlink",
    "dc": "http://purl.org/dc/elements/1.1/",
    "cc": "http://creativecommons.org/ns#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
}
# what matplotlib calls a group that need not be one
_WRAPPER = re.compile(r"(figure|patch|text|legend|\w+Collection)_\d+")
_DEFAULT = re.compile(r"font-family:|text-anchor:start|$")


def compact(drawn: bytes, families: str) -> bytes:
    """`drawn` in fewer bytes, its text in the first of these font families that a reader has."""
    root = ElementTree.fromstring(drawn)
    for defs in root.findall(DEFS):
        # a rule for each and every element, so that none could inherit from its group
        if defs.find(f"{{{SVG}}}style") is not None:
            root.remove(defs)
    for each in root.iter():
        _shorten(each)
    _join(root)
    root.set("style", f"stroke-linejoin:round;font-family:{families}")
    for prefix, uri in _PREFIXES.items():
        ElementTree.register_namespace(prefix, uri)
    data: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return data


def _shorten(element: Element) -> None:
    for name in ("d", "x", "y", "width", "height", "transform"):
        if name in element.attrib:
            # the grammar of paths and transforms needs no blank beside a letter
            text = re.sub(r"\s*([A-Za-z])\s*", r"\1", element.attrib[name].strip())
            element.set(name, re.sub(r"-?\d+\.\d+", _rounded, text))
    if element.get("transform", "").startswith("rotate(-0 "):
        del element.attrib["transform"]
    rules = [rule.replace(": ", ":") for rule in element.attrib.pop("style", "").split("; ")]
    if kept := [rule for rule in rules if not _DEFAULT.match(rule)]:
        element.set("style", ";".join(kept))
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
    for child in list(group):
        _join(child)
        dissolves = child.keys() == ["id"] and _WRAPPER.fullmatch(child.attrib["id"])
        for each in list(child) if dissolves or _empty(child) else [child]:
            if kept and _strokes_alike(kept[-1], each):
                kept[-1].set("d", kept[-1].attrib["d"] + each.attrib["d"])
            else:
                kept.append(each)
    group[:] = kept
    marks = [each for each in kept if each.tag != DEFS]
    if group.tag != GROUP or len(marks) < 2:
        return
    for name in ("style", "clip-path"):
        value = marks[0].get(name, "")
        # all of these but this one pass on from a group to its marks
        alone = name in group.attrib or not value or re.search("(^|;)opacity:", value)
        if not alone and all(each.get(name) == value for each in marks):
            group.set(name, value)
            for each in marks:
                del each.attrib[name]


def _empty(element: Element) -> bool:
    return element.tag == GROUP and not len(element)


def _translucent(style: str) -> bool:
    """Whether it matters how often, or on how many marks at once, this is painted."""
    return "opacity:" in style


def _strokes_alike(one: Element, other: Element) -> bool:
    first, second = ({**each.attrib, "d": ""} for each in (one, other))
    style = first.get("style", "")
    stroke = "fill:none" in style and not _translucent(style) and "id" not in first
    return stroke and one.tag == other.tag == PATH and first == second
