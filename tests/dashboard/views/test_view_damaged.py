"""A record that parses may still contradict itself; a page must show it all the same."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from view_checks import check_figure, read_html
from view_samples import run_lines

from as2d_core.errors import RecordError
from as2d_core.protocol import parse
from as2d_core.request import METHODS
from dashboard.views.account import account_figure, account_info
from dashboard.views.heading import heading_html, heading_info
from dashboard.views.live import live_figure, live_figures_html, live_info, live_text_html
from dashboard.views.methods_compare import methods_figure, methods_info
from dashboard.views.rounds import round_details
from dashboard.views.rounds_html import round_details_html
from dashboard.views.theme import LIGHT
from dashboard.views.timeline import overview_figure, timeline_figure
from dashboard.views.timeline_info import timeline_info

LINES = {method: run_lines(method, telemetry=True) for method in METHODS}
ODD = [-1, 0, 5, 2**62, -(2**40), None, "<script>", [], {}, 1.5, True, [[1]], [["match", 0, 2**60]], [["a", "b", None]]]
changes = st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 50), st.sampled_from(ODD)), min_size=1, max_size=6)


@pytest.mark.parametrize("method", METHODS)
@settings(max_examples=10, deadline=None)
@given(changes=changes, keep=st.floats(0.05, 1.0))
def test_every_view_survives_any_change_of_any_field(method, changes, keep):
    lines = list(LINES[method])
    for at, which, value in changes:
        i = at % len(lines)
        body = json.loads(lines[i])
        fields = [name for name in body if name != "kind"]
        body[fields[which % len(fields)]] = value
        lines[i] = json.dumps(body) + "\n"
    try:
        record = parse(lines[: max(1, int(len(lines) * keep))])
    except RecordError:
        return
    info = timeline_info(record)
    check_figure(timeline_figure(info, LIGHT, selected=3))
    check_figure(timeline_figure(info, LIGHT, (10.0, 500.0), max_bars=100))
    check_figure(overview_figure(info, LIGHT), units=False)
    account = account_info(record)
    assert account.sentence
    check_figure(account_figure(account, LIGHT))
    for index in (0, 3, 9):
        details = round_details(record, index)
        if details is not None:
            read_html(round_details_html(details, LIGHT))
    live = live_info(record, 10.0)
    check_figure(live_figure(live, LIGHT, 1.0))
    for markup in (
        live_text_html(live, LIGHT),
        live_figures_html(live, LIGHT),
        heading_html(heading_info(info), LIGHT),
    ):
        read_html(markup)
    check_figure(methods_figure(methods_info([record]), LIGHT))
