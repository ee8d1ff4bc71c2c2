"""The counters of launches and the attributes of devices, under the names that claims use."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import get_type_hints

from recheck_report.record.environment import Gpu

Metrics = tuple[str, ...]


@dataclass(frozen=True)
class Counter:
    """The metrics of Nsight Compute whose sum it is: the first set that ncu knows."""

    metrics: tuple[Metrics, ...]
    over_kernels: Callable[[Iterable[float]], float] | None = sum  # None: the longest one's


def _first(*names: str) -> Counter:
    """The first of these metrics that ncu knows."""
    return Counter(tuple((name,) for name in names))


def _sass(what: str, *otherwise: str) -> Counter:
    """Instructions as the machine code has them; else what the hardware counted of their kind."""
    names = f"smsp__sass_inst_executed_op_{what}.sum", f"smsp__inst_executed_op_{what}.sum"
    return _first(*names, *otherwise)


def _percent(*names: str) -> Counter:
    """How busy a unit is in the longest kernel."""
    kinds = "avg.pct_of_peak_sustained_"
    return Counter(_first(*(name.replace("%", kinds) for name in names)).metrics, None)


_REQUESTS = "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"
_SECTORS = "l1tex__t_sectors_pipe_lsu_mem_global_op_{}.sum"
_CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared{}.sum"
COUNTERS = {
    "warp_global_loads": _sass("global_ld", _REQUESTS.format("ld")),
    "warp_global_stores": _sass("global_st", _REQUESTS.format("st")),
    "warp_shared_loads": _sass("shared_ld"),
    "warp_shared_stores": _sass("shared_st"),
    "ffma": _first(
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
        "sm__sass_thread_inst_executed_op_ffma_pred_on.sum",
    ),
    # of global memory: loads, stores, and atomics with and without a result
    "requests": _first(_REQUESTS.format("ld")),
    "sectors": _first(_SECTORS.format("ld")),
    "store_requests": _first(_REQUESTS.format("st")),
    "store_sectors": _first(_SECTORS.format("st")),
    "atomic_requests": Counter(((_REQUESTS.format("atom"), _REQUESTS.format("red")),)),
    "atomic_sectors": Counter(((_SECTORS.format("atom"), _SECTORS.format("red")),)),
    "warp_shared_atomics": Counter(
        (tuple(f"smsp__inst_executed_op_shared_atom{e}.sum" for e in ("", "_dot_alu", "_dot_cas")),)
    ),
    "dram_read_bytes": _first("dram__bytes_read.sum", "dram__bytes_op_read.sum"),
    "dram_bytes": Counter(
        (
            ("dram__bytes_read.sum", "dram__bytes_write.sum"),
            ("dram__bytes_op_read.sum", "dram__bytes_op_write.sum"),
        )
    ),
    "l2_sectors": _first("lts__t_sectors.sum"),
    "shared_bank_conflicts": _first(_CONFLICTS.format("")),
    "shared_load_conflicts": _first(_CONFLICTS.format("_op_ld")),
    "shared_store_conflicts": _first(_CONFLICTS.format("_op_st")),
    "shared_wavefronts": _first("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"),
    "nanoseconds": _first("gpu__time_duration.sum"),
    "issue_percent": _percent("smsp__issue_active.%active"),
    "fma_percent": _percent("sm__inst_executed_pipe_fma.%active"),
    "tensor_percent": _percent(
        "sm__pipe_tensor_op_hmma_cycles_active.%active", "sm__pipe_tensor_cycles_active.%active"
    ),
    "l1_percent": _percent("l1tex__throughput.%active"),
    "l2_percent": _percent("lts__t_sectors.%elapsed"),
    "dram_percent": _percent("dram__throughput.%elapsed", "gpu__dram_throughput.%elapsed"),
    "sm_hertz": Counter((("sm__cycles_elapsed.avg.per_second",),), None),
    "grid": _first("launch__grid_size"),
    "block": Counter((("launch__block_size",),), max),
    "registers": Counter((("launch__registers_per_thread",),), max),
    "shared_bytes": Counter(
        (("launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic"),), max
    ),
}
# any other metric by Nsight Compute's own name, which has __ in it
_METRIC = re.compile(r"(?=\w+__)[a-z][a-z0-9_]{0,99}(\.[a-z0-9_]{1,60}){0,4}")


def is_metric(name: str) -> bool:
    return _METRIC.fullmatch(name) is not None


def counter_of(name: str) -> Counter:
    """A counter of ours, or a metric: of several kernels a sum is added up, others are the longest
    kernel's."""
    over_kernels = sum if name.endswith(".sum") else None
    return COUNTERS.get(name) or Counter(((name,),), over_kernels)


# counters that show which unit limits a launch
LIMITS = (
    *(name for name in COUNTERS if name.endswith("_percent")),
    "shared_bank_conflicts",
    "shared_wavefronts",
)
# counters that show what accesses to memory cost
COSTS = (
    *("shared_bank_conflicts", "warp_shared_loads", "warp_shared_stores"),
    *("requests", "sectors", "store_requests", "store_sectors"),
    "dram_bytes",
)
# counts of one trip of the innermost loop, from the machine code: trip_ffma, trip_shared_loads_16
TRIP = "trip_"
LAUNCHES = "launches"  # kernels of one call, which need no metric
# of the device, by Nsight Compute's names
ATTRIBUTES = {
    "warp_size": "device__attribute_warp_size",
    "total_constant_memory": "device__attribute_total_constant_memory",
    "shared_bytes_per_sm": "device__attribute_max_shared_memory_per_multiprocessor",
    "threads_per_sm": "device__attribute_max_threads_per_multiprocessor",
}
# the numbers that a record has of its GPU are attributes as well
OF_DEVICE = (
    *ATTRIBUTES,
    *(name for name, kind in get_type_hints(Gpu).items() if kind in (int | None, float | None)),
)
