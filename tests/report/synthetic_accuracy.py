"""A study of accuracy made by nobody, shaped like the real one: see synthetic.py.

Errors of fp32 sums rise with the root of K; those of split rows are flat, and rise with K where
sums are never promoted.
"""

from __future__ import annotations

import copy
from typing import Any

from synthetic_rows import NO_DEVICE

KS = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 65536]
DISTRIBUTIONS = {
    "uniform_half": "uniform(−½, ½)",
    "uniform": "uniform(0, 1)",
    "normal": "normal",
    "exp2n": "±exp(2·normal)",
    "cancelling": "cancelling sums",
    "exp6n": "±exp(6·normal)",
}
ADVERSARIAL = {"spikes": "spikes | and <more>", "creeping": "sums that creep"}
ADVERSARIAL_KS = [64, 4096, 100_000]
SPECIAL = {
    "infinite": "±Inf in A and B",
    "nan": "NaN and Inf in A and B",
    "scaled_rows": "rows of A times 2^±120",
    "denormal_inputs": "A denormal, B large",
    "denormal_results": "products below 2^-126",
    "zeros": "rows and columns of zeros",
}
# factors of the errors by norm, and of the size of the product's elements
_SCALE = {"uniform": 0.7, "cancelling": 1e3, "exp6n": 0.1}
_SIZE = {"uniform": 0.25, "uniform_half": 0.083, "exp2n": 3e3, "exp6n": 1e14, "cancelling": 1e-3}
_FLAT = {"split_fp16x3": 2.4e-7, "split_bf16x6": 4.3e-7, "split_tf32x3": 1.1e-6}
PROMOTED = {"split_fp16x3": (32, 128, 256, 512, 0), "split_bf16x6": (32, 128, 256, 512, 0)}


def _row(strategy: str, role: str, arithmetic: str, **parameters: int) -> dict[str, Any]:
    target = "cpu" if strategy.startswith("cpu") else "gpu"
    row = {"strategy": strategy, "role": role, "target": target, "arithmetic": arithmetic}
    return {**row, "sweep": "_promote" in strategy, "parameters": parameters}


def make_rows() -> list[dict[str, Any]]:
    rows = [
        _row("cpu_serial", "rung", "fp32"),
        _row("cpu_blas", "baseline", "fp32"),
        _row("global16", "rung", "fp32"),
        _row("tile16", "rung", "fp32", tile=16, depth=1),
        _row("full_strip16", "rung", "fp32"),
        _row("cublas", "baseline", "fp32"),
        _row("cublas_tf32", "baseline", "tf32"),
    ]
    for name in _FLAT:
        rows.append(_row(name, "rung", "split", promotion=64))
        for interval in PROMOTED.get(name, ()):
            suffix = interval or "_none"
            rows.append(_row(f"{name}_promote{suffix}", "rung", "split", promotion=interval))
    return rows


def _frobenius(row: dict[str, Any], distribution: str, k: int) -> float:
    name, scale = row["strategy"], _SCALE.get(distribution, 1.0)
    if row["arithmetic"] == "tf32":
        return 7.5e-4 * scale
    if row["arithmetic"] == "split":
        flat = _FLAT[name.split("_promote")[0]]
        promotion = row["parameters"]["promotion"] or k
        biased = 1.2e-9 if distribution in ("uniform", "normal") else 1e-11
        return scale * flat * 0.8 + biased * promotion
    # a library that cuts long sums into pieces, a CPU that does not, and rungs between the two
    slope = {"cublas": 1.5e-8, "cpu_serial": 1.9e-8, "cpu_blas": 1.2e-8}.get(name, 1.78e-8)
    error: float = slope * scale * k**0.5
    return error


def _bound(row: dict[str, Any], k: int) -> float:
    if row["arithmetic"] == "tf32":
        return 2.5e-3
    u = 2.0**-24
    if row["arithmetic"] == "fp32":
        return k * u / (1 - k * u)
    promotion = row["parameters"]["promotion"] or k
    return u * (20 + 0.7 * min(promotion, k) + k / promotion)


def _result(row: dict[str, Any], distribution: str, k: int, gpu: bool) -> dict[str, Any]:
    where = {"strategy": row["strategy"], "distribution": distribution, "k": k}
    status, reason = "passed", None
    if row["target"] == "gpu" and not gpu:
        status, reason = "not_run", NO_DEVICE
    elif row["strategy"] == "full_strip16" and k > 1816:
        reason = f"needs {128 * k} B of shared memory per block, the device allows 232448 B"
        status = "unsupported"
    result = {**where, "status": status, "reason": reason}
    if distribution in SPECIAL:
        return result
    names = ("frobenius", "componentwise", "median", "absolute", "bound")
    if reason:
        return result | dict.fromkeys(names)
    bound = _bound(row, k)
    error = _frobenius(row, distribution, k)
    if distribution in ADVERSARIAL:
        error = bound * (1 if row["arithmetic"] == "split" else 2)
    size = _SIZE.get(distribution, 1.0) * (k if distribution == "uniform" else k**0.5)
    # what cancels was as large before
    componentwise = 0.4 * error / (_SCALE["cancelling"] if distribution == "cancelling" else 1)
    values = (error, componentwise, 0.7 * error, 4 * error * size, bound)
    return result | dict(zip(names, values, strict=True))


def _lengths(distribution: str) -> list[int]:
    if distribution in SPECIAL:
        return [512]
    if distribution in ADVERSARIAL:
        return ADVERSARIAL_KS
    return [k for k in KS if k <= 16384 or distribution in ("uniform", "normal")]


def _kind(distribution: str) -> str:
    if distribution in SPECIAL:
        return "special"
    return "adversarial" if distribution in ADVERSARIAL else "ordinary"


def make_accuracy(record: dict[str, Any], rows: list[str] | None = None) -> dict[str, Any]:
    """The study on the machine of a synthetic record, of these rows alone if any are named."""
    env, gpu = record["environment"], record["environment"]["gpu"]
    table = [row for row in make_rows() if rows is None or row["strategy"] in rows]
    results = [
        _result(row, distribution, k, gpu is not None)
        for distribution in (*DISTRIBUTIONS, *ADVERSARIAL, *SPECIAL)
        for k in _lengths(distribution)
        for row in table
    ]
    described = {**DISTRIBUTIONS, **ADVERSARIAL, **SPECIAL}
    return {
        "schema": 2,
        "environment": {
            "gpu": gpu["name"] if gpu else None,
            "gpu_reason": env["gpu_reason"],
            "uuid_hash": gpu["uuid_hash"] if gpu else None,
            "driver": env["driver"],
            "commit": env["git"]["commit"],
            "dirty": False,
            "cpu": env["cpu"],
            "blas": env["blas"],
            "seed": 13,
        },
        "m": 128,
        "n": 96,
        "distributions": [
            {"name": name, "says": says, "kind": _kind(name)} for name, says in described.items()
        ],
        "rows": table,
        "results": results,
    }


def make_larger(record: dict[str, Any], rows: list[str]) -> dict[str, Any]:
    """The study of a larger product, as the target `accuracy` makes it."""
    study = make_accuracy(record, rows) | {"m": 2048, "n": 2048}
    study["results"] = [each for each in study["results"] if each["k"] in (512, 2048, 8192)]
    return study


def change(
    accuracy: dict[str, Any], strategy: str, distribution: str, k: int, **values: Any
) -> dict[str, Any]:
    """A copy in which one result has other values."""
    accuracy = copy.deepcopy(accuracy)
    (found,) = (
        each
        for each in accuracy["results"]
        if (each["strategy"], each["distribution"], each["k"]) == (strategy, distribution, k)
    )
    found.update(values)
    return accuracy
