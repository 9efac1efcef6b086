from dataclasses import replace

import pytest

from as2d_core.deployment_file import read_deployment
from as2d_core.profiles import load_profile
from as2d_core.replay.trajectories import load_corpus, write_corpus
from dashboard.services.devices import find_device
from dashboard.services.profiles import keep_profile


@pytest.fixture
def calibrated(workspace):
    """A measured profile of this computer: a phone's costs under its own name."""
    facts = dict(find_device(workspace).facts)
    measured = replace(load_profile("k70"), id="this-computer", name="This computer", kind="measured", device=facts)
    keep_profile(workspace, measured)


def test_an_empty_store_compares_budgets_with_a_published_phone(workspace, open_page):
    app = open_page("budgets")
    assert {"budgets", "windows"} <= set(app.charts)
    assert "published" in app.text
    assert "Fixed choice drafter, b = 7: 28.91 tok/s, gap to the oracle 1.8 %" in app.text
    assert "test windows unseen: drafter, cheapest width with b ≤ 7 (28.58 tok/s on validation; " in app.text
    assert "the fixed choice, drafter, b = 7, 28.57 tok/s)." in app.text
    assert "Would deploy drafter, cheapest width with b ≤ 7." in app.text
    assert "Selected" not in app.text


def test_a_computer_that_is_not_calibrated_says_so_with_the_button(workspace, open_page):
    app = open_page("budgets")
    assert "was not measured yet" in app.text
    assert not app.button("Calibrate").disabled


def test_a_calibrated_computer_comes_first_and_is_not_asked_again(calibrated, open_page):
    app = open_page("budgets")
    assert app.widget("selectbox", "Costs of").value == "this-computer"
    assert "was not measured yet" not in app.text
    assert "measured" in app.text


def test_a_budget_is_selected_by_the_address(workspace, open_page):
    app = open_page("budgets", b=5)
    assert "Selected drafter, b = 5:" in app.text
    ring = next(trace for trace in app.charts["budgets"]["data"] if trace["name"] == "selected")
    assert ring["x"] == [5]


def test_a_budget_that_was_not_replayed_selects_the_frozen_choice(workspace, open_page):
    assert "Fixed choice drafter, b = 7:" in open_page("budgets", b=999).text


def test_costs_that_change_change_the_figures_at_once(workspace, open_page):
    app = open_page("budgets", b=7)
    before = app.text
    app.choose("select_slider", "What if a draft step cost", 4.0)
    assert app.state["draft"] == "× 4"
    assert app.text != before
    app.press("As measured")
    assert "draft" not in app.state
    assert app.text == before


def test_a_pair_on_all_windows_has_the_figures_of_all_windows(workspace, open_page):
    assert "Fixed choice drafter, b = 7: 28.38 tok/s, gap to the oracle 2.4 %" in open_page("budgets", split="all").text


def test_assumed_costs_are_drawn_before_the_measured_ones_and_choose_nothing(workspace, open_page):
    app = open_page("budgets", draft="× 2")
    assert "measured:drafter" in {trace["name"] for trace in app.charts["budgets"]["data"]}
    assert "As measured, chosen on 100 development and 100 validation windows" in app.text
    assert app.button("Freeze this choice").disabled


def test_the_map_of_a_large_set_follows_the_sliders_only_when_asked_to(workspace, open_page, monkeypatch):
    monkeypatch.setattr("dashboard.ui_budgets.MOST_CELLS_AT_ONCE", 100)
    measured = open_page("budgets").charts["windows"]
    app = open_page("budgets", draft="× 2")
    assert "budgets" in app.charts
    assert "windows" not in app.charts
    assumed = open_page("budgets", draft="× 2", map=1).charts["windows"]
    other = open_page("budgets", b=5).charts["windows"]
    assert measured["data"] != assumed["data"] != other["data"] != measured["data"]
    assert open_page("budgets").charts["windows"] == measured  # a map that was drawn before is that of its own choice


def test_a_choice_is_frozen_before_its_test_windows_can_be_shown(workspace, open_page):
    app = open_page("budgets")
    assert "4 Test shown · not yet" in " ".join(app.text.split())
    assert not [button for button in app.test.button if button.label == "Show its test windows"]
    app.press("Freeze this choice")
    frozen = workspace.folders.root / "deployments" / "k70-demo-1.as2d.json"
    chosen = read_deployment(frozen)
    assert (chosen.deployed.drafter, chosen.deployed.budget) == ("drafter", 7)
    assert "60 windows, unseen by this choice." in app.text
    app.press("Show its test windows")
    assert "4 Test shown · done" in " ".join(app.text.split())
    assert "26.76 tok/s [" in app.text
    assert read_deployment(frozen) == chosen


def test_a_frozen_choice_is_run_on_this_computer_as_the_file_says(workspace, open_page):
    app = open_page("budgets", **{"from": 2, "to": 4})
    app.press("Freeze this choice")
    app.press("Run it here")
    (job,) = workspace.jobs.jobs()
    assert job.wait(60)
    request = job.runs[-1].request
    assert (request.method, request.budget, request.audio.window_id) == ("as2d", 3, "long_00")


def test_a_pair_picked_by_hand_is_frozen_only_while_test_windows_are_unseen(workspace, open_page):
    app = open_page("budgets", b=5, split="all")
    assert app.button("Freeze this pair").disabled
    assert "would be picked on them" in app.text
    app = open_page("budgets", b=5)
    app.press("Freeze this pair")
    assert read_deployment(workspace.folders.root / "deployments" / "k70-demo-1.as2d.json").deployed.budget == 5


def test_validation_chooses_among_the_budgets_that_were_dragged_over(workspace, open_page):
    app = open_page("budgets", **{"from": 2, "to": 4})
    assert "Chosen among b = 2 to 4" in app.text
    assert "Selected drafter, b = 3:" in app.text
    app.press("Choose among all")
    assert "Fixed choice drafter, b = 7:" in app.text
    assert set(app.state) == set()


def test_every_device_is_replayed_when_somebody_asks(workspace, open_page):
    assert "devices" not in open_page("budgets").charts
    app = open_page("budgets", devices=1)
    names = {trace["name"] for trace in app.charts["devices"]["data"]}
    assert {"gain:k70:drafter", "gain:mi14:drafter", "best"} <= names


def test_another_phone_and_split_are_in_the_address(workspace, open_page):
    app = open_page("budgets", profile="mi14", split="test")
    assert app.widget("selectbox", "Costs of").value == "mi14"
    assert "60 windows" in str(app.charts["windows"]["layout"]["annotations"])


def test_a_cell_opens_its_window_with_text_recording_and_replay(workspace, open_page):
    app = open_page("budgets", window="clean_00", cell=5, split="test")
    assert f"The target says: {load_corpus('demo').window('clean_00').target_text}" in app.text
    assert len(app.test.get("audio")) == 1
    assert "cell-timeline" in app.charts
    assert app.links["Look at its rounds"] == "corpus=demo&window=clean_00&profile=k70&b=5"
    app.press("Close")
    assert "cell-timeline" not in app.charts


def test_a_window_that_is_not_in_the_set_opens_nothing(workspace, open_page):
    app = open_page("budgets", window="nowhere", cell=5, b=999, **{"from": 500, "to": 600})
    assert "Click a cell" in app.text
    assert "Budget: the address names '999', which is not here; the selected one is shown." in app.text
    assert "Range of budgets: the address names '500 to 600', which is not here; all of them count." in app.text


def test_a_cell_that_is_not_in_the_map_is_told_and_the_selected_one_is_shown(workspace, open_page):
    app = open_page("budgets", window="clean_00", cell=999, split="test")
    assert "Budget of the cell: the address names '999', which is not here; the selected one is shown." in app.text
    assert "cell-timeline" in app.charts


def test_the_table_holds_every_budget_and_baseline(workspace, open_page):
    table = open_page("budgets").test.dataframe[0].value
    assert {"As²d", "Target-only", "Oracle", "SD K=5"} <= set(table["Method"])
    assert (table["Method"] == "As²d").sum() == 24


@pytest.fixture
def two_drafters(workspace):
    """A set of one's own in which a second drafter says the same, without its last words."""
    demo = load_corpus("demo")

    def shorter(drafter):
        kept = max(len(drafter.candidates) - 3, 1)
        return replace(
            drafter, name="hasty", candidates=drafter.candidates[:kept], confidences=drafter.confidences[:kept]
        )

    windows = tuple(replace(w, drafters=(*w.drafters, shorter(w.drafters[0]))) for w in demo.windows[:6])
    workspace.folders.corpora.mkdir(parents=True, exist_ok=True)
    write_corpus(replace(demo, id="mine", windows=windows), workspace.folders.corpora / "mine.parquet")


def test_a_set_of_ones_own_with_several_drafters_can_be_compared_by_one_of_them(two_drafters, open_page):
    app = open_page("budgets", corpus="mine")
    names = {trace["name"] for trace in app.charts["budgets"]["data"]}
    assert {"tps:drafter", "tps:hasty"} <= names
    app = open_page("budgets", corpus="mine", only="hasty")
    names = {trace["name"] for trace in app.charts["budgets"]["data"]}
    assert "tps:hasty" in names
    assert "tps:drafter" not in names


def test_a_damaged_set_is_a_sentence(workspace, open_page):
    workspace.folders.corpora.mkdir(parents=True, exist_ok=True)
    (workspace.folders.corpora / "broken.parquet").write_bytes(b"no parquet")
    app = open_page("budgets", corpus="broken")
    assert "cannot be read as a Parquet file" in app.text
    assert app.charts == {}


def test_a_list_picks_a_budget_and_a_slider_a_range_as_a_click_and_a_drag_do(open_page):
    app = open_page("budgets", drag="1")
    app.choose("selectbox", "Budget", ("drafter", 3))
    assert app.state["b"] == "3"
    app.choose("select_slider", "Budgets to choose among", (2, 4))
    assert (app.state["from"], app.state["to"], app.state.get("b")) == ("2", "4", None)
