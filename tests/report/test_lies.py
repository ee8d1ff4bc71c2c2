"""Lies about a run that keep every type right: each is refused in one line, or said in the report.

Each is a small edit of a part of the committed evidence, which is read and shown without a word
before it. What the files say twice has to agree; what no machine does is no measurement; what
nobody can tell from the files alone, such as a time that is too good, the report has to say.
"""

from __future__ import annotations

import bz2
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPORTS, run, text_of, tree
from synthetic import METHOD, Json, time_of

EVIDENCE = REPORTS / "results" / "nvidia-h200"
OF_SHAPE = re.compile(
    r"matmul/(tile16|cublas|cublas_tf32|cpu_blas|split_fp16x3)/4096x4096x4096/"
    r"|matmul/(tile16|s0_tiles)/80x48x64/"
    r"|matmul/cpu_serial/4096x512x2048/"
    r"|matvec/(naive|constant|constant_copy|read)/8192x8192/"
    r"|transpose/(naive|copy)/8192x8192/"
    r"|(audit|machine|memory)/"
)
Files = dict[str, Any]  # by name: the record, its lines of samples by id, and what lies beside
Edit = Callable[[Files], object]
RECORD, SAMPLES, PROBES = "record.json", "samples", "probes.json"
ACCURACY, VERDICTS = "accuracy.json", "verdicts.json"

TILE = "matmul/tile16/4096x4096x4096/cold"
HOT = "matmul/tile16/4096x4096x4096/hot"
CPU = "matmul/cpu_blas/4096x4096x4096/hot"
MATVEC = "matvec/naive/8192x8192/cold"
TURN = "transpose/naive/8192x8192/cold"
CUBLAS = "matmul/cublas/4096x4096x4096/cold"
UNFIT = "matmul/s0_tiles/80x48x64/cold"
NOT_RUN = "matmul/cpu_serial/4096x512x2048/hot"
AUDIT = "audit/slower5_1/8192x8192/cold"
WHOLE = "matmul/tile16/4096x4096x4096/end_to_end"
SMALL = "matmul/tile16/80x48x64/hot"
COPY = "transpose/copy/8192x8192/cold"
ROOF = "machine/read/268435456/cold"
FFMA = "machine/ffma/262144/hot"
LEVEL = "memory/bandwidth_l2/4194304/hot"
LARGE = "audit/same_1/16384x16384/hot"


@pytest.fixture(scope="module")
def honest() -> Callable[[], Files]:
    """A part of the committed evidence, of which everyone gets a copy of their own."""
    record = json.loads((EVIDENCE / RECORD).read_bytes())
    record["cases"] = [case for case in record["cases"] if OF_SHAPE.match(case["id"])]
    kept = {case["id"] for case in record["cases"]}
    lines = bz2.decompress((EVIDENCE / "samples.jsonl.bz2").read_bytes()).splitlines()
    raw = {line["id"]: line for line in map(json.loads, lines) if line["id"] in kept}
    files = {RECORD: record, SAMPLES: raw}
    for name in (PROBES, ACCURACY, VERDICTS):
        files[name] = json.loads((EVIDENCE / name).read_bytes())
    text = json.dumps(files)
    return lambda: json.loads(text)


def write(files: Files, folder: Path) -> Path:
    folder.mkdir()
    for name, value in files.items():
        if name == SAMPLES:
            lines = "".join(f"{json.dumps(line)}\n" for line in value.values())
            (folder / "samples.jsonl").write_text(lines)
        else:
            # a text stands as it is, for what no value of Python can say
            text = value if isinstance(value, str) else json.dumps(value)
            (folder / name).write_text(text, encoding="utf-8")
    return folder


def case(files: Files, name: str = TILE) -> Json:
    found: Json = next(each for each in files[RECORD]["cases"] if each["id"] == name)
    return found


def of_case(name: str = TILE, **changes: Any) -> Edit:
    return lambda files: case(files, name).update(changes)


def seconds(name: str = TILE, **changes: Any) -> Edit:
    return lambda files: case(files, name)["seconds"].update(changes)


def times(factor: float, *names: str, name: str = TILE) -> Edit:
    """Some numbers of a case's time times a factor."""

    def edit(files: Files) -> None:
        for each in names:
            case(files, name)["seconds"][each] *= factor

    return edit


def error(name: str = TILE, **changes: Any) -> Edit:
    return lambda files: case(files, name)["error"].update(changes)


def power(**changes: Any) -> Edit:
    return lambda files: case(files, HOT)["power"].update(changes)


def raw(name: str = TILE, **changes: Any) -> Edit:
    return lambda files: files[SAMPLES][name].update(changes)


def first(of: str, value: Any, name: str = TILE) -> Edit:
    """Another first entry of a list of a case's samples."""

    def edit(files: Files) -> None:
        files[SAMPLES][name][of][0] = value

    return edit


def at(*path: Any, file: str = RECORD) -> Callable[..., Edit]:
    """Sets what stands at a path of a file, or changes it by a function."""

    def to(value: Any) -> Edit:
        def edit(files: Files) -> None:
            node = files[file]
            for key in path[:-1]:
                node = node[key]
            node[path[-1]] = value(node[path[-1]]) if callable(value) else value

        return edit

    return to


def env(*path: Any) -> Callable[..., Edit]:
    return at("environment", *path)


def row(name: str, of: str = "matmul", **changes: Any) -> Edit:
    def edit(files: Files) -> None:
        for each in files[RECORD]["strategies"]:
            if (each["experiment"], each["name"]) == (of, name):
                each.update(changes)

    return edit


def all_of(*edits: Edit) -> Edit:
    def edit(files: Files) -> None:
        for each in edits:
            each(files)

    return edit


def filled(of_it: Json, batch: int, method: Json) -> None:
    """Blocks of as many samples as launches so short have, each of them again and again."""
    found: list[float] = []
    usual = min(of_it["samples"]) * batch
    least = min(method["block_samples"], int(method["block_seconds"] / usual))
    at = 0
    for block in of_it["blocks"]:
        samples = of_it["samples"][at : at + block[1]]
        at += block[1]
        block[1] = max(block[1], least)
        found += [samples[each % len(samples)] for each in range(block[1])]
    of_it["samples"] = found


def faster(factor: float, *names: str) -> Edit:
    """Cases that say of themselves and by their samples that they are so much faster."""

    def edit(files: Files) -> None:
        for name in names:
            own, of_it = case(files, name), files[SAMPLES][name]
            of_it["samples"] = [each / factor for each in of_it["samples"]]
            filled(of_it, own["batch"], files[RECORD]["method"])
            count = len(of_it["samples"])
            own["seconds"] |= time_of(of_it["samples"]) | {"samples": count}
            if own["power"]:
                own["power"]["joules"] /= factor

    return edit


def probe(**changes: Any) -> Edit:
    def edit(files: Files) -> None:
        next(iter(files[PROBES]["counters"].values()))["values"].update(changes)

    return edit


def trial(kind: str, **changes: Any) -> Edit:
    def edit(files: Files) -> None:
        tests = files[PROBES]["tests"]
        next(each for name, each in tests.items() if name.startswith(kind)).update(changes)

    return edit


def study(**changes: Any) -> Edit:
    return lambda files: files[ACCURACY]["results"][0].update(changes)


def claim(which: str, **changes: Any) -> Edit:
    """Of the first claim of that verdict that has a value with an interval, or none at all."""

    def edit(files: Files) -> None:
        of = (each for each in files[VERDICTS]["claims"] if each["verdict"] == which)
        next(
            each
            for each in of
            if which == "not_measured" or each["measured"] and each["measured"]["low"] is not None
        ).update(changes)

    return edit


def twice(*path: Any, file: str = RECORD) -> Edit:
    def edit(files: Files) -> None:
        node = files[file]
        for key in path:
            node = node[key]
        node.append(node[0])

    return edit


def text(file: str, old: str, new: str) -> Edit:
    """Of a file's text, the first occurrence."""

    def edit(files: Files) -> None:
        own = json.dumps(files[file])
        assert old in own
        files[file] = own.replace(old, new, 1)

    return edit


def repeated(files: Files) -> None:
    files[RECORD]["cases"].append(files[RECORD]["cases"][0])


def without_gpu(files: Files) -> None:
    """The device goes, the times that it gave stay."""
    files[RECORD]["environment"].update(gpu=None, gpu_reason="no CUDA device", state={}, code=None)
    files[RECORD]["ceilings"] = {}


def cold_on_cpu(files: Files) -> None:
    name = CPU.replace("/hot", "/cold")
    case(files, CPU)["id"] = name
    files[SAMPLES] = {
        name if each == CPU else each: line | {"id": name} if each == CPU else line
        for each, line in files[SAMPLES].items()
    }


def few(files: Files) -> None:
    """Five samples, of which nobody can make an interval, with their least and most as one."""
    own, of_it = case(files), files[SAMPLES][TILE]
    of_it.update(samples=of_it["samples"][:5], blocks=[[0, 5]], clocks=of_it["clocks"][:1])
    ordered = sorted(of_it["samples"])
    own["seconds"].update(median=ordered[2], low=ordered[0], high=ordered[-1], samples=5)
    own["clock_hz"] = of_it["clocks"][0]


def moved_clocks(factor: float, name: str = TILE) -> Edit:
    def edit(files: Files) -> None:
        own, of_it = case(files, name), files[SAMPLES][name]
        of_it["clocks"] = [factor * each for each in of_it["clocks"]]
        own["clock_hz"] *= factor

    return edit


def ceilings(factor: float) -> Edit:
    def edit(files: Files) -> None:
        for each in files[RECORD]["ceilings"].values():
            each["value"] *= factor

    return edit


def longer(files: Files) -> None:
    """A case alone takes longer than the run."""
    faster(1e-5, TILE)(files)
    case(files)["spent"] = 1e6


def hurried(share: float) -> Edit:
    """A run that took such a share of what its cases took together, by its parts as well."""

    def edit(files: Files) -> None:
        own = files[RECORD]
        took = sum(each["spent"] for each in own["cases"])
        own["overhead"] = dict.fromkeys(own["overhead"], share * took / len(own["overhead"]))
        own["wall_seconds"] = share * took

    return edit


def halved(samples: list[float]) -> None:
    """The longest sample, as half of another may change no median and no interval."""
    samples[samples.index(max(samples))] /= 2


def copied(files: Files) -> None:
    """A case with the samples of another, and all that follows from them."""
    for name in ("seconds", "clock_hz", "batch"):
        case(files, HOT)[name] = case(files)[name]
    files[SAMPLES][HOT] = files[SAMPLES][TILE] | {"id": HOT}


def kept(choose: Callable[[list[tuple[int, list[float]]]], Any], name: str = TURN) -> Edit:
    """Some of a case's blocks, or of their samples, and all that follows from them."""

    def edit(files: Files) -> None:
        own, of_it, rest = (
            case(files, name),
            files[SAMPLES][name],
            iter(files[SAMPLES][name]["samples"]),
        )
        chosen = choose([(at, [next(rest) for _ in range(n)]) for at, n in of_it["blocks"]])
        samples = [each for _, block in chosen for each in block]
        clocks = [own["clock_hz"]] * len(chosen)
        of_it.update(samples=samples, blocks=[[at, len(b)] for at, b in chosen], clocks=clocks)
        own["seconds"] |= time_of(samples) | {"samples": len(samples)}

    return edit


def merged(files: Files) -> None:
    """All blocks of a case as one."""
    of_it = files[SAMPLES][MATVEC]
    clock = case(files, MATVEC)["clock_hz"]
    of_it.update(blocks=[[0, len(of_it["samples"])]], clocks=[clock])


def in_rounds(rounds: int) -> Edit:
    """As schema 6 says it: so many rounds for all, in place of when each case stopped."""

    def edit(files: Files) -> None:
        method = files[RECORD]["method"] | {"rounds": rounds}
        files[RECORD] |= {"schema": 6, "method": {name: method[name] for name in METHOD}}

    return edit


def drawn(watts: float) -> Edit:
    """Another power, and the energy of a launch that follows."""

    def edit(files: Files) -> None:
        own = case(files, HOT)["power"]
        own.update(watts=watts, joules=own["joules"] * watts / own["watts"])

    return edit


def failed_study(files: Files) -> None:
    for each in files[ACCURACY]["results"]:
        each.update(status="incorrect", reason="error 2 exceeds bound 1")
        errors = {"frobenius", "componentwise", "median", "absolute", "bound"}
        each.update(dict.fromkeys(errors & each.keys()))


def failed_tests(files: Files) -> None:
    for name, each in files[PROBES]["tests"].items():
        if name.startswith("gate:"):
            each["outcome"] = "fail"


# name: what is changed, and what the line of the refusal says of it
REFUSED: dict[str, tuple[Edit, str]] = {
    # times that are not those of their samples
    "median halved": (times(0.5, "median", "low"), "seconds.median"),
    "median 1 % less": (times(0.99, "median", "low"), "seconds.median"),
    "all three halved": (times(0.5, "median", "low", "high"), "seconds.median"),
    "CPU row 10⁶ times faster than its samples": (
        times(1e-6, "median", "low", "high", name=CPU),
        "seconds.median",
    ),
    "hot row 10⁵ times faster than its samples": (
        times(1e-5, "median", "low", "high", name=HOT),
        "seconds.median",
    ),
    "interval of no width": (
        lambda files: seconds(
            low=case(files)["seconds"]["median"], high=case(files)["seconds"]["median"]
        )(files),
        "seconds.low",
    ),
    "interval from 1e-11 to 1e8": (seconds(low=1.1e-11, high=1e8), "seconds.low"),
    "low a little lower": (times(0.999, "low"), "seconds.low"),
    "high a little higher": (times(1.001, "high"), "seconds.high"),
    "high at the median": (
        lambda files: seconds(high=case(files)["seconds"]["median"])(files),
        "seconds.high",
    ),
    "samples −5": (seconds(samples=-5), "seconds.samples must be at least 1"),
    "a sample more": (seconds(samples=1000), "seconds.samples must be"),
    "a sample less": (seconds(samples=1), "seconds.samples must be"),
    "fewer samples than an interval takes": (few, "at least 6 samples"),
    "discarded −1": (seconds(discarded=-1), "seconds.discarded must be at least 0"),
    "discarded 10¹²": (seconds(discarded=10**12), "seconds.discarded must be"),
    "one sample halved": (lambda files: halved(files[SAMPLES][TILE]["samples"]), "seconds."),
    "first sample negative": (first("samples", -1e-3), "samples[0] must be above 0"),
    "first sample of 10¹² s": (first("samples", 1e12), "must be above 0 and below 1e+09"),
    "a case longer than the run": (longer, "wall_seconds"),
    "a case longer than was spent on it": (of_case(spent=1e-6), "spent"),
    "cases longer than the run together": (hurried(0.9), "wall_seconds must be at least"),
    "samples of another case": (copied, f"samples must be its own: {TILE} has the same"),
    "sampled by the CPU's cold regime": (cold_on_cpu, "regime"),
    # clocks, rounds and batches
    "clock of the case": (of_case(clock_hz=1.0e9), "clock_hz must be"),
    "clock of no block": (of_case(clock_hz=None), "clock_hz must be"),
    "clock −1": (of_case(clock_hz=-1.98e9), "clock_hz must be above 0"),
    "clock of a CPU row": (of_case(CPU, clock_hz=3e9), "clock_hz must be"),
    "clocks ten times those of the device": (moved_clocks(10), "clocks"),
    "first clock −1": (first("clocks", -1), "clocks[0] must be above 0"),
    "first clock 10¹⁵": (first("clocks", 1e15), "clocks[0] must be"),
    "round −5": (first("blocks", [-5, 2]), "blocks"),
    "round 10¹⁵": (
        lambda files: files[SAMPLES][TILE]["blocks"][-1].__setitem__(0, 10**15),
        "blocks",
    ),
    "block of −1": (first("blocks", [0, -1]), "blocks must hold as many samples"),
    "a round beyond those of the method": (in_rounds(10), "blocks must be of rounds below 10"),
    "a block beyond that of the method": (merged, "blocks must have 8 samples each at most"),
    "a batch of cold launches": (of_case(MATVEC, batch=4), "batch must be 1"),
    "a batch on the CPU": (of_case(CPU, batch=4), "batch must be 1"),
    "batch 0": (of_case(batch=0), "batch must be at least 1"),
    "batch 10⁹": (of_case(HOT, batch=10**9), "batch must be"),
    "the fastest rounds of a case": (
        kept(lambda blocks: sorted(sorted(blocks, key=lambda each: min(each[1]))[:6])),
        "blocks must have round",
    ),
    "blocks of launches for which there was no time": (
        kept(lambda blocks: [(at, [*b, *(1.001 * each for each in b)]) for at, b in blocks], TILE),
        "blocks must have 1 samples, for which there was time: 2",
    ),
    "the first rounds of a case": (kept(lambda blocks: blocks[:6]), "blocks must have round 11"),
    "the fastest samples of each block": (
        kept(lambda each: [(at, sorted(own)[: (len(own) + 1) // 2]) for at, own in each], SMALL),
        "blocks must have 8 samples each but for 4 at most",
    ),
    # what was right
    "error above its bound": (error(value=1.0, bound=0.5), "error.value"),
    "bound −1": (error(bound=-1.0), "error.bound must be at least 0"),
    "bound −1 and error −2": (error(value=-2.0, bound=-1.0), "must be at least 0"),
    "no error": (of_case(error=None), "error must be there"),
    "no value": (error(value=None), "error.value must be finite"),
    "another error where it is hot": (
        error(HOT, value=1e-9),
        f"error.value must be that of {TILE}",
    ),
    "another bound where it is hot": (
        lambda files: error(HOT, bound=case(files)["error"]["bound"] * 0.99)(files),
        f"error.bound must be that of {TILE}",
    ),
    "another metric than its experiment's": (
        all_of(*(error(each, metric="bits") for each in (TILE, HOT, WHOLE))),
        "error.metric must be that of matmul/",
    ),
    "outcome banana": (of_case(status="banana"), "status must be one of"),
    "passed with a reason": (of_case(reason="all is well"), "no reason, as it passed"),
    "failed with a time": (of_case(status="failed", reason="x"), "seconds must be null"),
    "passed without a time": (of_case(seconds=None), "seconds must be there"),
    "unsupported without a reason": (of_case(UNFIT, reason=None), "reason must say why"),
    "unsupported with an error": (
        of_case(UNFIT, error={"value": 0.0, "bound": 1.0, "metric": "x"}),
        "error must be null",
    ),
    "not run, with a clock": (of_case(NOT_RUN, clock_hz=1.9e9), "clock_hz must be null"),
    "not run, with power": (
        lambda files: of_case(NOT_RUN, power=case(files, HOT)["power"])(files),
        "power must be null",
    ),
    "unsupported, passed after all": (of_case(UNFIT, status="passed", reason=None), "seconds must"),
    "incorrect within its bound": (
        all_of(
            of_case(status="incorrect", reason="error 3 exceeds bound 1", seconds=None),
            of_case(clock_hz=None, error={"value": 3.0, "bound": -1.0, "metric": "x"}),
            lambda files: files[SAMPLES].pop(TILE),
        ),
        "error.bound must be at least 0",
    ),
    # work that does not follow from the shape
    "flops −1": (of_case(flops=-1.0), "flops must be at least 0"),
    "flops of matmul doubled": (of_case(flops=4.0 * 4096**3), "flops must be"),
    "flops of matmul 0": (of_case(flops=0), "flops must be"),
    "bytes of matmul halved": (of_case(bytes=2.0 * 3 * 4096**2), "bytes must be"),
    "bytes of matvec doubled": (of_case(MATVEC, bytes=8.0 * 8192**2), "bytes must be"),
    "flops of matvec": (of_case(MATVEC, flops=8192.0**2), "flops must be"),
    "flops of a transposition": (of_case(TURN, flops=1e9), "flops must be"),
    "bytes of a transposition": (of_case(TURN, bytes=4.0 * 8192**2), "bytes must be"),
    "bytes 1e299": (of_case(TURN, bytes=1e299), "bytes must be"),
    "work of an audit row": (of_case(AUDIT, bytes=1.0), "bytes must be"),
    "a copy of fewer bytes": (of_case(COPY, bytes=4.0 * 8192**2), "bytes must be"),
    "a roof of more bytes": (of_case(ROOF, bytes=1.05 * 2**30), "bytes must be 1073741824 by"),
    "operations of the multiply-adds": (of_case(FFMA, flops=1.6e10), "flops must be"),
    "bytes of a level": (of_case(LEVEL, bytes=1.5e9), "bytes must be 1090519040 by its shape"),
    "steps of a latency": (
        row("latency_dram", "memory", parameters={"steps": 16384}),
        "bytes must be 65536 by its shape",
    ),
    "passes of a bandwidth": (
        row("bandwidth_shared", "memory", parameters={"passes": 2000006}),
        "bytes must be",
    ),
    "other work in the second regime": (
        all_of(row("naive", "matvec", problem="r = A"), of_case(MATVEC, bytes=1e9)),
        f"bytes must be that of {MATVEC}: 1000000000.0, not 2685",
    ),
    "axes of another experiment": (
        at("experiments", 0, "axes")(["n", "m", "k"]),
        "axes must be m, n, k, as of matmul",
    ),
    # power
    "power of a cold case": (
        lambda files: of_case(power=case(files, HOT)["power"])(files),
        "power must be null: that of hot launches",
    ),
    "power of a CPU row": (
        lambda files: of_case(CPU, power=case(files, HOT)["power"])(files),
        "power must be null: that of hot launches",
    ),
    "energy of a launch faster than its median": (
        lambda files: power(
            joules=0.89 * case(files, HOT)["power"]["watts"] * case(files, HOT)["seconds"]["median"]
        )(files),
        "power.joules must be about",
    ),
    "watts −5": (power(watts=-5.0), "power.watts must be above 0"),
    "10⁶ W": (power(watts=1e6), "power.watts"),
    "joules of another launch": (power(joules=1e6), "power.joules"),
    "ten times less energy": (
        lambda files: power(joules=case(files, HOT)["power"]["joules"] / 10)(files),
        "power.joules",
    ),
    "joules 1e-12": (power(joules=1e-12), "power.joules"),
    "−300 °C": (power(temperature_c=-300.0), "power.temperature_c must be"),
    "5000 °C": (power(temperature_c=5000.0), "power.temperature_c must be"),
    "−1 °C": (power(temperature_c=-1.0), "power.temperature_c must be at least 0"),
    "130 °C": (power(temperature_c=130.0), "power.temperature_c must be"),
    "a window of a year": (power(seconds=3e7), "power.seconds must be"),
    "a window of a minute": (power(seconds=60.0), "power.seconds must be from 0.15 to 1.5"),
    "a window of a moment": (power(seconds=0.01), "power.seconds must be from 0.15 to 1.5"),
    "40 % more than its limit": (drawn(980.0), "power.watts must be from 35 to 875, by its limit"),
    "next to no power": (drawn(1.0), "power.watts must be from 35 to 875, by its limit of 700"),
    # the machine
    "ceilings of 1e25": (
        all_of(*(at("ceilings", each, "value")(1e25) for each in ("fp32_flops",))),
        "ceilings.fp32_flops.value",
    ),
    "bandwidth of 1e25": (
        at("ceilings", "dram_bytes_per_second", "value")(1e25),
        "ceilings.dram_bytes_per_second.value",
    ),
    "ceilings 10 % higher": (ceilings(1.1), "ceilings.fp32_flops.value"),
    "ceilings −1": (ceilings(-1), "value must be above 0"),
    "no ceilings": (at("ceilings")({}), "ceilings must"),
    "one ceiling": (lambda files: files[RECORD]["ceilings"].popitem(), "ceilings must"),
    "a device of 9 GHz, and the ceiling that follows": (
        all_of(
            env("gpu", "clock_hz")(9e9),
            at("ceilings", "fp32_flops", "value")(2.0 * 128 * 132 * 9e9),
        ),
        "clocks must be at least",
    ),
    "clock of the device 0": (env("gpu", "clock_hz")(0), "gpu.clock_hz must be"),
    "clock of the device −1": (env("gpu", "clock_hz")(-1.98e9), "gpu.clock_hz must be"),
    "10⁵ multiprocessors": (env("gpu", "sm_count")(10**5), "gpu.sm_count must be"),
    "one multiprocessor more": (env("gpu", "sm_count")(133), "ceilings.fp32_flops.value"),
    "L2 of −1": (env("gpu", "l2_bytes")(-1), "gpu.l2_bytes must be at least 0"),
    "L2 of 10¹⁸": (env("gpu", "l2_bytes")(10**18), "gpu.l2_bytes must be"),
    "L2 as large as the memory": (
        lambda files: env("gpu", "l2_bytes")(2**35)(files),
        "gpu.l2_bytes must be",
    ),
    "memory of 10¹⁸": (env("gpu", "memory_bytes")(10**18), "gpu.memory_bytes must be"),
    "power limit 10⁹ W": (env("gpu", "power_limit_watts")(1e9), "power_limit_watts must be"),
    "compute capability 0.0": (env("gpu", "compute_capability")("0.0"), "compute_capability must"),
    "no thread, so no limit of the CPU's": (env("cpu_threads")(0), "cpu_threads must be"),
    "10⁹ threads": (env("cpu_threads")(10**9), "cpu_threads must be"),
    "no GPU, but its times": (without_gpu, "is null"),
    "a GPU, and why there is none": (env("gpu_reason")("no CUDA device"), "gpu_reason must be"),
    "−3 other processes": (env("state", "other_processes")(-3), "other_processes must be"),
    "−3 other CPUs": (env("state", "other_cpus")(-3), "other_cpus must be"),
    "events of a second": (env("state", "event_nanoseconds")(10**9), "event_nanoseconds must be"),
    "seed −1": (env("seed")(-1), "seed must be at least 0"),
    "clean, with a diff": (env("git", "diff")("0" * 16), "git.diff must be"),
    # the run
    "started on no date": (env("started")("2026-02-30T10:00:00Z"), "started must be"),
    "started in month 13": (env("started")("2026-13-01T10:00:00Z"), "started must be"),
    "started at 25 o'clock": (env("started")("2026-11-01T25:00:00Z"), "started must be"),
    "started in the year 0001": (env("started")("0001-01-01T00:00:00Z"), "started must be"),
    "finished on no date": (at("finished")("2026-11-31T00:00:00Z"), "finished must be"),
    "finished before it started": (at("finished")("2025-01-01T00:00:00Z"), "finished must"),
    "wall time −1": (at("wall_seconds")(-1), "wall_seconds must be at least 0"),
    "wall time 10¹²": (at("wall_seconds")(1e12), "wall_seconds must be"),
    "wall time of a second": (at("wall_seconds")(1.0), "wall_seconds"),
    "overhead −1": (at("overhead", "saving")(-1), "overhead.saving must be at least 0"),
    "overhead more than the run": (at("overhead", "other")(1e6), "overhead"),
    "spent −1": (of_case(spent=-1), "spent must be at least 0"),
    "budget 0": (env("budget_seconds")(0), "budget_seconds must be above 0"),
    "budget of a century": (env("budget_seconds")(3e9), "budget_seconds must be"),
    "confidence 1e-9": (at("method", "confidence")(1e-9), "seconds."),
    "confidence 0.5": (at("method", "confidence")(0.5), "seconds."),
    "fewest samples 500": (at("method", "fewest_samples")(500), "at least 500 samples"),
    # rows and shapes
    "case twice": (repeated, "appears twice"),
    "row twice": (twice("strategies"), "is there already"),
    "experiment twice": (twice("experiments"), "two of the same name"),
    "axis twice": (at("experiments", 0, "axes", 1)("m"), "axes"),
    "headline of two axes": (at("experiments", 0, "headline")("4096x4096"), "headline"),
    "empty headline": (at("experiments", 0, "headline")(""), "headline must be of the form"),
    "row of no experiment": (row("tile16", experiment="matvoc"), "strategies"),
    "part of itself": (row("constant_copy", "matvec", part_of="constant_copy"), "part_of"),
    "part of nothing known": (row("constant_copy", "matvec", part_of="nothing"), "part_of"),
    "audit row slower by −1 %": (
        row("slower1_1", "audit", parameters={"extra_permille": -10}),
        "extra_permille",
    ),
    "audit row slower by 500 %": (
        row("slower1_1", "audit", parameters={"extra_permille": 5000}),
        "extra_permille",
    ),
    "audit row of the same work, by name alone": (
        row("slower5_1", "audit", parameters={"extra_permille": 0}),
        "extra_permille",
    ),
    "audit row of no work": (row("slower5_1", "audit", parameters={}), "extra_permille"),
    "audit row in the ladder": (row("tile16", role="audit"), "role"),
    "rung in the audit": (row("same_1", "audit", role="rung"), "role"),
    "parameter −16": (row("tile16", parameters={"tile": -16}), "parameters.tile must be"),
    # the JSON itself
    "status twice": (
        text(RECORD, '"status": "passed"', '"status": "failed", "status": "passed"'),
        "status twice",
    ),
    "member of the record": (at("sponsor")("x"), "sponsor is not known"),
    "member of a case": (of_case(verified=True), "verified is not known"),
    "member of the GPU": (env("gpu", "tuned")(True), "gpu.tuned is not known"),
    "member of a line of samples": (raw(weights=[1]), "weights is not known"),
    "schema 4 with a method": (at("schema")(4), "method"),
    # probes
    "−3 hazards": (trial("racecheck:", count=-3), "count must be at least 0"),
    "hazards, but none": (trial("racecheck:", outcome="hazards", count=0), "count must be"),
    "clean, with hazards": (trial("racecheck:", outcome="clean", count=3), "count must be"),
    "hazards of a gate": (trial("gate:", outcome="hazards", count=1), "outcome must be"),
    "pass of a snippet": (trial("compile:", outcome="pass"), "outcome must be"),
    "test outcome banana": (trial("gate:", outcome="banana"), "outcome must be"),
    "outcome, and why there is none": (trial("gate:", reason="no GPU"), "reason must"),
    "neither outcome nor reason": (trial("gate:", outcome=None), "reason must"),
    "counter −1": (probe(ffma=-1.0), "ffma must be at least 0"),
    "counter 1e299": (probe(ffma=1e299), "ffma must be"),
    "150 % busy": (probe(tensor_percent=150.0), "tensor_percent must be"),
    "more read than moved": (probe(dram_read_bytes=1e15, dram_bytes=1.0), "dram_bytes must be"),
    "clock of 10¹⁵ under ncu": (probe(sm_hertz=1e15), "sm_hertz must be"),
    "0 launches": (probe(launches=0.0), "launches must be"),
    "counters, and why there are none": (
        lambda files: next(iter(files[PROBES]["counters"].values())).update(reason="no ncu"),
        "reason must",
    ),
    "no counters, and no reason": (
        lambda files: next(iter(files[PROBES]["counters"].values())).update(values={}),
        "reason must",
    ),
    "counters of no case": (
        lambda files: files[PROBES]["counters"].update({"x": {"reason": "x", "values": {}}}),
        "must be of the form",
    ),
    "warps of −32": (at("attributes", "warp_size", file=PROBES)(-32), "warp_size must be"),
    "warps of 64": (at("attributes", "warp_size", file=PROBES)(64), "warp_size must be 32"),
    "other constant memory": (
        at("attributes", "total_constant_memory", file=PROBES)(131072),
        "total_constant_memory must be 65536",
    ),
    "counters twice, but for what nobody sees": (
        lambda files: files[PROBES]["counters"].update(
            {f"{name}\u200b": each for name, each in [*files[PROBES]["counters"].items()][:1]}
        ),
        "is there twice",
    ),
    "warps of 10¹²": (at("attributes", "threads_per_sm", file=PROBES)(1e12), "threads_per_sm"),
    "member of the probes": (at("sponsor", file=PROBES)("x"), "sponsor is not known"),
    # accuracy
    "error −1 of the study": (study(frobenius=-1.0), "frobenius must be at least 0"),
    "three errors": (study(median=None), "must have four errors"),
    "passed with errors of 10⁹": (study(frobenius=1e9, componentwise=1e9), "must be"),
    "median beyond the largest": (study(absolute=0.0), "absolute must be"),
    "a median of errors that there are not": (
        study(frobenius=0.0, componentwise=0.0, absolute=0.0),
        "median must be 0",
    ),
    "passed with a reason of the study": (study(reason="x"), "must say why it did not pass"),
    "not run, with errors": (study(status="not_run", reason="x"), "must have no errors"),
    "result twice": (twice("results", file=ACCURACY), "is another"),
    "row of the study twice": (twice("rows", file=ACCURACY), "rows"),
    "distribution twice": (twice("distributions", file=ACCURACY), "distributions"),
    "result of no row": (study(strategy="none"), "rows has no none"),
    "sums of 10¹⁵": (study(k=10**15), "k must be"),
    "study without a GPU, on one": (
        at("environment", "gpu_reason", file=ACCURACY)("no CUDA device"),
        "gpu_reason",
    ),
    "m of 10¹⁵": (at("m", file=ACCURACY)(10**15), "field m must be"),
    "a result's status twice": (
        text(ACCURACY, '"status": "passed"', '"status": "failed", "status": "passed"'),
        "status twice",
    ),
    # verdicts
    "verdict banana": (claim("holds", verdict="banana"), "verdict must be one of"),
    "interval the wrong way round": (
        claim("holds", measured={"value": 2.0, "low": 3.0, "high": 1.0, "unit": "×"}),
        "measured",
    ),
    "value outside its interval": (
        claim("holds", measured={"value": 9.0, "low": 1.0, "high": 2.0, "unit": "×"}),
        "measured",
    ),
    "holds, and why it is not measured": (claim("holds", reason="no GPU"), "reason must"),
    "not measured for no reason": (claim("not_measured", reason=None), "reason must"),
    "not measured, with a value": (
        claim("not_measured", measured={"value": 2.0, "low": 1.0, "high": 3.0, "unit": "×"}),
        "measured must be null",
    ),
    "claim twice": (twice("claims", file=VERDICTS), "two of the same id"),
    "verdicts on no date": (at("record", "started", file=VERDICTS)("yesterday"), "started must be"),
    "verdicts on a record of schema 99": (at("record", "schema", file=VERDICTS)(99), "schema must"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_lie_is_refused(name: str, honest: Callable[[], Files], tmp_path: Path) -> None:
    edit, message = REFUSED[name]
    files = honest()
    edit(files)
    line = refusal(write(files, tmp_path / "lie"))
    assert line and message in line, line
    assert line.startswith(f"{tmp_path}/lie/") and "\n" not in line and "field " in line


def refusal(folder: Path) -> str:
    """The line with which a report's files are refused; empty where they are not."""
    from recheck_report.model.accuracy import load_accuracy
    from recheck_report.model.probes import load_probes
    from recheck_report.model.record import load
    from recheck_report.model.typed import BadRecord
    from recheck_report.model.verdicts import load_verdicts

    try:
        load(folder)
        load_probes(folder)
        load_accuracy(folder)
        load_verdicts(folder / VERDICTS)
    except BadRecord as refused:
        return str(refused)
    return ""


# what the files alone do not refute: the report has to say it; as a pattern
SAID: dict[str, tuple[Edit, str]] = {
    "cold, 1000 times faster": (faster(1000, TILE), r"`matmul/tile16/4096x4096x4096/cold` \| "),
    "hot, 10⁵ times faster": (faster(1e5, HOT), r"`matmul/tile16/4096x4096x4096/hot` \| "),
    "hot, and faster than DRAM with what no L2 holds": (
        faster(3, LARGE),
        r"`audit/same_1/16384x16384/hot` \| ",
    ),
    "copies and all faster than without": (
        faster(10, WHOLE),
        r"`matmul/tile16/4096x4096x4096/end_to_end` \| .* is less than nine tenths of its launch",
    ),
    "faster than an empty launch": (
        faster(50, SMALL),
        r"`matmul/tile16/80x48x64/hot` \| .* is less than half an empty launch",
    ),
    "fp32 beyond its units at the clock that it held": (
        all_of(moved_clocks(0.7, CUBLAS), faster(1.2, CUBLAS)),
        rf"`{CUBLAS}` \| .* TFLOP/s is more than any such machine does at 1\.\d+ GHz, ",
    ),
    "shared memory beyond its banks": (
        faster(1.2, "memory/bandwidth_shared/4096/hot"),
        r"`memory/bandwidth_shared/4096/hot` \| .* GB/s is more than any such machine does at ",
    ),
    "writes beyond its banks": (
        faster(1.3, "memory/write_shared/4096/hot"),
        r"`memory/write_shared/4096/hot` \| .* GB/s is more than any such machine does at ",
    ),
    "an L1 cache beyond its lines": (
        faster(1.2, "memory/bandwidth_l1/4096/hot"),
        r"`memory/bandwidth_l1/4096/hot` \| .* GB/s is more than any such machine does at ",
    ),
    "an L2 cache as fast as L1": (
        faster(5, "memory/bandwidth_l2/4194304/hot"),
        r"`memory/bandwidth_l2/4194304/hot` \| .* GB/s is more than any such machine does at ",
    ),
    "an L2 cache as fast as L1, as a roof": (
        faster(5, "machine/l2_read/4194304/hot"),
        r"`machine/l2_read/4194304/hot` \| .* GB/s is more than any such machine does at ",
    ),
    "shared memory that answers at once": (
        faster(4, "memory/latency_shared/4096/hot"),
        r"`memory/latency_shared/4096/hot` \| .* is less than 10 clocks for each load, ",
    ),
    "DRAM that answers at once": (
        faster(5, "memory/latency_dram/268435456/cold"),
        r"`memory/latency_dram/268435456/cold` \| .* is less than 200 clocks for each load",
    ),
    "CPU, 10⁶ times faster": (faster(1e6, CPU), r"`matmul/cpu_blas/4096x4096x4096/hot` \| "),
    "a transposition faster than memory": (
        faster(50, TURN),
        r"`transpose/naive/8192x8192/cold` \| ",
    ),
    "TF32 beyond any tensor core": (
        faster(1000, "matmul/cublas_tf32/4096x4096x4096/cold"),
        r"`matmul/cublas_tf32/4096x4096x4096/cold` \| ",
    ),
    "an accuracy study in which all failed": (
        failed_study,
        r"compared with cuBLAS's: `cublas`: incorrect: error 2",
    ),
    "gates in which all failed": (
        failed_tests,
        r"0 of the 15 kernels that are wrong on purpose and that claims ask for were caught",
    ),
    "probes of another GPU": (
        at("environment", "gpu", file=PROBES)("NVIDIA B200"),
        "probes.json has GPU NVIDIA B200, the record NVIDIA H200",
    ),
    "a study of another commit": (
        at("environment", "commit", file=ACCURACY)("0" * 40),
        "the study of accuracy has commit 0000000",
    ),
    "a debug build": (env("build_type")("Debug"), r"\*\*Debug build\*\*"),
    "never finished": (at("finished")(None), r"\*\*Unfinished record\*\*"),
}


@pytest.mark.parametrize("name", SAID)
def test_a_lie_that_is_no_contradiction_is_said(
    name: str, honest: Callable[[], Files], tmp_path: Path
) -> None:
    edit, pattern = SAID[name]
    files = honest()
    edit(files)
    assert refusal(folder := write(files, tmp_path / "lie")) == ""
    done = run("render", folder, "--output", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    assert re.search(pattern, text_of(tree(tmp_path / "report")))


def test_rounds_of_the_method_are_no_lie(honest: Callable[[], Files], tmp_path: Path) -> None:
    """Nor one beyond them, where too few of the samples before it could be kept."""
    files = honest()
    in_rounds(1000)(files)
    assert refusal(write(files, tmp_path / "within")) == ""
    few = files[SAMPLES][TILE]
    few.update(samples=few["samples"][:6], blocks=[[18, 3], [999, 2], [1003, 1]])
    few["clocks"] = [case(files)["clock_hz"]] * 3
    case(files)["seconds"] |= time_of(few["samples"]) | {"samples": 6}
    line = refusal(write(files, tmp_path / "kept"))
    assert "blocks must be of rounds below 1000" in line
    case(files)["seconds"]["discarded"] = 30
    assert refusal(write(files, tmp_path / "discarded")) == ""


def test_the_truth_is_neither_refused_nor_branded(
    honest: Callable[[], Files], tmp_path: Path
) -> None:
    assert refusal(folder := write(honest(), tmp_path / "truth")) == ""
    done = run("render", folder, "--output", tmp_path / "report")
    assert done.returncode == 0, done.stderr
    text = text_of(tree(tmp_path / "report"))
    for name, (_, pattern) in SAID.items():
        assert not re.search(pattern, text), name
