"""A rehearsal about a synthetic record: two builds, three tests and three products."""

from __future__ import annotations

from synthetic import Json


def outcome(status: str = "passed", reason: str | None = None) -> Json:
    return {"status": status, "tests": 3, "reason": reason}


def make_rehearsal(record: Json) -> Json:
    """On the 7.5 build async_stages does not run, and says why; at one of the products `best` is
    four fifths as fast as the fastest row."""
    env = record["environment"]
    why = "needs code for compute capability 8.0, this build has 7.5's"
    tests = [
        ("matmul_tile16", "row", [outcome(), outcome()]),
        ("matmul_async_stages", "row", [outcome("not_run", why), outcome()]),
        ("matmul_no_barrier", "mutant", [outcome(), outcome()]),
        ("Dispatch.IsQuick", "other", [outcome(), outcome()]),
    ]
    shapes = [
        ((1, 2, 3), "tile16", 4e-6, [4e-6, None]),
        ((16, 16, 1000000), "tile16", 1e-3, [1e-3, 8e-4]),
        ((512, 512, 512), "async_stages", None, [3e-5, 2e-5]),
    ]
    return {
        "schema": 2,
        "environment": {
            "gpu": env["gpu"]["name"] if env["gpu"] else "a GPU",
            "uuid_hash": None,
            "driver": env["driver"],
            "commit": env["git"]["commit"],
            "dirty": env["git"]["dirty"],
            "nvcc": env["nvcc"],
        },
        "builds": [
            {"architecture": each, "build_seconds": 30.5, "test_seconds": 20} for each in (75, 80)
        ],
        "tests": [{"name": name, "kind": kind, "outcomes": found} for name, kind, found in tests],
        "choices": [
            {
                "architecture": 80,
                "seed": 20,
                "regime": "cold",
                "rows": ["tile16", "async_stages"],
                "shapes": [
                    {
                        **dict(zip("mnk", extents, strict=True)),
                        "choice": choice,
                        "best": best,
                        "seconds": seconds,
                    }
                    for extents, choice, best, seconds in shapes
                ],
            }
        ],
    }
