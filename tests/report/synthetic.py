"""A small deterministic maker of records, shaped like the real ones but measured by nobody.

Tests bend single numbers of it to see whether the report follows. Each case holds its row's members
and its samples as well, which pack() puts into the files that have them. Samples come in rounds:
all cases drift alike from round to round, and each has a little noise of its own.
"""

from __future__ import annotations

import functools
import json
import math
import pickle
import statistics
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ParamSpec

from synthetic_rows import (
    EXPERIMENTS,
    MATVEC_SHAPES,
    MATVEC_SMALL,
    METRICS,
    NO_DEVICE,
    REAL,
    ROOT,
    SHAPES,
    SMALL,
    TRANSPOSE_SHAPES,
    TRANSPOSE_SMALL,
    Json,
    Shapes,
    environment_of,
    fits,
    refused_of,
    rows_of,
    seconds_of,
    work_of,
)

__all__ = ["MATVEC_SMALL", "SHAPES", "SMALL", "TRANSPOSE_SMALL", "Json"]

P = ParamSpec("P")


def copied(value: Json) -> Json:
    """The same as copy.deepcopy, in a fraction of its time."""
    found: Json = pickle.loads(pickle.dumps(value))
    return found


def once(make: Callable[P, Json]) -> Callable[P, Json]:
    """Makes what is asked for once; everyone gets a copy of it, to bend as they like."""
    made: dict[str, bytes] = {}

    @functools.wraps(make)
    def again(*arguments: P.args, **options: P.kwargs) -> Json:
        asked = repr((arguments, options))
        if asked not in made:
            made[asked] = pickle.dumps(make(*arguments, **options))
        found: Json = pickle.loads(made[asked])
        return found

    return again


def _made(experiment: str, shapes: Shapes, gpu: bool, strategies: list[str] | None = None) -> Json:
    """A record of one of the documents' experiments."""
    rows = [row for row in rows_of(experiment) if not strategies or row["name"] in strategies]
    axes = EXPERIMENTS[experiment]["axes"]
    cases = []
    for shape in map(tuple, shapes):
        for regime in ("cold", "hot", "inner", "end_to_end"):
            for row in rows:
                if not fits(row, shape, regime):
                    continue
                case = _case(row, dict(zip(axes, shape, strict=True)), regime)
                median = seconds_of(row, shape, regime)
                case |= _measured(case, median, gpu, refused_of(row, shape, median))
                case["flops"], case["bytes"] = work_of(row, shape)
                if row["problem"] and case["error"]:
                    case["error"] |= {"value": 0.0, "bound": 0.0}
                cases.append(case)
    return _record([EXPERIMENTS[experiment]], cases, gpu)


def _case(row: Json, shape: dict[str, int], regime: str) -> Json:
    """A case of a row, without its result."""
    extents = "x".join(map(str, shape.values()))
    about = {key: value for key, value in copied(row).items() if key != "name"}
    name = f"{row['experiment']}/{row['name']}/{extents}/{regime}"
    return {"id": name, **about, "strategy": row["name"], "shape": shape, "regime": regime}


ROUNDS, PER_ROUND = 10, 2
LOWER = 6  # of 20 samples in their order, this and the same from above are the interval's ends


def _noise(name: str, count: int) -> list[float]:
    """Evenly spread over -1 .. 1, the same for the same name: a small generator of its own."""
    state, found = zlib.crc32(name.encode()), []
    for _ in range(count):
        state = (1664525 * state + 1013904223) % 2**32
        found.append(state / 2**31 - 1)
    return found


def _samples(name: str, median: float) -> Json:
    """Samples in rounds: up to 0.6 % of drift that all cases share, and 0.04 % of noise."""
    drift, noise = _noise("drift", ROUNDS), _noise(name, ROUNDS * PER_ROUND)
    spread = [
        (1 + 0.006 * drift[at // PER_ROUND]) * (1 + 0.0004 * each) for at, each in enumerate(noise)
    ]
    # so that the interval is from 0.2 % below the median to 0.25 % above it
    middle, low, high = time_of(spread).values()
    below = 0.002 / (middle - low)
    last = sorted(spread)[len(spread) // 2]  # of the two in the middle
    above = (0.0025 - (last - middle) * below) / (high - last)
    samples = [
        median * (1 + (min(each, last) - middle) * below + max(0.0, each - last) * above)
        for each in spread
    ]
    return {"samples": samples, "blocks": [[r, PER_ROUND] for r in range(ROUNDS)]}


def rank(count: int, confidence: float) -> int:
    """Which of `count` samples in their order bounds the median's interval from below, from 1 on;
    0: so few have no interval."""
    below, at = 0.5**count, 0
    while below <= (1 - confidence) / 2:
        at += 1
        below += math.comb(count, at) * 0.5**count
    return at


def time_of(samples: Sequence[float]) -> Json:
    """The median of samples and its interval."""
    ordered, lower = sorted(samples), rank(len(samples), 0.95)
    return {
        "median": statistics.median(ordered),
        "low": ordered[lower - 1],
        "high": ordered[-lower],
    }


def _error(name: str, metric: str) -> Json:
    """A small part of the bound that sums in fp32 are owed; what sums nothing is exact."""
    experiment, _, shape, _ = name.split("/")
    ku = int(shape.split("x")[-1]) * 2.0**-24
    bound = ku / (1 - ku) if experiment in ("matmul", "matvec", "audit") else 0.0
    digits = {key: float(f"{x:.6g}") for key, x in (("value", bound / 80), ("bound", bound))}
    return {**digits, "metric": metric}


def _measured(case: Json, median: float, gpu: bool, refused: tuple[str, str] | None = None) -> Json:
    """The result of a case: a time around `median`, or why there is none."""
    name, on_gpu = case["id"], case["target"] == "gpu"
    metric = METRICS.get(case["experiment"], "error / bound")
    if on_gpu and not gpu:
        refused = "not_run", NO_DEVICE
    status, reason = refused or ("passed", None)
    found = {"samples": [], "blocks": []} if refused else _samples(name, median)
    seconds = {} if refused else time_of(found["samples"])
    seconds |= {"samples": len(found["samples"]), "discarded": 0}
    clock = 1.93e9 if on_gpu and not refused else None
    return {
        "status": status,
        "reason": reason,
        "error": None if refused else _error(name, metric),
        "seconds": None if refused else seconds,
        "clock_hz": clock,
        "batch": 1,
        "power": None,
        **found,
        "clocks": [clock] * len(found["blocks"]),
    }


@once
def make_record(
    shapes: Shapes = SHAPES, gpu: bool = True, strategies: list[str] | None = None
) -> Json:
    """A clean finished Release record; with gpu=False what a machine without a GPU writes."""
    found = _made("matmul", shapes, gpu, strategies)
    for case in found["cases"]:
        if case["strategy"] == "tile8" and case["seconds"]:
            case["seconds"]["discarded"] = 1
    return found


@once
def make_matvec(shapes: Shapes = MATVEC_SHAPES, gpu: bool = True) -> Json:
    return _made("matvec", shapes, gpu)


@once
def make_transpose(shapes: Shapes = TRANSPOSE_SHAPES, gpu: bool = True) -> Json:
    return _made("transpose", shapes, gpu)


def _record(experiments: list[Json], cases: list[Json], gpu: bool) -> Json:
    dram = {"value": 4.917e12, "source": "6144 bit x 2 x 3.201 GHz (device attributes)"}
    fp32 = {"value": 6.69e13, "source": "132 SMs x 128 FMA/clock x 2 x 1.980 GHz"}
    return {
        "schema": REAL["schema"],
        "environment": environment_of(gpu),
        "method": METHOD,
        "finished": "2026-11-21T03:03:10Z",
        "wall_seconds": 190.2,
        "plan": {"preset": "full", "dropped": []},
        "ceilings": {"fp32_flops": fp32, "dram_bytes_per_second": dram} if gpu else {},
        "experiments": copied({"all": experiments})["all"],
        "cases": cases,
    }


def _own(experiment: str, gpu: bool, seconds: Callable[[Json, Json], float]) -> Json:
    """A record of the committed one's cases of an experiment, each in the time that `seconds` makes
    of its row and itself."""
    known = {row["name"]: row for row in REAL["strategies"] if row["experiment"] == experiment}
    cases = []
    for real in REAL["cases"]:
        own, name, extents, regime = real["id"].split("/")
        if own == experiment:
            shape = dict(zip(EXPERIMENTS[own]["axes"], map(int, extents.split("x")), strict=True))
            case = _case(known[name], shape, regime)
            case |= _measured(case, seconds(known[name], real), gpu)
            cases.append(case | {"flops": real["flops"], "bytes": real["bytes"]})
    return _record([EXPERIMENTS[experiment]], cases, gpu)


@once
def make_audit(gpu: bool = True) -> Json:
    """One kernel under eight names, and four each of 1, 2 and 5 % more work."""

    def seconds(row: Json, real: Json) -> float:
        # each name a little luckier or unluckier than the next, as on a real machine
        luck: float = 1 + 0.0005 * _noise(real["id"], 9)[-1]
        edge = int(real["id"].split("/")[2].split("x")[0])
        extra: int = row["parameters"]["extra_permille"]
        return 4.0 * edge * edge / 4.2e12 * (1 + extra / 1000) * luck

    return _own("audit", gpu, seconds)


@once
def make_machine(gpu: bool = True) -> Json:
    """What the machine can do at best, piece by piece."""
    return _own("machine", gpu, lambda _, real: real["seconds"]["median"])


@once
def make_memory(gpu: bool = True) -> Json:
    """The levels of memory: a chain of loads each, and passes over all words."""
    latencies = {"256": 1.0e-3, "4096": 2.9e-3}  # of constant memory

    def seconds(row: Json, real: Json) -> float:
        words = real["id"].split("/")[2]
        own = latencies[words] if row["name"] == "latency_constant" else None
        return own or float(real["seconds"]["median"])

    return _own("memory", gpu, seconds)


@once
def make_reduction(gpu: bool = True) -> Json:
    """An experiment that is none of ours: three rows, one of them beyond its document."""
    about: Json = {"name": "reduction", "title": "Reduction", "problem": "s = sum of x"}
    about |= {"axes": ["elements"], "headline": "1048576"}
    table = [("interleaved", 1e12, "R0"), ("shuffle", 2e12, "R0"), ("vector", 4e12, "Recheck")]
    (row,) = (each for each in REAL["strategies"] if each["name"] == "global16")
    cases = []
    for elements in (65536, 1048576):
        for regime in ("cold", "hot"):
            for name, rate, document in table:
                source = {"document": document, "place": f"kernel {name}", "algorithm": ""}
                own = {"experiment": "reduction", "name": name, "source": source, "parameters": {}}
                case = _case(row | own | {"note": ""}, {"elements": elements}, regime)
                case |= _measured(case, 4 * elements / rate + 1e-7, gpu)
                cases.append(case | {"flops": elements, "bytes": 4 * elements})
    return _record([about], cases, gpu)


def without_listings(record: Json) -> Json:
    """A copy that has none of the documents' listings as rows."""
    from recheck_report.claims import load_collection

    rows = {listing.row for listing in load_collection(ROOT / "experiments").listings}
    record = copied(record)
    record["cases"] = [
        case for case in record["cases"] if f"{case['experiment']}/{case['strategy']}" not in rows
    ]
    return record


def with_listings(record: Json, cost: float = 1.02) -> Json:
    """A copy whose listings are what their general forms have in it, in a time that is `cost`
    times shorter."""
    from recheck_report.claims import load_collection

    record = without_listings(record)
    for listing in load_collection(ROOT / "experiments").listings:
        name, general = listing.strategies
        for case in matching(record, f"{listing.general}/"):
            case = copied(case) | {"strategy": name, "note": "as printed", "sweep": False}
            case["id"] = case["id"].replace(f"/{general}/", f"/{name}/")
            case["source"] |= {"document": listing.document, "place": listing.place}
            case["parameters"] = {"block": 256}
            if seconds := case["seconds"]:
                case |= _samples(case["id"], seconds["median"] / cost)
                seconds |= time_of(case["samples"])
            record["cases"].append(case)
    return record


def join(*parts: Json, gpu: bool = True) -> Json:
    """One record of the experiments of several."""
    experiments = [experiment for part in parts for experiment in part["experiments"]]
    return _record(experiments, [case for part in parts for case in part["cases"]], gpu)


@once
def make_full(gpu: bool = True, small: bool = False) -> Json:
    """All six experiments; small: at few shapes."""
    return join(
        make_record(SMALL if small else SHAPES, gpu),
        make_matvec(MATVEC_SMALL if small else MATVEC_SHAPES, gpu),
        make_transpose(TRANSPOSE_SMALL if small else TRANSPOSE_SHAPES, gpu),
        make_audit(gpu),
        make_machine(gpu),
        make_memory(gpu),
        gpu=gpu,
    )


def matching(record: Json, pattern: str) -> list[Json]:
    """The cases whose id contains `pattern`."""
    return [case for case in record["cases"] if pattern in case["id"]]


def bend(record: Json, path: str, value: object) -> Json:
    """The same record with that value in a place: "environment.git.dirty", "cases.0.disturbed"."""
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
    """Gives a case another time, in one block: what compares it must use these three numbers."""
    between = len(case["samples"]) - 2 * LOWER
    case["samples"] = [low] * LOWER + [median] * between + [high] * LOWER
    case["blocks"], case["clocks"] = [[0, len(case["samples"])]], [case["clock_hz"]]
    case["seconds"] |= {"median": median, "low": low, "high": high}


def spoil(record: Json, pattern: str, status: str, reason: str) -> Json:
    """A copy in which the matching cases end with `status` instead of a time."""
    record = copied(record)
    nothing: Json = {"seconds": None, "error": None, "samples": [], "blocks": [], "clocks": []}
    for case in matching(record, pattern):
        case.update(status=status, reason=reason, power=None, clock_hz=None, **nothing)
    return record


# what a case says itself; the rest is its strategy's, its samples', or in its id
OWN = (
    "id", "status", "reason", "error", "flops", "bytes", "seconds", "clock_hz", "batch", "power",
    "disturbed", "spent",
)  # fmt: skip
OF_SAMPLES = ("id", "samples", "blocks", "clocks", "set_aside")
METHOD = REAL["method"] | {"rounds": 20, "most_budgets": 2.5, "most_budgets_host_timed": 0.5}
METHOD |= {"block_samples": 16}


def pack(record: Json) -> dict[str, bytes]:
    """The files of a record as recheck writes them."""
    rows: dict[tuple[str, str], Json] = {}
    for case in record["cases"]:
        of_case = {*OWN, *OF_SAMPLES, "shape", "regime", "strategy"}
        row = {"name": case["strategy"], **{k: v for k, v in case.items() if k not in of_case}}
        rows[case["experiment"], case["strategy"]] = row

    def part(case: Json, names: tuple[str, ...]) -> Json:
        return {name: case[name] for name in names if name in case}

    cases = [{"spent": 0.25} | part(case, OWN) for case in record["cases"]]
    document = {**record, "strategies": list(rows.values()), "cases": cases}
    lines = [part(case, OF_SAMPLES) for case in record["cases"] if case["samples"]]
    samples = "".join(json.dumps(line) + "\n" for line in lines)
    return {"record.json": json.dumps(document).encode(), "samples.jsonl": samples.encode()}


def unpack(files: dict[str, bytes], folder: Path) -> Path:
    """Writes files into a folder of their own, which it returns."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def keep(path: Path, record: Json, probes: object = None) -> Path:
    """Writes a record as recheck does, into the folder of this record.json, and probes beside it;
    returns its path."""
    assert path.name == "record.json"
    unpack(pack(record), path.parent)
    if probes is not None:
        text = probes if isinstance(probes, str) else json.dumps(probes)
        path.with_name("probes.json").write_text(text)
    return path
