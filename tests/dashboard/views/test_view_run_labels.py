from dataclasses import replace
from datetime import UTC, datetime

import pytest

from as2d_core.models.demo_catalog import demo_window, demo_windows
from as2d_core.profiles import load_profile
from as2d_core.profiles.profile import Stability
from dashboard.views.run_labels import (
    costs_sentence,
    profile_label,
    run_label,
    short_run_label,
    window_group,
    window_label,
)
from dashboard.views.runs import runs_info

ROW = {
    "created_at": datetime(2026, 3, 1, 10, 2, 3, tzinfo=UTC),
    "method": "as2d",
    "budget": 7,
    "window_id": "long_00",
    "tps": 27.919,
    "status": "eos",
    "label": "measured",
}


def test_a_run_is_named_by_time_method_window_and_speed():
    assert run_label(ROW) == "2026-03-01 10:02:03  ·  As²d b=7  ·  long_00  ·  27.92 tok/s"
    assert short_run_label(ROW) == "1 Mar 10:02 · As²d b=7 · long_00 · 27.92 tok/s"


def test_what_is_not_a_plain_measurement_is_said():
    assert run_label({**ROW, "label": "replayed", "emulated": True}).endswith("emulated drafter  ·  replayed")


def test_a_run_that_was_cut_says_so_in_words():
    assert run_label({**ROW, "status": "capped"}).endswith("27.92 tok/s  ·  cut at the output cap")


def test_a_run_without_speed_says_how_it_ended():
    failed = {**ROW, "tps": None, "status": "failed"}
    assert run_label(failed).endswith("long_00  ·  failed")
    assert short_run_label(failed).endswith("long_00 · failed")


def test_a_name_is_one_line_and_not_endless():
    row = {**ROW, "window_id": "a\nb" + "x" * 500}
    assert "\n" not in run_label(row)
    assert len(run_label(row)) < 150


def test_every_bundled_window_has_a_group_and_a_label():
    for window in demo_windows():
        assert window_group(window)
        assert window_label(window).startswith(window.window_id)


def test_tasks_are_groups_of_their_own():
    groups = {window_group(window) for window in demo_windows() if window.task != "transcribe"}
    assert groups == {"Translate into German", "Answer a question"}
    assert window_group(demo_window("long_00")) == "Long recordings"


def test_a_profile_says_what_its_values_are():
    profile = load_profile("k70")
    assert profile_label(profile) == "Redmi K70 Pro (published)"
    published = sum(value.kind == "published" for value in profile.provenance.values())
    assert f"{published} published" in costs_sentence(profile)
    unstable = replace(profile, stability=Stability("unstable", "costs drifted"))
    assert costs_sentence(unstable).endswith("The measurement is unstable (costs drifted).")


def test_a_measured_profile_says_when():
    measured = replace(load_profile("k70"), kind="measured", created_at="2026-03-01T10:00:00+00:00", provenance={})
    assert profile_label(measured) == "Redmi K70 Pro (measured, 2026-03-01)"
    assert costs_sentence(measured) == "Where its values come from is not recorded."


@pytest.mark.parametrize("named", [run_label, short_run_label, lambda row: runs_info([row]).shown["Method"][0]])
@pytest.mark.parametrize(
    ("method", "parameter", "said"),
    [("as2d", "budget", "As²d b=7"), ("sd", "width", "SD K=7"), ("specasr", "draft_cap", "SpecASR cap=7")],
)
def test_a_run_is_named_with_the_parameter_of_its_method_everywhere(named, method, parameter, said):
    assert said in named({"method": method, parameter: 7})


def test_a_run_that_ended_at_its_cap_reads_so_in_short_lists_too():
    said = short_run_label(ROW | {"status": "capped", "tps": None})
    assert said.endswith("cut at the output cap")
