"""A collection of claims: the files of a folder as typed values, and the part of them that a
record's report shows.

claims.toml in an experiment's folder has the documents' claims, errata.toml their errors,
changes.toml the log of changed checks, and story.toml the steps from an experiment's first kernel
to its fastest; documents.py reads sources.toml, listings.toml and figures.toml.

A claim has a quote, and checks that a record can answer. An erratum is a place where a document is
wrong as printed, and its proof. A step is a row, and its text explains the change. Texts contain no
measured figures, but refer to checks by their keys. A text that is true only for one GPU or one
outcome names it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from recheck_report.claims.checks import Check, Open, checks_of
from recheck_report.claims.documents import (
    LISTINGS,
    SOURCES,
    Figures,
    Listing,
    Settings,
    Source,
    load_figures,
    load_sources,
)
from recheck_report.claims.evaluate import Outcome
from recheck_report.claims.expression import names
from recheck_report.claims.toml import BadClaim, Id, Said, in_order, load_tables, one_of, read_toml
from recheck_report.record import verdicts_json as VERDICT
from recheck_report.record.record import Record
from recheck_report.record.typed import BadRecord, Is, Strict, Unfit, list_or_nearest, only, typed

T = TypeVar("T")
ERRATA, CHANGES, STORY = "errata.toml", "changes.toml", "story.toml"
GAIN = "gain"  # the check of every step but the first: it is faster than its base
# the kinds of claims by the forms of their checks; the first that fits counts
KINDS = {
    "timed": (
        "ratio", "fraction_of_roof", "rate", "extremes", "monotone", "equivalent",
    ),
    "counted": ("count", "attribute"),
    "by test": ("test",),
    "arithmetic": ("arithmetic",),
}  # fmt: skip
BY_READING = "by reading"  # not checkable by a machine
# the parts in {key.part}: the range over all choices, the two times of a ratio, an inverse share
PARTS = ("range", "base", "other", "times")


@dataclass(frozen=True)
class Part(Strict):
    """Sentences that explain a verdict or a step; {key} stands for the outcome of a check."""

    text: Said
    of: str = GAIN  # in a step: the key of the check that `verdict` is about
    # of that check, or of the claim, for which the text is true; empty: for all
    verdict: Annotated[str, Is(one_of=("", "holds", "fails", "depends", "undecided"))] = ""
    gpu: str = ""  # "NVIDIA A", "NVIDIA A or NVIDIA B"; empty: true on all

    @property
    def keys(self) -> tuple[str, ...]:
        """The checks that the text refers to."""
        return tuple(re.findall(r"{(\w*)}", self.text))

    def applies(self, verdict: str, gpu: str, outcomes: Mapping[str, Outcome]) -> bool:
        """Whether the text is true for that verdict and GPU, and its checks are measured."""
        spoken = (outcomes.get(key) for key in self.keys)
        here = not self.gpu or gpu in self.gpu.split(" or ")
        measured = all(outcome and outcome.value is not None for outcome in spoken)
        return here and self.verdict in ("", verdict) and measured


@dataclass(frozen=True)
class Claim(Strict):
    """A sentence of a document, and the checks that make it true."""

    id: Id
    experiment: str
    document: str
    quote: Said  # in the document's language
    title: Said
    expected: Said  # the checks in one line
    place: str = ""
    hardware: str = ""
    figure: str = ""  # what the document gives, as printed
    english: str = ""  # of the quote; empty if that is English
    # that figure, in the unit of the first check
    claimed: Annotated[float | None, Is(above=0)] = None
    # a sentence on what was measured, by verdict or "else"
    here: dict[str, str] = field(default_factory=dict)
    why: tuple[Part, ...] = ()  # explanations of the verdict
    open: tuple[Open, ...] = ()
    joint: tuple[dict[str, str], ...] = ()  # values of several choices, allowed together
    # the unspecified values for which the sentence must hold
    scope: Annotated[str, Is(one_of=("every", "most", "some"))] = "every"
    independent: bool = False  # of the GPU, for counts and tests: see of_any_machine
    not_judged: str = ""
    check: tuple[Check, ...] = ()
    also: tuple[Check, ...] = ()  # shown, but not part of the verdict

    def validate(self) -> None:
        if bool(self.check) == bool(self.not_judged):
            raise Unfit("must be set, or else not_judged with the reason", "check")
        keys = [check.key for check in self.checks if check.key]
        if len(keys) > len(set(keys)):
            raise Unfit("must differ between checks", "key")
        if any(part.of != GAIN for part in self.why):
            raise Unfit("is only for steps of a story", "why.of")
        texts = [(f"why[{at}].text", part.text) for at, part in enumerate(self.why)]
        for where, text in (*texts, *((f"here.{name}", text) for name, text in self.here.items())):
            for key, part in re.findall(r"{(\w*)(?:\.(\w+))?}", text):
                if key not in keys:
                    raise Unfit(f"refers to {{{key}}}; {list_or_nearest(keys, key)}", where)
                parts = PARTS if where.startswith("here") else ()
                if part and part not in parts:
                    nearest = list_or_nearest(parts, part)
                    raise Unfit(f"refers to {{{key}.{part}}}; {nearest}", where)

    @property
    def kind(self) -> str:
        forms = {check.form for check in self.check}
        return next((kind for kind, of_kind in KINDS.items() if forms & {*of_kind}), BY_READING)

    @property
    def checks(self) -> tuple[Check, ...]:
        return (*self.check, *self.also)

    @property
    def asked(self) -> tuple[Check, ...]:
        """The checks at every value of the unspecified parameters."""
        return tuple(
            asked for check in self.checks for asked in [v for _, v in check.over] or [check]
        )

    @property
    def of_any_machine(self) -> bool:
        """Whether no machine changes the verdict: if it fails, it is wrong as printed."""
        return self.independent or (
            bool(self.check)
            and all(check.form == "arithmetic" for check in self.check)
            and not any(names(check.expression) for check in self.asked)
        )

    @property
    def address(self) -> str:
        """Its place in the collection, for messages."""
        return f"{self.experiment}/claims.toml: claim {self.id}"


@dataclass(frozen=True)
class Erratum(Strict):
    """A place where a document is wrong as printed. Checks or reading prove it."""

    id: Id
    document: str
    place: Said
    written: Said  # as printed
    right: Said
    # claims, algorithms, rows, or the document as a whole
    concerns: Annotated[tuple[str, ...], Is(filled=True)]
    english: str = ""  # a translation of `written`; empty for English and code
    by: Annotated[str, Is(one_of=("", "reading"))] = ""  # "reading": without checks
    shown: str = ""  # the proof by reading
    check: tuple[Check, ...] = ()

    def validate(self) -> None:
        if bool(self.check) == bool(self.by):
            raise Unfit("must be set, or else by is 'reading'", "check")
        if bool(self.shown) != bool(self.by):
            raise Unfit("must be set if, and only if, by is set", "shown")

    @property
    def address(self) -> str:
        """Its place in the collection, for messages."""
        return f"{ERRATA}: erratum {self.id}"


def _open(name: str, table: Any) -> Open:
    where = f"open.{name}"
    fields = typed(dict[str, Any], table, where)
    only(fields, ("what", "values"), f"{where}.")
    values = typed(dict[str, Any], fields.get("values", {}), f"{where}.values")
    if len(values) < 2:
        raise Unfit("must name two or more", f"{where}.values")
    read: list[tuple[str, dict[str, str]]] = []
    for value_name, value in values.items():
        inside = f"{where}.values.{value_name}"
        texts = typed(dict[str, str], {name: value} if isinstance(value, str) else value, inside)
        read.append((value_name, texts))
        if not all(re.fullmatch(r"[a-z]+", word) and word != "shape" for word in texts):
            raise Unfit("must name words, and not shape", inside)
        if texts.keys() != read[0][1].keys():
            raise Unfit("must name the same words as the first", inside)
    return Open(name, typed(str, fields.get("what"), f"{where}.what"), tuple(read))


def _claim(table: dict[str, Any], experiment: str, choices: dict[str, Open]) -> Claim:
    only(table, [name for name in Claim.__annotations__ if name != "experiment"], "")
    names = typed(tuple[str, ...], table.get("open", []), "open")
    for name in names:
        one_of(choices, name, "open")
    open_here = tuple(choices[name] for name in names)
    valid = {choice.name: dict(choice.values) for choice in open_here}
    joint = typed(tuple[dict[str, str], ...], table.get("joint", []), "joint")
    for name, value in (pair for values in joint for pair in values.items()):
        one_of(valid, name, "joint")
        one_of(valid[name], value, f"joint.{name}")
    read: dict[str, Any] = {"experiment": experiment, "open": [*open_here]}
    read |= {key: checks_of(table, key, open_here, joint) for key in ("check", "also")}
    if isinstance(table.get("here"), str):
        read["here"] = {"else": table["here"]}
    return typed(Claim, table | read)


def load_claims(folder: Path, sources: dict[str, Source]) -> tuple[Claim, ...]:
    """The claims of all files; raises BadClaim."""
    by_id: dict[str, Claim] = {}
    for path in sorted(folder.glob("*/claims.toml")):
        document = read_toml(path)
        try:
            choices = typed(dict[str, Any], document.pop("open", {}), "open")
            by_name = {name: _open(name, table) for name, table in choices.items()}
        except BadRecord as error:
            raise BadClaim(f"{path}: {error}") from error
        parse = partial(_claim, experiment=path.parent.name, choices=by_name)
        for claim in load_tables(path, "claim", parse, document, unique="id", document=sources):
            if claim.id in by_id:
                first = folder / by_id[claim.id].experiment / path.name
                raise BadClaim(f"{path}: claim {claim.id}: field id: {first} has it too")
            by_id[claim.id] = claim
    return tuple(by_id.values())


def _checked(kind: type[T]) -> Callable[[dict[str, Any]], T]:
    """Reads a table with checks as that type."""
    return lambda table: typed(kind, table | {"check": checks_of(table, "check")})


# the words of earlier evidence, and today's words for the same
EARLIER = {
    "fails": (VERDICT.FAILS_HERE, VERDICT.WRONG_AS_PRINTED),
    "inconclusive": (VERDICT.UNDECIDED, VERDICT.DEPENDS),
    "not_measured": (VERDICT.NOT_MEASURED, VERDICT.NOT_JUDGED),
}
CAUSES = ("check", "transcription", "open choice")


@dataclass(frozen=True)
class Entry(Strict):
    """An entry of the log: claims whose checks were changed for one reason."""

    date: Annotated[str, Is(pattern=r"^\d{4}-\d\d-\d\d$", form="like 2026-11-21")]
    # the last commit with the old checks
    commit: Annotated[str, Is(pattern="^[0-9a-f]{40}$", form="40 hex digits")]
    # the question of each claim's old check, in one line, by the claim
    asked: Annotated[dict[str, Said], Is(filled=True)]
    # their verdict on the evidence committed then, in the words of then
    verdict: Annotated[str, Is(one_of=(*VERDICT.VERDICTS, *EARLIER))]
    because: Annotated[str, Is(one_of=CAUSES)]
    reason: Said


@dataclass(frozen=True)
class ChangedCheck:
    """The old check of a claim, and why it was changed."""

    claim: str
    asked: str
    entry: Entry


def load_changed_checks(folder: Path, claims: list[str]) -> tuple[ChangedCheck, ...]:
    """The changes of the log in their order, empty without a file; raises BadClaim. `claims`: the
    ids of those that it may name."""
    before: dict[str, Any] = {}

    def read(table: dict[str, Any]) -> Entry:
        """An entry without a date or commit has those of the entry before."""
        before.update({key: table[key] for key in ("date", "commit") if key in table})
        entry = typed(Entry, before | table)
        for claim in entry.asked:
            one_of(claims, claim, "asked")
        return entry

    entries = load_tables(folder / CHANGES, "change", read)
    return tuple(ChangedCheck(*asked, entry) for entry in entries for asked in entry.asked.items())


@dataclass(frozen=True)
class Step(Strict):
    row: Annotated[str, Is(pattern="^[a-z0-9_]+$", form="the name of a row")]
    # short, as charts have little room
    idea: Annotated[str, Is(pattern="^.{1,32}$", form="1 to 32 letters")]
    text: Annotated[tuple[Part, ...], Is(filled=True)]  # the paragraph
    base: str = ""  # the earlier step to compare with; default: the previous one
    check: tuple[Check, ...] = ()
    # the case whose counters show its bottleneck
    binds: Annotated[str, Is(pattern=r"^\w+/\w+/\d+(x\d+)*/cold$", form="a cold case")] = ""
    effective: str = ""  # the real work, if it is less than the nominal work

    def validate(self) -> None:
        keys = [check.key for check in self.check if check.key]
        if len(keys) > len(set(keys)) or GAIN in keys:
            raise Unfit(f"must differ between checks, and from {GAIN}", "key")
        for at, part in enumerate(self.text):
            if part.verdict == "depends":
                raise Unfit("exists only for claims", f"text[{at}].verdict")
            for key in (*part.keys, part.of):
                if key not in (GAIN, *keys):
                    names = ", ".join((GAIN, *keys))
                    raise Unfit(f"refers to {{{key}}}; choose from {names}", f"text[{at}]")


@dataclass(frozen=True)
class Story:
    experiment: str
    title: str
    steps: tuple[Step, ...]

    def with_rows(self, rows: Container[str]) -> Story:
        """The steps of these rows, which are named like matmul/tile16."""
        steps = (step for step in self.steps if f"{self.experiment}/{step.row}" in rows)
        return replace(self, steps=tuple(steps))

    def address(self, step: Step) -> str:
        """The place of a step in its collection, for messages."""
        return f"{self.experiment}/{STORY}: step {step.row}"


def load_story(path: Path) -> Story:
    """The story of one file; raises BadClaim."""
    document = read_toml(path)
    try:
        title = typed(str, document.pop("title", None), "title")
        steps: list[Step] = []
        for step in load_tables(path, "step", _checked(Step), document, unique="row"):
            earlier = [other.row for other in steps]
            if step.base:
                one_of(earlier, step.base, f"{step.row}.base")
            steps.append(replace(step, base=step.base or (earlier or [""])[-1]))
    except Unfit as error:
        raise BadClaim(f"{path}: {error}") from error
    return Story(path.parent.name, title, tuple(steps))


@dataclass(frozen=True, eq=False)
class Collection:
    folder: Path
    sources: dict[str, Source]  # by id, in the order of the file
    claims: tuple[Claim, ...] = ()
    errata: tuple[Erratum, ...] = ()
    listings: tuple[Listing, ...] = ()
    changed_checks: tuple[ChangedCheck, ...] = ()
    figures: dict[str, Figures] = field(default_factory=dict)  # by experiment
    left_out: dict[str, int] = field(default_factory=dict)  # claims not shown, by experiment
    stories: dict[str, Story] = field(default_factory=dict)  # by experiment
    settings: Settings = Settings()

    @property
    def root(self) -> Path:
        """The repository around it, else the folder around it."""
        folder = self.folder.resolve()
        around = (folder, *folder.parents)
        return next((path for path in around if (path / ".git").exists()), folder.parent)

    @property
    def asked(self) -> Iterator[tuple[str, Check]]:
        """Every check of a claim, an erratum or a step, at every value of its unspecified
        parameters, each after its address."""
        for claim in self.claims:
            yield from ((claim.address, check) for check in claim.asked)
        for erratum in self.errata:
            yield from ((erratum.address, check) for check in erratum.check)
        for story in self.stories.values():
            for step in story.steps:
                yield from ((story.address(step), check) for check in step.check)

    def code_file(self, experiment: str, row: str, target: str) -> str:
        """ "../kernels/matmul/tile.cu" for tile16: the file that names the row, else the one of the
        experiment's folders whose name is the longest beginning of the row's, else, for a kernel,
        a file without rows; as a path from the collection; empty if there is none."""
        code = [entry.partition(": ") for entry in self.settings.code.get(experiment, ())]
        files = [
            (file, len(row) if row in rows.split() else 0)
            for file, _, rows in code
            if (row in rows.split() or (target == "gpu" and not rows))
            and (self.folder / file).is_file()
        ]
        files += [
            (f"{folder}/{path.name}", len(path.stem))
            for folder, _, _ in code
            for path in sorted((self.folder / folder).glob("*.c*"))
            if path.suffix in (".cu", ".cpp")
            and re.fullmatch(rf"{re.escape(path.stem)}([_\d].*)?", row)
        ]
        return max(files, key=lambda file: file[1], default=("", 0))[0]

    def figures_of(self, experiment: str) -> Figures:
        return self.figures.get(experiment, Figures())

    def restricted_to(self, record: Record) -> Collection:
        """The part about the record's experiments and algorithms."""
        names = {experiment.name for experiment in record.experiments}
        claims = tuple(claim for claim in self.claims if claim.experiment in names)
        listings = tuple(listing for listing in self.listings if listing.experiment in names)
        figures = {name: shown for name, shown in self.figures.items() if name in names}
        sources = [case.source for case in record.cases]
        ids = {claim.id for claim in claims}
        cited = {claim.document for claim in claims} | {listing.document for listing in listings}
        cited |= {source.document for source in sources}
        cited |= {document for shown in figures.values() for document in shown.document}
        concerned = ids | cited | {source.algorithm for source in sources}
        concerned |= {f"{case.experiment}/{case.strategy}" for case in record.cases}
        errata = tuple(erratum for erratum in self.errata if concerned & {*erratum.concerns})
        cited |= {erratum.document for erratum in errata}
        elsewhere = (claim.experiment for claim in self.claims if claim.id not in ids)
        return replace(
            self,
            sources={name: source for name, source in self.sources.items() if name in cited},
            claims=claims,
            errata=errata,
            listings=listings,
            changed_checks=tuple(one for one in self.changed_checks if one.claim in ids),
            figures=figures,
            stories={name: story for name, story in self.stories.items() if name in names},
            left_out=dict(Counter(elsewhere)),
        )


# the folder of snippets that nvcc compiles; a macro in them may enable a fix
SNIPPETS, FIXED = "errata", "/mended"
FILES = (SOURCES, ERRATA, LISTINGS, CHANGES)
EXPERIMENT_FILES = ("claims.toml", "figures.toml", STORY)


@cache
def load_collection(folder: Path) -> Collection:
    """The collection in a folder; raises BadRecord."""
    if not (folder / SOURCES).is_file():
        what = f"holds no {SOURCES}" if folder.is_dir() else "is not a folder"
        raise BadClaim(f"{folder}: {what}; --experiments names one with {SOURCES} in it")
    for path in sorted([*folder.glob("*.toml"), *folder.glob("*/*.toml")]):
        names = FILES if path.parent == folder else EXPERIMENT_FILES
        if path.parent != folder and (path.parent / SOURCES).is_file():
            continue  # a collection of its own
        if path.name not in names:
            why = f"nothing reads a file of this name; choose from {', '.join(names)}"
            raise BadClaim(f"{path}: {why}")
    sources, settings = load_sources(folder)
    claims, path = load_claims(folder, sources), folder / ERRATA
    errata = load_tables(path, "erratum", _checked(Erratum), unique="id", document=sources)
    if settings.order:
        claims = tuple(sorted(claims, key=lambda claim: in_order(claim.id)))
        errata = tuple(sorted(errata, key=lambda erratum: in_order(erratum.id)))
    ids = [claim.id for claim in claims]
    collection = Collection(
        folder,
        sources,
        claims,
        errata,
        load_tables(folder / LISTINGS, "listing", Listing, unique="row", document=sources),
        load_changed_checks(folder, ids),
        {
            path.parent.name: load_figures(path, sources, ids)
            for path in sorted(folder.glob("*/figures.toml"))
        },
        stories={path.parent.name: load_story(path) for path in sorted(folder.glob(f"*/{STORY}"))},
        settings=settings,
    )
    snippets = [path.stem for path in sorted((folder / SNIPPETS).glob("*.cu"))]
    for address, check in collection.asked:
        kind, _, name = check.test.partition(":")
        if kind == "compile" and (name := name.removesuffix(FIXED)) not in snippets:
            what = f"{SNIPPETS}/ has no {name}.cu; {list_or_nearest(snippets, name)}"
            raise BadClaim(f"{folder}/{address}: field {check.place}.test: {what}")
    return collection
