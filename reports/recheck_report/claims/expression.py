"""Formulas in claims, in a small part of Python's syntax: numbers, names, which may have dots,
+ - * / // % **, comparisons, and, or, not, and min, max, ceil, floor."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

MOST_LENGTH = 1000  # characters; the longest of ours has 150


class BadExpression(Exception):
    """str() is the error, without the place."""


class Unknown(BadExpression):
    """A name without a value."""

    def __init__(self, name: str) -> None:
        super().__init__(f"unknown name {name}")
        self.name = name


# powers of negative numbers may be complex; evaluate() refuses those
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
_COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_CALLS: dict[str, Callable[..., float]]
_CALLS = {
    "min": lambda *values: min(values), "max": lambda *values: max(values),
    "ceil": math.ceil, "floor": math.floor,
}  # fmt: skip


def _parse(text: str) -> ast.expr:
    if len(text) > MOST_LENGTH:
        raise BadExpression(f"{text[:40]!r}… has more than {MOST_LENGTH} characters")
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise BadExpression(f"{text!r} is not a formula") from error


def _finite(text: str, number: float) -> float:
    """The number as a float, which bounds the time of operations."""
    if isinstance(number, complex) or not math.isfinite(number):
        raise BadExpression(f"{text!r} has no finite value")
    return float(number)


def _dotted(node: ast.AST) -> str:
    """A name with dots; empty if the node is not a name."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def names(text: str) -> set[str]:
    """The names in a formula; raises BadExpression if it calls an unknown function."""
    nodes = [*ast.walk(_parse(text))]
    for called in (node.func for node in nodes if isinstance(node, ast.Call)):
        if not isinstance(called, ast.Name) or called.id not in _CALLS:
            raise BadExpression(f"{text!r} may only call {', '.join(_CALLS)}")
    inner = {node.value for node in nodes if isinstance(node, ast.Attribute)}
    return {*map(_dotted, (node for node in nodes if node not in inner))} - {"", *_CALLS}


def evaluate(text: str, variables: Mapping[str, float]) -> float | bool:
    """The value of a formula; raises BadExpression, and Unknown for a name not in `variables`."""

    def value(node: ast.expr) -> float | bool:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return _finite(text, number)
            case ast.Name() | ast.Attribute() if name := _dotted(node):
                if name not in variables:
                    raise Unknown(name)
                return _finite(text, variables[name])
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return _finite(text, _BINARY[type(op)](value(left), value(right)))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not value(operand)
            case ast.BoolOp(op=op, values=parts):
                values = [bool(value(part)) for part in parts]
                return all(values) if isinstance(op, ast.And) else any(values)
            case ast.Compare(left=left, ops=ops, comparators=rest):
                sides = [value(side) for side in (left, *rest)]
                if any(type(op) not in _COMPARE for op in ops):
                    raise BadExpression(f"{text!r} has an unsupported comparison")
                pairs = zip(ops, sides, sides[1:], strict=False)
                return all(_COMPARE[type(op)](a, b) for op, a, b in pairs)
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _CALLS:
                return _finite(text, _CALLS[name](*map(value, args)))
        raise BadExpression(f"{text!r} contains more than arithmetic")

    try:
        return value(_parse(text))
    except RecursionError as error:
        raise BadExpression(f"{text[:40]!r}… is nested too deeply") from error
    except ZeroDivisionError as error:
        raise BadExpression(f"{text!r} divides by zero") from error
    except (OverflowError, TypeError, ValueError) as error:
        raise BadExpression(f"{text!r} has no finite value") from error
