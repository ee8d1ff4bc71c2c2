"""The documents' claims, and what a record and its probes say of each."""

from claims.changes import Change, load_changes
from claims.judge import Judged, Judgement, judge, verdicts_json
from claims.load import BadClaim, Check, Claim, Erratum, load_claims
from claims.predicates import Outcome
from claims.probes import Probes, load_probes

__all__ = [
    "BadClaim", "Change", "Check", "Claim", "Erratum", "Judged", "Judgement", "Outcome", "Probes",
    "judge", "load_changes", "load_claims", "load_probes", "verdicts_json",
]  # fmt: skip
