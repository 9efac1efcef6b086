"""What is a written formula worth? Arithmetic on named inputs, and nothing else that a line of Python could do."""

import ast
from collections.abc import Mapping
from itertools import product

from as2d_core.errors import PublishedError

LONGEST = 300
_CORNERS = 12
"""More inexact inputs than this have too many corners to try."""


def evaluate(formula: str, inputs: Mapping[str, float]) -> float:
    """Evaluate ``+ - * /``, parentheses, ``max`` and ``min`` over numbers and named inputs.

    Raises:
        PublishedError: the formula holds anything else, an input is missing, or a division by zero.
    """
    if len(formula) > LONGEST:
        raise PublishedError(f"A formula of {len(formula)} characters is too long; at most {LONGEST} are read.")
    try:
        tree = ast.parse(formula, mode="eval")
        return _value(tree.body, inputs, formula)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise PublishedError(f"{formula!r} is no formula ({error}).") from error
    except (ZeroDivisionError, OverflowError) as error:
        raise PublishedError(f"{formula!r} has no value for {dict(inputs)} ({error}).") from error


def corners(inputs: Mapping[str, float], half_widths: Mapping[str, float]) -> list[dict[str, float]]:
    """All combinations of the ends of the inputs' intervals; a monotone formula has its ends there.

    Args:
        inputs: the printed values.
        half_widths: half a unit of each value's last digit; 0 or absent = exact.

    Raises:
        PublishedError: too many inputs are inexact.
    """
    inexact = [name for name in inputs if half_widths.get(name, 0.0) > 0]
    if len(inexact) > _CORNERS:
        raise PublishedError(f"{len(inexact)} inexact inputs have too many combinations; at most {_CORNERS} are tried.")
    found = []
    for signs in product((-1, 1), repeat=len(inexact)):
        shifted = {name: inputs[name] + sign * half_widths[name] for name, sign in zip(inexact, signs, strict=True)}
        found.append({**inputs, **shifted})
    return found


def _value(node: ast.AST, inputs: Mapping[str, float], formula: str) -> float:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return float(number)
        case ast.Name(id=name):
            if name not in inputs:
                raise PublishedError(f"{formula!r} needs {name}, which is not among its inputs.")
            return inputs[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, inputs, formula)
        case ast.BinOp(left=left, op=operation, right=right):
            a, b = _value(left, inputs, formula), _value(right, inputs, formula)
            match operation:
                case ast.Add():
                    return a + b
                case ast.Sub():
                    return a - b
                case ast.Mult():
                    return a * b
                case ast.Div():
                    return a / b
        case ast.Call(func=ast.Name(id="max" | "min" as name), args=[_, *_] as arguments, keywords=[]):
            values = [_value(argument, inputs, formula) for argument in arguments]
            return max(values) if name == "max" else min(values)
    raise PublishedError(
        f"{formula!r} holds {type(node).__name__}; a formula is numbers and inputs under + - * /, max and min."
    )
