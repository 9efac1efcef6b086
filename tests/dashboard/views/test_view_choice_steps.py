from dataclasses import replace

import pytest
from view_checks import read_html

from as2d_core.deployment import evaluate_deployment
from as2d_core.profiles import load_profile
from as2d_core.replay.trajectories import load_corpus
from dashboard.services.freezing import choose_pairs
from dashboard.views.choice_steps import DONE, LOCKED, NOW, choice_steps, steps_html
from dashboard.views.theme import DARK, LIGHT


@pytest.fixture(scope="module")
def chosen():
    return choose_pairs(load_profile("k70"), load_corpus("demo"), (3, 7))


@pytest.fixture(scope="module")
def result(chosen):
    return evaluate_deployment(chosen, load_corpus("demo"), load_profile("k70"), resamples=50)


def states(steps):
    return [step.state for step in steps]


def test_the_test_stays_locked_until_the_choice_is_frozen(chosen):
    assert states(choice_steps(chosen)) == [DONE, DONE, NOW, LOCKED]
    assert states(choice_steps(chosen, frozen_at="2026-03-01T10:00:00+00:00")) == [DONE, DONE, DONE, NOW]


def test_a_frozen_choice_that_was_judged_gives_its_figures(chosen, result):
    steps = choice_steps(chosen, frozen_at="2026-03-01", result=result)
    assert states(steps) == [DONE] * 4
    assert steps[3].lines[0] == "60 windows"
    assert steps[3].lines[2].endswith("against target-only")


def test_what_keeps_a_choice_from_being_judged_is_said(chosen):
    steps = choice_steps(chosen, frozen_at="2026-03-01", problem="The costs have changed.")
    assert (steps[3].state, steps[3].lines) == (LOCKED, ("The costs have changed.",))


def test_a_pair_picked_by_hand_is_called_so(chosen):
    assert "Picked by a person" in choice_steps(chosen, by_hand=True)[0].lines


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_names_are_text_and_the_next_step_is_marked(chosen, theme):
    fixed = replace(chosen.fixed, drafter="<img src=x>")
    markup = steps_html(choice_steps(replace(chosen, fixed=fixed, ruled=None)), theme)
    read_html(markup)
    assert "&lt;img src=x&gt;" in markup
    assert markup.count('aria-current="step"') == 1
