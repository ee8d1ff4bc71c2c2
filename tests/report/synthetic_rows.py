"""The rows, shapes and times of synthetic records: a time is work / rate + cost.

What rows say of themselves, the machine and the method are those of the committed record of an
H200.
"""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Json = dict[str, Any]  # an object of a JSON file
Shapes = Sequence[tuple[int, ...]]
ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "reports/results"
REAL: Json = json.loads((RESULTS / "nvidia-h100-80gb-hbm3/record.json").read_bytes())
MACHINE: Json = json.loads((RESULTS / "nvidia-h200/record.json").read_bytes())["environment"]
EXPERIMENTS: dict[str, Json] = {each["name"]: each for each in REAL["experiments"]}

SHAPES: Shapes = [
    (80, 48, 64), (128,) * 3, (256,) * 3, (512,) * 3, (1000,) * 3, (1023,) * 3, (1024,) * 3,
    (1025,) * 3, (2048,) * 3, (4096, 512, 2048), (512, 4096, 2048), (4096,) * 3, (8192,) * 3,
]  # fmt: skip
SMALL: Shapes = [(80, 48, 64), (1024,) * 3, (2048,) * 3, (4096,) * 3]
MATVEC_SHAPES: Shapes = [
    (1, 65536), (65536, 1), (2048, 2048), (4096, 8192), (8192, 4096), (8191, 8193), (64, 1048576),
    (1024, 65536), (2048, 32768), (8192, 8192), (32768, 2048), (131072, 512), (1048576, 64),
    (16384, 16384),
]  # fmt: skip
MATVEC_SMALL: Shapes = [(2048, 2048), (2048, 32768), (8192, 8192), (131072, 512)]
TRANSPOSE_SHAPES: Shapes = [
    (1, 1048576), (1048576, 1), (1024, 1024), (2048, 2048), (4095, 4097), (4096, 4096),
    (1000, 50000), (8192, 8192), (8224, 8224), (16384, 16384),
]  # fmt: skip
TRANSPOSE_SMALL: Shapes = [(2048, 2048), (8192, 8192), (8224, 8224)]
# of matmul: peak flop/s, seconds of overhead
RATES = {
    "cpu_serial": (1.05e9, 0.0), "s1_cpu": (1.05e9, 0.0), "s1_cpu_o0": (3e8, 0.0),
    "cpu_blas": (6.1e11, 4e-6), "global16": (5.1e12, 3.0e-6),
    "global32": (6.0e12, 3.2e-6), "tile8": (4.2e12, 3.5e-6), "tile16": (7.0e12, 3.4e-6),
    "tile32": (8.1e12, 4.5e-6), "submatrix16": (6.9e12, 3.4e-6), "tile8_depth2": (4.6e12, 3.4e-6),
    "tile8_depth4": (5.0e12, 3.6e-6), "tile8_depth8": (4.9e12, 3.9e-6),
    "tile16_depth2": (7.6e12, 3.4e-6), "tile16_depth4": (7.4e12, 3.8e-6),
    "tile16_depth8": (6.6e12, 4.4e-6), "tile32_depth2": (9.0e12, 5.0e-6),
    "tile32_depth4": (8.9e12, 5.9e-6), "tile32_depth8": (8.2e12, 8.0e-6),
    "full_strip16": (3.3e12, 9.0e-6), "s1_kernel_0": (4.7e12, 3.0e-6),
    "s1_kernel_1": (7.4e12, 3.4e-6), "s2_global": (4.7e12, 3.0e-6), "s2_shared": (7.4e12, 3.4e-6),
    "s2_full_strips": (3.5e12, 9.0e-6), "s0_tiles": (7.4e12, 3.4e-6),
    "s0_tiles_depth4": (7.6e12, 3.8e-6), "cublas": (5.15e13, 6.0e-6),
    "cublas_tf32": (3.95e14, 6.0e-6),
}  # fmt: skip
# of matvec, by the beginnings of its rows' names: bytes/s at best, threads for each row
KERNELS = {
    "cpu_serial": (4.4e9, 0), "mxv": (4.4e9, 0), "mxv_o0": (1.1e9, 0),
    "sse": (1.3e10, 0), "sse_openmp2": (2.0e10, 0),
    "sse_openmp": (4.1e10, 0), "cpu_blas": (4.0e10, 0),
    "naive": (1.2e12, 1), "transposed": (3.6e12, 1), "constant": (3.7e12, 1),
    "shared": (4.0e12, 1), "block_per_row": (4.2e12, 256), "warp_per_row": (4.1e12, 32),
    "warp_per_row_shared": (3.5e12, 32), "transpose_then_matvec": (1.0e12, 1),
    "transpose_then_matvec_transpose": (1.4e12, 1), "cublas": (4.3e12, 256),
    "cublas_column_major": (4.2e12, 64), "read": (4.5e12, 256),
}  # fmt: skip
# of transpose, as the document and as NVIDIA's sample have them: bytes/s
COPIES = {
    "cpu_serial": 1.5e9, "copy": 3.9e12, "copy_shared": 3.8e12, "naive": 1.3e12,
    "coalesced": 2.6e12, "no_bank_conflicts": 3.4e12, "coarse_grained": 3.5e12,
    "fine_grained": 3.6e12, "diagonal": 3.3e12, "cublas": 3.5e12, "memcpy": 4.1e12,
}  # fmt: skip
METRICS = {
    "matmul": "max |error| / (|A||B|)", "matvec": "max |error| / (|A||v|)",
    "transpose": "elements that differ", "machine": "elements that differ",
    "memory": "wrong bits",
}  # fmt: skip
COMMIT = "0123456789abcdef0123456789abcdef01234567"
NO_DEVICE = "no CUDA device"


def rows_of(experiment: str) -> list[Json]:
    """The rows of an experiment's table that documents or vendors have, and matvec's roof."""
    copies = {*COPIES, *(f"sdk_{name}" for name in COPIES)}
    known = {"matmul": {*RATES}, "transpose": copies}.get(experiment, set())
    return [
        row
        for row in REAL["strategies"]
        if row["experiment"] == experiment
        and (row["source"]["document"] != "Recheck" or row["name"] == "read")
        and (row["name"] in known or not known)
        and not row["name"].endswith("row_packed")
    ]


def seconds_of(row: Json, shape: tuple[int, ...], regime: str) -> float:
    """What a launch takes."""
    name, experiment = row["name"], row["experiment"]
    if experiment == "matmul":
        return _of_matmul(row, shape, regime)
    rows, columns = shape
    if name == "constant_copy":
        return 3e-6 * -(-columns // 16384)
    own = name.removeprefix("s3_").removeprefix("sdk_")
    if experiment == "transpose":
        rate, moved = COPIES[own], 8.0
    else:
        moved = 4.0
        rate, threads = KERNELS[max((k for k in KERNELS if own.startswith(k)), key=len)]
        if threads:
            # too few threads cannot fill the machine, and large blocks of few threads even less
            threads *= rows
            rate *= threads / (threads + 20.0 * row["parameters"].get("block", 256))
    rate *= 1 + 0.01 * row["parameters"].get("unroll", 4)
    rate *= {"hot": 1.05, "inner": 1.3}.get(regime, 1.0)
    seconds: float = moved * rows * columns / rate + 3e-6 * (row["target"] == "gpu")
    if name in ("constant", "s3_constant"):
        seconds += 3e-6 * -(-columns // 16384)
    return seconds + (0.03 if regime == "end_to_end" else 0)


def _of_matmul(row: Json, shape: tuple[int, ...], regime: str) -> float:
    m, n, k = shape
    rate, overhead = RATES[row["name"]]
    seconds = 2.0 * m * n * k / rate + overhead
    if row["name"].startswith("tile") or row["name"] in ("global16", "global32"):
        # few blocks cannot fill the machine
        seconds += 2.5e-9 * k
    if row["target"] == "gpu" and regime == "hot":
        seconds *= 0.97
    if regime == "end_to_end":
        seconds += 1.6e-4 + 4.0 * (m * k + k * n + m * n) / 5.2e9
    return seconds


def work_of(row: Json, shape: tuple[int, ...]) -> tuple[float, float]:
    """Flops and compulsory bytes."""
    if row["experiment"] == "matmul":
        m, n, k = shape
        return 2 * m * n * k, 4 * (m * k + k * n + m * n)
    m, n = shape
    if row["experiment"] == "transpose":
        return 0, 8 * m * n
    return (0, 4 * (m * n + n)) if row["name"] == "read" else (2 * m * n, 4 * (m * n + m + n))


def fits(row: Json, shape: tuple[int, ...], regime: str) -> bool:
    """Whether the full run has such a case."""
    gpu, experiment = row["target"] == "gpu", row["experiment"]
    head = tuple(map(int, EXPERIMENTS[experiment]["headline"].split("x")))
    of_head = math.prod(shape) == math.prod(head) and shape[0] != 64
    if row["sweep"] and experiment == "matvec" and not of_head:
        return False
    plain = not row["sweep"] and not row["part_of"] and row["name"] != "read"
    found: bool = {
        "cold": gpu,
        "hot": True,
        "inner": gpu and experiment == "transpose" and row["source"]["document"] == "S3",
        "end_to_end": gpu and plain and (experiment == "matmul" or shape == head),
    }[regime]
    return found and (experiment, regime) != ("transpose", "end_to_end")


def refused_of(row: Json, shape: tuple[int, ...], median: float) -> tuple[str, str] | None:
    """Status and reason of what no machine times."""
    if row["name"] in ("full_strip16", "s2_full_strips") and shape[-1] > 1816:
        need = f"needs {128 * shape[-1]} B of shared memory per block"
        return "unsupported", f"{need}, the device allows 232448 B"
    if row["experiment"] == "matmul" and row["target"] == "cpu" and median > 4:
        reason = f"predicted {median:.0f} s a launch: proof and 6 samples would take more than 20 s"
        return "not_run", f"{reason}, 20 times --per-case"
    return None


def environment_of(gpu: bool) -> Json:
    """The machine, build and settings."""
    environment = copy.deepcopy(MACHINE) | {
        "arch": "native", "flags": "-O3 -DNDEBUG", "started": "2026-11-21T03:00:00Z",
        "git": {"commit": COMMIT, "dirty": False, "diff": None}, "mps": None,
        "command": "recheck --output=report", "unknown": {"mps": "no permission to ask"},
        "cubins": {"matmul/tile.cu": "0011223344556677", "matvec/rows.cu": "8899aabbccddeeff"},
        "os": "Ubuntu 24.04.3 LTS, Linux 6.18", "conditions": [],
        "state": {"event_nanoseconds": 1280, "other_processes": 0},
    }  # fmt: skip
    environment["gpu"] |= {"memory_bytes": 150754820096, "memory_bus_bits": 6144}
    environment["gpu"] |= {"uuid_hash": "89abcdef01234567"}
    if not gpu:
        environment |= {"gpu": None, "gpu_reason": NO_DEVICE, "driver": None, "cuda_driver": None}
        environment |= {"code": None, "state": {}, "arch": "75-real;80-real;90a-real;90-virtual"}
    found: Json = environment
    return found
