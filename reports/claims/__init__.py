"""The documents' claims and errata, and what a record and its probes say of each."""

from claims.changes import Change, load_changes
from claims.judge import Corrected, Judged, Judgement, judge, verdicts_json
from claims.listings import Listing, load_listings
from claims.load import Check, Claim, Erratum, load_claims, load_errata
from claims.predicates import Outcome
from claims.probes import Probes, load_probes
from claims.sources import Source, load_sources
from claims.tables import BadClaim

__all__ = [
    "BadClaim", "Change", "Check", "Claim", "Corrected", "Erratum", "Judged", "Judgement",
    "Listing", "Outcome", "Probes", "Source", "judge", "load_changes", "load_claims",
    "load_errata", "load_listings", "load_probes", "load_sources", "verdicts_json",
]  # fmt: skip
