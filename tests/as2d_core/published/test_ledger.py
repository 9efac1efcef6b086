from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.errors import PublishedError, UnknownNameError
from as2d_core.published.formula import evaluate
from as2d_core.published.ledger import check_figure, check_ledger, figure_from_json, half_unit, ledger
from as2d_core.published.recompute import FUNCTIONS, recompute

FIGURES = ledger()
GAIN = {
    "name": "Gain",
    "where": "Table 8",
    "published": "64.6",
    "within": 0.05,
    "formula": "100*(tps/target_only-1)",
    "inputs": {"tps": "27.92", "target_only": "16.96"},
    "function": "gain",
}


def test_the_ledger_holds_every_figure_once():
    assert len(FIGURES) == 190
    assert max(Counter((figure.name, figure.where) for figure in FIGURES).values()) == 1


@pytest.mark.parametrize("figure", FIGURES, ids=[f"{f.where}: {f.name}" for f in FIGURES])
def test_every_published_figure_follows_from_its_inputs_or_their_rounding(figure):
    found = check_figure(figure)
    assert found.verdict in ("exact", "within rounding")
    assert bool(found.why) == (found.verdict != "exact")
    assert found.low <= found.value <= found.high


def test_161_of_190_figures_agree_as_printed_and_the_others_within_the_rounding_of_their_inputs():
    counted = Counter(found.verdict for found in check_ledger())
    assert counted == {"exact": 161, "within rounding": 29}


@pytest.mark.parametrize("figure", [f for f in FIGURES if f.function], ids=lambda f: f.name)
def test_our_accounting_agrees_with_the_written_formula(figure):
    inputs = {name: float(value) for name, value in figure.inputs.items()}
    assert recompute(figure.function, inputs) == pytest.approx(evaluate(figure.formula, inputs), rel=1e-7)


def test_every_accounting_function_is_used_by_some_figure():
    assert {figure.function for figure in FIGURES} - {None} == set(FUNCTIONS)


@pytest.mark.parametrize(
    ("published", "verdict"), [("64.6", "exact"), ("64.7", "within rounding"), ("64.8", "differs"), ("60.0", "differs")]
)
def test_a_verdict_says_how_far_the_rounding_reaches(published, verdict):
    found = check_figure(figure_from_json({**GAIN, "published": published}))
    assert found.verdict == verdict
    assert found.deviation == pytest.approx(100 * (27.92 / 16.96 - 1) - float(published))


def test_a_figure_that_does_not_follow_says_what_its_inputs_allow():
    found = check_figure(figure_from_json({**GAIN, "published": "70.0"}))
    assert "does not follow" in found.why
    assert f"{found.low:.6g} to {found.high:.6g}" in found.why


@given(st.floats(0.5, 500), st.floats(0.5, 500))
def test_a_figure_computed_from_unrounded_inputs_is_within_the_rounding_of_printed_ones(tps, reference):
    truth = 100 * (tps / reference - 1)
    printed = {"tps": f"{tps:.2f}", "target_only": f"{reference:.2f}"}
    found = check_figure(figure_from_json({**GAIN, "inputs": printed, "published": f"{truth:.1f}"}))
    assert found.verdict != "differs"


@pytest.mark.parametrize(("printed", "half"), [("12.90", 0.005), ("64.4", 0.05), ("688", 0.0), ("0.965", 0.0005)])
def test_a_printed_number_stands_for_half_a_unit_of_its_last_digit(printed, half):
    assert half_unit(printed) == pytest.approx(half)


@pytest.mark.parametrize(
    "broken",
    [
        None,
        {},
        {k: v for k, v in GAIN.items() if k != "formula"},
        {**GAIN, "published": "about 64"},
        {**GAIN, "inputs": {"tps": "fast"}},
        {**GAIN, "inputs": None},
        {**GAIN, "colour": "red"},
    ],
)
def test_a_malformed_figure_is_refused(broken):
    with pytest.raises(PublishedError):
        figure_from_json(broken)


def test_an_unknown_accounting_function_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="gap"):
        check_figure(replace(figure_from_json(GAIN), function="gaps"))


@pytest.mark.parametrize(("function", "inputs"), [("gap", {"tps": 1.0}), ("tps", {"tokens": 5.0, "seconds": 0.0})])
def test_a_figure_without_a_value_is_named(function, inputs):
    with pytest.raises(PublishedError, match=r"oracle|no value"):
        recompute(function, inputs)
