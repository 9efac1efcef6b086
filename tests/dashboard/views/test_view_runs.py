from datetime import UTC, datetime

import pytest
from view_checks import HOSTILE, check_figure, texts

from dashboard.views.runs import COLUMN_HELP, runs_info, runs_styled
from dashboard.views.runs_compare import comparison_figure, comparison_info
from dashboard.views.theme import DARK, LIGHT

ROW = {
    "run_id": "8f3a",
    "created_at": datetime(2025, 3, 1, 10, 0, tzinfo=UTC),
    "device_name": "Redmi K70 Pro",
    "method": "as2d",
    "budget": 7,
    "width": None,
    "window_id": "long-07",
    "status": "eos",
    "tps": 27.918,
    "elapsed_ms": 7282.0,
    "committed_tokens": 203,
    "accepted": 3,
    "proposed": 5,
    "label": "measured",
    "emulated": False,
    "tags": ("keep", "k70"),
    "matches_target_only": True,
}


def row(**values):
    return {**ROW, **values}


def test_a_row_is_written_with_units():
    shown = runs_info([ROW]).shown.iloc[0].to_dict()
    assert shown == {
        "Run": "8f3a",
        "Started": "2025-03-01 10:00:00",
        "Device": "Redmi K70 Pro",
        "Method": "As²d b=7",
        "Window": "long-07",
        "Status": "ended by itself (EOS)",
        "TPS": "27.92 tok/s",
        "Time": "7.28 s",
        "Tokens": "203",
        "Accepted": "60.0 %",
        "Output": "equal",
        "Kind": "measured",
        "Tags": "keep, k70",
    }


def test_what_a_row_lacks_is_missing_and_never_zero():
    shown = runs_info([{"run_id": "x"}, dict.fromkeys(ROW)]).shown
    for column in ("TPS", "Time", "Tokens", "Accepted", "Output", "Device", "Method", "Window", "Status", "Kind"):
        assert shown[column].tolist() == ["n/a", "n/a"]


def test_a_run_that_never_proposed_has_no_share():
    assert runs_info([row(proposed=0, accepted=0)]).shown["Accepted"][0] == "n/a"


def test_numbers_stay_numbers_so_that_a_table_sorts_by_them():
    info = runs_info([row(tps=9.5), row(tps=None), row(tps=27.9)])
    assert info.table["TPS"].dtype == "float64"
    assert info.table.sort_values("TPS")["TPS"].iloc[0] == 9.5
    markup = runs_styled(info).to_html()
    assert "9.50 tok/s" in markup
    assert "n/a" in markup


def test_every_column_is_explained():
    info = runs_info([ROW])
    assert list(info.table.columns) == list(COLUMN_HELP) == list(info.help)


def test_an_empty_store_gives_an_empty_table_with_its_columns():
    info = runs_info([])
    assert list(info.shown.columns) == list(COLUMN_HELP)
    assert len(info.shown) == 0


def test_an_emulated_run_says_so_in_the_table():
    assert runs_info([row(emulated=True)]).shown["Kind"][0] == "measured, emulated"


@pytest.mark.parametrize("name", [b.decode("utf-8", "replace") for b in HOSTILE])
def test_names_from_elsewhere_are_made_visible(name):
    shown = runs_info([row(window_id=name, device_name=name, tags=(name,), method=name)]).shown
    for column in ("Window", "Device", "Tags", "Method"):
        assert "\u202e" not in shown[column][0]
        assert "\n" not in shown[column][0]


def test_pooled_throughput_is_tokens_over_time_and_no_mean_of_rates():
    rows = [row(committed_tokens=100, elapsed_ms=10_000.0), row(committed_tokens=300, elapsed_ms=10_000.0)]
    (bar,) = comparison_info(rows).bars
    assert bar.pooled_tps == pytest.approx(400 / 20)
    assert bar.runs == 2
    assert bar.samples == pytest.approx((10.0, 30.0))


def test_failed_runs_and_warm_ups_are_counted_beside_the_bar():
    rows = [ROW, row(status="failed"), row(status="failed", tps=None), row(warm_up=True)]
    (bar,) = comparison_info(rows).bars
    assert bar.runs == 1
    assert dict(bar.left_out) == {"failed": 2, "warm-up": 1}
    assert bar.caption == "27.88 tok/s   n = 1   2 failed   1 warm-up"


def test_a_method_whose_runs_all_failed_stays_in_the_figure():
    info = comparison_info([row(status="failed"), row(method="target-only", budget=None)])
    assert [bar.name for bar in info.bars] == ["Target-only", "As²d b=7"]
    assert info.bars[1].pooled_tps is None
    assert "n/a   n = 0   1 failed" in " ".join(texts(check_figure(comparison_figure(info, LIGHT))))


def test_budgets_and_kinds_of_numbers_are_never_pooled_together():
    rows = [ROW, row(budget=5), row(label="replayed"), row(emulated=True), row(device_name="Xiaomi 14")]
    info = comparison_info(rows)
    assert len(info.bars) == 5
    assert len({bar.name for bar in info.bars}) == 5
    assert any("mix kinds" in note for note in info.notes)


def test_a_gain_needs_target_only_on_the_same_windows():
    base = row(method="target-only", budget=None, committed_tokens=203, elapsed_ms=14_564.0)
    same = comparison_info([ROW, base]).bars[1]
    assert same.gain == pytest.approx(100.0)
    assert "+100.0 % against target-only" in same.caption
    other = comparison_info([ROW, {**base, "window_id": "short-01"}])
    assert other.bars[1].gain is None
    assert "do not cover the same windows" in other.notes[0]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_comparison_shows_a_bar_and_every_run_behind_it(theme):
    rows = [row(elapsed_ms=7000.0 + i) for i in range(4)] + [row(method="target-only", budget=None)]
    body = check_figure(comparison_figure(comparison_info(rows), theme))
    kinds = {t["name"]: t for t in body["data"]}
    assert set(kinds) == {"pooled:as2d", "pooled:target-only", "runs:as2d"}
    assert len(kinds["runs:as2d"]["x"]) == 4
    assert kinds["pooled:as2d"]["marker"]["line"]["color"] == theme.method("as2d")
    assert body["layout"]["xaxis"]["title"]["text"] == "pooled TPS (tok/s)"


def test_without_runs_there_is_a_sentence():
    assert "No run was chosen." in texts(check_figure(comparison_figure(comparison_info([]), LIGHT)))
