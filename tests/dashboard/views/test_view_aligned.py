from dataclasses import replace

import numpy as np
import pytest
from view_checks import check_figure
from view_samples import decode

from as2d_core.records import RunRecord
from dashboard.views import numbers
from dashboard.views.aligned import BY, aligned_figure, aligned_info
from dashboard.views.theme import DARK, LIGHT
from dashboard.views.timeline_info import timeline_info

OURS, ALONE = timeline_info(decode("as2d")), timeline_info(decode("target-only"))


@pytest.mark.parametrize("by", BY)
def test_a_run_has_no_lead_over_itself(by):
    info = aligned_info(OURS, OURS, by)
    assert np.allclose(info.lead, 0)
    assert info.sentence.startswith("Both runs took the same time")


@pytest.mark.parametrize("by", BY)
def test_changing_places_turns_the_lead_round(by):
    there, back = aligned_info(OURS, ALONE, by), aligned_info(ALONE, OURS, by)
    assert np.allclose(there.lead, -back.lead)


def test_the_parts_of_the_output_add_up_to_the_whole_lead():
    info = aligned_info(OURS, ALONE, "token")
    assert sum(s.won_ms for s in info.stretches) == pytest.approx(info.lead[-1] - info.lead[0])
    assert info.stretches[-1].last_token == info.lead_x[-1]


def test_the_lead_by_token_ends_with_the_difference_of_the_times():
    info = aligned_info(OURS, ALONE, "token")
    assert info.lead[-1] == pytest.approx(ALONE.rounds.end_ms[-1] - OURS.rounds.end_ms[-1])


def test_rounds_and_candidates_of_the_parts_are_all_of_the_run():
    info = aligned_info(OURS, ALONE, "token")
    assert sum(s.rounds[0] for s in info.stretches) == len(OURS.rounds)
    assert sum(s.proposed[0] for s in info.stretches) == OURS.rounds.proposed.sum()
    assert sum(s.proposed[1] for s in info.stretches) == 0


def test_who_won_and_where_is_a_sentence():
    faster, slower = sorted((OURS, ALONE), key=lambda run: run.rounds.end_ms[-1])
    assert aligned_info(faster, slower).sentence.startswith("The first run was faster by")
    assert aligned_info(slower, faster).sentence.startswith("The second run was faster by")


def test_what_was_won_and_what_was_lost_are_told_apart():
    late = replace(OURS, rounds=replace(OURS.rounds, end_ms=OURS.rounds.end_ms + 150.0))
    info = aligned_info(late, ALONE)
    won, lost = ([s.won_ms for s in info.stretches if (s.won_ms > 0) is good] for good in (True, False))
    assert won
    assert lost
    assert f": it won {numbers.duration(sum(won))} on {len(won)} parts, {numbers.duration(max(won))} of it" in (
        info.sentence
    )
    assert f"and lost {numbers.duration(-sum(lost))} on {numbers.counted(len(lost), 'part')}." in info.sentence


@pytest.mark.parametrize("theme", [LIGHT, DARK])
@pytest.mark.parametrize("by", BY)
def test_both_runs_and_the_lead_are_drawn(theme, by):
    body = check_figure(aligned_figure(aligned_info(OURS, ALONE, by), theme))
    names = {trace["name"] for trace in body["data"]}
    assert {"lead:ahead", "lead:behind", "drafter:drafter"} <= names
    assert sum(len(t["x"]) for t in body["data"] if t["type"] == "bar") <= 2_000


def test_a_run_that_never_began_is_a_sentence():
    info = aligned_info(OURS, timeline_info(RunRecord(decode().header)))
    assert "has no rounds to align" in info.empty
    assert len(aligned_figure(info, LIGHT).data) == 0


def test_other_windows_and_kinds_of_numbers_are_said():
    other = timeline_info(decode("as2d", source="measured"))
    assert any("mix kinds of numbers" in note for note in aligned_info(OURS, other).notes)
