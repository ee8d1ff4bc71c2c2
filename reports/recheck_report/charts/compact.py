"""Makes of matplotlib's SVG the one that a report holds: smaller, and dark where a reader prefers
dark.

Matplotlib gives each mark a group, a style, a clip path and six decimals. Here a style becomes
attributes, which a rule for dark may override and which renderers without such rules understand,
and the smallest part of a coordinate is a hundredth of a point. Of matplotlib's names those stay
that something refers to.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SVG = "http://www.w3.org/2000/svg"
GROUP, DEFS, STYLE = (f"{{{SVG}}}{name}" for name in ("g", "defs", "style"))
_PREFIXES = {
    "": SVG,
    "xlink": "http://www.w3.org/1999/xlink",
    "dc": "http://purl.org/dc/elements/1.1/",
    "cc": "http://creativecommons.org/ns#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
}
# what an element is without saying so
_DEFAULTS = {"text-anchor": "start", "stroke-linejoin": "round", "stroke-linecap": "butt"}


def compact(drawn: bytes, families: str, dark: dict[str, str], about: str) -> bytes:
    """`drawn` in fewer bytes, its text in the first of these font families that a reader has.

    `dark`: the colour that takes the place of each where a reader prefers dark; `about`: what the
    chart says, for screen readers.
    """
    root = ElementTree.fromstring(drawn)
    for defs in root.findall(DEFS):
        # a rule for each and every element, so that none could inherit from its group
        if defs.find(STYLE) is not None:
            root.remove(defs)
    for each in root.iter():
        _shorten(each)
    for group in root.iter(GROUP):
        group.attrib.pop("id", "")
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
