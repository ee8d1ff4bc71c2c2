"""Formulas of claims: only arithmetic, at a bounded cost."""

from __future__ import annotations

import pytest
from recheck_report.claims import expression


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7), ("2**10 // 3 % 5", 1), ("-x / 4", -0.5), ("ceil(x / 3)", 1),
        ("floor(2.9)", 2), ("max(1, x, 3)", 3), ("min(x)", 2), ("1 < x <= 2", True),
        ("x == 2 and not x > 3", True), ("x > 3 or x < 1", False),
    ],
)  # fmt: skip
def test_a_formula_is_arithmetic(text: str, value: float) -> None:
    assert expression.evaluate(text, {"x": 2}) == value


@pytest.mark.parametrize(
    "text",
    [
        "", "1 +", "x", "1 / 0", "1 // 0", "2**10000", "9.0**64 ** 9", "(1).real",
        "[1][0]", "'a'", "True", "x if x else x", "lambda: 1", "min()", "floor(1, 2)", "1 in 2",
        "__import__('os')", "max(1, key=2)", "1e999", "(-8) ** 0.5",
    ],
)  # fmt: skip
def test_anything_but_arithmetic_is_refused(text: str) -> None:
    with pytest.raises(expression.BadExpression):
        expression.evaluate(text, {})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("-" * 9000 + "1 == 1", "has more than 1000 characters"),
        ("-" * 998 + "1", "is nested too deeply"),
        ("(" * 150 + "1" + ")" * 150, None),
        ("(" * 8 + "9" + "**64)" * 8, "has no finite value"),
        ("ceil(1e300) ** 64", "has no finite value"),
        ("9" * 400, "has no finite value"),
        ("1e308 * 10 > 1", "has no finite value"),
    ],
)
def test_a_formula_has_bounds(text: str, why: str | None) -> None:
    if why is None:
        assert expression.evaluate(text, {}) == 1
        return
    with pytest.raises(expression.BadExpression, match=why):
        expression.evaluate(text, {})
