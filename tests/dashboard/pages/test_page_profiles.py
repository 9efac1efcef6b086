import json
from dataclasses import replace

import pytest

from as2d_core.profiles import load_profile
from as2d_core.profiles.profile import Provenance, Spread, Stability
from dashboard.services.profile_shelf import delete_profile
from dashboard.services.profiles import keep_profile

K70 = load_profile("k70")
CALLS = tuple(110.0 + i for i in range(5))
OWN = replace(
    K70,
    id="own",
    name="Own <b>phone</b>",
    kind="measured",
    created_at="2026-02-01T10:00:00+00:00",
    device={"name": "Phone", "serial": "1", "model": "<img src=x>"},
    spread={"verify_idle_ms.8": Spread.of(CALLS), "width_ms.1": Spread.of((60.0,)), "width_ms.8": Spread.of(CALLS)},
    provenance={**K70.provenance, "verify_idle_ms.8": Provenance("measured")},
    stability=Stability("unstable", "typical spread 44% of the mean"),
    exact_widths=(1, 2, 4),
    argmax_widths=(1, 2, 3, 4),
    failed_width=26,
    failed_reason="killed",
)


@pytest.fixture
def own(workspace):
    keep_profile(workspace, OWN)


def test_an_empty_store_shows_the_published_phones(workspace, open_page):
    app = open_page("profiles")
    assert {"widths", "savings", "ratios"} <= set(app.charts)
    assert app.test.dataframe[0].value["Profile"].tolist() == [
        "Xiaomi 11 Pro", "Redmi K70 Pro", "Xiaomi 14", "Redmi Note 9 Pro",
    ]  # fmt: skip
    assert "Nothing in the store names it yet" in app.text
    assert "published" in app.text


def test_a_measured_profile_comes_first_with_its_verdict_and_failed_width(own, open_page):
    app = open_page("profiles")
    assert app.widget("selectbox", "Profile").value == "own"
    assert "This measurement may not repeat: typical spread 44% of the mean." in app.text
    assert "K = 26 failed: killed." in app.text
    assert "K = 3 same token" in app.text
    assert "<img" not in app.html


def test_every_figure_says_in_itself_which_profile_it_shows(own, open_page):
    for figure in open_page("profiles", profile="k70").charts.values():
        assert "Redmi K70 Pro (published)" in [item["text"] for item in figure["layout"]["annotations"]]


def test_single_calls_can_be_left_out_by_the_address(own, open_page):
    names = [trace["name"] for trace in open_page("profiles").charts["widths"]["data"]]
    assert "calls:alone" in names
    names = [trace["name"] for trace in open_page("profiles", means=1).charts["widths"]["data"]]
    assert "calls:alone" not in names


def test_two_profiles_are_compared_by_the_address(own, open_page):
    app = open_page("profiles", profile="k70", against="mi14")
    assert "pair" in app.charts
    everything = len(app.test.dataframe[2].value)
    app.choose("toggle", "Differences only", True)
    assert app.state["differences"] == "1"
    assert len(app.test.dataframe[2].value) < everything


def test_two_equal_profiles_have_no_differences_to_show(workspace, open_page):
    keep_profile(workspace, replace(K70, id="twin", name="Twin"))
    app = open_page("profiles", profile="k70", against="twin", differences=1)
    assert "No cost differs." in app.text


def test_a_profile_that_is_gone_is_said_to_be(workspace, open_page):
    assert "There is no profile 'gone' here" in open_page("profiles", profile="gone").text


def test_an_unreadable_profile_is_a_warning_and_the_rest_is_shown(own, workspace, open_page):
    path = workspace.folders.profiles / "own.profile.json"
    body = json.loads(path.read_text())
    body["body"]["loop_ms"] = -1
    path.write_text(json.dumps(body))
    app = open_page("profiles")
    assert "a cost cannot be negative" in app.text
    assert app.test.dataframe[0].value["Kind"].tolist()[0] == "unreadable"
    assert "widths" in app.charts


def test_a_profile_goes_into_the_bin_and_comes_back(own, open_page):
    app = open_page("profiles").press("Move it into the bin")
    assert "own" not in str(app.widget("selectbox", "Profile").options)
    app.choose("toggle", "Show the bin", True)
    assert "own, kept" in app.text
    app.press("Restore")
    assert "The bin holds no profile." in app.text
    assert open_page("profiles").widget("selectbox", "Profile").value == "own"


def test_a_profile_in_the_bin_can_be_removed_for_good(own, workspace, open_page):
    delete_profile(workspace, "own")
    app = open_page("profiles", bin=1).press("Remove it for good")
    assert "The bin holds no profile." in app.text
    assert list(workspace.folders.bin.iterdir()) == []


def test_drift_shows_from_the_second_measurement_on(own, workspace, open_page):
    assert "This device was measured once" in open_page("profiles").text
    keep_profile(workspace, replace(OWN, created_at="2026-03-01T10:00:00+00:00", target_step_ms=71.2))
    app = open_page("profiles")
    assert "Measured 2 times. Since the first time, Target-only step moved most: +19.9 %." in app.text
    assert len(app.charts["drift"]["data"]) == 5


def test_hundreds_of_profiles_are_listed_in_one_table(workspace, open_page):
    for i in range(120):
        keep_profile(
            workspace, replace(K70, id=f"p{i:03}", name=f"Phone {i}", kind="measured", device={"name": str(i)})
        )
    app = open_page("profiles", profile="p077")
    assert len(app.test.dataframe[0].value) == 124
    assert app.widget("selectbox", "Profile").value == "p077"


def test_a_figure_is_sent_to_a_notebook(workspace, open_page):
    app = open_page("profiles", profile="mi14")
    next(button for button in app.test.button if button.key == "send-widths").click()
    app.run()
    assert "Sent figures" in app.test.toast[0].value
    assert "Notebook Sent figures: 1 cell" in app.links
