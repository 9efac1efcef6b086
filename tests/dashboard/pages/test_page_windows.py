import re

import pytest


def table(app):
    return app.test.dataframe[-1].value


def test_an_empty_store_shows_recorded_windows_with_a_published_phone(workspace, open_page):
    app = open_page("windows")
    assert {"speed", "gain"} <= set(app.charts)
    assert re.search(r"slower on \d+ of 200 windows", app.text)
    assert set(table(app)["Split"]) == {"development", "validation"}
    assert "published" in app.text


def test_runs_of_an_empty_store_lead_to_the_request_page(workspace, open_page):
    app = open_page("windows", source="store")
    assert "There is no run yet." in app.text
    assert "Run a method" in app.links


def test_filters_are_in_the_address_and_in_the_figures(workspace, open_page):
    app = open_page("windows", subset="clean\nfast", split="test", most=10)
    rows = table(app)
    assert "Split" not in rows
    assert set(rows["Subset"]) <= {"clean", "fast"}
    assert 0 < len(rows) < 60
    said = str(app.charts["gain"]["layout"]["annotations"])
    assert "clean, fast; 0 s to 10 s; demo (measured tokens) with the costs of Redmi K70 Pro, test windows" in said


def test_filters_that_let_nothing_through_can_be_cleared(workspace, open_page):
    app = open_page("windows", find="nothing like it", slower=1)
    assert "None of 200 windows passes these filters." in app.text
    app.press("Clear the filters")
    assert len(table(app)) == 200


def test_an_open_window_is_heard_read_explained_and_replayed(workspace, open_page):
    app = open_page("windows", window="fast_09", split="all")
    assert "The target says:" in app.text
    assert re.search(r"\d+ steps saved", app.text)
    assert len(app.test.get("audio")) == 1
    assert "window-timeline" in app.charts
    assert "window=fast_09" in app.links["Replay it round by round"]
    app.press("Faster")
    assert app.state["window"] != "fast_09"
    app.press("Close")
    assert "window-timeline" not in app.charts


def test_a_window_that_is_not_in_the_set_opens_nothing(workspace, open_page):
    assert "Click a mark or tick a row" in open_page("windows", window="nowhere").text


def test_another_method_is_held_against_target_only(workspace, open_page):
    app = open_page("windows", setting="SpecASR cap=24", sd=5)
    assert "SpecASR cap=24:" in app.text
    assert "SD K=5 time" in table(app).columns


@pytest.mark.parametrize("state", [{"profile": "no-such"}, {"corpus": "no-such"}, {"b": "x"}, {"order": "?"}])
def test_what_an_address_names_in_vain_is_the_default(workspace, open_page, state):
    assert len(table(open_page("windows", **state))) == 200


def test_one_stored_run_has_no_gain_and_says_why(keep, open_page):
    keep("only")
    app = open_page("windows", source="store")
    assert "No target-only run is among these runs" in app.text
    assert len(table(app)) == 1


def test_stored_windows_keep_failed_runs_and_open_the_newest_one(keep, open_page):
    keep("alone", method="target-only")
    keep("ours")
    keep("broken", status="failed", error="The model is unwell.", window="clean_01")
    app = open_page("windows", source="store", window="clean_00")
    rows = table(app)
    assert list(rows["Left out"]) == [0, 1]
    assert app.links["Look at its rounds"] == "run=ours"
    broken = open_page("windows", source="store", window="clean_01")
    assert broken.links["Look at its rounds"] == "run=broken"


def test_only_target_only_in_the_store_is_a_sentence(keep, open_page):
    keep("alone", method="target-only")
    assert "Only target-only ran on these windows" in open_page("windows", source="store").text


def test_test_windows_that_were_looked_at_here_keep_a_pair_picked_by_hand_from_being_frozen(workspace, open_page):
    app = open_page("windows", split="all")
    assert app.test.session_state["test-windows-shown"]
    assert "test-windows-shown" not in open_page("windows").test.session_state


def test_a_split_without_windows_is_a_sentence_with_a_way_out(workspace, open_page):
    app = open_page("windows", corpus="paper-688", split="development")
    assert "The set paper-688 has no development windows." in app.text
    app.press("Show all of its windows")
    assert "of 688 windows" in app.text
