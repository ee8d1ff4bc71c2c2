"""The documents' claims and errata, and the verdicts of a record and its probes on them."""

from recheck_report.claims.checks import Check
from recheck_report.claims.collection import Collection, load_collection
from recheck_report.claims.documents import Listing, Source
from recheck_report.claims.judge import Corrected, Judged, Judgement, judge
from recheck_report.claims.load import ChangedCheck, Claim, Erratum
from recheck_report.claims.outcome import Outcome
from recheck_report.claims.toml import BadClaim

__all__ = [
    "BadClaim", "ChangedCheck", "Check", "Claim", "Collection", "Corrected", "Erratum", "Judged",
    "Judgement", "Listing", "Outcome", "Source", "judge", "load_collection",
]  # fmt: skip
