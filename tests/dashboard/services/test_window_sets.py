import numpy as np
import pytest
from page_samples import put

from as2d_core.profiles import load_profile
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.trajectories import load_corpus
from dashboard.services.window_sets import SD_MEAN, places, replayed_windows, stored_windows
from datastore.queries import RunFilter


@pytest.fixture(scope="module")
def recorded():
    corpus, profile = load_corpus("demo-tasks"), load_profile("k70")
    grid = replay_grid(corpus, profile)
    return corpus, profile, grid


def test_recorded_windows_have_the_times_of_the_grid_and_no_time_below_the_oracle(recorded):
    corpus, profile, grid = recorded
    found = replayed_windows(corpus, profile, grid, "drafter", 5, SD_MEAN, None)
    as2d = found.settings[-1]
    assert [item.method for item in found.all] == ["target-only", "sd", "specasr", "as2d"]
    np.testing.assert_array_equal(as2d.time_ms, grid.times("drafter", 5))
    np.testing.assert_allclose(found.alone.time_ms, grid.target_only_ms)
    assert (found.gap(as2d) >= 0).all()


def test_the_mean_of_widths_is_a_mean_of_rates_within_each_window(recorded):
    corpus, profile, grid = recorded
    mean = replayed_windows(corpus, profile, grid, "drafter", 5, SD_MEAN, None).settings[0]
    single = [replayed_windows(corpus, profile, grid, "drafter", 5, k, None).settings[0].tps for k in (5, 6, 7, 8)]
    np.testing.assert_allclose(mean.tps, np.mean(single, axis=0))


@pytest.fixture
def keep(workspace, tmp_path):
    def take(run_id, **how):
        put(workspace.store, tmp_path, run_id, **how)

    return take


def test_stored_runs_are_pooled_by_window_and_setting_and_failed_ones_keep_their_place(keep, workspace):
    keep("alone", method="target-only")
    keep("first")
    keep("again")
    keep("theirs", method="sd")
    keep("broken", status="failed", error="unwell", window="clean_01")
    found = stored_windows(workspace.store, RunFilter(), "all", ("measured",))
    assert found.windows == ("clean_00", "clean_01")
    assert found.alone.name == "Target-only"
    ours = found.named("As²d b=7")
    assert ours.runs.tolist() == [2, 0]
    assert ours.left_out.tolist() == [0, 1]
    assert np.isnan(ours.time_ms[1])
    assert ours.run_ids[1] == "broken"
    assert found.gain(ours)[0] > 0
    assert np.isnan(found.oracle_ms).all(), "one budget is no choice"


def test_places_name_devices_and_count_their_runs(keep, workspace):
    assert places(workspace.store) == []
    keep("a")
    (place,) = places(workspace.store)
    assert (place.name, place.label, place.runs, place.emulated) == ("Redmi K70 Pro", "measured", 1, 0)
