"""Records as other machines would have written them: a committed one with honest oddities.

`odd()` makes one by a seed: fewer cases, and some changes of each kind that a noisy, throttled,
shared, virtualised, strange or newer machine makes.
"""

from __future__ import annotations

import bz2
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from conftest import REPORTS

COMMITTED = REPORTS / "results" / "nvidia-h100-80gb-hbm3"
CAUSES = (
    "another process used the GPU",
    "the GPU lowered its clock to stay cool",
    "other programs used the CPU",
)
Json = dict[str, Any]
Lines = dict[str, Json]  # of samples, by case
Change = Callable[[random.Random, Json, Lines], None]


def committed() -> tuple[Json, Lines]:
    document = json.loads((COMMITTED / "record.json").read_bytes())
    text = bz2.decompress((COMMITTED / "samples.jsonl.bz2").read_bytes())
    lines = [json.loads(line) for line in text.splitlines()]
    return document, {each["id"]: each for each in lines}


def shrunk(
    dice: random.Random, document: Json, lines: Lines, most: int = 200
) -> tuple[Json, Lines]:
    """A copy with some of the cases, as flags would have chosen them."""
    cases = [each for each in document["cases"] if dice.random() < most / len(document["cases"])]
    own = json.loads(json.dumps({**document, "cases": cases}))
    own["plan"] = {"preset": "chosen", "dropped": []}
    names = {each["id"] for each in cases}
    return own, {name: json.loads(json.dumps(lines[name])) for name in names & lines.keys()}


def _some(dice: random.Random, document: Json) -> list[Json]:
    """Some of the cases: one, a few, or nearly all."""
    share = dice.choice((0.0, 0.05, 0.3, 0.95))
    found = [each for each in document["cases"] if dice.random() < share]
    return found or [dice.choice(document["cases"])]


def _timed(dice: random.Random, document: Json) -> list[Json]:
    return [each for each in _some(dice, document) if each.get("seconds")]


def _member(dice: random.Random, document: Json) -> tuple[Json, str]:
    """A member of a record that a machine may not know, and what holds it."""
    env = document["environment"]
    places = [env, env.get("gpu") or {}, env.get("state"), document.get("method")]
    places += [document.get("plan")]
    places += [dice.choice(document["cases"]) for _ in range(3)]
    places += [dice.choice(document["strategies"]), dice.choice(document["experiments"])]
    places += [
        each[name]
        for each in _some(dice, document)[:3]
        for name in ("seconds", "error", "power")
        if each.get(name)
    ]
    place = dice.choice([each for each in places if each])
    names = [name for name in place if name not in ("id", "status", "name", "experiment")]
    return place, dice.choice(names or ["more"])


def members(dice: random.Random, document: Json, lines: Lines) -> None:
    """Any of them null, gone, or of another size; and some that nobody knows."""
    for _at in range(dice.choice((1, 10, 50))):
        place, name = _member(dice, document)
        change = dice.choice(("null", "gone", "number"))
        if change == "null":
            place[name] = None
        elif change == "gone":
            place.pop(name, None)
        elif type(place.get(name)) in (int, float):
            kind = type(place[name])
            place[name] = kind(place[name] * dice.choice((0, 0.01, 0.5, 2, 1000)))
    for place in (document, document["environment"], *_some(dice, document), *lines.values()):
        place[f"new_{dice.randrange(9)}"] = dice.choice((None, 1, "x", [1, {"a": 2}], {"b": []}))


def outliers(dice: random.Random, document: Json, lines: Lines) -> None:
    for case in _timed(dice, document):
        factor = dice.choice((0, 1e-3, 0.3, 3, 1e4))  # 0: without a tick of the clock
        line = lines.get(case["id"])
        for name in ("median", "low", "high"):
            case["seconds"][name] = (case["seconds"].get(name) or 1e-6) * factor
        if line:
            line["samples"] = [each * factor for each in line["samples"]]


def few_samples(dice: random.Random, document: Json, lines: Lines) -> None:
    for case in _timed(dice, document):
        many = dice.choice((1, 2, 5))
        line = lines.setdefault(case["id"], {"id": case["id"], "samples": [1e-6]})
        line["samples"] = line["samples"][:many]
        line |= {"blocks": [[0, len(line["samples"])]], "clocks": [None]}
        ends = (None, None) if dice.random() < 0.5 else (min(line["samples"]), max(line["samples"]))
        case["seconds"] |= dict(zip(("low", "high"), ends, strict=True))
        case["seconds"]["samples"] = len(line["samples"])


def blocks(dice: random.Random, document: Json, lines: Lines) -> None:
    for case in _timed(dice, document):
        line = lines.get(case["id"])
        if line is None:
            continue
        many = len(line["samples"])
        rounds: list[Any] = [[dice.randrange(10**6), 1] for _ in range(many)]
        line["blocks"] = dice.choice((rounds, [[3, many]], [], None, [[0, many + 1]], [[0]]))
        line["clocks"] = dice.choice(([], None, [1e9] * many, [0] * 3))


def clocks(dice: random.Random, document: Json, lines: Lines) -> None:
    """Laptops go beyond what CUDA calls their clock."""
    factor = dice.choice((0.1, 1.4, 3))
    for case in _some(dice, document):
        case["clock_hz"] = case["clock_hz"] and case["clock_hz"] * factor
        line = lines.get(case["id"])
        if line and line.get("clocks"):
            line["clocks"] = [each and each * dice.choice((factor, 1)) for each in line["clocks"]]


def powers(dice: random.Random, document: Json, _: Lines) -> None:
    for case in document["cases"]:
        if case["power"] and dice.random() < 0.5:
            odd = dice.choice((0, 1e-3, 17, 917.789, 5e4))
            case["power"] |= {dice.choice(("watts", "joules", "seconds")): odd}
            case["power"]["throttle"] = dice.choice(([], ["hw_unheard_of"], ["sw_power_cap"] * 3))


# what another host says, or a GPU that is integrated, virtual, new, or a part of one; by its place
OTHERS: dict[str, tuple[Any, ...]] = {
    "finished": (None, "2026-11-21T03:00:00Z", "2026-11-23T03:00:00Z"),
    "wall_seconds": (0, 1e-3, 1e7),
    "method": ({"rounds": 12, "confidence": 0.95, "patience": "new"},),
    "environment.started": ("2099-01-01T00:00:00Z", "1970-01-01T00:00:00Z", ""),
    "environment.cpu": ("aarch64", "", "AMD EPYC"),
    "environment.cpu_threads": (0, 1, 2048),
    "environment.os": ("Linux|<b>",),
    "environment.driver": (None,),
    "environment.mps": (True,),
    "environment.build_type": ("RelWithDebInfo",),
    "environment.git": ({"commit": "unknown", "dirty": True, "diff": None}, {}, None),
    "environment.conditions": ([{"code": "launch_blocking", "says": "every time is longer"}],),
    "environment.state.other_processes": (0, 2, None),
    "environment.state.other_gpu_percent": (None, 0, 4, 97),
    "environment.gpu.name": ("NVIDIA GB10", "GRID A100-4C", "Orin (nvgpu)"),
    "environment.gpu.compute_capability": ("12.1", "7.5", "20.0"),
    "environment.gpu.mig": (True, None),
    "environment.gpu.uuid_hash": (None,),
    "environment.gpu.ecc": (None,),
    "environment.gpu.power_limit_watts": (None, 0, 60.0),
    "environment.gpu.memory_clock_hz": (0,),
    "environment.gpu.memory_bus_bits": (0,),
    "environment.gpu.l2_bytes": (0,),
    "environment.gpu.clock_hz": (0,),
    "environment.gpu_reason": (None, "no driver"),
    "environment.gpu": (None,),
}


def machine(dice: random.Random, document: Json, _: Lines) -> None:
    for where, values in OTHERS.items():
        *way, name = where.split(".")
        place: Any = document
        for each in way:
            place = (place or {}).get(each)
        if place and dice.random() < 0.4:
            place[name] = dice.choice(values)
    for each in document["ceilings"].values():
        each["value"] = dice.choice((0, each["value"], 1e30))


def names(dice: random.Random, document: Json, _: Lines) -> None:
    """Of a newer Recheck, or of an outside table."""
    for row in document["strategies"]:
        if dice.random() < 0.1:
            row |= {
                dice.choice(("role", "target", "arithmetic", "layout")): dice.choice(
                    ("star", "npu", "fp8", "blocked", "part", "roof", "audit", "cpu")
                )
            }
            row["parameters"] = dice.choice(({}, {"swizzle": 2**40}, row.get("parameters")))
    for case in _some(dice, document):
        experiment, row, shape, regime = case["id"].split("/")
        regime = dice.choice(("sustained", "graph", regime))
        case["id"] = f"{experiment}/{row}/{shape}/{regime}"
        case["status"] = dice.choice(("passed", "skipped", "unsupported", case["status"]))


def newer_experiment(dice: random.Random, document: Json, lines: Lines) -> None:
    axes = dice.choice((["batch", "bins", "a", "b"], ["elements"], []))
    shape = "x".join(str(dice.choice((1, 7, 1 << 20))) for _ in axes or "x")
    document["experiments"].append({"name": "histogram", "axes": axes, "title": "Histograms"})
    document["strategies"] += [
        {"experiment": "histogram", "name": name, "target": target}
        for name, target in (("atomics", "gpu"), ("cpu_serial", "cpu"))
    ]
    timed = next(case for case in document["cases"] if case["seconds"])
    for row in ("atomics", "cpu_serial"):
        name = f"histogram/{row}/{shape}/hot"
        error = {"value": dice.random(), "bound": 0, "metric": "differences"}
        document["cases"].append({**timed, "id": name, "error": error, "flops": 0, "power": None})
        if timed["id"] in lines:
            lines[name] = {**lines[timed["id"]], "id": name}


def disturbed(dice: random.Random, document: Json, lines: Lines) -> None:
    for case in _timed(dice, document):
        case["disturbed"] = dice.choice((*CAUSES, None))
        line = lines.get(case["id"])
        if line and case["disturbed"]:
            line["set_aside"] = [[3, [each * 2 for each in line["samples"][:4]]]]
            case["seconds"]["discarded"] = 4


def gone(dice: random.Random, document: Json, _: Lines) -> None:
    """Rows or shapes without a case, and cases that ended without a time."""
    part = dice.choice((0, 1, 2))  # of an id: experiment, row, shape
    names = sorted({each["id"].split("/")[part] for each in document["cases"]})
    lost = set(dice.sample(names, dice.choice((1, len(names) // 2))))
    document["cases"] = [
        each for each in document["cases"] if each["id"].split("/")[part] not in lost
    ] or document["cases"][:1]
    for case in _some(dice, document):
        status = dice.choice(("failed", "incorrect", "unsupported", "not_run"))
        case |= {"status": status, "reason": "a | reason", "seconds": None, "error": None}
        case["power"] = case["clock_hz"] = None


CHANGES: tuple[Change, ...] = (
    *(outliers, few_samples, blocks, clocks, powers, machine, names, newer_experiment),
    *(disturbed, gone, members),  # what takes members away is behind what changes them
)


def odd(
    seed: int, document: Json, lines: Lines, kinds: Sequence[Change] = ()
) -> tuple[Json, Lines]:
    """A record by this seed, with these kinds of change, or one to six; each kind begins some."""
    dice = random.Random(seed)
    own, samples = shrunk(dice, document, lines)
    first = kinds or [CHANGES[seed % len(CHANGES)], *dice.sample(CHANGES, dice.randrange(6))]
    for change in sorted(dict.fromkeys(first), key=CHANGES.index):
        change(dice, own, samples)
    return own, samples


def write(document: Json, lines: Lines, folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "record.json").write_text(json.dumps(document))
    text = "".join(json.dumps(line) + "\n" for line in lines.values())
    (folder / "samples.jsonl").write_text(text)
    return folder
