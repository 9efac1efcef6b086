from dataclasses import replace

import pytest
from view_checks import check_figure

from as2d_core.profiles import load_profile
from as2d_core.replay.budgets import compare_budgets
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.trajectories import load_corpus
from dashboard.views.devices_compared import MOST_PANELS, devices_compared_figure, devices_compared_info
from dashboard.views.theme import DARK, LIGHT


@pytest.fixture(scope="module")
def tables():
    corpus = load_corpus("demo")
    few = replace(corpus, windows=corpus.windows[:6])
    profiles = [load_profile(name) for name in ("k70", "mi14")]
    return [(p.id, p.name, compare_budgets(replay_grid(few, p, [1, 3, 7]))) for p in profiles]


def test_gains_are_over_each_devices_own_target_only(tables):
    info = devices_compared_info(tables)
    for panel, (_, _, table) in zip(info.panels, tables, strict=True):
        expected = [100 * (row.tps / table.target_only_tps - 1) for row in table.rows]
        assert panel.curves[0].gain == pytest.approx(expected)
        assert panel.best[2] == pytest.approx(max(expected))
        assert panel.oracle_gain >= panel.best[2]


def test_the_sentence_says_what_is_fastest_where(tables):
    best = {panel.best[1] for panel in devices_compared_info(tables).panels}
    sentence = devices_compared_info(tables).sentence
    assert all(f"b = {budget}" in sentence for budget in best)
    assert "on all of them" in devices_compared_info([tables[0], ("x", "X", tables[0][2])]).sentence


def test_devices_without_room_are_counted(tables):
    assert devices_compared_info(tables * MOST_PANELS).left_out == MOST_PANELS


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_panels_share_a_scale_and_say_where_a_click_leads(tables, theme):
    figure = devices_compared_figure(devices_compared_info(tables), theme, "k70")
    check_figure(figure)
    assert figure.layout.yaxis.range == figure.layout.yaxis2.range
    gains = next(trace for trace in figure.data if trace.name == "gain:mi14:drafter")
    assert list(gains.customdata[0]) == ["mi14", "drafter", 1]


def test_devices_that_can_run_nothing_are_a_sentence():
    figure = devices_compared_figure(devices_compared_info([]), LIGHT)
    assert "No device can run" in figure.layout.annotations[0].text
