"""The documents' claims, <experiment>/claims.toml, and their errata, errata.toml, as typed values.

A claim is data: what a document says, and checks that a record can answer. So is an erratum: where
a document is wrong as printed, and what shows it. A file that is not in form is refused in one line
that names the file, the claim or erratum, and the field.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from recheck_report.claims import expression
from recheck_report.claims.sources import load_sources
from recheck_report.claims.toml import (
    ID,
    SAID,
    BadClaim,
    Wrong,
    in_order,
    known_only,
    list_of,
    load_tables,
    one_of,
    table_of,
    text_of,
    there,
)
from recheck_report.model.counters import OF_DEVICE
from recheck_report.model.record import REGIMES
from recheck_report.model.typed import MOST_NUMBER, Unfit, read_toml, typed
from recheck_report.model.verdicts import VERDICTS

ERRATA = "errata.toml"
METRICS = ("seconds", "bytes_per_second", "flops_per_second")
# what a bound may say in place of a number: how words are read for which a document has no figure.
# Times as fast, or a share of the total
POLICY = {
    "faster": 1.0, "much faster": 1.5, "far faster": 2.0, "by tens of times": 20.0,
    "important": 0.1, "very important": 0.25,
}  # fmt: skip
_WORDED = ("above", "below", "value", "at_least", "at_most")
_SHARES = ("within", "tolerance")
# what a time is a factor of: smaller ones are lost where ratios are reckoned
_FACTORS, LEAST = ("above", "below", "within"), 1e-12
_CASE = re.compile(rf"[a-z0-9_]+/[a-z0-9_]+/(\d+(x\d+)*|{{shape}})/({'|'.join(REGIMES)})")


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
    metric: str = ""
    expression: str = ""
    name: str = ""
    test: str = ""
    finds: str = ""
    direction: str = ""
    expect: str = ""
    cases: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    above: float | None = None
    below: float | None = None
    value: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    equals: float | None = None
    tolerance: float | None = None
    within: float | None = None
    key: str = ""  # by which a claim's `why` names what came out
    place: str = field(default="", compare=False)  # in its claim or erratum, for messages
    # the same question for each value of what the document leaves open, itself the first
    over: tuple[tuple[str, Check], ...] = ()

    def at(self, shape: str) -> tuple[str, str]:
        """The two cases of a series at one of its shapes."""
        return self.base.replace("{shape}", shape), self.other.replace("{shape}", shape)

    @property
    def bound(self) -> float:
        """The factor that a ratio has to exceed, or stay below."""
        return self.above or self.below or 1.0

    @property
    def ids(self) -> tuple[str, ...]:
        """The cases that it rests on; of two that are compared, in the order of their times."""
        if self.over:
            return tuple(dict.fromkeys(name for _, check in self.over for name in check.ids))
        if self.form in SERIES:
            return tuple(each for shape in self.shapes for each in self.at(shape))
        roof = self.roof if "/" in self.roof else ""
        return tuple(i for i in (self.other, self.base, self.of, roof, self.per, *self.cases) if i)


@dataclass(frozen=True)
class Form:
    """Which fields a check of this form has to have, has exactly one of, and may have."""

    needs: tuple[str, ...]
    one_of: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


_BOUNDS = ("equals", "at_least", "at_most")
FORMS = {
    "ratio": Form(("base", "other"), ("above", "below")),
    "at_least": Form(("of", "metric", "value")),
    "at_most": Form(("of", "metric", "value")),
    "fraction_of_roof": Form(("of", "roof"), ("at_least", "at_most")),
    "order": Form(("cases",)),
    "extremes": Form(("cases", "above")),
    "monotone": Form(("base", "other", "shapes", "direction")),
    "crossover": Form(("base", "other", "shapes", "expect")),
    "equivalent": Form(("base", "other", "within")),
    "count": Form(("of", "expression"), _BOUNDS, ("per", "tolerance")),
    "attribute": Form(("name",), _BOUNDS),
    "test": Form(("test", "finds")),
    "arithmetic": Form(("expression",), may=("equals",)),
}
SERIES = ("monotone", "crossover")
# what decides a claim: of its checks' kinds the first that one of them is of
KINDS = {
    "timed": (
        "ratio", "at_least", "at_most", "fraction_of_roof", "order", "extremes", "monotone",
        "crossover", "equivalent",
    ),
    "counted": ("count", "attribute"),
    "by test": ("test",),
    "arithmetic": ("arithmetic",),
}  # fmt: skip
BY = ("", "reading")  # what shows an erratum: checks, or a reader
BY_READING = "by reading"  # nothing that a machine can check
_WORDS = {
    "metric": METRICS,
    "direction": ("rising", "falling"),
    "expect": ("exists", "none"),
    "finds": ("pass", "fail", "hazards", "clean", "refused", "compiles"),
}
# what becomes of a snippet, which no test is
COMPILED = ("refused", "compiles")


@dataclass(frozen=True)
class Open:
    """What a document leaves open, and its values: the usual one first. In the ids of checks {name}
    stands for what a value puts there, or another {word} where ids of two rows differ in it."""

    name: str
    what: str  # in words, and that the document does not say it
    values: tuple[tuple[str, dict[str, str]], ...]  # as a reader knows it, and what goes into ids

    def label(self, value: str) -> str:
        """ "block 256"; a value in words needs no name before it."""
        return f"{self.name} {value}" if value.isdecimal() else value


@dataclass(frozen=True)
class Why:
    """What explains one verdict; {key} stands for what the check of that key came to."""

    text: str
    verdict: str
    gpu: str = ""  # by name; empty where it is so on every one


@dataclass(frozen=True)
class Claim:
    """A sentence of a document, and what it would take to be true here."""

    id: str
    experiment: str
    document: str
    place: str
    quote: str  # in the document's language
    title: str
    hardware: str
    figure: str  # what the document gives, as text
    expected: str  # what the checks ask, in one line
    english: str = ""  # of the quote; empty if that is English
    claimed: float | None = None  # that figure, comparable with the first check's value
    why: tuple[Why, ...] = ()
    open: tuple[Open, ...] = ()
    not_judged: str = ""
    check: tuple[Check, ...] = ()
    also: tuple[Check, ...] = ()  # shown, no part of the verdict

    @property
    def kind(self) -> str:
        forms = {check.form for check in self.check}
        return next((kind for kind, each in KINDS.items() if forms & {*each}), BY_READING)

    @property
    def checks(self) -> tuple[Check, ...]:
        return (*self.check, *self.also)

    @property
    def asked(self) -> tuple[Check, ...]:
        """Its checks at every value of what is left open."""
        return tuple(
            each for check in self.checks for each in [v for _, v in check.over] or [check]
        )

    @property
    def address(self) -> str:
        """Where it stands in its collection, for messages."""
        return f"{self.experiment}/claims.toml: claim {self.id}"


@dataclass(frozen=True)
class Erratum:
    """A place where a document is wrong as printed, and what shows it: checks, or else reading."""

    id: str
    document: str
    place: str
    written: str  # as printed
    right: str
    concerns: tuple[str, ...]  # claims, algorithms, rows, or the document as a whole
    english: str = ""  # of what is written; empty if that is English, or code
    by: str = ""  # "reading", in place of checks
    shown: str = ""  # how a reader sees it
    check: tuple[Check, ...] = ()

    @property
    def address(self) -> str:
        """Where it stands in its collection, for messages."""
        return f"{ERRATA}: erratum {self.id}"


def _number(table: dict[str, Any], key: str, where: str) -> float | None:
    found: Any = table.get(key)
    if found is None:
        return None
    if key in _WORDED and isinstance(found, str) and found in POLICY:
        return POLICY[found]
    # an int may be beyond every float
    if type(found) not in (int, float) or not abs(found) <= MOST_NUMBER:
        words = f", or one of {', '.join(POLICY)}" if key in _WORDED else ""
        share = ": 0.05 is 5 %" if key in _SHARES else ""
        raise Wrong(f"field {where}{key} must be a finite number{share}{words}")
    number: float = found
    return number


def checks_of(table: dict[str, Any], key: str, choices: tuple[Open, ...] = ()) -> tuple[Check, ...]:
    """The checks of a list in a table; raises Wrong."""
    found: list[Check] = []
    for at, one in enumerate(list_of(table, key)):
        place = f"{key}[{at}]"
        for each in _check(one, place):
            found.append(_varied(replace(each, place=place), choices, f"{place}."))
    return tuple(found)


_IDS = ("base", "other", "of", "per", "roof")
_FILLED = (*_IDS, "test", "finds")


def _filled(check: Check, texts: dict[str, str]) -> Check:
    """With the values of what is left open in the places of their names."""

    def fill(text: str) -> str:
        for name, value in texts.items():
            text = text.replace(f"{{{name}}}", value)
        return text

    ids: dict[str, Any] = {key: fill(getattr(check, key)) for key in _FILLED}
    return replace(check, cases=tuple(map(fill, check.cases)), **ids)


def _varied(check: Check, choices: tuple[Open, ...], where: str) -> Check:
    """With the same question for each value, one choice at a time, if its cases name any."""
    ids = (*(getattr(check, key) for key in _FILLED), *check.cases)
    used = [
        each
        for each in choices
        if any(f"{{{word}}}" in text for word in each.values[0][1] for text in ids)
    ]
    usual = {word: text for each in used for word, text in each.values[0][1].items()}
    filled = _filled(check, usual)
    _sense(filled, where)
    if not used:
        return filled
    over = [(", ".join(each.label(each.values[0][0]) for each in used), filled)]
    for each in used:
        for known, text in each.values[1:]:
            over.append((each.label(known), _filled(check, {**usual, **text})))
            _sense(over[-1][1], where)
    return replace(filled, over=tuple(over))


def _open(name: str, table: Any) -> Open:
    where = f"open.{name}."
    if type(table) is not dict:
        raise Wrong(f"field {where[:-1]} must have what and values")
    known_only(table, ("what", "values"), where)
    values = table.get("values")
    if type(values) is not dict or len(values) < 2:
        raise Wrong(f"field {where}values must name two or more")
    found: list[tuple[str, dict[str, str]]] = []
    for known, value in values.items():
        inside = f"{where}values.{known}."
        texts = {name: value} if isinstance(value, str) else value
        if type(texts) is not dict:
            raise Wrong(f"field {inside[:-1]} must be a text, or a text for each word")
        found.append((known, {word: text_of(texts, word, inside) for word in texts}))
        if not all(re.fullmatch(r"[a-z]+", word) and word != "shape" for word in texts):
            raise Wrong(f"field {inside[:-1]} must name words, and not shape")
        if texts.keys() != found[0][1].keys():
            raise Wrong(f"field {inside[:-1]} must name the same words as the first")
    return Open(name, text_of(table, "what", where), tuple(found))


def _check(table: Any, where: str) -> list[Check]:
    if type(table) is not dict:
        raise Wrong(f"field {where} must be a check: {{ form = … }}")
    name = text_of(table, "form", f"{where}.")
    one_of(FORMS, name, f"{where}.form")
    form, where = FORMS[name], f"{where}."
    expands = name not in SERIES and "shapes" in table
    allowed = ("form", "says", "key", *form.needs, *form.one_of, *form.may)
    known_only(table, (*allowed, "shapes") if expands else allowed, where)
    for key in form.needs:
        if key not in table:
            raise Wrong(f"field {where}{key} is missing")
    if form.one_of and sum(key in table for key in form.one_of) != 1:
        raise Wrong(f"field {where[:-1]} needs exactly one of {', '.join(form.one_of)}")
    found: dict[str, Any] = {"form": name}
    for key in table:
        if key in ("cases", "shapes"):
            many = table[key]
            if type(many) is not list or len(many) < 2 - expands:
                raise Wrong(f"field {where}{key} must be a list of {2 - expands} or more")
            if any(type(one) is not str for one in many):
                raise Wrong(f"field {where}{key} must be a list of texts")
            found[key] = tuple(many)
        elif Check.__annotations__[key] == "str":
            found[key] = text_of(table, key, where)
        else:
            found[key] = _number(table, key, where)
    check = Check(**found)
    for shape in check.shapes:
        if not re.fullmatch(r"\d+(x\d+)*", shape):
            raise Wrong(f"field {where}shapes: {shape!r} is no shape")
    if not expands:
        return [check]
    keys = (*_IDS, "says")
    if not any("{shape}" in getattr(check, key) for key in keys):
        raise Wrong(f"field {where}shapes: no id holds {{shape}}")
    return [
        replace(check, shapes=(), **{k: getattr(check, k).replace("{shape}", s) for k in keys})
        for s in check.shapes
    ]


def _sense(check: Check, where: str) -> None:
    """What the fields' types alone do not say."""
    for key, words in _WORDS.items():
        if word := getattr(check, key):
            one_of(words, word, f"{where}{key}")
    for key in _IDS:
        value = getattr(check, key)
        if value and not (key == "roof" and value in ("dram", "fp32")):
            if not _CASE.fullmatch(value):
                raise Wrong(f"field {where}{key}: {value!r} is no case: experiment/strategy/…")
            if "{shape}" in value and not check.shapes:
                raise Wrong(f"field {where}{key} holds {{shape}}, and there are no shapes")
    for value in check.cases:
        if not _CASE.fullmatch(value):
            raise Wrong(f"field {where}cases: {value!r} is no case: experiment/strategy/…")
    for key in ("above", "below", "value", "within", "tolerance"):
        if (bound := getattr(check, key)) is not None and bound <= 0:
            raise Wrong(f"field {where}{key} must be above 0")
        if bound is not None and key in _FACTORS and bound < LEAST:
            raise Wrong(f"field {where}{key} must be at least {LEAST:g}")
    if check.test and not re.fullmatch(r"(gate|racecheck|compile):[\w./]+", check.test):
        known = "gate:suite/Test.Name, racecheck:… or compile:snippet"
        raise Wrong(f"field {where}test must read like {known}")
    if check.test and check.test.startswith("compile:") != (check.finds in COMPILED):
        raise Wrong(f"field {where}finds: a snippet is {' or '.join(COMPILED)}, and no test is")
    if check.expression:
        try:
            used = expression.names(check.expression)
            if not used:  # its value is known before anything is measured
                expression.evaluate(check.expression, {})
        except expression.BadExpression as error:
            raise Wrong(f"field {where}expression: {error}") from error
        # a count may use the axes of a shape as well, which no file of claims has
        for name in sorted(used) if check.form == "arithmetic" else ():
            one_of(OF_DEVICE, name, f"{where}expression")
    if check.name:
        one_of(OF_DEVICE, check.name, f"{where}name")


def _check_claim(claim: Claim) -> None:
    if bool(claim.check) == bool(claim.not_judged):
        raise Unfit("must be there, or else not_judged says why it has no checks").at("check")
    keys = [each.key for each in claim.checks if each.key]
    if len(keys) > len(set(keys)):
        raise Unfit("is the same in two checks").at("key")
    for at, why in enumerate(claim.why):
        for key in re.findall(r"{(\w*)}", why.text):
            if key not in keys:
                raise Unfit(f"speaks of {{{key}}}; {there(keys, key)}").at(f"why[{at}].text")


_read_claim = table_of(
    Claim, _check_claim, id=ID, quote=SAID, title=SAID, expected=SAID,
    claimed={"exclusiveMinimum": 0},
    why={"items": {"properties": {"verdict": {"enum": VERDICTS}}}},
)  # fmt: skip


def _claim(table: dict[str, Any], experiment: str, choices: dict[str, Open]) -> Claim:
    known_only(table, [name for name in Claim.__annotations__ if name != "experiment"], "")
    names = typed(tuple[str, ...], table.get("open", []), "open")
    for name in names:
        one_of(choices, name, "open")
    for at, why in enumerate(typed(tuple[dict[str, Any], ...], table.get("why", []), "why")):
        known_only(why, Why.__annotations__, f"why[{at}].")
    open_here = [choices[name] for name in names]
    own: dict[str, Any] = {"experiment": experiment, "open": open_here}
    own |= {key: [*checks_of(table, key, tuple(open_here))] for key in ("check", "also")}
    return _read_claim(table | own)


def _check_erratum(erratum: Erratum) -> None:
    if bool(erratum.check) == bool(erratum.by):
        raise Unfit("must be there, or else by says that reading shows it").at("check")
    if bool(erratum.shown) != bool(erratum.by):
        raise Unfit("must say how one sees it by reading, and nothing else has it").at("shown")


_read_erratum = table_of(
    Erratum, _check_erratum, id=ID, place=SAID, written=SAID, right=SAID, by={"enum": BY},
    concerns={"minItems": 1},
)  # fmt: skip


def _erratum(table: dict[str, Any]) -> Erratum:
    return _read_erratum(table | {"check": [*checks_of(table, "check")]})


def load(path: Path) -> tuple[Claim, ...]:
    """The claims of one file, in its order; raises BadClaim."""
    document, more = read_toml(path, BadClaim), " and [open]"
    choices = document.pop("open", {})
    if type(choices) is not dict:
        raise BadClaim(f"{path}: holds more than [[claim]]{more} tables")
    try:
        known = {name: _open(name, table) for name, table in choices.items()}
    except Wrong as error:
        raise BadClaim(f"{path}: {error}") from error
    experiment, documents = path.parent.name, load_sources(path.parents[1])
    return load_tables(
        path, document, "claim", lambda table: _claim(table, experiment, known), more, "id",
        document=documents,
    )  # fmt: skip


@cache
def load_claims(folder: Path) -> tuple[Claim, ...]:
    """Every claim of every experiment, by id; raises BadClaim."""
    found: dict[str, Claim] = {}
    for path in sorted(folder.glob("*/claims.toml")):
        for claim in load(path):
            if claim.id in found:
                first = folder / found[claim.id].experiment / path.name
                raise BadClaim(f"{path}: claim {claim.id}: field id: {first} has it too")
            found[claim.id] = claim
    return tuple(found[name] for name in sorted(found, key=in_order))


def load_errata(folder: Path) -> tuple[Erratum, ...]:
    """The errata of the documents, by id, none without the file; raises BadClaim."""
    path = folder / ERRATA
    if not path.exists():
        return ()
    documents, file = load_sources(folder), read_toml(path, BadClaim)
    found = load_tables(path, file, "erratum", _erratum, unique="id", document=documents)
    return tuple(sorted(found, key=lambda erratum: in_order(erratum.id)))
