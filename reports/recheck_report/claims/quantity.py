"""Numbers with their units, as documents print them: "8 ms", "79.5 GB/s", "12.5 GFLOP/s"."""

from __future__ import annotations

import re
from typing import Any

from recheck_report.record.typed import Unfit

SECONDS, BYTES, OPERATIONS = "s", "B/s", "flop/s"
_PREFIXES = {"n": 1e-9, "u": 1e-6, "µ": 1e-6, "m": 1e-3, "": 1.0}
_PREFIXES |= {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
_NAMES = {"s": SECONDS, "B/s": BYTES}
_NAMES |= dict.fromkeys(("FLOP/s", "flop/s", "FLOPS", "Flops", "OP/s"), OPERATIONS)
_TEXT = re.compile(rf"([0-9.]+(?:[eE][+-]?[0-9]+)?)\s*([nuµmkMGTP]?)({'|'.join(_NAMES)})")
_LIKE = {SECONDS: '"8 ms"', BYTES: '"79.5 GB/s"', OPERATIONS: '"12.5 GFLOP/s"'}


def quantity(value: Any, where: str, *units: str) -> tuple[float, str]:
    """A text as a number of one of these SI units, and which; raises Unfit."""
    match = _TEXT.fullmatch(value.strip()) if isinstance(value, str) else None
    unit = _NAMES[match[3]] if match else ""
    if not match or unit not in units or match[1].count(".") > 1:
        raise Unfit(f"must have its unit, like {' or '.join(_LIKE[unit] for unit in units)}", where)
    return float(match[1]) * _PREFIXES[match[2]], unit
