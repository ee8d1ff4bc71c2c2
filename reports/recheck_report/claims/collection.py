"""A collection of claims: the files of a folder, and the part of them that a record's report shows.

sources.toml is required. Optional are errata.toml, listings.toml and changes.toml, and claims.toml,
figures.toml and story.toml in a folder for each experiment.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from recheck_report.claims.checks import Check
from recheck_report.claims.documents import (
    SOURCES,
    Figures,
    Listing,
    Settings,
    Source,
    load_figures,
    load_listings,
    load_sources,
)
from recheck_report.claims.load import (
    STORY,
    ChangedCheck,
    Claim,
    Erratum,
    Story,
    load_changed_checks,
    load_claims,
    load_errata,
    load_story,
)
from recheck_report.claims.toml import BadClaim, in_order
from recheck_report.record.record import Record
from recheck_report.record.typed import list_or_nearest


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
        return self.figures.get(experiment, Figures({}, {}, ()))

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
FILES = (SOURCES, "errata.toml", "listings.toml", "changes.toml")
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
    claims, errata = load_claims(folder, sources), load_errata(folder, sources)
    if settings.order:
        claims = tuple(sorted(claims, key=lambda claim: in_order(claim.id)))
        errata = tuple(sorted(errata, key=lambda erratum: in_order(erratum.id)))
    ids = [claim.id for claim in claims]
    collection = Collection(
        folder,
        sources,
        claims,
        errata,
        load_listings(folder, sources),
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
