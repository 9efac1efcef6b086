import json
from dataclasses import replace

import pytest
from replay_cases import EOS, corpus, profile, window

from as2d_core.deployment import choose, corpus_sha256, evaluate_deployment, profile_sha256
from as2d_core.deployment_file import (
    deployment_from_json,
    deployment_to_json,
    read_deployment,
    write_deployment,
)
from as2d_core.errors import SelectionError
from as2d_core.replay.windows import DrafterTrajectory

TOKENS = (*range(10, 42), EOS)


def some_corpus(splits=("development", "development", "validation", "validation", "test", "test"), **changes):
    windows = []
    for i, split in enumerate(splits):
        tokens = (*range(10, 30 + 5 * i), EOS)
        candidates = tuple(9 if k % (7 + i) == 6 else token for k, token in enumerate(tokens[:-1]))
        windows.append(window(f"w{i}", tokens, candidates, split=split))
    return corpus(*windows, **changes)


@pytest.fixture(scope="module")
def frozen():
    return choose(some_corpus(), profile())


def test_a_choice_holds_a_budget_and_a_rule_with_what_they_were_made_from(frozen):
    assert frozen.fixed.width_rule is None
    assert frozen.ruled.width_rule.max_budget >= frozen.ruled.budget
    assert frozen.acceptance.windows == 2
    assert frozen.fixed.window_ids == {"development": ("w0", "w1"), "validation": ("w2", "w3")}
    assert frozen.fixed.audio_sha256["validation"] == ("hash-w2", "hash-w3")


def test_test_windows_do_not_take_part(frozen):
    other = some_corpus()
    spoiled = tuple(
        replace(w, drafters=(DrafterTrajectory("small", (9,) * 30),)) if w.split == "test" else w for w in other.windows
    )
    again = choose(replace(other, windows=spoiled), profile())
    assert (again.fixed, again.ruled) == (frozen.fixed, frozen.ruled)


def test_a_choice_can_do_without_a_rule():
    plain = choose(some_corpus(), profile(), with_rule=False)
    assert (plain.ruled, plain.acceptance) == (None, None)
    result = evaluate_deployment(plain, some_corpus(), profile(), resamples=20)
    assert result.ruled is None


def test_both_choices_are_judged_against_the_same_oracle_on_test_windows(frozen):
    result = evaluate_deployment(frozen, some_corpus(), profile(), resamples=50)
    assert result.fixed.windows == result.ruled.windows == 2
    assert result.fixed.oracle_tps == result.ruled.oracle_tps
    assert result.fixed.gap >= 0
    assert result.fixed.tps_interval.low <= result.fixed.tps <= result.fixed.tps_interval.high


def test_a_deployment_comes_back_from_its_file(frozen, tmp_path):
    path = tmp_path / "choice.json"
    write_deployment(frozen, path)
    assert read_deployment(path) == frozen
    assert deployment_from_json(json.loads(json.dumps(deployment_to_json(frozen)))) == frozen
    plain = choose(some_corpus(), profile(), with_rule=False)
    assert deployment_from_json(deployment_to_json(plain)) == plain


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda b: b.update(kind="recipe"), "This is no deployment"),
        (lambda b: b.update(format=9), "format 9"),
        (lambda b: b.pop("choice"), "'choice' is missing"),
        (lambda b: b["choice"].update(budget="many"), "'many' is not a whole number"),
        (lambda b: b["choice"].update(budget=1, drafter="other"), "not the fastest of its finalists"),
        (lambda b: b["splits"]["validation"]["windows"].append("w4"), "validation windows are not those"),
        (lambda b: b["splits"]["development"].update(windows=[]), "development windows are not those"),
        (lambda b: b["width_rule"].update(idle=[0, 3]), "width rule cannot be applied"),
        (lambda b: b["width_rule"].update(idle=[0], concurrent=[0]), "covers budgets up to 0"),
        (lambda b: b.update(splits=7), "malformed"),
    ],
)
def test_a_deployment_that_contradicts_itself_is_refused(frozen, change, sentence):
    body = json.loads(json.dumps(deployment_to_json(frozen)))
    change(body)
    with pytest.raises(SelectionError) as caught:
        deployment_from_json(body)
    assert sentence in str(caught.value)


def test_a_file_that_is_no_deployment_is_named(tmp_path):
    path = tmp_path / "choice.json"
    with pytest.raises(SelectionError, match=r"choice\.json cannot be read"):
        read_deployment(path)
    path.write_text("{")
    with pytest.raises(SelectionError, match=r"choice\.json is not JSON"):
        read_deployment(path)
    path.write_text("[]")
    with pytest.raises(SelectionError, match=r"choice\.json: This is no deployment"):
        read_deployment(path)


def test_windows_that_took_part_cannot_be_test_windows_of_another_set(frozen):
    turned = some_corpus(("test", "test", "development", "validation", "test", "test"))
    with pytest.raises(SelectionError, match="2 test windows"):
        evaluate_deployment(frozen, turned, profile())


def test_audio_that_took_part_cannot_come_back_under_another_name(frozen):
    known = some_corpus()
    renamed = tuple(
        replace(w, window_id="new", audio_sha256="hash-w0") if w.window_id == "w4" else w
        for w in known.windows
        if w.split == "test"
    )
    with pytest.raises(SelectionError, match=r"audio of 1 test windows \('new' among them\)"):
        evaluate_deployment(frozen, replace(known, windows=renamed), profile())


def test_changed_costs_need_a_new_choice(frozen):
    with pytest.raises(SelectionError, match="costs of 'here' have changed"):
        evaluate_deployment(frozen, some_corpus(), profile(loop_ms=6.0))


def test_a_set_without_the_needed_windows_is_a_sentence(frozen):
    with pytest.raises(SelectionError, match="no development and validation windows"):
        choose(corpus(), profile())
    with pytest.raises(SelectionError, match="no test windows"):
        evaluate_deployment(frozen, some_corpus(("development",) * 3), profile())
    strange = corpus(window("t", TOKENS, drafters=(DrafterTrajectory("other", (5,)),)))
    with pytest.raises(SelectionError, match="has the chosen drafter 'small'"):
        evaluate_deployment(frozen, strange, profile())


def test_costs_are_hashed_and_names_are_not():
    assert profile_sha256(profile()) == profile_sha256(profile(name="Another name", id="other"))
    assert profile_sha256(profile()) != profile_sha256(profile(publish_ms=0.6))


def test_a_set_is_hashed_with_its_tokens():
    assert corpus_sha256(some_corpus()) == corpus_sha256(some_corpus())
    assert corpus_sha256(some_corpus()) != corpus_sha256(some_corpus(("test",) * 6))
