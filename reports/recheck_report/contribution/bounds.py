"""What an error may be at most: a case that says it passed may not have chosen its own bound.

The gate of recheck holds a row to its bound, and writes both down. The bound follows from how many
terms are summed and in which arithmetic; a row may promise less, none more. Whatever sums nothing
is exact.
"""

from __future__ import annotations

from recheck_report.model.record import Case, Record

# of an arithmetic: unit roundoff of its sums, and what an input loses, as experiments/matmul has it
ROUNDED = {"fp32": (2.0**-24, 0.0), "tf32": (2.0**-23, 2.0**-10), "split": (2.0**-23, 2.0**-19)}
# of an experiment: the axis that is summed over
SUMMED = {"matmul": "k", "matvec": "columns", "audit": "columns"}
DIGITS = 1e-5  # to which a bound is rounded


def allowed(case: Case) -> float:
    """As product_error_bound of reference/error.hpp."""
    axis = SUMMED.get(case.experiment)
    if axis not in case.shape or case.problem:
        return 0
    unit, lost = ROUNDED[case.arithmetic]
    ku = case.shape[axis] * unit
    return (1 + lost) ** 2 / (1 - ku) - 1 if ku < 1 else 0


def loose(record: Record) -> str | None:
    """The first case whose bound is more than what is owed to it, or None."""
    for case in record.cases:
        if case.error and case.error.bound > (most := allowed(case)) * (1 + DIGITS):
            said = f"{case.id} has an error bound of {case.error.bound:.6g}"
            return f"{said}, and is owed {most:.6g} at most"
    return None
