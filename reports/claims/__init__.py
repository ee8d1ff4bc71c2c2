"""The documents' claims and errata, and what a record and its probes say of each."""

from claims.changes import Change
from claims.collection import Collection, load_collection
from claims.judge import Corrected, Judged, Judgement, judge, verdicts_json
from claims.listings import Listing
from claims.load import Check, Claim, Erratum
from claims.predicates import Outcome
from claims.probes import Probes, load_probes
from claims.sources import Source
from claims.tables import EXPERIMENTS, BadClaim

__all__ = [
    "EXPERIMENTS", "BadClaim", "Change", "Check", "Claim", "Collection", "Corrected", "Erratum",
    "Judged", "Judgement", "Listing", "Outcome", "Probes", "Source", "judge", "load_collection",
    "load_probes", "verdicts_json",
]  # fmt: skip
