"""Probes and judgements made by nobody, for tests of what shows verdicts.

`make_probes` answers whatever the claims and errata of this tree ask for. The makers below it build
claims and errata of a test's own, so that no test of the views depends on what a document says.
"""

from __future__ import annotations

import zlib
from typing import Any

from conftest import EXPERIMENTS
from recheck_report.claims import load_collection
from recheck_report.claims.measured import Measured

# the head of a claim in claims.toml; what is known of its figure and its checks come behind it
CLAIM = """
[[claim]]
id = "C12"
document = "S0"
place = "section 3"
quote = "better"
title = "Tiles"
hardware = "old"
figure = ""
expected = "faster"
"""


def make_probes(record: dict[str, Any]) -> dict[str, Any]:
    """Probes for a synthetic record: all counters, attributes and tests that are asked for."""
    from recheck_report.record.counters import COUNTERS, LAUNCHES

    env = record["environment"]
    counters: dict[str, Any] = {}
    attributes = {"warp_size": 32, "total_constant_memory": 65536, "threads_per_sm": 2048}
    attributes["shared_bytes_per_sm"] = 233472
    tests: dict[str, Any] = {}
    known = load_collection(EXPERIMENTS)
    checks = [check for claim in known.claims for check in claim.asked]
    checks += [check for erratum in known.errata for check in erratum.check]
    for check in checks:
        for name in (check.of, check.per) if check.form == "count" else ():
            if name:
                names = (*COUNTERS, LAUNCHES)
                # small whole numbers, the same for the same name
                values = {key: float(1 + zlib.crc32((name + key).encode()) % 64) for key in names}
                counters[name] = {"reason": None, "values": values}
        if check.test:
            tests[check.test] = {"reason": None, "outcome": check.finds, "count": 0}
            if check.finds == "hazards":
                tests[check.test]["count"] = 128
    return {
        "schema": 1,
        "environment": {
            "gpu": env["gpu"]["name"] if env["gpu"] else None,
            "uuid_hash": env["gpu"]["uuid_hash"] if env["gpu"] else None,
            "driver": env["driver"],
            "commit": env["git"]["commit"],
            "dirty": False,
        },
        "attributes": attributes,
        "counters": counters,
        "tests": tests,
    }


def make_claim(name: str, *check: Any, **more: Any) -> Any:
    """A claim of document S0 about tiles, whose other fields a test may give."""
    from recheck_report.claims import Claim

    fields = {
        "experiment": "matmul",
        "document": "S0",
        "place": "section 3",
        "quote": "much better",
        "english": "",
        "title": f"The title of {name}",
        "hardware": "GeForce 8400M GS",
        "figure": "",
        "expected": "tile16 is faster",
    }
    return Claim(id=name, check=check, **{**fields, **more})


def make_erratum(name: str, *check: Any, **more: Any) -> Any:
    """An erratum of document S0, by reading unless it has checks."""
    from recheck_report.claims import Erratum

    fields = {
        "document": "S0",
        "place": "section 1",
        "written": "128 MB",
        "english": "",
        "right": "128 KB",
        "concerns": ("C06",),
        "shown": "" if check else "It says so.",
    }
    return Erratum(id=name, check=check, **{**fields, **more})


AT = "1024x1024x1024/cold"


def ratio(base: str = "global16", other: str = "tile16", **more: Any) -> Any:
    """A check that `other` is faster at width 1024, unless told otherwise."""
    from recheck_report.claims import Check

    bound = more or {"above": 1.0}
    return Check("ratio", base=f"matmul/{base}/{AT}", other=f"matmul/{other}/{AT}", **bound)


def formula(expression: str, **more: Any) -> Any:
    from recheck_report.claims import Check

    return Check("arithmetic", expression=expression, **more)


def because(text: str, verdict: str = "holds", gpu: str = "") -> Any:
    """What explains a claim."""
    from recheck_report.claims.story import Part

    return (Part(text, verdict=verdict, gpu=gpu),)


def measured(record: Any, probes: Any = None) -> Measured:
    """A parsed record, with what our collection has for it."""
    return Measured(record, load_collection(EXPERIMENTS).of(record), {}, probes)


def about(record: Any, *claims: Any, probes: Any = None, errata: Any = ()) -> Measured:
    """A parsed record, with these claims and errata alone."""
    from recheck_report.claims import Collection

    ours = load_collection(EXPERIMENTS)
    known = Collection(ours.folder, ours.sources, claims, tuple(errata))
    return Measured(record, known, {}, probes)


def view(record: Any, *claims: Any, **more: Any) -> Any:
    """The verdicts of a parsed record on these claims, and what it says of these errata."""
    from recheck_report.say.claim import View

    return View(about(record, *claims, **more))
