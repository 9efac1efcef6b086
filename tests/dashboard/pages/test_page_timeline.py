import pytest
import streamlit as st
from page_samples import HOSTILE
from perfetto_bytes import power_trace

from dashboard import ui_cache
from dashboard.services.importing import import_bytes
from dashboard.services.runs import delete_run


def test_an_empty_store_leads_to_the_request_page(open_page):
    app = open_page("timeline")
    assert "There is no run yet." in app.text
    assert {"Run a method", "Look at a sample, replayed"} <= set(app.links)
    assert app.charts == {}


def test_the_newest_run_is_shown_when_none_is_named(keep, open_page):
    keep("older", created_at="2026-03-01T10:00:00+00:00")
    keep("newer", created_at="2026-03-02T10:00:00+00:00")
    app = open_page("timeline")
    assert "run newer" in app.text
    assert set(app.charts) == {"overview", "detail", "account"}


def test_the_gain_is_against_target_only_on_the_same_work(keep, open_page):
    keep("alone", method="target-only")
    keep("ours")
    assert "against target-only" in open_page("timeline", run="ours").text


def test_a_run_is_named_by_the_address(keep, open_page):
    keep("a-run")
    keep("b-run", created_at="2026-03-02T10:00:00+00:00")
    assert "run a-run" in open_page("timeline", run="a-run").text


def test_an_unknown_run_is_a_sentence_and_the_newest_is_shown(keep, open_page):
    keep("a-run")
    text = open_page("timeline", run="a-rum").text
    assert "Did you mean 'a-run'?" in text
    assert "run a-run" in text


def test_a_failed_run_says_how_far_it_got_and_draws_nothing(keep, open_page):
    keep("broken", status="failed", error="The model is unwell.")
    app = open_page("timeline", run="broken")
    assert "Decoding never began: The model is unwell." in app.text
    assert app.charts == {}


def test_a_run_that_broke_off_shows_what_there_is(keep, open_page):
    keep("cut", keep=12)
    app = open_page("timeline", run="cut")
    assert "The record is not complete" in app.text
    assert "So far:" in app.text
    assert "detail" in app.charts


def test_the_range_in_the_address_is_what_the_detail_shows(keep, open_page):
    keep("a")
    app = open_page("timeline", run="a", **{"from": 100, "to": 300})
    assert app.charts["detail"]["layout"]["xaxis"]["range"] == [100, 300]


@pytest.mark.parametrize("ends", [("300", "100"), ("x", "y"), ("-5", "1e9")])
def test_a_range_that_is_none_shows_the_whole_run(keep, open_page, ends):
    keep("a")
    app = open_page("timeline", run="a", **{"from": ends[0], "to": ends[1]})
    assert app.charts["detail"]["layout"]["xaxis"]["range"][0] == 0
    assert app.button("Whole run").disabled
    told = f"the address names '{ends[0]} to {ends[1]}', which is not here; the whole run is shown" in app.text
    assert told == (ends != ("-5", "1e9"))


def test_a_range_that_reaches_beyond_the_run_is_cut_to_it(keep, open_page):
    keep("a")
    app = open_page("timeline", run="a", **{"from": 300, "to": 900_000})
    low, high = app.charts["detail"]["layout"]["xaxis"]["range"]
    assert low == 300
    assert high < 900


def test_zooming_is_in_the_address_with_the_run_it_belongs_to(keep, open_page):
    keep("a")
    app = open_page("timeline").press("Zoom in")
    assert app.state["run"] == "a"
    low, high = int(app.state["from"]), int(app.state["to"])
    app.press("Later")
    assert int(app.state["from"]) > low
    assert int(app.state["to"]) - int(app.state["from"]) == pytest.approx(high - low, abs=1)
    app.press("Whole run")
    assert app.state == {"run": "a"}


def test_an_open_round_shows_its_candidates_and_leads_to_its_neighbours(keep, open_page):
    keep("a")
    app = open_page("timeline", run="a", round=2)
    assert "round 2 of" in app.text.replace("  ", " ")
    app.press("Next round")
    assert app.state["round"] == "3"
    app.press("Close")
    assert "round" not in app.state


def test_a_round_that_the_run_does_not_have_opens_nothing(keep, open_page):
    keep("a")
    app = open_page("timeline", run="a", round=4000)
    assert "Click a round" in app.text
    assert "Round: the address names '4000', which is not here; no round is open." in app.text


def test_tokens_are_text_whatever_they_hold(keep, open_page):
    keep("a", words=HOSTILE)
    app = open_page("timeline", run="a", round=2, said=1)
    assert "<img" not in app.html
    assert "onerror=alert(1)" in app.text
    assert all("<img" not in str(trace.get("hovertext")) for trace in app.charts["detail"]["data"])


def test_a_window_can_be_replayed_by_the_address(open_page):
    app = open_page("timeline", corpus="demo", window="clean_00", profile="k70", b=5)
    assert "the decisions are real, the times are computed" in app.text
    assert "replayed" in app.text
    assert "As²d b=5" in app.text


def test_a_replay_that_cannot_be_is_a_sentence(open_page):
    app = open_page("timeline", corpus="demo", window="clean_99", profile="k70", b=5)
    assert "There is no window named 'clean_99'" in app.text
    assert app.charts == {}


def test_a_replay_gives_way_to_the_runs_of_the_store(keep, open_page):
    keep("a")
    app = open_page("timeline", corpus="demo", window="clean_00", profile="k70", b=5)
    app.press("Show a run of the store instead")
    assert app.state == {}
    assert "run a" in app.text


def test_many_runs_fill_the_picker_newest_first(keep, open_page):
    for number in range(12):
        keep(f"run-{number:02d}", created_at=f"2026-03-{number + 1:02d}T10:00:00+00:00")
    options = open_page("timeline").widget("selectbox", "Run").options
    assert len(options) == 12
    assert options[0].startswith("2026-03-12")


def test_both_lists_of_runs_follow_what_comes_and_goes(workspace, keep, open_page):
    keep("ours")
    keep("alone", method="target-only")
    app = open_page("timeline", run="ours")

    def listed():
        return [len(app.widget("selectbox", name).options) for name in ("Run", "Compare with")]

    assert listed() == [2, 2]
    keep("newer")
    app.run()
    assert listed() == [3, 3]
    delete_run(workspace, "alone")
    delete_run(workspace, "newer")
    app.run()
    assert [len(app.widget("selectbox", "Run").options)] == [1]
    assert "No other run of the same recording" in app.text


def test_a_part_of_the_time_is_pointed_out_in_the_lanes(keep, open_page):
    keep("a")
    app = open_page("timeline", run="a", part="O")
    names = [trace.get("name") for trace in app.charts["detail"]["data"]]
    assert {"part:O", "part:band"} <= set(names)
    assert "both work at once" in app.text


def test_the_longest_piece_of_a_part_is_one_step_away(keep, open_page):
    keep("a", method="sd")
    app = open_page("timeline", run="a", part="D")
    longest = next(button for button in app.test.button if button.key == "part-0")
    longest.click()
    app.run()
    assert {"from", "to"} <= set(app.state)


def test_another_run_of_the_recording_is_laid_under_this_one(keep, open_page):
    keep("ours")
    keep("alone", method="target-only")
    app = open_page("timeline", run="ours", by="token", **{"with": "alone"})
    assert "was faster by" in app.text
    assert app.charts["aligned"]["layout"]["xaxis"]["title"]["text"] == "place in the output (tokens)"


def test_without_another_run_of_the_recording_the_page_says_so(keep, open_page):
    keep("ours")
    keep("other", window="clean_01")
    assert "No other run of the same recording" in open_page("timeline", run="ours").text


def test_power_of_a_trace_that_covers_the_run_is_shown_below_it(workspace, keep, open_page):
    keep("a-run")
    assert "Perfetto" not in open_page("timeline").text
    import_bytes(workspace.store, power_trace(), "power.pftrace")
    app = open_page("timeline")
    (key,) = (name for name in app.charts if name.startswith("power-"))
    assert [trace["name"] for trace in app.charts[key]["data"]] == ["battery", "CPU", "GPU"]
    assert "Battery by this trace:" in app.text
    assert app.test.dataframe[0].value["Rail"].tolist() == ["CPU", "GPU"]


def test_a_trace_of_another_day_says_why_it_is_not_shown(workspace, keep, open_page):
    keep("a-run", created_at="2026-03-05T10:00:00+00:00")
    import_bytes(workspace.store, power_trace(), f"p{HOSTILE}.pftrace")
    app = open_page("timeline")
    assert "the boot times lie 4 days apart" in app.text
    assert "<img" not in app.html


def test_a_long_run_is_read_window_by_window_and_shows_the_same(keep, open_page, monkeypatch):
    keep("a")
    state = {"run": "a", "from": 100, "to": 300, "round": 2, "part": "H"}
    plain = open_page("timeline", **state)
    monkeypatch.setattr(ui_cache, "WHOLE_SPANS", 0)
    st.cache_resource.clear()
    app = open_page("timeline", **state)
    assert app.text == plain.text
    assert app.charts["account"] == plain.charts["account"]
    low, high = app.charts["detail"]["layout"]["xaxis"]["range"]
    assert (low, high) == (100, 300)
    drawn, all_drawn = (sum(len(trace["x"]) for trace in page.charts["detail"]["data"]) for page in (app, plain))
    assert 0 < drawn < all_drawn
    st.cache_resource.clear()
