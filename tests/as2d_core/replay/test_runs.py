import pytest
from hypothesis import given, settings
from replay_cases import EOS, corpora, corpus, profile, window

from as2d_core.errors import ProfileError, RequestError, UnknownNameError
from as2d_core.protocol import parse
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.runs import replay_window
from as2d_core.replay.windows import DrafterTrajectory
from as2d_core.validation import check_file

some = settings(max_examples=30)


@some
@given(corpora())
def test_run_of_a_window_takes_the_time_of_its_grid_cell(windows):
    costs = profile()
    grid = replay_grid(windows, costs, [3])
    for w, name in enumerate(grid.windows):
        run = replay_window(windows, name, costs, budget=3)
        assert run.elapsed_ms == grid.time_ms[0, 0, w]
        assert len(run.record.rounds) == grid.rounds[0, 0, w]
        serial = replay_window(windows, name, costs, "sd", width=5)
        assert serial.elapsed_ms == pytest.approx(grid.standard_sd_ms[5][0, w], rel=1e-12)
        alone = replay_window(windows, name, costs, "target-only")
        assert alone.elapsed_ms == pytest.approx(grid.target_only_ms[w], rel=1e-12)
        for record in (run.record, serial.record, alone.record):
            assert record.tokens == list(windows.window(name).target_tokens)


def test_run_says_that_it_is_replayed_from_which_tokens_with_whose_costs():
    run = replay_window(corpus(window(target_text="five")), "w0", profile(deployed_budget=4), created_at="now")
    read = parse(run.lines)
    assert read.problems == []
    assert read == run.record
    header = read.header
    assert (header.source, header.clock, header.created_at) == ("replayed", "virtual", "now")
    assert header.device["profile"] == "here"
    assert header.extra == {"corpus": "few", "trajectories": "measured", "profile_kind": "measured"}
    assert (read.request.budget, read.request.audio.window_id) == (4, "w0")
    assert read.end.text == "five"


@some
@given(windows=corpora())
def test_replayed_runs_keep_every_rule_of_a_run_record(tmp_path_factory, windows):
    path = tmp_path_factory.getbasetemp() / "replayed.ndjson"
    for arguments in ({"budget": 3}, {"method": "sd", "width": 4}, {"method": "target-only"}):
        run = replay_window(windows, "w0", profile(), **arguments)
        path.write_text("".join(run.lines))
        assert check_file(path).findings == ()


def test_run_from_synthetic_tokens_is_labelled_synthetic():
    assert replay_window(corpus(label="synthetic"), "w0", profile(), budget=1).record.header.source == "synthetic"


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"window_id": "w9", "budget": 3}, UnknownNameError, "Known: w0"),
        ({"drafter": "smal", "budget": 3}, UnknownNameError, "'small'"),
        ({}, RequestError, "'here' has no deployed one"),
        ({"method": "specasr"}, RequestError, "'small' was not collected off the true path on window 'w0'"),
        ({"method": "specaser"}, UnknownNameError, "Did you mean 'specasr'?"),
        ({"method": "sd"}, RequestError, "needs a width K"),
        ({"budget": 9}, ProfileError, "Budget 9 needs widths up to 10"),
    ],
)
def test_what_cannot_be_replayed_is_a_sentence(arguments, error, sentence):
    with pytest.raises(error) as caught:
        replay_window(corpus(), **{"window_id": "w0", "profile": profile(), **arguments})
    assert sentence in str(caught.value)


def test_drafter_without_agreement_cannot_draft_serially():
    ctc = window(drafters=(DrafterTrajectory("ctc", (5, 6)),))
    with pytest.raises(RequestError, match="'ctc' was not collected after true prefixes"):
        replay_window(corpus(ctc), "w0", profile(), "sd", width=4)


def test_window_without_its_drafter_is_named():
    with pytest.raises(UnknownNameError, match="drafter on window 'w0'"):
        replay_window(corpus(window(drafters=()), window("w1", (5, EOS))), "w0", profile(), budget=3)
