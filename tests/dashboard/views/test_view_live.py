import json
from dataclasses import replace

import pytest
from view_checks import HOSTILE, check_figure, names, read_html
from view_samples import REFERENCE, decode, run_lines

from as2d_core.protocol import RecordBuilder
from as2d_core.records import End
from as2d_core.request import METHODS
from dashboard.views import numbers
from dashboard.views.heading import badge_html, heading_html, heading_info, heading_text
from dashboard.views.live import KINDS, live_figure, live_figures_html, live_info, live_text_html
from dashboard.views.theme import DARK, LIGHT
from dashboard.views.timeline_info import timeline_info


def growing(share, method="as2d", **settings):
    """A record as it stands after a share of its rounds, before anybody has said that it is over."""
    builder = RecordBuilder()
    lines = run_lines(method, **settings)
    rounds = [i for i, line in enumerate(lines) if json.loads(line)["kind"] == "round"]
    for line in lines[: rounds[int(share * (len(rounds) - 1))] + 1]:
        builder.feed(line)
    return builder.record


@pytest.mark.parametrize("method", METHODS)
def test_the_text_of_a_whole_run_is_what_was_said(method):
    info = live_info(decode(method))
    assert "".join(s.text for s in info.stretches) == REFERENCE + "<|im_end|>"
    assert {s.kind for s in info.stretches} <= set(KINDS)
    assert info.stretches[0].kind == "first"
    assert info.stretches[-1].kind == "end"


def test_accepted_lone_and_corrected_tokens_are_told_apart():
    record = decode()
    counts = dict.fromkeys(KINDS, 0)
    for stretch in live_info(record).stretches:
        counts[stretch.kind] += stretch.tokens
    assert counts["accepted"] == sum(r.accepted for r in record.rounds)
    assert counts["correction"] == sum(r.accepted < r.proposed for r in record.rounds)
    assert counts["alone"] + counts["end"] == sum(r.proposed == 0 for r in record.rounds)
    markup = live_text_html(live_info(record), LIGHT)
    accepted = sum(s.kind == "accepted" for s in live_info(record).stretches)
    corrected = sum(s.kind == "correction" for s in live_info(record).stretches)
    assert markup.count(f"border-bottom:2px solid {LIGHT.role('accepted')}") == accepted + 1  # and the key
    assert markup.count(f"border-bottom:2px dotted {LIGHT.role('rejected')}") == corrected + 1


def test_the_drafter_s_used_text_is_struck_through_up_to_the_cursor():
    record = growing(0.5)
    info = live_info(record)
    used, ahead = info.drafter
    assert (used.kind, used.tokens) == ("used", record.rounds[-1].cursor_after)
    assert (ahead.kind, ahead.tokens) == ("ahead", len(record.candidates) - used.tokens)
    assert live_text_html(info, LIGHT).count("line-through") == 2  # the used part and the key


def test_the_marks_of_the_text_are_explained_where_a_drafter_runs():
    key = "used already, right or wrong"
    assert key in live_text_html(live_info(growing(0.5)), LIGHT)
    assert key not in live_text_html(live_info(growing(0.5, "target-only")), LIGHT)


def test_a_serial_drafter_shows_its_last_draft():
    record = growing(0.5, "sd")
    info = live_info(record)
    assert info.drafter_note == "last draft"
    assert sum(s.tokens for s in info.drafter) == len(record.rounds[-1].candidates)
    assert live_info(growing(0.5, "target-only")).drafter == ()


def test_throughput_so_far_is_tokens_over_time_so_far():
    record = growing(0.5)
    info = live_info(record, 17.0)
    elapsed_ms = (record.rounds[-1].end_ns - record.marks["decode_start"].time_ns) / 1e6
    assert info.status == "running"
    assert info.elapsed_ms == pytest.approx(elapsed_ms)
    assert info.tps == pytest.approx(len(record.tokens) / elapsed_ms * 1e3)
    assert info.against_target_only == pytest.approx((info.tps / 17.0 - 1) * 100)
    assert numbers.against_target_only(info.against_target_only) in read_html(live_figures_html(info, LIGHT)).text


@pytest.mark.parametrize("status", ["cancelled", "failed"])
def test_a_run_that_was_cut_off_has_no_throughput_and_is_held_against_nothing(status):
    record = replace(growing(0.5), end=End(status, 0, {}, ""))
    info = live_info(record, 17.0)
    assert (info.tps, info.against_target_only) == (None, None)
    assert info.elapsed_ms is not None


def test_no_comparison_is_shown_before_both_sides_are_known():
    assert live_info(growing(0.5)).against_target_only is None
    assert "target-only" not in live_figures_html(live_info(growing(0.5)), LIGHT)


def test_before_the_first_token_there_is_a_sentence_and_no_number():
    builder = RecordBuilder()
    builder.feed(run_lines()[0])
    info = live_info(builder.record, 17.0)
    assert info.tps is None
    assert info.stretches == ()
    assert "waiting for the first token" in read_html(live_text_html(info, DARK)).text
    assert "no token came" in read_html(live_text_html(replace(info, status="incomplete"), DARK)).text
    assert "n/a" in read_html(live_figures_html(info, DARK)).text
    assert len(live_figure(info, DARK).data) == 0


def test_a_character_cut_by_the_end_of_the_stream_is_completed_by_the_next_token():
    pieces = [b"a", b" \xf0\x9f", b"\x98\x80", b" b", b" c", b" d"]
    info = live_info(decode("target-only", reference=pieces))
    assert "".join(s.text for s in info.stretches) == "a 😀 b c d<|im_end|>"


@pytest.mark.parametrize("method", METHODS)
def test_hostile_tokens_stay_text_while_they_come_in(method):
    info = live_info(decode(method, reference=HOSTILE * 3, draft=HOSTILE * 3))
    reader = read_html(live_text_html(info, LIGHT))
    assert "<script>alert(1)</script>" in reader.text
    assert "⟨U+202E⟩evil" in reader.text


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("method", METHODS)
def test_the_small_figure_grows_with_the_run(method, theme):
    early, late = (live_info(growing(share, method)) for share in (0.3, 0.9))
    first, second = (check_figure(live_figure(info, theme)) for info in (early, late))
    assert first["layout"]["xaxis"]["range"][1] < second["layout"]["xaxis"]["range"][1]
    assert first["layout"]["height"] == second["layout"]["height"]
    assert ("buffer:ready" in names(live_figure(late, theme))) == (method != "target-only")


def test_the_last_seconds_can_be_asked_for():
    info = live_info(decode())
    low, high = live_figure(info, LIGHT, 1.0).layout.xaxis.range
    assert high - low == pytest.approx(1000.0)
    assert live_figure(info, LIGHT, 100.0).layout.xaxis.range[0] == 0.0


def test_the_heading_names_run_method_device_window_and_kind_of_number():
    info = timeline_info(decode(source="measured"))
    heading = heading_info(info, 17.0)
    assert heading.facts == ("run as2d-8f3a", "As²d b=7", "Redmi K70 Pro", "window long-07 (24.1 s)")
    assert heading.tps == numbers.tps(info.tps)
    assert heading.against_target_only == numbers.against_target_only(numbers.gain(info.tps, 17.0))
    assert [badge.label for badge in heading.badges] == ["measured", "virtual"]
    assert heading_info(info).against_target_only == "n/a"
    text = read_html(heading_html(heading, LIGHT)).text
    assert "against target-only" in text
    said = heading_text(heading)
    assert said.startswith("run as2d-8f3a · As²d b=7 · Redmi K70 Pro · window long-07 (24.1 s) · ")
    assert said.endswith(f" · {numbers.tps(info.tps)} · measured, virtual")
    assert "against target-only" not in read_html(heading_html(heading_info(info), LIGHT)).text


def test_names_in_the_heading_cannot_become_markup():
    record = decode(run_id="<script>\u202e")
    text = read_html(heading_html(heading_info(timeline_info(record)), LIGHT)).text
    assert "run <script>⟨U+202E⟩" in text


def test_an_emulated_run_carries_its_badge():
    heading = heading_info(timeline_info(decode(drafter_pace_ms=40.0)))
    assert [badge.label for badge in heading.badges] == ["replayed", "emulated"]
    assert read_html(badge_html(heading.badges[1], DARK)).titles == [numbers.badge("emulated").meaning]
