"""Claims made for tests, so that tests of verdicts do not depend on the documents."""

from __future__ import annotations

from typing import Any

from conftest import EXPERIMENTS
from recheck_report.claims.checks import Check
from recheck_report.claims.collection import Claim, Collection, load_collection
from recheck_report.claims.measured import Measured

AT = "1024x1024x1024/cold"


def make_claim(name: str, *check: Any, **more: Any) -> Any:
    """A claim of document S0 about tiles; a test may set the other fields."""
    fields = {
        "experiment": "matmul", "document": "S0", "place": "section 3", "quote": "much better",
        "english": "", "title": f"The title of {name}", "hardware": "GeForce 8400M GS",
        "figure": "", "expected": "tile16 is faster",
    }  # fmt: skip
    return Claim(id=name, check=check, **{**fields, **more})


def ratio(base: str = "global16", other: str = "tile16", **more: Any) -> Any:
    """A check at width 1024 of `other` against `base`; by default, that it is faster."""
    bound = more or {"above": 1.0}
    return Check("ratio", base=f"matmul/{base}/{AT}", other=f"matmul/{other}/{AT}", **bound)


def formula(expression: str, **more: Any) -> Any:
    return Check("arithmetic", expression=expression, **more)


def measured(record: Any, probes: Any = None) -> Measured:
    """A parsed record with the claims of our collection that apply to it."""
    return Measured(record, load_collection(EXPERIMENTS).restricted_to(record), {}, probes)


def about(record: Any, *claims: Any, probes: Any = None) -> Measured:
    """A parsed record with only these claims."""
    ours = load_collection(EXPERIMENTS)
    return Measured(record, Collection(ours.folder, ours.sources, claims, ()), {}, probes)
