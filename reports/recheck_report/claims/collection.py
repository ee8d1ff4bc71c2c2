"""A collection of claims: a folder with all that its documents say, and what of it a record shows.

sources.toml has to be there. errata.toml, listings.toml, changes.toml, and in a folder for each
experiment claims.toml, figures.toml and predictions.toml, may be.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from recheck_report.claims import figures
from recheck_report.claims.changes import Change, load_changes
from recheck_report.claims.figures import Figures
from recheck_report.claims.listings import Listing, load_listings
from recheck_report.claims.load import Claim, Erratum, load_claims, load_errata
from recheck_report.claims.predictions import Predictions, load_predictions
from recheck_report.claims.sources import SOURCES, Source, load_log_holder, load_sources
from recheck_report.claims.toml import BadClaim
from recheck_report.model.accuracy import EXPERIMENT
from recheck_report.model.record import Record


@dataclass(frozen=True, eq=False)
class Collection:
    folder: Path
    sources: dict[str, Source]  # by id, in the order of the file
    claims: tuple[Claim, ...] = ()
    errata: tuple[Erratum, ...] = ()
    listings: tuple[Listing, ...] = ()
    changes: tuple[Change, ...] = ()
    figures: dict[str, Figures] = field(default_factory=dict)  # by experiment
    left_out: dict[str, int] = field(default_factory=dict)  # claims not shown, by experiment
    predictions: Predictions | None = None  # of errors of products
    log_held_by: str = ""  # what holds the log of changes to the history

    def figures_of(self, experiment: str) -> Figures:
        return self.figures.get(experiment, Figures({}, {}, ()))

    def of(self, record: Record) -> Collection:
        """What a report on that record shows: what is about its experiments and algorithms."""
        there = {each.name for each in record.experiments}
        claims = tuple(each for each in self.claims if each.experiment in there)
        listings = tuple(each for each in self.listings if each.experiment in there)
        shown = {name: each for name, each in self.figures.items() if name in there}
        cited = {each.document for each in claims} | {each.document for each in listings}
        cited |= {case.source.document for case in record.cases}
        cited |= {document for each in shown.values() for document in each.document}
        ids = {each.id for each in claims}
        concerned = ids | cited | {case.source.algorithm for case in record.cases}
        errata = tuple(each for each in self.errata if concerned & {*each.concerns})
        cited |= {each.document for each in errata}
        return replace(
            self,
            sources={name: each for name, each in self.sources.items() if name in cited},
            claims=claims,
            errata=errata,
            listings=listings,
            changes=tuple(each for each in self.changes if each.claim in ids),
            figures=shown,
            left_out=dict(Counter(e.experiment for e in self.claims if e.experiment not in there)),
        )


FILES = (SOURCES, "errata.toml", "listings.toml", "changes.toml")
EXPERIMENT_FILES = ("claims.toml", "figures.toml", "binds.toml", "predictions.toml")


@cache
def load_collection(folder: Path) -> Collection:
    """All of a folder; raises BadRecord, one line that names the file and the field."""
    if not (folder / SOURCES).is_file():
        what = f"holds no {SOURCES}" if folder.is_dir() else "is no folder"
        raise BadClaim(f"{folder}: {what}; --experiments names one with {SOURCES} in it")
    for path in sorted([*folder.glob("*.toml"), *folder.glob("*/*.toml")]):
        known = FILES if path.parent == folder else EXPERIMENT_FILES
        if path.name not in known:
            raise BadClaim(
                f"{path}: nothing reads a file of this name; there are {', '.join(known)}"
            )
    predictions = folder / EXPERIMENT / "predictions.toml"
    return Collection(
        folder,
        load_sources(folder),
        load_claims(folder),
        load_errata(folder),
        load_listings(folder),
        load_changes(folder),
        {path.parent.name: figures.load(path) for path in sorted(folder.glob("*/figures.toml"))},
        predictions=load_predictions(predictions) if predictions.exists() else None,
        log_held_by=load_log_holder(folder),
    )
