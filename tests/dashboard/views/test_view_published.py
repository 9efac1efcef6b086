"""The paper's tables and ledger beside ours: nothing that differs is hidden, and every reason is said."""

from dataclasses import replace

import pytest
from view_checks import check_figure

from as2d_core.published.comparison import ComparedCell, ComparedTable
from as2d_core.published.ledger import check_ledger, figure_from_json
from as2d_core.published.tables import Key, PublishedCell, PublishedTable, published_table
from dashboard.services.published import recomputed_ledger
from dashboard.views.published_ledger import in_half_units, ledger_figure, ledger_info, ledger_table
from dashboard.views.published_tables import (
    Headline,
    cells_table,
    deviations_figure,
    difference,
    headline_table,
    headlines,
    kind_of,
    overview_figure,
    reasons_of,
    summary_table,
    table_html,
    tables_sentence,
)
from dashboard.views.theme import DARK, LIGHT


def cell(row, column, printed, ours, method="as2d", quantity="tps", why=("it is <drawn>",)):
    key = Key(quantity, "k70", method=method)
    found = ComparedCell(PublishedCell(row, column, printed, key), ours, ())
    return found if found.verdict == "agrees" else replace(found, reasons=why)


@pytest.fixture
def compared():
    """Two rows, two columns: as printed, near, far off, and one that could not be replayed."""
    cells = (
        cell("Target-only", "A", "10.00", 10.0, method="target_only"),
        cell("Target-only", "B", "20.00", 20.4),
        cell("gain, %", "A", "50.0", 60.0, quantity="gain"),
        cell("gain, %", "B", "40.0", None, why=("a cost is missing",)),
    )
    table = PublishedTable("8", "Rates", "D.4.1", "tok/s", ("Target-only", "gain, %"), ("A", "B"), ())
    return ComparedTable(table, "paper-688", "synthetic", cells)


def test_the_score_counts_every_cell_and_names_what_could_not_be_replayed(compared):
    assert tables_sentence([compared]) == (
        "1 of 4 cells agree to the printed digit, 2 lie within 5 %, 2 do not; 1 cell could not be replayed."
    )
    row = summary_table([compared]).iloc[0]
    assert row[["Table", "Cells", "Agree", "Within 5 %", "n/a"]].tolist() == ["Table 8", 4, 1, 2, 1]
    assert row["Largest off"] == "+20.0 % (gain, %, A)"


def test_a_percentage_differs_by_points_and_a_rate_by_percent(compared):
    assert [difference(compared, item) for item in compared.cells] == ["+0.0 %", "+2.0 %", "+10.0 points", "n/a"]


def test_a_figure_that_went_into_the_corpus_is_solved_and_no_evidence(compared):
    assert [kind_of(item) for item in compared.cells] == ["solved", "replayed", "replayed", "replayed"]


def test_the_table_shows_published_ours_difference_and_the_number_of_its_reason(compared):
    html = table_html(compared)
    assert html.count("<td") == 4
    assert "20.40" in html
    assert "+2.0 %" in html
    assert "<sup> 1</sup>" in html
    assert "<sup> 2</sup>" in html
    assert "n/a" in html
    assert "<drawn>" not in html
    assert reasons_of(compared) == ("it is <drawn>", "a cost is missing")


def test_differences_only_leaves_out_what_agrees_and_nothing_else(compared):
    assert "10.00" not in table_html(compared, only_differing=True)
    assert cells_table([compared], only_differing=True)["Verdict"].tolist() == ["differs", "differs", "n/a"]
    assert len(cells_table([compared])) == 4


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_both_figures_draw_every_cell_that_has_a_figure(compared, theme):
    overview = check_figure(overview_figure([compared], theme))
    assert sum(len(trace["x"]) for trace in overview["data"] if "customdata" in trace) == 3
    assert overview["data"][0]["customdata"][0] == ["8"]
    one = check_figure(deviations_figure(compared, theme))
    assert [trace["name"] for trace in one["data"]] == ["agrees: 1", "differs: 2"]


def test_a_table_without_any_replay_says_so(compared):
    bare = replace(compared, cells=compared.cells[3:])
    assert "could be replayed" in deviations_figure(bare, LIGHT).layout.annotations[0].text
    assert "No table" in overview_figure([], LIGHT).layout.annotations[0].text


def test_the_ledger_has_190_figures_none_of_which_contradicts_its_inputs():
    info = ledger_info(recomputed_ledger())
    assert info.sentence.startswith("190 of 190 published figures that follow from others do: 161 come out as printed")
    assert len(ledger_table(info)) == 190
    only = ledger_table(info, only_inexact=True)
    assert set(only["Verdict"]) == {"within rounding"}
    assert (only["Why not exact"] != "").all()


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_contradiction_would_be_counted_and_drawn(theme):
    item = {"name": "<b>x</b>", "where": "5.1", "published": "3", "formula": "a+b", "inputs": {"a": "1", "b": "1"}}
    info = ledger_info(check_ledger([figure_from_json({**item, "within": 0.5})]))
    assert "1 contradict them." in info.sentence
    assert in_half_units(info.figures[0]) == -2.0
    body = check_figure(ledger_figure(info, theme))
    assert body["data"][0]["name"] == "differs: 1"


def test_an_empty_ledger_says_so():
    assert "empty" in ledger_figure(ledger_info([]), LIGHT).layout.annotations[0].text


def test_headlines_hold_printed_and_replayed_rows_of_all_five_datasets():
    table = published_table("8")
    cells = tuple(ComparedCell(item, float(item.printed) + 1, ()) for item in table.cells)
    found = headlines([ComparedTable(table, "paper-688", "synthetic", cells)])
    assert [(row.device, row.kind) for row in found[:2]] == [
        ("Redmi K70 Pro", "published"),
        ("Redmi K70 Pro", "replayed"),
    ]
    assert found[0].tps == {"target-only": 16.96, "sd": 18.97, "specasr": 16.81, "as2d": 27.92}
    assert found[1].tps["as2d"] == pytest.approx(28.92)
    assert headlines([]) == []


def test_a_method_that_a_device_never_ran_is_missing_and_its_gain_too():
    rows = headline_table(
        [Headline("x", "measured", 3, {"target-only": 10.0, "as2d": 15.0}), Headline("y", "m", 1, {})]
    )
    assert rows["As²d over target-only (%)"].tolist()[0] == pytest.approx(50.0)
    assert rows.iloc[1][["Target-only", "As²d over target-only (%)"]].isna().all()
    assert rows["SD"].isna().all()
