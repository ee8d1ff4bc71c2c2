"""What an error may be at most: a case that says it passed may not have chosen its own bound.

The gate of recheck holds a row to its bound, and writes both down. The bound follows from how many
terms are summed and in which arithmetic; a row may promise less, none more, and one of fp32 has
that of fp32. Whatever sums nothing is exact.
"""

from __future__ import annotations

from recheck_report.model.record import Case, Record

# of an arithmetic: unit roundoff of its sums, and what an input loses, as experiments/matmul has it
ROUNDED = {"fp32": (2.0**-24, 0.0), "tf32": (2.0**-23, 2.0**-10), "split": (2.0**-23, 2.0**-19)}
# of our experiments, by name and axes: the axis that is summed over; none where nothing is
SUMMED = {
    ("matmul", "m", "n", "k"): "k",
    ("matvec", "rows", "columns"): "columns",
    ("audit", "rows", "columns"): "columns",
    ("transpose", "rows", "columns"): None,
    ("machine", "elements"): None,
    ("memory", "words"): None,
}
DIGITS = 1e-5  # to which a bound is rounded


def owed(arithmetic: str, terms: int) -> float:
    """Of a sum of so many terms; 0 where there is no bound."""
    unit, lost = ROUNDED[arithmetic]
    ku = terms * unit
    return (1 + lost) ** 2 / (1 - ku) - 1 if ku < 1 else 0


def allowed(case: Case, other: float = 0) -> float:
    """As product_error_bound of reference/error.hpp; `other` of an experiment that is not ours."""
    axis = SUMMED.get((case.experiment, *case.shape), "")
    if axis == "":
        return other
    if axis is None or case.problem:
        return 0
    return owed(case.arithmetic, case.shape[axis])


def loose(record: Record, other: float = 0) -> str | None:
    """The first case whose bound is more than what is owed to it, or of fp32 less, or None."""
    for case in record.cases:
        most = allowed(case, other)
        if case.error and case.error.bound > most * (1 + DIGITS):
            said = f"{case.id} has an error bound of {case.error.bound:.6g}"
            return f"{said}, and is owed {most:.6g} at most"
        ours = (case.experiment, *case.shape) in SUMMED and case.fp32
        if case.error and ours and case.error.bound < most * (1 - DIGITS):
            return f"{case.id} has an error bound of {case.error.bound:.6g}, and is owed {most:.6g}"
    return None
