from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from view_samples import decode

from dashboard.views.thinning import mean_heights, merged_starts, thinned
from dashboard.views.timeline_columns import PublicationColumns, RoundColumns, SpanColumns
from dashboard.views.timeline_detail import MAX_BARS, PIECES, detail, piece_heights
from dashboard.views.timeline_info import timeline_info


def many_rounds(count, seed=1):
    """An As²d run of many rounds, made of columns: the level of detail needs nothing else."""
    random = np.random.default_rng(seed)
    proposed = np.where(random.random(count) < 0.3, 0, random.integers(1, 8, count))
    accepted = (random.random(count) * (proposed + 1)).astype(np.int64)
    reused = (random.random(count) * (accepted + 1)).astype(np.int64)
    end = np.cumsum(random.uniform(50, 130, count))
    start = np.append(0.0, end[:-1])
    rounds = RoundColumns(
        index=np.arange(count),
        start_ms=start,
        end_ms=end,
        boundary_ms=start,
        width=proposed + 1,
        proposed=proposed,
        accepted=accepted,
        reused=reused,
        committed=accepted + 1,
        ready=random.integers(0, 40, count),
        chain_start=np.cumsum(accepted),
        reasons=("budget",) * count,
        tokens=((1,),) * count,
    )
    edges = np.linspace(0, end[-1] * 0.7, count // 2 + 1)
    drafting = SpanColumns(edges[:-1], edges[1:], np.full(count // 2, 8), ("draft",) * (count // 2))
    nothing = np.empty(0, np.int64)
    batches = PublicationColumns(np.empty(0), nothing, nothing, nothing)
    info = timeline_info(decode())
    return replace(info, rounds=rounds, drafting=drafting, publications=batches, end_ms=float(end[-1]))


def drawn(shown, lane, role=None):
    return [b for b in shown.bars if b.lane == lane and role in (None, b.role)]


def test_a_short_run_has_one_bar_for_every_piece_of_every_round():
    info = timeline_info(decode())
    shown = detail(info)
    rounds = info.rounds
    assert shown.rounds_a_bar == 1
    assert shown.note == ""
    alone = np.concatenate([b.custom[:, 0] for b in drawn(shown, "target", "alone")])
    assert alone.tolist() == rounds.index[rounds.proposed == 0].tolist()
    (rejected,) = drawn(shown, "target", "rejected")
    assert rejected.custom[:, 0].tolist() == rounds.index[rounds.corrected].tolist()
    assert shown.corrections_ms.tolist() == rounds.end_ms[rounds.corrected].tolist()


def test_the_green_share_of_a_bar_is_accepted_over_proposed():
    info = timeline_info(decode())
    rounds = info.rounds
    every = np.arange(len(rounds))
    heights = piece_heights(rounds, every, every)
    proposing = rounds.proposed > 0
    green = heights[:, PIECES.index("accepted")] + heights[:, PIECES.index("reused")]
    assert np.allclose(green[proposing], (rounds.accepted / np.maximum(rounds.proposed, 1))[proposing])
    assert np.allclose(heights[~proposing, PIECES.index("alone")], 1.0)
    assert np.allclose(heights.sum(axis=1), 1.0)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 6000), st.integers(0, 5), st.sampled_from([200, 600, 2000]))
def test_no_more_bars_than_allowed_whatever_the_run_and_the_window(count, seed, allowed):
    info = many_rounds(count, seed)
    for window in (None, (0.0, info.end_ms / 3), (info.end_ms / 2, info.end_ms / 2 + 500)):
        assert detail(info, window, allowed).bar_count <= allowed


def test_merging_says_so_and_keeps_the_totals():
    info = many_rounds(20_000)
    shown = detail(info)
    assert shown.rounds_a_bar > 1
    assert f"up to {shown.rounds_a_bar} neighbours merged" in shown.note
    assert len(shown.corrections_ms) == 0
    rounds = info.rounds
    every = np.arange(len(rounds))
    starts = np.arange(0, len(rounds), shown.rounds_a_bar)
    heights = piece_heights(rounds, every, starts)
    assert np.allclose(heights.sum(axis=1), 1.0)
    accepted = np.add.reduceat(rounds.accepted, starts) / np.maximum(np.add.reduceat(rounds.proposed, starts), 1)
    green = (heights[:, 1] + heights[:, 2]) / np.maximum(1 - heights[:, 0], 1e-12)
    assert np.allclose(green, accepted)


def test_every_round_in_the_window_is_behind_exactly_one_bar_group():
    info = many_rounds(5_000)
    window = (100_000.0, 130_000.0)
    shown = detail(info, window)
    groups = {tuple(row) for b in drawn(shown, "target") if b.role in PIECES for row in b.custom.tolist()}
    rounds = info.rounds
    inside = rounds.index[(rounds.end_ms > window[0]) & (rounds.start_ms < window[1])].tolist()
    covered = sorted(i for first, number in groups for i in range(first, first + number))
    assert covered == inside
    assert shown.rounds_in_view == len(inside)


def test_zooming_in_ends_in_single_rounds():
    info = many_rounds(50_000)
    shown = detail(info, (1_000_000.0, 1_020_000.0))
    assert shown.rounds_a_bar == 1
    assert shown.bar_count <= MAX_BARS
    assert len(shown.corrections_ms) > 0


def test_a_run_that_fits_is_returned_whole_so_that_it_can_be_panned():
    info = timeline_info(decode())
    shown = detail(info, (500.0, 900.0))
    assert shown.window_ms == (500.0, 900.0)
    assert shown.bar_count == detail(info).bar_count


def test_a_merged_draft_bar_is_as_high_as_the_drafter_was_busy():
    starts = np.arange(0.0, 4_000.0) * 10
    spans = SpanColumns(starts, starts + 5.0, np.full(4_000, 8), ("draft",) * 4_000)
    info = replace(many_rounds(100), drafting=spans, end_ms=40_000.0)
    shown = detail(info)
    (bars,) = drawn(shown, "drafter")
    assert shown.spans_a_bar == bars.custom[:, 1].max() > 1
    assert np.allclose(bars.height, 0.5, atol=0.1)


def test_drain_and_prefill_are_not_coloured_as_drafting():
    info = timeline_info(decode())
    drain = SpanColumns(np.array([0.0, 90.0]), np.array([90.0, 99.0]), np.array([8, 1]), ("draft", "drain"))
    shown = detail(replace(info, drafting=drain))
    assert [(b.role, len(b)) for b in drawn(shown, "drafter")] == [("drafter", 1), ("retired", 1)]
    assert drawn(shown, "target", "retired")[0].start_ms.tolist() == [-412.0]


def test_serial_drafts_lie_ready_only_from_their_end_to_their_verification():
    info = timeline_info(decode("sd"))
    shown = detail(info)
    rounds = info.rounds
    assert shown.depth.values.reshape(-1, 3)[:, 1].tolist() == rounds.ready.tolist()
    assert shown.depth.time_ms.reshape(-1, 3)[:, 1].tolist() == rounds.start_ms.tolist()
    assert not shown.depth.values.reshape(-1, 3)[:, [0, 2]].any()


def test_target_only_has_no_buffer_and_no_arrows():
    shown = detail(timeline_info(decode("target-only")))
    assert len(shown.depth.values) == 0
    assert len(shown.arrows) == 0
    assert {b.role for b in shown.bars} == {"alone", "retired"}


def test_arrows_go_from_a_publication_forward_to_its_first_use():
    info = timeline_info(decode())
    arrows = detail(info).arrows
    assert len(arrows) == (info.publications.first_use >= 0).sum()
    assert (arrows[:, 0] <= arrows[:, 1]).all()


@given(arrays.arrays(np.float64, st.integers(1, 400), elements=st.floats(-1e6, 1e6)), st.integers(4, 50))
def test_a_thinned_line_keeps_its_ends_and_extremes(values, limit):
    kept = thinned(np.arange(float(len(values))), values, limit)
    assert kept[0] == 0
    assert kept[-1] == len(values) - 1
    assert values[kept].max() == values.max()
    assert values[kept].min() == values.min()
    assert len(kept) <= max(limit + 2, len(values) if len(values) <= limit else 0)
    assert (np.diff(kept) > 0).all()


@given(st.integers(0, 10_000), st.integers(1, 500))
def test_merged_groups_cover_all_neighbours_in_at_most_as_many_groups_as_asked(count, groups):
    starts = merged_starts(count, groups)
    assert len(starts) <= groups
    assert (count == 0) == (len(starts) == 0)
    if count:
        assert starts[0] == 0
        assert starts[-1] < count


@given(st.lists(st.tuples(st.floats(0, 50), st.floats(0.1, 50), st.floats(0, 1)), min_size=1, max_size=20))
def test_mean_heights_keep_the_area_under_the_bars(bars):
    gaps, lengths, heights = (np.array(column) for column in zip(*bars, strict=True))
    end = np.cumsum(gaps + lengths)
    start = end - lengths
    edges = np.linspace(0.0, end[-1], 37)
    mean = mean_heights(start, end, heights[:, None], edges)
    assert (mean[:, 0] * np.diff(edges)).sum() == pytest.approx((lengths * heights).sum(), rel=1e-6, abs=1e-6)
    assert (mean >= -1e-9).all()
    assert (mean <= 1 + 1e-9).all()
