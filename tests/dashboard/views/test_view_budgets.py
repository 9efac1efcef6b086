from dataclasses import replace

import numpy as np
import pytest
from view_checks import check_figure, column, names, texts

from as2d_core.replay.budgets import compare_budgets
from as2d_core.replay.grid import Grid
from as2d_core.replay.pooling import Interval
from dashboard.views.budgets import budgets_figure, budgets_info
from dashboard.views.theme import DARK, LIGHT

BUDGETS = (1, 2, 4, 7, 12)


def grid(drafters=("a",), windows=9, infeasible=(), label="measured"):
    """A grid with known shape: time falls up to b = 7 and rises behind it; b = 12 is extrapolated."""
    shape = (len(drafters), len(BUDGETS), windows)
    base = 1000.0 + 100 * np.arange(windows)
    factor = np.array([0.95, 0.8, 0.7, 0.6, 0.65])
    time_ms = np.empty(shape)
    for d in range(len(drafters)):
        time_ms[d] = base[None, :] * (factor + 0.02 * d)[:, None]
    time_ms[0, 4, 0] = base[0] * 1.2
    for b in infeasible:
        time_ms[:, BUDGETS.index(b)] = np.nan
    counts = np.full(shape, 10)
    return Grid(
        corpus="demo",
        profile="k70",
        label=label,
        drafters=drafters,
        budgets=BUDGETS,
        windows=tuple(f"w{i}" for i in range(windows)),
        groups=("g",) * windows,
        splits=("validation",) * windows,
        tokens=np.full(windows, 20),
        time_ms=time_ms,
        target_only_ms=base,
        extrapolated=np.array([[b == 12 for b in BUDGETS]] * len(drafters)),
        rounds=counts,
        k1_rounds=counts // 2,
        proposed=counts * 5,
        accepted=counts * 3,
        standard_sd_ms={k: np.tile(base * (0.8 + 0.01 * k), (len(drafters), 1)) for k in (5, 6, 7, 8)},
    )


TABLE = compare_budgets(grid())


def test_the_fastest_budget_is_selected_unless_another_is_asked_for():
    assert budgets_info(TABLE).selected.budget == 7
    assert budgets_info(TABLE, ("a", 4)).selected.budget == 4
    assert budgets_info(TABLE, ("b", 4)).selected is None


def test_the_sentence_gives_throughput_gap_and_slowdowns_of_the_selected_pair():
    row = budgets_info(TABLE, ("a", 12)).selected
    sentence = budgets_info(TABLE, ("a", 12), Interval(1.9, 2.5)).sentence
    assert sentence == (
        f"selected a, b = 12: {row.tps:.2f} tok/s, gap to the oracle {row.gap:.1f} % [1.9, 2.5], "
        "11.1 % of windows slower than target-only (median loss 16.7 %)"
    )
    assert "gap" in budgets_info(TABLE, ("a", 7)).sentence
    assert "[" not in budgets_info(TABLE, ("a", 7)).sentence


def test_curves_hold_the_table_s_numbers():
    body = check_figure(budgets_figure(budgets_info(TABLE), LIGHT))
    curves = {t["name"]: t for t in body["data"] if t["name"] != "selected"}
    assert column(curves["tps:a"], "x").tolist() == list(BUDGETS)
    assert column(curves["tps:a"], "y").tolist() == [row.tps for row in TABLE.rows]
    assert column(curves["slower:a"], "y").tolist() == [row.slower_share * 100 for row in TABLE.rows]
    assert (curves["slower:a"]["xaxis"], curves["slower:a"]["yaxis"]) == ("x2", "y2")


def test_extrapolated_budgets_are_hollow_and_said_to_be():
    info = budgets_info(TABLE)
    curve = next(t for t in budgets_figure(info, LIGHT).data if t.name == "tps:a")
    assert list(curve.marker.symbol) == ["circle"] * 4 + ["circle-open"]
    assert any("not measured" in note for note in info.notes)


def test_a_click_on_a_budget_tells_drafter_and_budget():
    for name in ("tps:a", "slower:a"):
        curve = next(t for t in budgets_figure(budgets_info(TABLE), LIGHT).data if t.name == name)
        assert [tuple(c) for c in curve.customdata] == [("a", b) for b in BUDGETS]


def test_the_band_is_the_interval_and_one_window_has_none():
    band = next(t for t in budgets_figure(budgets_info(TABLE), LIGHT).data if t.name == "interval:a")
    assert list(band.y[: len(BUDGETS)]) == [row.tps_low for row in TABLE.rows]
    assert list(band.y[len(BUDGETS) :]) == [row.tps_high for row in TABLE.rows][::-1]
    single = budgets_info(compare_budgets(grid(windows=1)))
    assert "interval:a" not in names(budgets_figure(single, LIGHT))
    assert "One window has no interval." in single.notes


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_oracle_target_only_and_standard_sd_are_labelled_where_they_end(theme):
    info = budgets_info(TABLE)
    assert [level.kind for level in info.levels] == ["oracle", "target-only", "sd"]
    body = check_figure(budgets_figure(info, theme))
    lines = {s["y0"]: s["line"] for s in body["layout"]["shapes"] if s["type"] == "line"}
    assert lines[TABLE.oracle_tps]["dash"] == "dash"
    assert lines[TABLE.target_only_tps]["color"] == theme.method("target-only")
    shown = " ".join(texts(body["layout"]))
    assert f"oracle {TABLE.oracle_tps:.2f}" in shown
    assert "SD K = 5 to 8" in shown
    assert body["layout"]["showlegend"] is False
    sd = next(t for t in body["data"] if t["name"] == "sd:a")
    assert column(sd, "x").tolist() == [4, 5, 6, 7]


def test_labels_at_the_ends_do_not_touch():
    body = check_figure(budgets_figure(budgets_info(compare_budgets(grid(("a", "b", "c", "d")))), LIGHT))
    layout = body["layout"]
    low, high = layout["yaxis"]["range"]
    pixels = (layout["height"] - layout["margin"]["t"] - layout["margin"]["b"]) / (high - low)
    places = sorted(a["y"] * pixels for a in layout["annotations"] if a.get("xshift") == 6 and "yref" not in a)
    assert len(places) == 10
    assert min(np.diff(places)) >= 15


def test_budgets_that_cannot_run_are_shaded_and_named_never_drawn_as_zero():
    info = budgets_info(compare_budgets(grid(infeasible=(12,))))
    assert info.not_feasible == (12,)
    assert info.budgets == BUDGETS
    body = check_figure(budgets_figure(info, LIGHT))
    assert 12 not in column(next(t for t in body["data"] if t["name"] == "tps:a"), "x")
    assert sum(s["type"] == "rect" for s in body["layout"]["shapes"]) == 2
    assert "n/a" in texts(body["layout"])
    assert "n/a, this pair cannot run" in budgets_info(compare_budgets(grid(infeasible=(12,))), ("a", 12)).sentence


def test_a_profile_on_which_nothing_runs_gives_a_sentence():
    info = budgets_info(compare_budgets(grid(infeasible=BUDGETS)))
    assert info.selected is None
    assert "No budget can run" in " ".join(texts(check_figure(budgets_figure(info, LIGHT))))


def test_the_selected_budget_is_ringed_in_both_panels_in_the_text_colour():
    rings = [t for t in budgets_figure(budgets_info(TABLE, ("a", 4)), DARK).data if t.name == "selected"]
    assert [(r.x[0], r.marker.line.color, r.marker.symbol) for r in rings] == [(4, DARK.text, "circle-open")] * 2


def test_drafters_differ_by_dash_and_mark_and_not_by_hue():
    figure = budgets_figure(budgets_info(compare_budgets(grid(("a", "b")))), LIGHT)
    first, second = (next(t for t in figure.data if t.name == f"tps:{name}") for name in ("a", "b"))
    assert first.line.color == second.line.color
    assert first.line.dash != second.line.dash
    assert first.marker.symbol[0] != second.marker.symbol[0]


def test_synthetic_tokens_are_said_to_be_synthetic():
    assert any("synthetic" in note for note in budgets_info(compare_budgets(grid(label="synthetic"))).notes)


def test_a_drafter_s_name_cannot_become_markup():
    hostile = "<script>$x$</script>"
    figure = budgets_figure(budgets_info(compare_budgets(replace(grid(), drafters=(hostile,)))), LIGHT)
    shown = " ".join(t for trace in check_figure_without_names(figure) for t in texts(trace))
    assert "&lt;script&gt;" in shown
    assert "<script" not in shown


def check_figure_without_names(figure):
    """Trace names are never shown: there is no legend."""
    assert figure.layout.showlegend is False
    body = figure.to_plotly_json()
    return [{k: v for k, v in trace.items() if k != "name"} for trace in body["data"]] + [body["layout"]]


def test_assumed_costs_show_the_measured_figures_behind_them():
    info = budgets_info(TABLE, base=compare_budgets(grid(drafters=("a",), windows=9)))
    figure = budgets_figure(info, LIGHT)
    check_figure(figure)
    assert names(figure).count("measured:a") == 2
    assert "measured:a" not in names(budgets_figure(budgets_info(TABLE), LIGHT))


def test_the_median_loss_stands_beside_the_share_of_slower_windows():
    figure = budgets_figure(budgets_info(TABLE), LIGHT)
    loss = next(trace for trace in figure.data if trace.name == "loss:a")
    assert list(loss.y) == [row.median_loss for row in TABLE.rows]
    assert loss.yaxis == "y2"


def test_budgets_that_are_chosen_among_are_framed_and_can_be_dragged_over():
    figure = budgets_figure(budgets_info(TABLE, among=(2, 4)), LIGHT, drag=True)
    frames = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert {(frame.x0, frame.x1) for frame in frames} == {(1.5, 4.5)}
    assert (figure.layout.dragmode, figure.layout.selectdirection) == ("select", "h")
