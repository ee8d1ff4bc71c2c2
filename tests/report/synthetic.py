"""A small deterministic maker of records, shaped like the real ones but measured by nobody.

Each strategy has a peak rate and a launch cost; a time is work / rate + cost. Tests bend single
numbers of it to see whether the report follows.
"""

from __future__ import annotations

import copy
from typing import Any

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
    "cublas": (5.15e13, 6.0e-6, "vendor", "cuBLAS, pedantic fp32", ""),
    "cublas_tf32": (3.95e14, 6.0e-6, "vendor", "cuBLAS, TF32 tensor cores", ""),
}
CPU = {
    "cpu_serial": (1.05e9, 0.0, "S1", "MatrixMulCPU", "A01"),
    "cpu_blas": (6.1e11, 4e-6, "vendor", "OpenBLAS", ""),
}
NO_DEVICE = "no CUDA device"


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
    shape = f"{m}x{n}x{k}"
    status, reason = "passed", None
    median = _seconds(name, mnk, regime)
    if name in GPU and not gpu:
        status, reason = "not_run", NO_DEVICE
    elif name == "full_strip16" and k > 1816:
        status = "unsupported"
        reason = f"needs {128 * k} B of shared memory per block, the device allows 232448"
    elif name == "cpu_serial" and median > 4:
        status = "not_run"
        reason = f"predicted {median:.0f} s a launch, which exceeds the budget of 4 s"
    passed = status == "passed"
    # 20 samples around the median, deterministic and a little lopsided as real ones are
    samples = [median * (1 + 0.0006 * ((i * 7) % 20 - 9)) for i in range(20)] if passed else []
    tf32 = name.endswith("tf32")
    return {
        "id": f"matmul/{name}/{shape}/{regime}",
        "experiment": "matmul",
        "strategy": name,
        "role": "baseline" if document == "vendor" else "rung",
        "target": "gpu" if name in GPU else "cpu",
        "arithmetic": "tf32" if tf32 else "fp32",
        "note": "not fp32-accurate: inputs rounded to 10 mantissa bits" if tf32 else "",
        "parameters": _parameters(name),
        "source": {"document": document, "place": place, "algorithm": algorithm},
        "shape": {"m": m, "n": n, "k": k},
        "regime": regime,
        "status": status,
        "reason": reason,
        "error": {"value": 0.0123, "bound": 1.0, "metric": "max |error| / (gamma_k |A||B|)"}
        if passed
        else None,
        "flops": 2 * m * n * k,
        "bytes": 4 * (m * k + k * n + m * n),
        "seconds": {
            "median": median,
            "low": median * 0.998,
            "high": median * 1.0025,
            "samples": len(samples),
            "discarded": 1 if name == "tile8" else 0,
        }
        if passed
        else None,
        "clock_hz": 1.93e9 if passed and name in GPU else None,
        "samples": samples,
    }


def make_record(
    shapes: list[tuple[int, ...]] = SHAPES, gpu: bool = True, strategies: list[str] | None = None
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
    return {
        "schema": 1,
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
            "git": {"commit": "0123456789abcdef0123456789abcdef01234567", "dirty": False},
            "seed": 13,
            "budget_seconds": 1.0,
            "started": "2026-11-21T03:00:00Z",
            "command": "recheck --output=report",
        },
        "finished": "2026-11-21T03:03:10Z",
        "wall_seconds": 190.2,
        "ceilings": ceilings if gpu else {},
        "experiments": [
            {
                "name": "matmul",
                "title": "Matrix multiplication",
                "axes": ["m", "n", "k"],
                "headline": "4096x4096x4096",
            }
        ],
        "cases": cases,
    }


def matching(record: dict[str, Any], pattern: str) -> list[dict[str, Any]]:
    """The cases whose id contains `pattern`."""
    return [case for case in record["cases"] if pattern in case["id"]]


def scale(record: dict[str, Any], pattern: str, factor: float) -> dict[str, Any]:
    """A copy in which the matching cases take `factor` times as long."""
    record = copy.deepcopy(record)
    for case in matching(record, pattern):
        for key in ("median", "low", "high"):
            if case["seconds"]:
                case["seconds"][key] *= factor
    return record


def spoil(record: dict[str, Any], pattern: str, status: str, reason: str) -> dict[str, Any]:
    """A copy in which the matching cases end with `status` instead of a time."""
    record = copy.deepcopy(record)
    for case in matching(record, pattern):
        case.update(status=status, reason=reason, seconds=None, error=None, samples=[])
    return record
