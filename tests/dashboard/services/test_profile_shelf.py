"""The shelf of profiles: order, history, uses, import and delete."""

import json
from dataclasses import replace

import pytest
from page_samples import put

from as2d_core.errors import ProfileError
from as2d_core.profiles import load_profile
from as2d_core.replay.trajectories import load_corpus
from dashboard.notebook.cells import figure_cell
from dashboard.services import profile_shelf as shelf
from dashboard.services.freezing import choose_pairs, freeze
from dashboard.services.measured_rates import measured_rates
from dashboard.services.notebooks import add_cells
from dashboard.services.profiles import keep_profile, readable_profiles

K70 = load_profile("k70")
OWN = replace(K70, id="own", name="Own", kind="measured", device={"name": "Phone", "serial": "1"})


def measured(when, **changes):
    return replace(OWN, created_at=when, **changes)


def test_what_was_measured_here_comes_first_the_newest_at_the_top(workspace):
    keep_profile(workspace, measured("2026-01-01T00:00:00+00:00"))
    keep_profile(workspace, measured("2026-02-01T00:00:00+00:00", id="newer"))
    found = shelf.shelf(workspace.folders)
    assert [item.id for item in found[:2]] == ["newer", "own"]
    assert [item.own for item in found] == [True, True, False, False, False, False]


def test_a_profile_that_cannot_be_read_is_listed_with_its_reason(workspace):
    keep_profile(workspace, OWN)
    path = workspace.folders.profiles / "own.profile.json"
    body = json.loads(path.read_text())
    body["body"]["loop_ms"] = -1
    path.write_text(json.dumps(body))
    item = next(item for item in shelf.shelf(workspace.folders) if item.id == "own")
    assert item.profile is None
    assert "negative" in item.problem
    found, problems = readable_profiles(workspace.folders)
    assert "own" not in found
    assert len(found) == 4
    assert "negative" in problems[0]


def test_the_history_holds_replaced_measurements_of_the_same_device_and_models(workspace):
    keep_profile(workspace, measured("2026-01-01T00:00:00+00:00"))
    keep_profile(workspace, measured("2026-02-01T00:00:00+00:00", target_step_ms=50.0))
    keep_profile(workspace, measured("2026-01-15T00:00:00+00:00", id="x", device={"name": "Another"}))
    newest = shelf.load_profile(workspace.folders, "own")
    items = shelf.shelf(workspace.folders)
    assert [item.created_at[:7] for item in shelf.history(workspace.folders, newest, items)] == ["2026-01", "2026-02"]
    assert shelf.history(workspace.folders, K70, items) == [K70]


def test_what_was_measured_with_the_target_elsewhere_is_another_history(workspace):
    on_cpu = {**OWN.device, "target_placement": "CPU, 4 threads"}
    on_gpu = {**OWN.device, "target_placement": "GPU (OpenCL)"}
    for day, device in enumerate((OWN.device, on_cpu, on_gpu), start=1):
        keep_profile(workspace, measured(f"2026-01-0{day}T00:00:00+00:00", id=f"p{day}", device=device))
    items = shelf.shelf(workspace.folders)
    histories = [[p.id for p in shelf.history(workspace.folders, item.profile, items)] for item in items if item.own]
    assert histories == [["p3"], ["p1", "p2"], ["p1", "p2"]]


def test_uses_name_runs_of_the_device_replays_and_notebooks(workspace, tmp_path):
    device = {"name": "Phone", "serial": "1"}
    put(workspace.store, tmp_path, "run-1", device=device)
    put(workspace.store, tmp_path, "replay-demo-clean_00-own-as2d", source="replayed")
    add_cells(workspace.store, None, [figure_cell("profile", profile="own")], "begun")
    found = shelf.uses(workspace, OWN)
    assert found.device_key == "Phone | 1"
    assert found.runs == 1
    assert found.replayed == ("replay-demo-clean_00-own-as2d",)
    assert [(title, cells) for _, title, cells in found.notebooks] == [("Sent figures", 1)]


def test_uses_name_frozen_choices_and_whether_their_costs_are_still_these(workspace):
    keep_profile(workspace, OWN)
    freeze(workspace.folders, choose_pairs(OWN, load_corpus("demo"), [7], by_hand=True), by_hand=True)
    (found,) = shelf.uses(workspace, OWN).frozen
    assert (found.deployment.fixed.budget, found.deployment.fixed.corpus, found.stale) == (7, "demo", "")
    (again,) = shelf.uses(workspace, replace(OWN, loop_ms=1.0)).frozen
    assert again.stale == "The costs were measured anew since."
    assert shelf.uses(workspace, K70).frozen == ()


def test_a_published_phone_that_nothing_names_has_no_uses(workspace):
    found = shelf.uses(workspace, load_profile("note9"))
    assert (found.runs, found.replayed, found.notebooks, found.calibration_group) == (0, (), (), None)


def test_an_exported_profile_comes_back_the_same(workspace):
    assert shelf.import_bytes(workspace, shelf.profile_json(OWN), "own.json") == OWN
    assert shelf.load_profile(workspace.folders, "own") == OWN


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\xfe\x00", "no text"),
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'{"loop_ms": 1' + b"0" * 400 + b"}", "larger than any number"),
        (b"[]", "JSON object"),
        (b'{"id": "x"}', "is missing"),
        (b"x" * 20_000_001, "20 MB"),
    ],
)
def test_what_is_no_profile_is_refused_with_a_sentence(workspace, data, said):
    with pytest.raises(ProfileError, match=said):
        shelf.import_bytes(workspace, data, "f.json")


def test_a_kept_profile_is_replaced_only_when_asked(workspace):
    keep_profile(workspace, OWN)
    changed = shelf.profile_json(replace(OWN, loop_ms=9.0))
    with pytest.raises(ProfileError, match="kept already"):
        shelf.import_bytes(workspace, changed, "own.json")
    assert shelf.import_bytes(workspace, changed, "own.json", replace=True).loop_ms == 9.0


def test_published_profiles_can_be_neither_replaced_nor_deleted(workspace):
    with pytest.raises(ProfileError, match="published profile"):
        shelf.import_bytes(workspace, shelf.profile_json(replace(OWN, id="k70")), "k70.json")
    with pytest.raises(ProfileError, match="belongs to the program"):
        shelf.delete_profile(workspace, "k70")


def test_the_stamp_changes_when_a_profile_does(workspace):
    before = shelf.shelf_stamp(workspace.folders)
    keep_profile(workspace, OWN)
    after = shelf.shelf_stamp(workspace.folders)
    assert after != before
    shelf.delete_profile(workspace, "own")
    assert shelf.shelf_stamp(workspace.folders) == before


def test_measured_rates_pool_over_windows_that_all_methods_of_a_device_ran(workspace, tmp_path):
    for run_id, how in {
        "a": {"method": "target-only"},
        "b": {},
        "c": {"window": "clean_01"},  # As²d alone: no part of the comparison
        "failed": {"method": "sd", "status": "failed", "error": "x"},
        "replay": {"method": "sd", "source": "replayed"},
    }.items():
        put(workspace.store, tmp_path, run_id, **how)
    (rate,) = measured_rates(workspace)
    assert set(rate.tps) == {"target-only", "as2d"}
    assert (rate.windows, rate.runs, rate.virtual) == (1, 2, False)
    assert rate.tps["as2d"] > rate.tps["target-only"] > 0


def test_runs_whose_time_is_not_known_are_pooled_too(workspace, tmp_path):
    for run_id, how in {"a": {"method": "target-only"}, "b": {}}.items():
        put(workspace.store, tmp_path, run_id, created_at="unknown", **how)
    (rate,) = measured_rates(workspace)
    assert rate.device


def test_one_method_alone_is_no_comparison(workspace, tmp_path):
    assert measured_rates(workspace) == []
    put(workspace.store, tmp_path, "a", method="target-only")
    assert measured_rates(workspace) == []
