from dataclasses import replace

import numpy as np
import pytest
from test_view_budgets import BUDGETS, grid
from view_checks import check_figure, column, names, texts

from as2d_core.errors import UnknownNameError
from dashboard.views.theme import DARK, LIGHT
from dashboard.views.windows import windows_figure, windows_info


def uneven(windows=9):
    """Every window has its own best budget."""
    made = grid(windows=windows)
    random = np.random.default_rng(5)
    return replace(made, time_ms=made.time_ms * random.uniform(0.7, 1.3, made.time_ms.shape))


def test_loss_is_measured_against_the_window_s_best_pair_over_all_drafters():
    two = grid(("a", "b"))
    info = windows_info(two, "b", 7)
    best = np.nanmin(two.time_ms, axis=(0, 1))
    expected = 100 * (1 - best / two.time_ms[1, BUDGETS.index(7)])
    assert np.allclose(info.loss[:, BUDGETS.index(7)], expected[info.rows])
    assert (info.loss > 0).all()


def test_windows_are_sorted_by_their_loss_at_the_chosen_budget():
    info = windows_info(uneven(), "a", 4)
    column_4 = info.loss[:, BUDGETS.index(4)]
    assert (np.diff(column_4) <= 0).all()
    assert info.sorted_by == 4
    assert [f"w{row}" for row in info.rows] == list(info.windows)


def test_without_a_choice_the_budget_that_is_fastest_over_all_windows_sorts():
    assert windows_info(grid(), "a").sorted_by == 7
    assert windows_info(grid(), "a", 99).sorted_by == 7


def test_cells_that_cannot_run_are_missing_and_drawn_apart():
    info = windows_info(grid(infeasible=(12,)), "a")
    assert np.isnan(info.loss[:, 4]).all()
    assert info.cannot_run == 9
    figure = windows_figure(info, LIGHT)
    assert names(figure) == ["not feasible", "not feasible", "loss", "cells"]
    grey, crosses = figure.data[:2]
    assert grey.colorscale[0][1] == LIGHT.role("retired")
    assert len(crosses.x) == 9
    shown = texts(check_figure(figure))
    assert any("n/a: a width of this budget has no cost" in text for text in shown)


def test_a_window_that_the_drafter_does_not_take_says_so():
    made = grid(("a", "b"))
    time_ms = made.time_ms.copy()
    time_ms[1, :, 3] = np.nan
    info = windows_info(replace(made, time_ms=time_ms), "b")
    assert info.windows[-1] == "w3"
    assert any("b does not take this window" in text for text in texts(check_figure(windows_figure(info, LIGHT))))


def test_a_click_tells_the_grid_s_row_and_the_budget():
    info = windows_info(uneven(), "a", 4)
    body = check_figure(windows_figure(info, LIGHT))
    cells = next(t for t in body["data"] if t["name"] == "cells")
    custom = column(cells, "customdata")
    x, y = column(cells, "x"), column(cells, "y")
    assert custom.shape == (9 * len(BUDGETS), 2)
    assert all(custom[i, 0] == info.rows[y[i]] and custom[i, 1] == BUDGETS[x[i]] for i in range(len(x)))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_selected_budget_s_column_is_outlined(theme):
    body = check_figure(windows_figure(windows_info(uneven(), "a", 4), theme))
    (outline,) = body["layout"]["shapes"]
    assert (outline["x0"], outline["x1"], outline["line"]["color"]) == (1.5, 2.5, theme.text)
    other = windows_figure(windows_info(uneven(), "a", 4), theme, selected=12).layout.shapes[0]
    assert other.x0 == 3.5


def test_window_names_are_shown_while_there_is_room_for_them():
    few, many = (check_figure(windows_figure(windows_info(uneven(n), "a"), LIGHT)) for n in (9, 90))
    assert len(few["layout"]["yaxis"]["ticktext"]) == 9
    assert many["layout"]["yaxis"]["ticktext"] == ["1", *(str(rank) for rank in range(10, 91, 10))]
    assert "90 windows" in " ".join(texts(many["layout"]))


def test_a_drafter_that_cannot_run_anywhere_gives_a_sentence():
    info = windows_info(grid(infeasible=BUDGETS), "a")
    assert info.sorted_by is None
    assert "cannot run on any window" in " ".join(texts(check_figure(windows_figure(info, LIGHT))))


def test_an_unknown_drafter_suggests_the_nearest():
    with pytest.raises(UnknownNameError):
        windows_info(grid(("alpha",)), "alpho")


def test_window_names_cannot_become_markup():
    made = replace(grid(), windows=("<img src=x>", "$a$", *(f"w{i}" for i in range(7))))
    check_figure(windows_figure(windows_info(made, "a"), LIGHT))


def test_seven_hundred_windows_are_few_traces_and_small():
    figure = windows_figure(windows_info(uneven(688), "a"), LIGHT)
    assert len(figure.data) < 30
    assert len(figure.to_json()) < 1_000_000
