import time
from itertools import pairwise

import numpy as np
import pytest
from test_view_timeline_detail import many_rounds
from view_checks import HOSTILE, bar_count, check_figure, column, names, texts
from view_samples import cut_off, decode

from as2d_core.records import RunRecord, Span
from as2d_core.request import METHODS
from dashboard.views.theme import DARK, LIGHT
from dashboard.views.timeline import overview_figure, timeline_figure
from dashboard.views.timeline_info import timeline_info


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_is_drawn_in_both_themes(method, theme):
    body = check_figure(timeline_figure(timeline_info(decode(method, telemetry=True)), theme))
    assert body["layout"]["paper_bgcolor"] == theme.background
    assert body["layout"]["xaxis"]["title"]["text"] == "time from decode start (ms)"
    shown = " ".join(texts(body["layout"]))
    for lane in ("Target", "Power", "Battery", "Fastest core"):
        assert f"<b>{lane}</b>" in shown
    assert ("<b>Drafter</b>" in shown) == (method != "target-only")


def test_there_is_one_trace_for_each_role_in_each_lane():
    figure = timeline_figure(timeline_info(decode()), LIGHT)
    assert names(figure) == [
        "target:alone",
        "target:accepted",
        "target:reused",
        "target:rejected",
        "drafter:drafter",
        "target:retired",
        "target:correction",
        "buffer:ready",
        "publication",
        "publication:use",
    ]
    assert figure.layout.showlegend is False


def test_a_click_on_a_round_tells_its_index():
    info = timeline_info(decode())
    figure = timeline_figure(info, LIGHT)
    rejected = next(t for t in figure.data if t.name == "target:rejected")
    assert [tuple(c) for c in rejected.customdata] == [(i, 1) for i in info.rounds.index[info.rounds.corrected]]


def test_bars_lie_where_the_rounds_were():
    info = timeline_info(decode())
    body = check_figure(timeline_figure(info, LIGHT))
    alone = next(t for t in body["data"] if t["name"] == "target:alone")
    rows = info.rounds.proposed == 0
    assert np.allclose(column(alone, "x"), info.rounds.start_ms[rows])
    assert np.allclose(column(alone, "x") + column(alone, "width"), info.rounds.end_ms[rows])


def test_lanes_do_not_overlap():
    body = check_figure(timeline_figure(timeline_info(decode(telemetry=True)), LIGHT))
    lanes = sorted(
        (s["y0"], s["y1"]) for s in body["layout"]["shapes"] if s.get("xref") == "paper" and s["type"] == "rect"
    )
    assert len(lanes) == 6
    assert all(below[1] < above[0] for below, above in pairwise(lanes))


def test_nothing_pales_when_a_mark_is_selected():
    for trace in timeline_figure(timeline_info(decode(telemetry=True)), LIGHT).data:
        if trace.type == "bar" or "markers" in trace.mode:
            assert trace.selected.marker.opacity == trace.unselected.marker.opacity == 1
        if trace.type == "bar":
            assert trace.unselected.textfont.color == trace.insidetextfont.color


def test_the_selected_round_is_outlined_in_the_text_colour():
    info = timeline_info(decode())
    body = check_figure(timeline_figure(info, DARK, selected=9))
    outline = [s for s in body["layout"]["shapes"] if s["line"].get("width") == 2]
    assert [(s["x0"], s["x1"]) for s in outline] == [(info.rounds.start_ms[9], info.rounds.end_ms[9])]
    assert outline[0]["line"]["color"] == DARK.text
    assert not [s for s in timeline_figure(info, DARK).layout.shapes if s.line.width == 2]


def test_the_window_is_the_visible_range():
    body = check_figure(timeline_figure(timeline_info(decode()), LIGHT, (500.0, 900.0)))
    assert body["layout"]["xaxis"]["range"] == [500.0, 900.0]


def test_a_run_that_broke_off_is_drawn_as_far_as_it_got():
    info = timeline_info(cut_off(0.6))
    body = check_figure(timeline_figure(info, LIGHT))
    assert bar_count(body) > 5
    assert "the record ends here" in " ".join(texts(body["layout"]))


def test_a_run_without_decoding_says_so_in_place_of_a_figure():
    info = timeline_info(RunRecord(decode().header))
    for figure in (timeline_figure(info, LIGHT), overview_figure(info, LIGHT)):
        assert "Decoding never began" in " ".join(texts(check_figure(figure)["layout"]))
        assert len(figure.data) == 0


def test_hostile_tokens_stay_text_in_hover_and_labels():
    record = decode("target-only", reference=HOSTILE * 2, run_id="<script>")
    body = check_figure(timeline_figure(timeline_info(record), LIGHT))
    shown = " ".join(texts(body["data"]))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    assert "⟨U+202E⟩" in shown
    assert "$" not in shown


def test_hostile_tokens_stay_text_in_merged_chains_too():
    check_figure(timeline_figure(timeline_info(decode(reference=HOSTILE * 6, draft=HOSTILE * 6)), DARK))


def test_hundred_thousands_of_rounds_stay_within_the_budget_of_bars_and_bytes():
    info = many_rounds(60_000)
    figure = timeline_figure(info, LIGHT)
    body = check_figure(figure)
    assert bar_count(body) <= 2_000
    assert len(figure.to_json()) < 1_500_000
    assert "neighbours merged" in " ".join(texts(body["layout"]))


@pytest.mark.parametrize("count", [40, 60_000])
def test_the_overview_shows_the_whole_run_in_webgl_and_where_the_window_is(count):
    info = many_rounds(count)
    figure = overview_figure(info, LIGHT, (100.0, 900.0))
    body = check_figure(figure, units=False)
    assert {t["type"] for t in body["data"]} == {"scattergl"}
    assert names(figure)[-1] == "drafter:drafter"
    assert len(figure.to_json()) < 400_000
    outline = [s for s in body["layout"]["shapes"] if s["line"].get("color") == LIGHT.text]
    assert [(s["x0"], s["x1"]) for s in outline] == [(100.0, 900.0)]
    assert body["layout"]["dragmode"] == "select"


def test_overview_and_detail_have_the_same_time_under_the_same_pixel():
    info = timeline_info(decode())
    strip, whole = overview_figure(info, LIGHT), timeline_figure(info, LIGHT)
    assert (strip.layout.margin.l, strip.layout.margin.r) == (whole.layout.margin.l, whole.layout.margin.r)
    assert strip.layout.xaxis.range == whole.layout.xaxis.range


def test_of_two_hundred_thousand_spans_each_is_looked_at_a_few_times_and_not_for_each_other():
    record = decode()
    rounds, spans, start = record.rounds, [s for s in record.spans if s.round is not None], record.rounds[0].start_ns
    length = record.rounds[-1].end_ns - start
    for copy in range(1, 200_000 // len(spans) + 1):
        shift, first = copy * length, copy * len(rounds)
        record.spans += [Span(s.lane, s.work, s.start_ns + shift, s.end_ns + shift, s.round + first) for s in spans]
    assert len(record.spans) > 199_000
    begin = time.thread_time()
    info = timeline_info(record)
    assert time.thread_time() - begin < 60  # hours, if it were otherwise
    assert len(info.target_orphans) > 190_000
