import json
from dataclasses import replace

import pytest
from replay_cases import EOS, corpus, profile, window

from as2d_core.deployment import (
    check_test_windows,
    choose,
    choose_among,
    corpus_sha256,
    evaluate_deployment,
    profile_sha256,
)
from as2d_core.deployment_file import (
    deployment_from_json,
    deployment_to_json,
    read_deployment,
    write_deployment,
)
from as2d_core.errors import RequestError, SelectionError
from as2d_core.replay.splits import Deal
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
        (lambda b: b["splits"]["test"]["windows"].pop(), "test windows are not those"),
        (lambda b: b.update(deployed="neither"), "does not run what was faster"),
        (lambda b: b.update(deal={"scope": "some", "seed": 1}), "dealt as 'some'"),
        (lambda b: b["considered"][0].pop("budget"), "'budget' is missing"),
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


def test_the_faster_of_both_choices_on_validation_windows_is_deployed(frozen):
    slower = replace(frozen.ruled.finalists[0], tps=frozen.fixed.validation_tps - 1)
    faster = replace(frozen.ruled.finalists[0], tps=frozen.fixed.validation_tps + 1)
    equal = replace(frozen.ruled.finalists[0], tps=frozen.fixed.validation_tps)
    for first, deployed in ((slower, False), (equal, False), (faster, True)):
        ruled = replace(frozen.ruled, finalists=(first,))
        assert (replace(frozen, ruled=ruled).deployed is ruled) == deployed
    assert replace(frozen, ruled=None).deployed is frozen.fixed


def test_every_setting_is_considered_and_the_best_on_validation_windows_is_kept():
    found = choose_among(some_corpus(), profile(), (0.4, None), (0, 16))
    assert [(c.threshold, c.search_window, c.width_rule) for c in found.considered] == [
        (threshold, window, rule) for threshold in (0.4, None) for window in (0, 16) for rule in (False, True)
    ]
    fixed = [c for c in found.considered if not c.width_rule]
    ruled = [c for c in found.considered if c.width_rule]
    assert found.fixed.validation_tps == max(c.validation_tps for c in fixed)
    assert found.ruled.validation_tps == max(c.validation_tps for c in ruled)
    assert deployment_from_json(json.loads(json.dumps(deployment_to_json(found)))) == found
    result = evaluate_deployment(found, some_corpus(), profile(), resamples=20)
    assert result.fixed.windows == 2


def test_a_choice_among_no_settings_is_refused():
    with pytest.raises(RequestError, match="no setting to choose among"):
        choose_among(some_corpus(), profile(), (), (16,))


def test_a_dealt_choice_is_judged_on_the_windows_that_it_set_aside():
    windows = some_corpus(("development", "validation") * 4 + ("test",))
    found = choose_among(windows, profile(), deal=Deal("all", 3))
    result = evaluate_deployment(found, windows, profile(), resamples=20)
    assert result.fixed.windows == len(found.test_windows) > 1
    assert result.fixed.test_sha256 == found.test_sha256
    used = {window for ids in found.fixed.window_ids.values() for window in ids}
    assert used.isdisjoint(found.test_windows)
    assert deployment_from_json(deployment_to_json(found)) == found


def test_a_new_choice_must_not_be_made_on_test_windows_of_a_frozen_one(frozen):
    check_test_windows(frozen, choose(some_corpus(), profile(loop_ms=6.0)))
    turned = some_corpus(("test", "test", "development", "validation", "development", "validation"))
    with pytest.raises(SelectionError, match=r"2 windows \('w4' among them\) are test windows of a choice"):
        check_test_windows(frozen, choose(turned, profile()))


def test_a_deployment_made_on_its_own_test_windows_is_refused(frozen):
    body = json.loads(json.dumps(deployment_to_json(replace(frozen, test_windows=("w0", "w4")))))
    with pytest.raises(SelectionError, match="windows of its own test split"):
        deployment_from_json(body)


def test_hashes_of_the_models_go_with_the_choice():
    found = choose(some_corpus(models={"big": "aa", "small": "bb"}), profile())
    assert deployment_from_json(deployment_to_json(found)).models == {"big": "aa", "small": "bb"}
