import pytest
from page_samples import HOSTILE

from dashboard.services import notebooks
from datastore.queries import get_run


def test_an_empty_store_leads_to_the_request_page(open_page):
    app = open_page("reports")
    assert "There is no run yet." in app.text
    assert "Run a method" in app.links
    assert app.charts == {}


def test_one_run_is_reported_as_soon_as_it_is_there(workspace, keep, open_page):
    keep("a-run")
    app = open_page("reports")
    assert set(app.charts) == {"report-1-1", "report-3-0"}
    assert f"{get_run(workspace.store, 'a-run').tps:.2f} tok/s" in app.text
    assert [button.label for button in app.test.get("download_button")][:3] == ["HTML", "Bundle", "Trace"]


def test_the_address_holds_what_was_chosen_and_said(keep, open_page):
    keep("a-run")
    keep("b-run", method="target-only")
    app = open_page("reports", template="comparison", runs="a-run\nb-run", title="Two", hypothesis="why")
    assert "Hypothesis: why" in app.text
    assert app.test.subheader[-1].value == "Two"
    assert app.widget("multiselect", "Runs").value == ["a-run", "b-run"]
    app.choose("text_area", "Conclusion", "so")
    assert app.state["conclusion"] == "so"
    assert "Conclusion: so" in app.text


def test_a_comparison_without_runs_asks_for_one(keep, open_page):
    keep("a-run")
    assert "Choose a run." in open_page("reports", template="comparison").text


@pytest.mark.parametrize("status", ["failed", "cancelled"])
def test_a_run_without_an_end_is_reported_with_its_reason(keep, open_page, status):
    keep("a-run", status=status, error="The model is unwell.")
    assert "is left out of pooled figures" in open_page("reports").text


def test_a_profile_is_reported_without_a_run(open_page):
    app = open_page("reports", template="profile", profile="mi14")
    assert "Xiaomi 14" in app.text
    assert [button.label for button in app.test.get("download_button")][:2] == ["HTML", "Bundle"]


def test_a_budget_is_reported_with_its_figures(open_page):
    app = open_page("reports", template="budget", profile="k70", corpus="demo", split="validation")
    assert len(app.charts) == 3  # budgets, map, and what wider verifications save


def test_a_report_is_gone_on_with_as_a_notebook(workspace, keep, open_page):
    keep("a-run")
    app = open_page("reports", title="Mine")
    app.press("Open as a notebook")
    (kept,) = notebooks.list_notebooks(workspace.store)
    assert kept.title == "Mine"


def test_hostile_words_are_text(keep, open_page):
    keep("a-run", words=HOSTILE)
    app = open_page("reports", title=HOSTILE, hypothesis=HOSTILE)
    assert "<img" not in app.html
    assert "onerror=alert(1)" in app.text
