import inspect
import subprocess
import sys
import typing
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from replay_cases import corpus, profile, window

import as2d_core.replay
from as2d_core.errors import UnknownNameError
from as2d_core.profiles import write_profile
from as2d_core.replay import load_corpus, load_profile, oracle, replay_as2d, replay_grid, replay_standard_sd
from as2d_core.replay.trajectories import write_corpus

ROOT = Path(__file__).parents[3]
PARAMETERS = {
    "replay_as2d": (
        "target_tokens candidates low_confidence batch_ends batch_times_ms producer_end_ms operation_ms budget "
        "verify_concurrent_ms verify_idle_ms search_window output_cap compiled"
    ),
    "replay_standard_sd": "agrees width draft_ms verify_ms loop_ms",
    "replay_grid": "corpus profile catalog",
    "oracle": "grid",
    "load_profile": "id_or_path",
    "load_corpus": "id_or_path",
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_come_in_the_promised_order_and_further_ones_have_defaults(name):
    given = inspect.signature(getattr(as2d_core.replay, name)).parameters
    promised = PARAMETERS[name].split()
    assert list(given)[: len(promised)] == promised
    assert all(item.default is not item.empty for item in list(given.values())[len(promised) :])


def test_defaults_are_those_of_the_decoding_rules():
    given = inspect.signature(replay_as2d).parameters
    assert {n: given[n].default for n in ("search_window", "output_cap", "compiled")} == {
        "search_window": 16,
        "output_cap": 1024,
        "compiled": True,
    }


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_entry_point_is_typed_and_documented(name):
    function = getattr(as2d_core.replay, name)
    hints = typing.get_type_hints(function)
    assert set(hints) == {*inspect.signature(function).parameters, "return"}
    assert function.__doc__


@pytest.mark.parametrize("first", ["as2d_core.replay.hindsight", "as2d_core.engines.scripted", "as2d_core.profiles"])
def test_names_are_functions_whatever_was_imported_first(first):
    names = ", ".join(PARAMETERS)
    code = f"import {first}; from as2d_core.replay import {names}; assert all(map(callable, ({names})))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, timeout=60, check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_schedule_is_had_without_parquet_and_without_a_compiler():
    code = "import sys, as2d_core.replay.schedule; sys.exit(any(n in sys.modules for n in ('pyarrow', 'numba')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60, check=False).returncode == 0


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'replay_everything'"):
        as2d_core.replay.replay_everything  # noqa: B018
    assert set(PARAMETERS) <= set(dir(as2d_core.replay))


@pytest.mark.parametrize("compiled", [True, False])
def test_as2d_by_hand(compiled):
    """y = A B C D E; the source says A B C X E in one batch at 100 ms.

    At 0 and 60 ms nothing is visible: two K = 1 rounds commit B and C. At 120 ms the cursor stands
    behind C, so that X and E are offered (K = 3, 80 ms): X is wrong, D is the correction. At 200 ms
    y[3] = D is compared with X: the next target token is needed first (K = 1, 60 ms): E.
    """
    result = replay_as2d(
        [1, 2, 3, 4, 5],
        [1, 2, 3, 9, 5],
        [False] * 5,
        [5],
        [100.0],
        100.0,
        20.0,
        4,
        [np.nan, 60.0, 70.0, 80.0, 90.0, 95.0],
        [np.nan, 60.0, 70.0, 80.0, 90.0, 95.0],
        compiled=compiled,
        with_rounds=True,
    )
    assert (result.time_ms, result.rounds, result.k1_rounds, result.proposed, result.accepted) == (260.0, 4, 3, 2, 0)
    assert [(r.width, r.accepted, r.cursor_after) for r in result.round_list] == [
        (1, 0, 0),
        (1, 0, 0),
        (3, 0, 3),
        (1, 0, 3),
    ]


@pytest.mark.parametrize("compiled", [True, False])
def test_standard_sd_by_hand(compiled):
    """Six tokens, the third is not what the drafter says: K = 3 drafts 2 (+1 to catch up after all were accepted).

    Round 1 drafts 2 and commits y1 and the correction y2; round 2 drafts 2, both are accepted, and the
    bonus y5 ends the output: 4 forwards of 10 ms, 2 verifications of 50 + 5 ms.
    """
    result = replay_standard_sd(
        [True, True, False, True, True, True], 3, 10.0, [np.nan, 30.0, 40.0, 50.0], 5.0, compiled=compiled
    )
    assert (result.time_ms, result.rounds, result.draft_forwards) == (150.0, 2, 4)


def test_rounds_are_listed_on_request_only():
    arguments = ([1, 2], [2], [False], [1], [1.0], 1.0, 1.0, 1, [np.nan, 5.0, 6.0], [np.nan, 5.0, 6.0])
    assert replay_as2d(*arguments).round_list is None
    assert len(replay_as2d(*arguments, with_rounds=True).round_list) == 1


def test_a_grid_and_its_oracle():
    grid = replay_grid(corpus(window("a"), window("b")), profile(), [1, 4])
    best = oracle(grid)
    assert grid.time_ms.shape == (1, 2, 2)
    assert np.array_equal(best.time_ms, grid.time_ms[0].min(axis=0))


def test_profiles_and_sets_are_loaded_by_id_or_by_path(tmp_path):
    write_profile(profile(), tmp_path / "here.json")
    write_corpus(corpus(), tmp_path / "few.parquet")
    assert load_profile(tmp_path / "here.json") == load_profile(str(tmp_path / "here.json")) == profile()
    assert load_corpus(tmp_path / "few.parquet").id == "few"
    assert load_profile("k70").id == "k70"
    assert load_corpus("demo").id == "demo"
    with pytest.raises(UnknownNameError, match="Did you mean 'k70'"):
        load_profile("k71")
    with pytest.raises(UnknownNameError, match="Did you mean 'demo'"):
        load_corpus("demos")


def test_results_say_what_was_promised_in_their_names():
    assert {"time_ms", "rounds", "k1_rounds", "proposed", "accepted"} <= {
        f.name for f in fields(typing.get_type_hints(replay_as2d)["return"])
    }
    assert {"time_ms", "rounds", "draft_forwards"} <= {
        f.name for f in fields(typing.get_type_hints(replay_standard_sd)["return"])
    }
