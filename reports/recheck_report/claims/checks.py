"""The checks of claims, errata and stories: questions to a record, as data.

Each has a form, which determines its fields. A check whose cases name an unspecified parameter is
evaluated for each of its values.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from recheck_report.claims import expression
from recheck_report.claims.toml import BYTES, OPERATIONS, Shape, one_of, quantity
from recheck_report.queries import CEILINGS
from recheck_report.record.counters import OF_DEVICE
from recheck_report.record.probes import OUTCOMES
from recheck_report.record.regimes import REGIMES
from recheck_report.record.typed import Is, Unfit, list_or_nearest, only, typed

# words that may replace a bound where a document has no figure, as factors or shares: our reading
# first, then other common ones
POLICY = {
    "faster": (1.0,), "much faster": (1.5, 1.2, 2.0), "far faster": (2.0, 1.5),
    "by tens of times": (20.0, 10.0), "important": (0.1,), "very important": (0.25,),
}  # fmt: skip
_WORDED = ("above", "below", "at_least", "at_most")
# outcomes of a snippet
COMPILED = ("refused", "compiles")
# the smallest factor of a bound; smaller ones vanish in the arithmetic
LEAST = 1e-12
Factor = Annotated[float | None, Is(least=LEAST)]
_ROW = re.compile(r"[a-z0-9_]+/[a-z0-9_]+")
_EXTENTS = re.compile(r"\d+(x\d+)*|{shape}")
_TEST = re.compile(r"(gate|racecheck|compile):[\w./]+")


@dataclass(frozen=True)
class Choice:
    """Values of unspecified parameters, or the reading of a word."""

    values: tuple[tuple[str, str], ...] = ()  # (("block", "512"), ("loop", "unrolling 1"))
    usual: bool = False
    word: str = ""
    times: float = 0.0  # what the word is read as


@dataclass(frozen=True)
class Check:
    """One question to a record. Which fields are set depends on the form: see FORMS."""

    form: str
    says: str = ""
    base: str = ""
    other: str = ""
    of: str = ""
    per: str = ""
    roof: str = ""
    expression: str = ""
    name: Annotated[str, Is(one_of=OF_DEVICE)] = ""
    test: str = ""
    finds: str = ""
    cases: tuple[str, ...] = ()
    shapes: tuple[Shape, ...] = ()
    above: Factor = None
    below: Factor = None
    at_least: float | None = None
    at_most: float | None = None
    equals: float | None = None
    relative: Annotated[float | None, Is(above=0)] = None  # how far from `equals`, as a share of it
    within: Factor = None
    key: str = ""  # the name by which a claim's `why` refers to it
    place: str = field(default="", compare=False)  # in its claim or erratum, for messages
    word: str = ""  # the word of POLICY that replaces its bound
    unit: str = ""  # of the bound of a rate
    # the check at each value of the unspecified parameters, the usual one first
    over: tuple[tuple[Choice, Check], ...] = ()

    def at(self, shape: str) -> tuple[str, str]:
        """The two cases of a series at one of its shapes."""
        return self.base.replace("{shape}", shape), self.other.replace("{shape}", shape)

    @property
    def bound(self) -> float:
        """The factor that a ratio must exceed, or stay below."""
        return self.above or self.below or 1.0

    @property
    def ids(self) -> tuple[str, ...]:
        """The cases that the check uses; a comparison has `other` before `base`."""
        if self.over:
            return tuple(dict.fromkeys(name for _, check in self.over for name in check.ids))
        if self.form == "monotone":
            return tuple(name for shape in self.shapes for name in self.at(shape))
        roof = self.roof if "/" in self.roof else ""
        return tuple(i for i in (self.other, self.base, self.of, roof, self.per, *self.cases) if i)


@dataclass(frozen=True)
class Form:
    """The fields of a form: all of `needs`, exactly one of `one_of`, any of `may`."""

    needs: tuple[str, ...]
    one_of: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


_BOUNDS = ("equals", "at_least", "at_most")
FORMS = {
    "ratio": Form(("base", "other"), ("above", "below")),
    "fraction_of_roof": Form(("of", "roof"), ("at_least", "at_most")),
    "rate": Form(("of",), ("at_least", "at_most")),
    "extremes": Form(("cases", "above")),
    "monotone": Form(("base", "other", "shapes")),
    "equivalent": Form(("base", "other", "within")),
    "count": Form(("of", "expression"), _BOUNDS, ("per", "relative")),
    "attribute": Form(("name",), _BOUNDS, ("relative",)),
    "test": Form(("test", "finds")),
    "arithmetic": Form(("expression",), may=("equals", "relative")),
}


@dataclass(frozen=True)
class Open:
    """An unspecified parameter and its values, the usual one first. In ids of checks, {name} stands
    for the text of a value, or {word} for one of several texts of a value."""

    name: str
    what: str  # in words
    values: tuple[tuple[str, dict[str, str]], ...]  # a value's name, and its texts in ids


def _read(key: str, times: float) -> float:
    """A word as a bound; for at_most, which is about a share, the inverse."""
    return 1 / times if key == "at_most" else times


Joint = dict[str, str]  # values of parameters that are allowed together


def checks_of(
    table: dict[str, Any], key: str, choices: tuple[Open, ...] = (), joint: tuple[Joint, ...] = ()
) -> list[Check]:
    """The checks of a list in a table, for each value of each parameter, and for the joint values;
    raises Unfit."""
    checks: list[Check] = []
    for at, one in enumerate(typed(tuple[Any, ...], table.get(key, []), key)):
        place = f"{key}[{at}]"
        for check in _checks(one, place):
            checks.append(_varied(replace(check, place=place), choices, joint, place))
    return checks


_IDS = ("base", "other", "of", "per", "roof")
_FILLED = (*_IDS, "test", "finds")


def _checks(table: Any, where: str) -> list[Check]:
    """The check of a table, or one for each of its shapes."""
    if type(table) is not dict:
        raise Unfit("must be a check: { form = … }", where)
    name = typed(str, table.get("form", ""), f"{where}.form")
    one_of(FORMS, name, f"{where}.form")
    form = FORMS[name]
    expands = name != "monotone" and "shapes" in table
    allowed = ("form", "says", "key", *form.needs, *form.one_of, *form.may)
    only(table, (*allowed, "shapes"), f"{where}.")
    for key in form.needs:
        if key not in table:
            raise Unfit("is missing", f"{where}.{key}")
    if form.one_of and sum(key in table for key in form.one_of) != 1:
        raise Unfit(f"needs exactly one of {', '.join(form.one_of)}", where)
    if "relative" in table and "equals" not in table:
        raise Unfit("needs equals", f"{where}.relative")
    worded: dict[str, Any] = {}
    for key in table.keys() & {*_WORDED}:
        if name == "rate":
            bound, unit = quantity(table[key], f"{where}.{key}", BYTES, OPERATIONS)
            worded |= {key: bound, "unit": unit}
        elif isinstance(word := table[key], str):
            one_of(POLICY, word, f"{where}.{key}")
            worded |= {key: _read(key, POLICY[word][0]), "word": word}
    check = typed(Check, table | worded, where)
    for key in ("cases", "shapes"):
        if key in table and len(table[key]) < 2 - expands:
            raise Unfit(f"must be a list of {2 - expands} or more", f"{where}.{key}")
    keys = (*_IDS, "says")
    if not expands:
        return [check]
    if not any("{shape}" in getattr(check, key) for key in keys):
        raise Unfit("has shapes, but no id holds {shape}", where)
    return [
        replace(check, shapes=(), **{k: getattr(check, k).replace("{shape}", s) for k in keys})
        for s in check.shapes
    ]


def _varied(check: Check, choices: tuple[Open, ...], joint: tuple[Joint, ...], where: str) -> Check:
    """The check for each value of the parameters that its cases name, for each joint choice, and
    for each reading of its word."""
    ids = (*(getattr(check, key) for key in _FILLED), *check.cases)
    used = {
        one.name: dict(one.values)
        for one in choices
        if any(f"{{{word}}}" in text for word in one.values[0][1] for text in ids)
    }
    usual = {name: next(iter(values)) for name, values in used.items()}
    others = [{name: value} for name, values in used.items() for value in [*values][1:]]
    over: list[tuple[Choice, Check]] = []
    for given in (usual, *others, *(values for values in joint if values.keys() & used.keys())):
        texts: dict[str, str] = {}
        for name, values in used.items():
            texts |= values[given.get(name, usual[name])]
        choice = Choice((*given.items(),), usual=given is usual)
        over.append((choice, _filled(check, texts, where)))
    filled = over[0][1]
    for times in POLICY.get(check.word, ())[1:]:
        (key,) = (key for key in _WORDED if getattr(check, key) is not None)
        bound: dict[str, Any] = {key: _read(key, times)}
        over.append((Choice(word=check.word, times=times), replace(filled, **bound)))
    return replace(filled, over=tuple(over)) if len(over) > 1 else filled


def _filled(check: Check, texts: dict[str, str], where: str) -> Check:
    """The check with the parameters' names replaced by values; raises Unfit if the result is not a
    case, test or formula."""

    def fill(text: str) -> str:
        for name, value in texts.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    ids: dict[str, Any] = {key: fill(getattr(check, key)) for key in _FILLED}
    filled = replace(check, cases=tuple(map(fill, check.cases)), **ids)
    _cases(filled, where)
    if filled.test:
        one_of(OUTCOMES, filled.finds, f"{where}.finds")
        if not _TEST.fullmatch(filled.test):
            form = "gate:suite/Test.Name, racecheck:… or compile:snippet"
            raise Unfit(f"must read like {form}", f"{where}.test")
        if filled.test.startswith("compile:") != (filled.finds in COMPILED):
            only = f"must be {' or '.join(COMPILED)} for a snippet, and only there"
            raise Unfit(only, f"{where}.finds:")
    if filled.expression:
        try:
            used = expression.names(filled.expression)
            if not used:  # a constant
                expression.evaluate(filled.expression, {})
        except expression.BadExpression as error:
            raise Unfit(str(error), f"{where}.expression:") from error
        # counts may also use the axes of a shape, which are unknown here
        for name in sorted(used) if filled.form == "arithmetic" else ():
            one_of(OF_DEVICE, name, f"{where}.expression")
    return filled


def _cases(check: Check, where: str) -> None:
    named = [(key, getattr(check, key)) for key in _IDS if getattr(check, key)]
    seen: list[str] = []
    for key, name in (*named, *(("cases", name) for name in check.cases)):
        if key == "roof" and name in CEILINGS:
            continue
        if why := _no_id(name):
            limits = f", or {' or '.join(CEILINGS)}" if key == "roof" else ""
            raise Unfit(f"{name!r} is not a case: {why}{limits}", f"{where}.{key}:")
        if "{shape}" in name and not check.shapes:
            raise Unfit("holds {shape}, but the check has no shapes", f"{where}.{key}")
        if name in seen:
            raise Unfit(f"compares {name} with itself: name another case", f"{where}.{key}")
        seen.append(name)
    for key in ("within", "relative", *(_WORDED if check.roof in CEILINGS else ())):
        if (getattr(check, key) or 0) > 1:
            raise Unfit("is a share, at most 1: 84 % is 0.84", f"{where}.{key}")


def _no_id(name: str) -> str:
    """What is wrong with the form of a case's id, or an empty text."""
    if left := re.search(r"{(?!shape})\w*}", name):
        return f"the claim's `open` names no choice with {left[0]}"
    row, shape, regime = (name.rsplit("/", 2) + ["", ""])[:3]
    if not _ROW.fullmatch(row):
        return "write experiment/row/shape/regime, like matmul/tile16/1024x1024x1024/cold"
    if not _EXTENTS.fullmatch(shape):
        return f"the shape {shape} must be numbers with x between them, like 4096x4096"
    if regime not in REGIMES:
        return f"unknown regime {regime}; {list_or_nearest(REGIMES, regime)}"
    return ""
