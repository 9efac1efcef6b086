import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.errors import PublishedError
from as2d_core.published.formula import corners, evaluate

NUMBER = st.floats(0.1, 1e4)


@given(NUMBER, NUMBER, NUMBER)
def test_formulas_are_worth_what_arithmetic_says(a, b, c):
    inputs = {"a": a, "b": b, "c": c}
    assert evaluate("100*(a/max(b, c)-1)", inputs) == 100 * (a / max(b, c) - 1)
    assert evaluate("(a+b)/c - -min(a, 2)", inputs) == (a + b) / c + min(a, 2)


@pytest.mark.parametrize(
    "formula",
    [
        "__import__('os').system('true')",
        "a.real",
        "a[0]",
        "[a]",
        "a if a else a",
        "lambda: 1",
        "a**9**9**9",
        "a and a",
        "a < a",
        "'text'",
        "True",
        "1j",
        "abs(a)",
        "max(a, key=a)",
        "max()",
        "(a := 1)",
        "a; a",
        "",
        "1 +",
        "a" * 400,
    ],
)
def test_anything_but_arithmetic_is_refused(formula):
    with pytest.raises(PublishedError):
        assert evaluate(formula, {"a": 1.0}) is None


def test_a_deep_formula_has_its_value():
    assert evaluate("-" * 99 + "a", {"a": 1.0}) == -1.0


@pytest.mark.parametrize("formula", ["a + missing", "1 / (a - a)"])
def test_a_formula_without_a_value_is_named(formula):
    with pytest.raises(PublishedError, match=r"missing|no value"):
        evaluate(formula, {"a": 1.0})


def test_exact_inputs_stay_and_inexact_ones_go_to_both_ends():
    found = corners({"n": 10.0, "a": 1.0, "b": 2.0}, {"a": 0.5, "b": 0.25})
    assert sorted((c["n"], c["a"], c["b"]) for c in found) == [
        (10.0, 0.5, 1.75),
        (10.0, 0.5, 2.25),
        (10.0, 1.5, 1.75),
        (10.0, 1.5, 2.25),
    ]


def test_too_many_inexact_inputs_are_refused():
    many = {f"x{i}": 1.0 for i in range(13)}
    with pytest.raises(PublishedError, match="13 inexact"):
        corners(many, dict.fromkeys(many, 0.5))
