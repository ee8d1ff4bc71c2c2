"""A small deterministic maker of records, shaped like the real ones but measured by nobody.

Each strategy has a peak rate and a launch cost; a time is work / rate + cost. Tests bend single
numbers of it to see whether the report follows. `make_record` holds matmul alone, as most tests
need no more; `make_full` holds all six experiments as the full run does. Samples come in rounds:
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
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ParamSpec

P = ParamSpec("P")
Json = dict[str, Any]  # an object of a JSON file


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


SHAPES = [
    (80, 48, 64),
    (128,) * 3,
    (256,) * 3,
    (512,) * 3,
    (1000,) * 3,
    (1023,) * 3,
    (1024,) * 3,
    (1025,) * 3,
    (2048,) * 3,
    (4096, 512, 2048),
    (512, 4096, 2048),
    (4096,) * 3,
    (8192,) * 3,
]
SMALL = [(80, 48, 64), (1024,) * 3, (2048,) * 3, (4096,) * 3]

# name -> (peak flop/s, seconds of overhead, document, place, algorithm)
GPU = {
    "global16": (5.1e12, 3.0e-6, "S0", "previous article", "A02"),
    "global32": (6.0e12, 3.2e-6, "S0", "other block policies", "A02"),
    "tile8": (4.2e12, 3.5e-6, "S0", "other block policies", "A07"),
    "tile16": (7.0e12, 3.4e-6, "S0", "section 3", "A07"),
    "tile32": (8.1e12, 4.5e-6, "S0", "other block policies", "A07"),
    "submatrix16": (6.9e12, 3.4e-6, "S2", "listing 2", "A06"),
    "tile8_depth2": (4.6e12, 3.4e-6, "S0", "other block policies", "A08"),
    "tile8_depth4": (5.0e12, 3.6e-6, "S0", "other block policies", "A08"),
    "tile8_depth8": (4.9e12, 3.9e-6, "S0", "other block policies", "A08"),
    "tile16_depth2": (7.6e12, 3.4e-6, "S0", "other block policies", "A08"),
    "tile16_depth4": (7.4e12, 3.8e-6, "S0", "section 4", "A08"),
    "tile16_depth8": (6.6e12, 4.4e-6, "S0", "other block policies", "A08"),
    "tile32_depth2": (9.0e12, 5.0e-6, "S0", "other block policies", "A08"),
    "tile32_depth4": (8.9e12, 5.9e-6, "S0", "other block policies", "A08"),
    "tile32_depth8": (8.2e12, 8.0e-6, "S0", "other block policies", "A08"),
    "full_strip16": (3.3e12, 9.0e-6, "S2", "comment in MatMulKernel", "A09"),
    "s1_kernel_0": (4.7e12, 3.0e-6, "S1", "matrix_kernel_0", "A03"),
    "s1_kernel_1": (7.4e12, 3.4e-6, "S1", "matrix_kernel_1", "A04"),
    "s2_global": (4.7e12, 3.0e-6, "S2", "listing 1", "A05"),
    "s2_shared": (7.4e12, 3.4e-6, "S2", "listing 2", "A06"),
    "s2_full_strips": (3.5e12, 9.0e-6, "S2", "comment in MatMulKernel", "A09"),
    "s0_tiles": (7.4e12, 3.4e-6, "S0", "section 2", "A07"),
    "s0_tiles_depth4": (7.6e12, 3.8e-6, "S0", "section 4", "A08"),
    "cublas": (5.15e13, 6.0e-6, "vendor", "cuBLAS, pedantic fp32", ""),
    "cublas_tf32": (3.95e14, 6.0e-6, "vendor", "cuBLAS, TF32 tensor cores", ""),
}
CPU = {
    "cpu_serial": (1.05e9, 0.0, "S1", "MatrixMulCPU", "A01"),
    "cpu_blas": (6.1e11, 4e-6, "vendor", "OpenBLAS", ""),
}
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NO_DEVICE = "no CUDA device"
MATMUL = {
    "name": "matmul",
    "title": "Matrix multiplication",
    "problem": "C = A · B",
    "axes": ["m", "n", "k"],
    "headline": "4096x4096x4096",
}


def _parameters(name: str) -> dict[str, int]:
    if not name.startswith("tile"):
        return {}
    tile, _, depth = name.removeprefix("tile").partition("_depth")
    return {"tile": int(tile), "depth": int(depth or 1)}


def _seconds(name: str, mnk: tuple[int, ...], regime: str) -> float:
    m, n, k = mnk
    rate, overhead, *_ = {**GPU, **CPU}[name]
    seconds = 2.0 * m * n * k / rate + overhead
    if name.startswith("tile") or name in ("global16", "global32"):
        # few blocks cannot fill the machine
        seconds += 2.5e-9 * k
    if name in GPU and regime == "hot":
        seconds *= 0.97
    if regime == "end_to_end":
        seconds += 1.6e-4 + 4.0 * (m * k + k * n + m * n) / 5.2e9
    return seconds


def _case(name: str, mnk: tuple[int, ...], regime: str, gpu: bool) -> dict[str, Any]:
    _, _, document, place, algorithm = {**GPU, **CPU}[name]
    m, n, k = mnk
    refused = None
    median = _seconds(name, mnk, regime)
    if name in ("full_strip16", "s2_full_strips") and k > 1816:
        reason = f"needs {128 * k} B of shared memory per block, the device allows 232448 B"
        refused = "unsupported", reason
    elif name == "cpu_serial" and median > 4:
        reason = f"predicted {median:.0f} s a launch: proof and 6 samples would take more than 20 s"
        reason += ", 20 times --per-case"
        refused = "not_run", reason
    tf32 = name.endswith("tf32")
    row = _row("matmul", name, {"m": m, "n": n, "k": k}, regime)
    flops = 2 * m * n * k
    power = regime == "hot" and (m, n, k) == (4096,) * 3
    metric = "max |error| / (|A||B|)"
    return {
        **_measured(row["id"], median, name in GPU, gpu, refused, metric, power),
        **row,
        "role": "baseline" if document == "vendor" else "rung",
        "arithmetic": "tf32" if tf32 else "fp32",
        "note": "not fp32-accurate: inputs rounded to 10 mantissa bits" if tf32 else "",
        "parameters": _parameters(name),
        "source": {"document": document, "place": place, "algorithm": algorithm},
        "flops": flops,
        "bytes": 4 * (m * k + k * n + m * n),
    }


def _row(experiment: str, strategy: str, shape: dict[str, int], regime: str) -> dict[str, Any]:
    """The parts of an id, and what most rows have in common."""
    extents = "x".join(map(str, shape.values()))
    return {
        "id": f"{experiment}/{strategy}/{extents}/{regime}",
        "experiment": experiment,
        "strategy": strategy,
        "shape": shape,
        "regime": regime,
        "role": "rung",
        "arithmetic": "fp32",
        "layout": "row_major",
        "note": "",
        "problem": "",
        "part_of": "",
        "sweep": False,
    }


ROUNDS, PER_ROUND = 10, 2
LOWER = 6  # of 20 samples in their order, this and the same from above are the interval's ends


def _noise(name: str, count: int) -> list[float]:
    """Evenly spread over -1 .. 1, the same for the same name: a small generator of its own."""
    state, found = zlib.crc32(name.encode()), []
    for _ in range(count):
        state = (1664525 * state + 1013904223) % 2**32
        found.append(state / 2**31 - 1)
    return found


def _samples(name: str, median: float) -> dict[str, Any]:
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


def _measured(
    name: str, median: float, on_gpu: bool, gpu: bool, refused: tuple[str, str] | None,
    metric: str, power: bool = False,
) -> dict[str, Any]:  # fmt: skip
    """The result of a case: a time around `median`, or why there is none."""
    if on_gpu and not gpu:
        refused = "not_run", NO_DEVICE
    status, reason = refused or ("passed", None)
    found = {"samples": [], "blocks": []} if refused else _samples(name, median)
    seconds = {} if refused else time_of(found["samples"])
    seconds |= {"samples": len(found["samples"]), "discarded": 0}
    throttle = ["sw_power_cap"] if name.startswith("matmul/cublas/") else []
    window = {"watts": 520.5, "joules": 520.5 * median, "seconds": 0.25, "temperature_c": 48.0}
    clock = 1.93e9 if on_gpu and not refused else None
    return {
        "target": "gpu" if on_gpu else "cpu",
        "status": status,
        "reason": reason,
        "error": None if refused else _error(name, metric),
        "seconds": None if refused else seconds,
        "clock_hz": clock,
        "batch": 1,
        "power": window | {"throttle": throttle} if power and clock else None,
        **found,
        "clocks": [clock] * len(found["blocks"]),
    }


@once
def make_record(
    shapes: Sequence[tuple[int, ...]] = SHAPES,
    gpu: bool = True,
    strategies: list[str] | None = None,
) -> dict[str, Any]:
    """A clean finished Release record; with gpu=False what a machine without a GPU writes."""
    names = [name for name in [*CPU, *GPU] if strategies is None or name in strategies]
    cases = [
        _case(name, mnk, regime, gpu)
        for mnk in shapes
        for regime in ("cold", "hot", "end_to_end")
        for name in names
        if name in GPU or regime == "hot"
    ]
    for case in cases:
        if case["strategy"] == "tile8" and case["seconds"]:
            case["seconds"]["discarded"] = 1
    return _record([MATMUL], cases, gpu)


def _record(
    experiments: list[dict[str, Any]], cases: list[dict[str, Any]], gpu: bool
) -> dict[str, Any]:
    device = {
        "name": "NVIDIA H200",
        "compute_capability": "9.0",
        "sm_count": 132,
        "l2_bytes": 62914560,
        "memory_bytes": 150754820096,
        "shared_bytes_per_block": 232448,
        "clock_hz": 1.98e9,
        "memory_clock_hz": 3.201e9,
        "memory_bus_bits": 6144,
        "uuid_hash": "89abcdef01234567",
        "ecc": True,
        "mig": False,
        "power_limit_watts": 700.0,
    }
    ceilings = {
        "fp32_flops": {
            "value": 6.69e13,
            "source": "132 SMs x 128 FMA/clock x 2 x 1.980 GHz (device attributes)",
        },
        "dram_bytes_per_second": {
            "value": 4.917e12,
            "source": "6144 bit x 2 x 3.201 GHz (device attributes)",
        },
    }
    record = {
        "schema": 3,
        "environment": {
            "gpu": device if gpu else None,
            "gpu_reason": None if gpu else NO_DEVICE,
            "driver": "580.159.04" if gpu else None,
            "cuda_driver": "13.0" if gpu else None,
            "cuda_runtime": "13.0",
            "nvcc": "13.0.88",
            "host_compiler": "GNU 13.3.0",
            "flags": "-O3 -DNDEBUG",
            "arch": "native" if gpu else "75-real;80-real;90a-real;90-virtual",
            "build_type": "Release",
            "device_debug": False,
            "blas": "/usr/lib/x86_64-linux-gnu/libopenblas.so",
            "cpu": "Intel(R) Xeon(R) Processor",
            "cpu_threads": 16,
            "os": "Ubuntu 24.04.3 LTS, Linux 6.18",
            "git": {"commit": COMMIT, "dirty": False, "diff": None},
            "seed": 13,
            "budget_seconds": 1.0,
            "started": "2026-11-21T03:00:00Z",
            "command": "recheck --output=report",
            "command_budget_seconds": None,
            "mps": None,
            "code": "sass" if gpu else None,
            "cubins": {"matmul/tile.cu": "0011223344556677", "matvec/rows.cu": "8899aabbccddeeff"},
            "state": {"event_nanoseconds": 1280, "other_processes": 0} if gpu else {},
            "unknown": {"mps": "no permission to ask"},
        },
        "finished": "2026-11-21T03:03:10Z",
        "wall_seconds": 190.2,
        "overhead": {
            "verified_kernels": 60.1,
            "flushes_and_holds": 75.4,
            "references": 30.3,
            "inputs_and_copies": 12.2,
            "saving": 4.1,
            "other": 8.1,
        },
        "plan": {"preset": "full", "dropped": []},
        "ceilings": ceilings if gpu else {},
        "experiments": experiments,
        "cases": cases,
    }
    return lasting(record)


# matvec and transpose: what their rows say of themselves, and a model of their times
BLOCKS, UNROLLS = (32, 64, 128, 256, 512, 1024), (1, 4, 8, 16)
MATVEC = {
    "name": "matvec",
    "title": "Matrix–vector multiplication",
    "problem": "r = A · v",
    "axes": ["rows", "columns"],
    "headline": "8192x8192",
}
MATVEC_SHAPES = [
    (1, 65536), (65536, 1), (2048, 2048), (4096, 8192), (8192, 4096), (8191, 8193), (64, 1048576),
    (1024, 65536), (2048, 32768), (8192, 8192), (32768, 2048), (131072, 512), (1048576, 64),
    (16384, 16384),
]  # fmt: skip
MATVEC_SMALL = [(2048, 2048), (2048, 32768), (8192, 8192), (131072, 512)]
TRANSPOSE = {
    "name": "transpose",
    "title": "Matrix transposition",
    "problem": "B = Aᵀ",
    "axes": ["rows", "columns"],
    "headline": "8192x8192",
}
TRANSPOSE_SHAPES = [
    (1, 1048576), (1048576, 1), (1024, 1024), (2048, 2048), (4095, 4097), (4096, 4096),
    (1000, 50000), (8192, 8192), (8224, 8224), (16384, 16384),
]  # fmt: skip
TRANSPOSE_SMALL = [(2048, 2048), (8192, 8192), (8224, 8224)]

# name -> (bytes/s at best, threads a row, default parameters, algorithm, layout)
_KERNELS: dict[str, tuple[float, float, dict[str, int], str, str]] = {
    "naive": (1.2e12, 1, {"block": 256, "unroll": 4}, "A13", "pitched"),
    "transposed": (3.6e12, 1, {"block": 256, "unroll": 4}, "A14", "column_major"),
    "constant": (3.7e12, 1, {"block": 256, "unroll": 4}, "A15", "column_major"),
    "shared": (4.0e12, 1, {"block": 256, "unroll": 8, "chunk": 1024}, "A16", "column_major"),
    "block_per_row": (4.2e12, 256, {"block": 256}, "A18", "pitched"),
    "warp_per_row": (4.1e12, 32, {"block": 256}, "A19", "pitched"),
}


def _matvec_rows() -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}

    def cpu(name: str, rate: float, algorithm: str, **more: Any) -> None:
        source = {"document": "S3", "place": "CPU program", "algorithm": algorithm}
        rows[name] = {"rate": rate, "source": source, "layout": "pitched", "parameters": {}, **more}

    def gpu(name: str, kernel: str, **more: Any) -> None:
        rate, threads, parameters, algorithm, layout = _KERNELS[kernel]
        source = {"document": "S3", "place": f"kernel {kernel}", "algorithm": algorithm}
        row = {"rate": rate, "threads": threads, "source": source, "layout": layout}
        rows[name] = {**row, "parameters": dict(parameters), "gpu": True, **more}

    def sweep(kernel: str, key: str, values: tuple[int, ...]) -> None:
        default = rows[f"s3_{kernel}"]["parameters"]
        for at in values:
            if at != default.get(key):
                gpu(f"s3_{kernel}_{key}{at}", kernel, parameters={**default, key: at}, sweep=True)

    vendor: Json = {"source": {"document": "vendor", "place": "cuBLAS", "algorithm": ""}}
    vendor |= {"role": "baseline", "parameters": {}}
    cpu("cpu_serial", 4.4e9, "A10")
    cpu("cpu_serial_o0", 1.1e9, "A10")
    cpu("cpu_sse", 1.3e10, "A11")
    cpu("cpu_sse_openmp2", 2.0e10, "A12", parameters={"threads": 2})
    cpu("cpu_sse_openmp", 4.1e10, "A12")
    cpu("cpu_blas", 4.0e10, "", **vendor)
    for kernel in _KERNELS:
        gpu(kernel, kernel)
        if kernel == "constant":
            part = {"problem": "the copies into constant memory alone", "part_of": "constant"}
            gpu("constant_copy", kernel, **part, role="part")
        if kernel == "naive":
            gpu("naive_packed", kernel, layout="row_major")
    for kernel in _KERNELS:
        parameters = dict(_KERNELS[kernel][2])
        if kernel in ("transposed", "constant"):
            parameters.pop("unroll")  # these listings have no pragma
        gpu(f"s3_{kernel}", kernel, parameters=parameters)
        sweep(kernel, "block", BLOCKS)
        if "unroll" in _KERNELS[kernel][2]:
            sweep(kernel, "unroll", UNROLLS)
        if kernel == "shared":
            sweep(kernel, "chunk", (64, 1024, 4096))
        if kernel in ("transposed", "shared"):
            gpu(f"s3_{kernel}_index64", kernel, sweep=True)
    gpu("warp_per_row_shared", "warp_per_row", rate=3.5e12)
    gpu("transpose_then_matvec", "shared", layout="pitched", rate=1.0e12)
    part = {"problem": "the transposition alone", "part_of": "transpose_then_matvec"}
    gpu("transpose_then_matvec_transpose", "shared", **part, role="part", rate=1.4e12)
    gpu("cublas", "block_per_row", **vendor, rate=4.3e12)
    gpu("cublas_column_major", "transposed", **vendor, rate=4.2e12, threads=64)
    checksum = {"role": "roof", "problem": "checksum of A and v: a read-only pass"}
    gpu("read", "block_per_row", **checksum, rate=4.5e12, parameters={})
    return rows


def _transpose_rows() -> dict[str, dict[str, Any]]:
    copy, halves = {"problem": "a copy, not a transposition"}, "tiles moved, not transposed inside"
    table: list[tuple[str, float, dict[str, Any]]] = [
        ("copy", 3.9e12, copy),
        ("copy_shared", 3.8e12, copy),
        ("naive", 1.3e12, {}),
        ("coalesced", 2.6e12, {}),
        ("no_bank_conflicts", 3.4e12, {}),
        ("coarse_grained", 3.5e12, {"problem": halves}),
        ("fine_grained", 3.6e12, {"problem": "tiles transposed inside, left in their places"}),
        ("diagonal", 3.3e12, {}),
    ]
    sdk = {"document": "S3", "place": "SDK transposeNew", "algorithm": "A17"}
    tiles = {"gpu": True, "source": sdk, "parameters": {"tile": 32, "block": 256}}
    rows = {"cpu_serial": {"rate": 1.5e9, "source": sdk, "parameters": {}}}
    rows |= {
        prefix + name: {"rate": rate, **tiles, "inner": True, **more}
        for prefix in ("", "sdk_")
        for name, rate, more in table
    }
    vendor = {"gpu": True, "parameters": {}}
    vendor["source"] = {"document": "vendor", "place": "cuBLAS", "algorithm": ""}
    rows["cublas"] = {"rate": 3.5e12, **vendor, "role": "baseline"}
    rows["memcpy"] = {"rate": 4.1e12, **vendor, "role": "roof", "problem": "a copy"}
    return rows


def _time(name: str, row: dict[str, Any], rows: int, columns: int, regime: str) -> float:
    if name == "constant_copy":
        return 3e-6 * -(-columns // 16384)
    rate = row["rate"]
    if "threads" in row:
        # too few threads cannot fill the machine, and large blocks of few threads even less
        threads = rows * row["threads"]
        rate *= threads / (threads + 20.0 * row["parameters"].get("block", 256))
    rate *= 1 + 0.01 * row["parameters"].get("unroll", 4)
    if regime in ("hot", "inner"):
        rate *= {"hot": 1.05, "inner": 1.3}[regime]
    moved = 4.0 if "layout" in row else 8.0  # bytes an element: read once; or written, too
    seconds: float = moved * rows * columns / rate + 3e-6 * row.get("gpu", False)
    if name in ("constant", "s3_constant"):
        seconds += 3e-6 * -(-columns // 16384)
    return seconds + (0.03 if regime == "end_to_end" else 0)


def _cases_of(
    experiment: dict[str, Any],
    rows: dict[str, dict[str, Any]],
    shapes: list[tuple[int, int]],
    gpu: bool,
) -> list[dict[str, Any]]:
    cases = []
    matvec, head = experiment is MATVEC, tuple(map(int, experiment["headline"].split("x")))
    for m, n in shapes:
        for regime in ("cold", "hot", "inner", "end_to_end"):
            for name, row in rows.items():
                on_gpu = row.get("gpu", False)
                sweep = row.get("sweep", False)
                plain = not sweep and "part_of" not in row
                fits = {
                    "cold": on_gpu,
                    "hot": True,
                    "inner": row.get("inner", False),
                    "end_to_end": matvec and on_gpu and plain and (m, n) == head,
                }[regime]
                if not fits or sweep and (m * n != head[0] * head[1] or m == 64):
                    continue
                members = ("source", "layout", "problem", "part_of", "sweep", "role", "parameters")
                metric = "max |error| / (|A||v|)" if matvec else "elements that differ"
                median = _time(name, row, m, n, regime)
                case = _row(experiment["name"], name, {"rows": m, "columns": n}, regime)
                power = regime == "hot" and (m, n) == head
                case |= _measured(case["id"], median, on_gpu, gpu, None, metric, power)
                case |= {key: row[key] for key in members if key in row}
                if matvec:
                    case |= {"flops": 2 * m * n, "bytes": 4 * (m * n + m + n)}
                    if name == "read":  # each input once, and no sums
                        case |= {"flops": 0, "bytes": 4 * (m * n + n)}
                    if case["problem"] and case["error"]:
                        case["error"] |= {"value": 0.0, "bound": 0.0}
                else:
                    case |= {"flops": 0, "bytes": 8 * m * n}
                cases.append(case)
    return cases


@once
def make_matvec(shapes: list[tuple[int, int]] = MATVEC_SHAPES, gpu: bool = True) -> dict[str, Any]:
    return _record([MATVEC], _cases_of(MATVEC, _matvec_rows(), shapes, gpu), gpu)


@once
def make_transpose(
    shapes: list[tuple[int, int]] = TRANSPOSE_SHAPES, gpu: bool = True
) -> dict[str, Any]:
    return _record([TRANSPOSE], _cases_of(TRANSPOSE, _transpose_rows(), shapes, gpu), gpu)


AUDIT = {
    "name": "audit",
    "title": "Self-audit",
    "problem": "r = A · v",
    "axes": ["rows", "columns"],
    "headline": "8192x8192",
}
MACHINE = {
    "name": "machine",
    "title": "What this machine gives",
    "problem": "what each row says",
    "axes": ["elements"],
    "headline": "268435456",
}
HARNESS = {"document": "Recheck", "place": "", "algorithm": ""}


@once
def make_audit(gpu: bool = True) -> dict[str, Any]:
    """One kernel under eight names, and four each of 1, 2 and 5 % more work."""
    extras = {f"same_{at}": 0 for at in range(1, 9)}
    extras |= {f"slower{n}_{at}": 10 * n for n in (1, 2, 5) for at in range(1, 5)}
    cases = []
    for edge in (8192, 16384):
        for regime in ("cold", "hot"):
            for name, extra in extras.items():
                case = _row("audit", name, {"rows": edge, "columns": edge}, regime)
                # each name a little luckier or unluckier than the next, as on a real machine
                luck = 1 + 0.0005 * _noise(case["id"], 9)[-1]
                median = 4.0 * edge * edge / 4.2e12 * (1 + extra / 1000) * luck
                power = regime == "hot" and edge == 8192
                case |= _measured(case["id"], median, True, gpu, None, "error / bound", power)
                case |= {"role": "audit", "parameters": {"extra_permille": extra}}
                work = {"flops": 2 * edge * edge, "bytes": 4 * (edge * edge + 2 * edge)}
                cases.append(case | work | {"source": HARNESS})
    return _record([AUDIT], cases, gpu)


@once
def make_machine(gpu: bool = True) -> dict[str, Any]:
    """What the machine can do at best, piece by piece."""
    large, small = 268435456, 4194304
    table: list[tuple[str, int, str, str, float, float, float]] = [
        ("read", large, "cold", "reads every element once", 0, 4 * large, 2.35e-4),
        ("write", large, "cold", "writes every element once", 0, 4 * large, 2.45e-4),
        ("copy", large, "cold", "copies every element once", 0, 8 * large, 4.8e-4),
        ("l2_read", small, "hot", "reads what fits into L2 65 times", 0, 260 * small, 1.22e-4),
        ("ffma", small, "hot", "multiply-adds from registers", 2.0**38, 8 * small, 4.378e-3),
        ("launch", 1, "hot", "an empty kernel", 0, 8, 0.3e-6),
    ]
    cases = []
    for name, elements, regime, problem, flops, moved, median in table:
        case = _row("machine", name, {"elements": elements}, regime)
        power = name == "ffma"
        case |= _measured(case["id"], median, True, gpu, None, "elements that differ", power)
        case |= {"role": "roof", "problem": problem, "parameters": {}, "source": HARNESS}
        cases.append(case | {"flops": flops, "bytes": moved})
    return _record([MACHINE], cases, gpu)


LEVELS = {
    "name": "memory",
    "title": "The levels of memory",
    "problem": "every word read once",
    "axes": ["words"],
    "headline": "268435456",
}


@once
def make_memory(gpu: bool = True) -> dict[str, Any]:
    """The levels of memory: a chain of loads each, and passes over all words."""
    near, l2, dram = 4096, 4194304, 268435456
    table: list[tuple[str, int, int, float]] = [
        ("latency_shared", near, 65536, 1.1e-3),
        ("latency_l1", near, 65536, 1.3e-3),
        ("latency_constant", 256, 65536, 1.0e-3),
        ("latency_constant", near, 65536, 2.9e-3),
        ("latency_l2", l2, 8192, 1.2e-3),
        ("latency_dram", dram, 8192, 4.1e-3),
        ("bandwidth_shared", near, 1000003, 5.0e-1 / 132),
        ("bandwidth_l1", near, 1000003, 6.0e-1 / 132),
        ("bandwidth_l2", l2, 65, 2.2e-4),
        ("bandwidth_dram", dram, 1, 2.35e-4),
        ("write_shared", near, 1000003, 5.5e-1 / 132),
        ("write_dram", dram, 1, 2.45e-4),
    ]
    cases = []
    for name, words, count, median in table:
        latency = name.startswith("latency_")
        regime = "cold" if words == dram else "hot"
        case = _row("memory", name, {"words": words}, regime)
        case |= _measured(case["id"], median, True, gpu, None, "wrong bits")
        problem = f"{count} words, each load waiting for the last"
        if not latency:
            problem = f"{'written' if name.startswith('write_') else 'read'} {count} times"
        case |= {"role": "roof", "problem": problem}
        case |= {"parameters": {"steps" if latency else "passes": count}, "source": HARNESS}
        moved = 4 * count if latency else 4 * count * words
        cases.append(case | {"flops": 0, "bytes": moved})
    return _record([LEVELS], cases, gpu)


REDUCTION = {
    "name": "reduction",
    "title": "Reduction",
    "problem": "s = sum of x",
    "axes": ["elements"],
    "headline": "1048576",
}


@once
def make_reduction(gpu: bool = True) -> dict[str, Any]:
    """An experiment that is none of ours: three rows, one of them beyond its document."""
    table = [
        ("interleaved", 1.0e12, "R0"),
        ("shuffle", 2.0e12, "R0"),
        ("vector", 4.0e12, "Recheck"),
    ]
    cases = []
    for elements in (65536, 1048576):
        for regime in ("cold", "hot"):
            for name, rate, document in table:
                case = _row("reduction", name, {"elements": elements}, regime)
                median = 4 * elements / rate + 1e-7
                case |= _measured(case["id"], median, True, gpu, None, "error / bound")
                source = {"document": document, "place": f"kernel {name}", "algorithm": ""}
                work = {"flops": elements, "bytes": 4 * elements}
                cases.append(case | work | {"parameters": {}, "source": source})
    return _record([REDUCTION], cases, gpu)


def without_listings(record: dict[str, Any]) -> dict[str, Any]:
    """A copy that has none of the documents' listings as rows."""
    from conftest import EXPERIMENTS
    from recheck_report.claims import load_collection

    rows = {listing.row for listing in load_collection(EXPERIMENTS).listings}
    record = copied(record)
    record["cases"] = [
        case for case in record["cases"] if f"{case['experiment']}/{case['strategy']}" not in rows
    ]
    return record


def with_listings(record: dict[str, Any], cost: float = 1.02) -> dict[str, Any]:
    """A copy whose listings are what their general forms have in it, in a time that is `cost`
    times shorter."""
    from conftest import EXPERIMENTS
    from recheck_report.claims import load_collection

    record = without_listings(record)
    for listing in load_collection(EXPERIMENTS).listings:
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


def join(*parts: dict[str, Any], gpu: bool = True) -> dict[str, Any]:
    """One record of the experiments of several."""
    experiments = [experiment for part in parts for experiment in part["experiments"]]
    return _record(experiments, [case for part in parts for case in part["cases"]], gpu)


@once
def make_full(gpu: bool = True, small: bool = False) -> dict[str, Any]:
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


def matching(record: dict[str, Any], pattern: str) -> list[dict[str, Any]]:
    """The cases whose id contains `pattern`."""
    return [case for case in record["cases"] if pattern in case["id"]]


def scale(record: dict[str, Any], pattern: str, factor: float) -> dict[str, Any]:
    """A copy in which the matching cases take `factor` times as long; the run is long enough."""
    record = copied(record)
    for case in matching(record, pattern):
        if case["seconds"]:
            for key in ("median", "low", "high"):
                case["seconds"][key] *= factor
            case["samples"] = [factor * sample for sample in case["samples"]]
            if case["power"]:
                case["power"]["joules"] *= factor
    return lasting(record)


def lasting(record: Json) -> Json:
    """The same, with a run that took as long as its cases at least."""
    seconds = sum(map(_spent, record["cases"]))
    more = max(0.0, seconds - record["wall_seconds"])
    overhead = record["overhead"]
    overhead = {**overhead, "verified_kernels": overhead["verified_kernels"] + more}
    wall = record["wall_seconds"] + more
    finished = record["finished"]
    if finished and more:
        end = datetime.fromisoformat(record["environment"]["started"]) + timedelta(seconds=wall)
        finished = end.strftime("%Y-%m-%dT%H:%M:%SZ")
    return {**record, "wall_seconds": wall, "finished": finished, "overhead": overhead}


def set_time(case: dict[str, Any], median: float, low: float, high: float) -> None:
    """Gives a case another time, in one block: what compares it must use these three numbers."""
    between = len(case["samples"]) - 2 * LOWER
    case["samples"] = [low] * LOWER + [median] * between + [high] * LOWER
    if case["power"]:
        case["power"]["joules"] = case["power"]["watts"] * median
    case["blocks"], case["clocks"] = [[0, len(case["samples"])]], [case["clock_hz"]]
    case["seconds"] |= {"median": median, "low": low, "high": high}


def spoil(record: dict[str, Any], pattern: str, status: str, reason: str) -> dict[str, Any]:
    """A copy in which the matching cases end with `status` instead of a time."""
    record = copied(record)
    nothing: Json = {"seconds": None, "error": None, "samples": [], "blocks": [], "clocks": []}
    for case in matching(record, pattern):
        case.update(status=status, reason=reason, power=None, clock_hz=None, **nothing)
    return record


# what a case says itself since schema 4; the rest is its strategy's, its samples', or in its id
OWN = ("id", "status", "reason", "error", "flops", "bytes", "seconds", "clock_hz", "batch", "power")
OF_SAMPLES = ("id", "samples", "blocks", "clocks")
METHOD: Json = {
    "confidence": 0.95,
    "fewest_samples": 6,
    "rounds": 20,
    "most_budgets": 2.5,
    "most_budgets_host_timed": 0.5,
    "block_seconds": 0.002,
    "block_samples": 16,
    "queued_samples": 1,
    "batch_below_seconds": 2e-5,
    "proof_budgets": 20.0,
    "throttled_below": 0.55,
    "flush_l2_sizes": 2,
    "flush_least_bytes": 33554432,
    "power_seconds": 0.3,
    "inner_repeats": 100,
}


def _spent(case: Json) -> float:
    """Wall seconds of the run: as long as the samples took at least."""
    return max(0.25, float(case["batch"] * sum(case["samples"])))


def _own(case: Json) -> Json:
    """What a case says itself."""
    found = {name: case[name] for name in OWN} | {"spent": _spent(case)}
    return found | {name: case[name] for name in ("disturbed",) if name in case}


def pack(record: dict[str, Any]) -> dict[str, bytes]:
    """The files of schema 6 that say what this record of schema 3 says: as recheck writes them."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for case in record["cases"]:
        of_case = {*OWN, *OF_SAMPLES, "set_aside", "disturbed", "spent"}
        of_case |= {"shape", "regime", "strategy"}
        row = {"name": case["strategy"], **{k: v for k, v in case.items() if k not in of_case}}
        rows[case["experiment"], case["strategy"]] = row
    document = {
        **lasting(record),
        "schema": 6,
        "environment": {**record["environment"], "version": "0.1.0"},
        "method": METHOD | record.get("method", {}),
        "strategies": list(rows.values()),
        "cases": [_own(case) for case in record["cases"]],
    }
    kept = (*OF_SAMPLES, "set_aside")
    lines = [{k: c[k] for k in kept if k in c} for c in record["cases"] if c["samples"]]
    samples = "".join(json.dumps(line) + "\n" for line in lines)
    return {"record.json": json.dumps(document).encode(), "samples.jsonl": samples.encode()}


def unpack(files: dict[str, bytes], folder: Path) -> Path:
    """Writes files into a folder of their own, which it returns."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def keep(path: Path, record: Json) -> Path:
    """Writes a record as recheck does, into the folder of this record.json; returns its path."""
    assert path.name == "record.json"
    unpack(pack(record), path.parent)
    return path
