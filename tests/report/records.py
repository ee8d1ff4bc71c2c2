"""Records for tests to modify: copies of the golden ones, each case with its samples.

`pack` separates the two into the files of a report folder.
"""

from __future__ import annotations

import bz2
import json
import math
import pickle
import statistics
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

Json = dict[str, Any]  # an object of a JSON file
GOLDENS = Path(__file__).parent / "goldens"
AUDIT = ("audit/", "machine/")
OF_SAMPLES = ("samples", "blocks", "clocks", "set_aside")
LOWER = 6  # of 20 sorted samples, the 6th from each end bounds the interval


@cache
def _stored(name: str) -> bytes:
    folder = GOLDENS / name / "input"
    record: Json = json.loads((folder / "record.json").read_bytes())
    samples = bz2.decompress((folder / "samples.jsonl.bz2").read_bytes()).splitlines()
    lines = {line["id"]: line for line in map(json.loads, samples)}
    for case in record["cases"]:
        case |= dict.fromkeys(OF_SAMPLES[:3], ()) | lines.get(case["id"], {})
    return pickle.dumps(record)


def copied(value: Json) -> Json:
    """A deep copy."""
    found: Json = pickle.loads(pickle.dumps(value))
    return found


def h100(*begins: str, name: str = "h100") -> Json:
    """The record of an H100. `begins`: how the ids of its cases begin; none: all cases."""
    record: Json = pickle.loads(_stored(name))
    if begins:
        record["cases"] = [case for case in record["cases"] if case["id"].startswith(begins)]
        named = {case["id"].split("/")[0] for case in record["cases"]}
        for key, of in (("experiments", "name"), ("strategies", "experiment")):
            record[key] = [each for each in record[key] if each[of] in named]
        record["plan"] = {"preset": "chosen", "dropped": []}
    return record


def no_gpu(*begins: str) -> Json:
    """The record of a machine without a GPU."""
    return h100(*begins, name="no_gpu")


def few() -> Json:
    """The record of an H100 with some rows of matrix multiplication at four shapes."""
    rows = ("global16", "tile16", "cublas", "s0_tiles", "s1_kernel_0", "s1_cpu", "cpu_blas")
    shapes = ("80x48x64", "1024x1024x1024", "2048x2048x2048", "4096x4096x4096")
    return h100(*(f"matmul/{row}/{shape}/" for row in rows for shape in shapes))


def probes_of(name: str = "h100") -> Json:
    found: Json = json.loads((GOLDENS / name / "input" / "probes.json").read_bytes())
    return found


def matching(record: Json, pattern: str) -> list[Json]:
    """The cases whose id contains `pattern`."""
    return [case for case in record["cases"] if pattern in case["id"]]


def without(record: Json, pattern: str) -> Json:
    """A copy that lacks the matching cases."""
    record = copied(record)
    record["cases"] = [case for case in record["cases"] if pattern not in case["id"]]
    return record


def bend(record: Json, path: str, value: object) -> Json:
    """Sets a value in the record: path is like "environment.git.dirty" or "cases.0.disturbed"."""
    *way, last = path.split(".")
    place: Any = record
    for step in way:
        place = place[int(step) if isinstance(place, list) else step]
    place[last] = value
    return record


def scale(record: Json, pattern: str, factor: float) -> Json:
    """A copy in which the matching cases take `factor` times as long."""
    record = copied(record)
    for case in matching(record, pattern):
        if case["seconds"]:
            for key in ("median", "low", "high"):
                case["seconds"][key] *= factor
            case["samples"] = [factor * sample for sample in case["samples"]]
    return record


def set_time(case: Json, median: float, low: float, high: float) -> None:
    """Gives a case another time, in one block: a comparison must use these three numbers."""
    case["samples"] = [low] * LOWER + [median] * 8 + [high] * LOWER
    case["blocks"], case["clocks"] = [[0, len(case["samples"])]], [case["clock_hz"]]
    case["seconds"] |= {"median": median, "low": low, "high": high}


def rank(count: int, confidence: float) -> int:
    """The rank, from 1 on, of the sorted sample that bounds the median's interval from below; 0 if
    `count` samples are too few."""
    below, at = 0.5**count, 0
    while below <= (1 - confidence) / 2:
        at += 1
        below += math.comb(count, at) * 0.5**count
    return at


def time_of(samples: Sequence[float]) -> Json:
    """The median of samples and its interval."""
    ordered, lower = sorted(samples), rank(len(samples), 0.95)
    middle = statistics.median(ordered)
    return {"median": middle, "low": ordered[lower - 1], "high": ordered[-lower]}


def spoil(record: Json, pattern: str, status: str, reason: str) -> Json:
    """A copy in which the matching cases end with `status` instead of a time."""
    record = copied(record)
    nothing: Json = {"seconds": None, "error": None, **dict.fromkeys(OF_SAMPLES, ())}
    for case in matching(record, pattern):
        case |= {"status": status, "reason": reason, "power": None, "clock_hz": None, **nothing}
    return record


def pack(record: Json, probes: object = None) -> dict[str, bytes]:
    """The files of a record as recheck and collect write them."""
    cases = [{k: v for k, v in case.items() if k not in OF_SAMPLES} for case in record["cases"]]
    lines = [
        {k: case[k] for k in ("id", *OF_SAMPLES) if case.get(k)}
        for case in record["cases"]
        if case.get("samples")
    ]
    files = {
        "record.json": json.dumps({**record, "cases": cases}),
        "samples.jsonl": "".join(json.dumps(line) + "\n" for line in lines),
    }
    if probes is not None:
        files["probes.json"] = probes if isinstance(probes, str) else json.dumps(probes)
    return {name: text.encode() for name, text in files.items()}


def keep(folder: Path, record: Json, probes: object = None) -> Path:
    """Writes a record, and its probes, to files as recheck does; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in pack(record, probes).items():
        (folder / name).write_bytes(data)
    return folder
