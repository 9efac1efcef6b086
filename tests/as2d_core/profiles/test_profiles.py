import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.errors import ProfileError, UnknownNameError
from as2d_core.profiles import (
    Profile,
    Provenance,
    Spread,
    Stability,
    load_profile,
    profile_ids,
    read_profile,
    write_profile,
)
from as2d_core.profiles.codec import profile_faults, profile_from_json, profile_to_json, profile_warnings
from as2d_core.profiles.profile import ChunkCosts, ProfiledModel

COST = st.floats(0.5, 500.0)
REQUIRED = [
    "id",
    "name",
    "kind",
    "target_step_ms",
    "verify_idle_ms",
    "verify_concurrent_ms",
    "loop_ms",
    "draft_serial_ms",
    "draft_overlapped_ms",
]


def profile(**changes):
    values = {
        "id": "here",
        "name": "This computer",
        "kind": "measured",
        "target_step_ms": 50.0,
        "verify_idle_ms": {1: 50.0, 2: 55.0, 3: 60.0, 4: 65.0},
        "verify_concurrent_ms": {1: 52.0, 2: 57.0, 3: 62.0, 4: 67.0},
        "loop_ms": 10.0,
        "draft_serial_ms": 20.0,
        "draft_overlapped_ms": 22.0,
    }
    return Profile(**{**values, **changes})


def faults_of(**changes):
    return profile_faults({**profile_to_json(profile()), **changes})


def test_the_four_published_phones_are_packaged():
    assert profile_ids() == ["11pro", "k70", "mi14", "note9"]


@pytest.mark.parametrize("name", ["k70", "11pro", "mi14", "note9"])
def test_every_cost_of_a_published_phone_says_where_it_comes_from(name):
    phone = load_profile(name)
    assert phone.kind == "published"
    named = {"target_step_ms", "loop_ms", "draft_serial_ms", "draft_overlapped_ms", "publish_ms"}
    named |= {f"verify_idle_ms.{k}" for k in phone.verify_idle_ms}
    named |= {f"verify_concurrent_ms.{k}" for k in phone.verify_concurrent_ms}
    named |= {f"chunk_sources.{d}.{part}" for d in phone.chunk_sources for part in ("chunk_ms", "convert_ms")}
    assert named <= set(phone.provenance)


def test_published_k70_costs_are_those_of_the_paper():
    k70 = load_profile("k70")
    assert k70.target_step_ms == 59.391
    assert (k70.verify_idle_ms[8], k70.verify_idle_ms[12]) == (112.656, 142.825)
    assert (k70.draft_serial_ms, k70.loop_ms) == (23.347, 10.738)
    assert k70.provenance["verify_idle_ms.8"] == Provenance("published", "Appendix D.2.2")


@pytest.mark.parametrize("name", ["k70", "11pro", "mi14", "note9"])
def test_deployed_and_searched_budgets_are_feasible_on_their_phone(name):
    phone = load_profile(name)
    assert phone.feasible(phone.deployed_budget)
    assert phone.feasible(phone.search_max_budget)
    assert not phone.feasible(phone.search_max_budget + 1)


def test_concurrent_costs_beyond_eight_are_flagged_as_extrapolated():
    phone = load_profile("note9")
    assert not phone.extrapolates(7)
    assert phone.extrapolates(8)


def test_unknown_profile_suggests_the_nearest_name():
    with pytest.raises(UnknownNameError, match="'k70'"):
        load_profile("k7")


def test_missing_profile_file_is_named(tmp_path):
    with pytest.raises(ProfileError, match=r"nowhere\.json"):
        load_profile(tmp_path / "nowhere.json")


def test_file_that_is_no_json_is_named(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text("{")
    with pytest.raises(ProfileError, match=r"broken\.json is not JSON"):
        load_profile(path)


@given(
    st.dictionaries(st.integers(2, 40), COST),
    st.dictionaries(st.integers(2, 40), COST),
    st.lists(COST, min_size=1, max_size=5),
)
def test_profile_survives_its_json(idle, concurrent, samples):
    before = profile(
        verify_idle_ms=dict(sorted({1: 40.0, **idle}.items())),
        verify_concurrent_ms=dict(sorted({1: 41.0, **concurrent}.items())),
        spread={"target_step_ms": Spread.of(tuple(samples))},
        provenance={"target_step_ms": Provenance("measured", "5 repetitions")},
        stability=Stability("unstable", "the last repetition was slower"),
        models={"target": ProfiledModel("big", "ab")},
        exact_widths=(2, 3, 4),
        deployed_budget=3,
        chunk_sources={"ctc": ChunkCosts(88.75, 1.5)},
        versions={"mnn": "3.6.1"},
    )
    assert profile_from_json(json.loads(json.dumps(profile_to_json(before)))) == before


def test_profile_file_round_trips_and_a_faulty_profile_is_not_written(tmp_path):
    write_profile(profile(), tmp_path / "a.json")
    assert read_profile(tmp_path / "a.json") == profile()
    with pytest.raises(ProfileError, match="loop_ms"):
        write_profile(profile(loop_ms=-1.0), tmp_path / "b.json")
    assert not (tmp_path / "b.json").exists()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"target_step_ms": -3.0}, "target_step_ms is -3.0 ms; a cost cannot be negative"),
        ({"draft_serial_ms": 0}, "draft_serial_ms is 0 ms"),
        ({"loop_ms": math.nan}, "loop_ms is nan"),
        ({"publish_ms": math.inf}, "publish_ms is inf"),
        ({"target_step_ms": "59"}, "target_step_ms is '59'"),
        ({"target_step_ms": None}, "target_step_ms is None"),
        ({"target_step_ms": True}, "target_step_ms is True"),
        ({"verify_idle_ms": {"2": 5.0}}, "verify_idle_ms has no cost at K = 1"),
        ({"verify_idle_ms": {"1": 5.0, "2": 0.0}}, "verify_idle_ms.2 is 0"),
        ({"verify_concurrent_ms": {"1": 5.0, "two": 6.0}}, "verify_concurrent_ms.two is not a width"),
        ({"verify_concurrent_ms": {"1": 5.0, "0": 6.0}}, "verify_concurrent_ms.0 is not a width"),
        ({"verify_concurrent_ms": [5.0]}, "verify_concurrent_ms is not an object"),
        ({"kind": "made up"}, "kind is 'made up'"),
        ({"id": ""}, "id is ''"),
        ({"deployed_budget": 0}, "deployed_budget is 0"),
        ({"exact_widths": [0]}, "exact_widths is"),
        ({"provenance": {"loop_ms": {"kind": "heard"}}}, "provenance.loop_ms.kind is 'heard'"),
        ({"spread": {"loop_ms": {"n": 1}}}, "spread.loop_ms needs"),
        ({"stability": {"verdict": "fine"}}, "its verdict must be"),
        ({"models": {"target": {}}}, "models.target"),
        ({"device": 3}, "device is not an object"),
        ({"speed": 1}, "speed is no field"),
        ({"chunk_sources": [1.0]}, "chunk_sources is not an object"),
        ({"chunk_sources": {"ctc": {"convert_ms": 1.0}}}, "chunk_sources.ctc is not an object with chunk_ms"),
        ({"chunk_sources": {"ctc": {"chunk_ms": 1.0, "speed": 2.0}}}, "chunk_sources.ctc is not an object"),
        ({"chunk_sources": {"ctc": {"chunk_ms": 0.0}}}, "chunk_sources.ctc.chunk_ms is 0 ms"),
        ({"chunk_sources": {"ctc": {"chunk_ms": 5.0, "convert_ms": -1.0}}}, "chunk_sources.ctc.convert_ms is -1.0"),
        ({"format": 9}, "format is 9"),
    ],
)
def test_fault_is_a_sentence_that_names_the_field(changes, sentence):
    faults = faults_of(**changes)
    assert len(faults) == 1
    assert sentence in faults[0]
    assert faults[0].endswith(".")


def test_every_missing_field_is_named():
    assert [fault.split()[0] for fault in profile_faults({})] == REQUIRED
    assert profile_faults([]) == ["A profile is a JSON object."]


def test_all_faults_are_listed_at_once():
    with pytest.raises(ProfileError, match=r"target_step_ms.*loop_ms"):
        profile_from_json({**profile_to_json(profile()), "target_step_ms": -1, "loop_ms": -1})


def test_sound_profile_has_no_warnings():
    assert profile_warnings(profile()) == []


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"target_step_ms": 0.0594}, "really in milliseconds"),
        ({"target_step_ms": 59_391.0}, "really in milliseconds"),
        ({"verify_idle_ms": {1: 50.0, 2: 55.0, 3: 60.0, 4: 0.01}}, "at K = 4 is outside"),
        ({"verify_idle_ms": {1: 50.0, 2: 55.0, 3: 54.02345678, 4: 65.0}}, "falls from 55 ms at K = 2 to 54.02 ms"),
        ({"verify_idle_ms": {1: 50.0, 2: 55.0, 4: 65.0}}, "no cost at K = 3; budgets of 2 and more are out"),
        ({"verify_idle_ms": {1: 50.0, 2: 55.0}}, "Widths 3, 4 have only one"),
        ({"draft_overlapped_ms": 90.0}, "slower than its target"),
        ({"deployed_budget": 9}, "deployed_budget is 9"),
    ],
)
def test_odd_profile_is_usable_with_a_warning(changes, sentence):
    odd = profile(**changes)
    assert any(sentence in warning for warning in profile_warnings(odd))
    assert profile_from_json(profile_to_json(odd)) == odd


def test_round_costs_include_the_loop_and_keep_missing_widths_missing():
    concurrent, idle = profile(verify_idle_ms={1: 50.0, 3: 60.0}).round_costs()
    assert idle[1] == 60.0
    assert concurrent[4] == 77.0
    assert all(math.isnan(idle[k]) for k in (0, 2, 4))


def test_spread_of_one_sample_has_no_deviation():
    assert Spread.of((3.0,)) == Spread(1, 3.0, None, 3.0, (3.0,))
