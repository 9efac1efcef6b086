import hashlib
import time
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from as2d_core.errors import TrajectoryError
from as2d_core.profiles import load_profile
from as2d_core.replay.grid import replay_grid
from as2d_core.replay.synthetic import GENERATED_IDS, generate, generated_parameters
from as2d_core.replay.synthetic_parameters import (
    SyntheticGroup,
    SyntheticParameters,
    parameters_from_json,
    with_selection_windows,
)
from as2d_core.replay.trajectories import corpus_ids, load_corpus, read_corpus, write_corpus

SHARE = st.floats(0, 1)
GOOD = generated_parameters("paper-688")


@st.composite
def groups(draw, name, cap, knots):
    counts = draw(
        st.dictionaries(st.sampled_from(["development", "validation", "test"]), st.integers(1, 4), min_size=1)
    )
    capped = {split: draw(st.integers(0, count)) for split, count in counts.items()}
    tokens = {}
    for split, count in counts.items():
        free = count - capped[split]
        tokens[split] = capped[split] * cap + (draw(st.integers(2 * free, cap * free)) if free else 0)
    return SyntheticGroup(
        name=name,
        language="en",
        windows=counts,
        tokens=tokens,
        token_quantiles=tuple(sorted(draw(st.lists(st.floats(1, 300), min_size=knots, max_size=knots)))),
        error_quantiles=tuple(sorted(draw(st.lists(SHARE, min_size=knots, max_size=knots)))),
        short_share=draw(SHARE),
        capped_windows=capped,
    )


@st.composite
def parameters(draw):
    knots = draw(st.integers(2, 5))
    inner = draw(st.lists(st.floats(0.01, 0.99), min_size=knots - 2, max_size=knots - 2, unique=True))
    cap = draw(st.integers(2, 60))
    names = ("repeat_error", "prefix_low_right", "prefix_low_wrong", "free_low_right", "free_low_wrong")
    names += ("low_confidence", "high_confidence", "single_substitution", "substitution")
    return SyntheticParameters(
        id="drawn",
        note="",
        drafter="small",
        groups=tuple(draw(groups(name, cap, knots)) for name in draw(st.sampled_from([("a",), ("a", "b")]))),
        quantiles_at=(0.0, *sorted(inner), 1.0),
        duration_s=draw(st.floats(0.1, 100)),
        output_cap=cap,
        source_cap=draw(st.integers(1, 200)),
        batch_tokens=draw(st.integers(1, 16)),
        vocabulary_tokens=draw(st.integers(2, 50)),
        vocabulary_offset=draw(st.floats(0, 5)),
        stop=draw(st.floats(0.02, 1)),
        **{name: draw(SHARE) for name in names},
    )


def fingerprint(corpus):
    """Of every token, flag and confidence."""
    content = [
        (
            (w.window_id, w.target_tokens),
            (d.candidates, d.confidences),
            (d.agrees, d.prefix_confidences),
            (d.error_channel.wrong, d.error_channel.skipped),
        )
        for w in corpus.windows
        for d in w.drafters
    ]
    return hashlib.sha256(repr(content).encode()).hexdigest()


# -- any parameters ---------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(parameters(), st.integers(0, 2**63))
def test_any_parameters_in_range_give_a_valid_synthetic_set_of_their_size(drawn, seed):
    corpus = generate(seed, drawn)
    assert corpus.label == "synthetic"
    for group in drawn.groups:
        for split, count in group.windows.items():
            windows = [w for w in corpus.windows if (w.group, w.split) == (group.name, split)]
            assert len(windows) == count
            assert sum(len(w.target_tokens) for w in windows) == group.tokens[split]
            assert sum(w.target_capped for w in windows) == group.capped_windows[split]
    for window in corpus.windows:
        assert len(window.drafters[0].candidates) <= drawn.source_cap


@settings(max_examples=30, deadline=None)
@given(parameters(), st.integers(0, 2**63))
def test_the_same_seed_gives_the_same_corpus(drawn, seed):
    assert generate(seed, drawn) == generate(seed, drawn)


@settings(max_examples=20, deadline=None)
@given(parameters(), st.integers(0, 2**32))
def test_a_drafter_that_never_errs_writes_what_the_target_says(drawn, seed):
    flawless = replace(
        drawn,
        source_cap=10**6,
        repeat_error=0.0,
        groups=tuple(replace(g, error_quantiles=(0.0,) * len(g.error_quantiles)) for g in drawn.groups),
    )
    for window in generate(seed, flawless).windows:
        drafter = window.drafters[0]
        assert all(drafter.agrees)
        assert drafter.candidates == tuple(t for t in window.target_tokens if t != flawless.vocabulary_tokens)


def walked(drafter, last):
    """Positions of the target that a free-running drafter goes through; -1 for a token of its own."""
    positions, here, resumed = [], 0, False
    while here < last:
        if drafter.agrees[here] or resumed:
            positions.append(here)
            here, resumed = here + 1, False
        else:
            positions += [-1] * drafter.error_channel.wrong[here]
            here, resumed = here + drafter.error_channel.skipped[here], True
    if here == last < len(drafter.agrees) and not drafter.agrees[last] and not resumed:
        positions += [-1] * drafter.error_channel.wrong[last]
    return positions


@settings(max_examples=40, deadline=None)
@given(parameters(), st.integers(0, 2**32))
def test_a_free_running_source_lives_through_its_own_errors(drawn, seed):
    for window in generate(seed, drawn).windows:
        drafter = window.drafters[0]
        last = len(window.target_tokens) - (0 if window.target_capped else 1)
        expected = walked(drafter, last)[: drawn.source_cap]
        assert len(drafter.candidates) == len(expected)
        for token, position in zip(drafter.candidates, expected, strict=True):
            assert position < 0 or token == window.target_tokens[position]


@settings(max_examples=40, deadline=None)
@given(parameters(), st.integers(0, 2**32))
def test_every_error_writes_or_skips_something(drawn, seed):
    for window in generate(seed, drawn).windows:
        channel = window.drafters[0].error_channel
        assert all(k + j > 0 for k, j in zip(channel.wrong, channel.skipped, strict=True))


def test_another_seed_gives_another_corpus():
    small = replace(GOOD, groups=GOOD.groups[1:2])
    assert generate(1, small).windows != generate(2, small).windows


def test_the_windows_of_a_split_do_not_depend_on_other_splits():
    small = replace(GOOD, groups=GOOD.groups[1:3])
    more = generate(5, with_selection_windows(small, "more", 2, 3))
    assert tuple(w for w in more.windows if w.split == "test") == generate(5, small).windows


def test_selection_windows_share_nothing_with_test_windows():
    corpus = load_corpus("paper-838")
    assert Counter(w.split for w in corpus.windows) == {"development": 50, "validation": 100, "test": 688}
    splits = {}
    for window in corpus.windows:
        splits.setdefault(window.target_tokens, set()).add(window.split)
    assert all(len(found) == 1 for found in splits.values())


# -- the packaged parameters ------------------------------------------------------------------------


def test_the_corpus_has_the_windows_and_tokens_of_the_paper():
    corpus = load_corpus("paper-688")
    assert (len(corpus.windows), corpus.tokens, corpus.label) == (688, 94_511, "synthetic")
    assert Counter(w.group for w in corpus.windows) == {
        "LibriSpeech": 165,
        "AMI": 53,
        "FLEURS": 91,
        "KeSpeech": 188,
        "M4Singer": 191,
    }
    assert [(w.group, len(w.target_tokens)) for w in corpus.windows if w.target_capped] == [("FLEURS", 1024)]


def test_the_corpus_is_the_same_on_every_platform():
    # Raises VERSION of the generator with it when a change is meant.
    assert fingerprint(load_corpus("paper-688")) == "3121d9ed8a8dd8a15094b3157242fe9f4491b0efe4a54ac6f6e1cc7deca9b624"


def test_generating_the_corpus_is_no_matter_of_minutes():
    started = time.thread_time()
    generate(7, GOOD)
    assert time.thread_time() - started < 60


def test_a_generated_corpus_is_kept():
    assert load_corpus("paper-688") is load_corpus("paper-688")


def test_generated_corpora_are_listed_behind_the_packaged_ones():
    assert tuple(corpus_ids()[-2:]) == GENERATED_IDS
    assert corpus_ids()[0] == "demo"


def test_a_generated_corpus_survives_its_file(tmp_path):
    corpus = generate(3, replace(GOOD, groups=GOOD.groups[2:3]))
    write_corpus(corpus, tmp_path / "drawn.parquet")
    again = read_corpus(tmp_path / "drawn.parquet")
    assert (again.windows, again.label, dict(again.settings)) == (corpus.windows, "synthetic", dict(corpus.settings))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rates_come_out_as_the_parameters_say(seed):
    corpus = generate(seed, GOOD)
    after_right, after_wrong, low_right, low_wrong = [], [], [], []
    for window in corpus.windows:
        drafter = window.drafters[0]
        for before, here in pairwise(drafter.agrees):
            (after_right if before else after_wrong).append(not here)
        for right, confidence in zip(drafter.agrees, drafter.prefix_confidences, strict=True):
            (low_right if right else low_wrong).append(confidence == GOOD.low_confidence)
    assert np.mean(after_right) == pytest.approx(0.0662, rel=0.06)
    assert np.mean(after_wrong) == pytest.approx(GOOD.repeat_error, abs=0.025)
    assert np.mean(low_right) == pytest.approx(GOOD.prefix_low_right, abs=0.003)
    assert np.mean(low_wrong) == pytest.approx(GOOD.prefix_low_wrong, abs=0.02)


# Of the corpus that the parameters describe: mean wrong and skipped tokens of an error, and errors that are one
# substitution.
@pytest.mark.parametrize(
    ("group", "wrong", "skipped", "substitutions"),
    [
        ("LibriSpeech", 3.506, 3.495, 0.248),
        ("AMI", 4.514, 4.510, 0.114),
        ("FLEURS", 4.471, 4.465, 0.120),
        ("KeSpeech", 2.206, 2.202, 0.417),
        ("M4Singer", 4.210, 4.228, 0.153),
    ],
)
def test_errors_are_as_long_as_in_the_corpus_it_stands_in_for(group, wrong, skipped, substitutions):
    channels = [w.drafters[0].error_channel for w in load_corpus("paper-688").windows if w.group == group]
    written = np.concatenate([c.wrong for c in channels])
    left_out = np.concatenate([c.skipped for c in channels])
    assert written.mean() == pytest.approx(wrong, rel=0.04)
    assert left_out.mean() == pytest.approx(skipped, rel=0.04)
    assert ((written == 1) & (left_out == 1)).mean() == pytest.approx(substitutions, abs=0.02)


@pytest.mark.parametrize(
    ("group", "mean", "least", "most"),
    [("LibriSpeech", 0.0229, 0.0136, 0.0359), ("AMI", 0.1509, 0.1336, 0.1782), ("KeSpeech", 0.0935, 0.0055, 0.4018)],
)
def test_window_rates_keep_to_their_quantiles(group, mean, least, most):
    values = next(g for g in GOOD.groups if g.name == group).error_quantiles
    assert (values[0], values[-1]) == (least, most)
    area = sum(
        (b - a) * (v + w) / 2 for (a, b), (v, w) in zip(pairwise(GOOD.quantiles_at), pairwise(values), strict=True)
    )
    assert area == pytest.approx(mean, abs=2e-4)


def test_every_parameter_says_where_it_comes_from():
    named = {
        "drafter",
        "duration_s",
        "output_cap",
        "source_cap",
        "batch_tokens",
        "vocabulary_tokens",
        "vocabulary_offset",
    }
    named |= {"repeat_error", "prefix_low_right", "prefix_low_wrong", "free_low_right", "free_low_wrong", "stop"}
    named |= {"low_confidence", "high_confidence", "single_substitution", "substitution"}
    named |= {f"groups.{name}" for name in ("windows", "tokens", "capped_windows", "short_share")}
    named |= {"groups.token_quantiles", "groups.error_quantiles"}
    assert set(GOOD.provenance) == named


# Pooled TPS of another synthetic corpus, the one whose rates the parameters describe: target-only, standard SD
# (mean of K = 5 to 8), standard SD at K = 12, As²d at the deployed budget.
STAND_IN = {
    "k70": (16.96, 18.90, 17.71, 27.95),
    "11pro": (8.35, 10.31, 8.99, 14.53),
    "mi14": (19.30, 14.23, 12.21, 28.85),
    "note9": (4.12, 3.28, 2.86, 5.95),
}


@pytest.mark.parametrize("phone", STAND_IN)
def test_pooled_throughput_is_near_that_of_the_corpus_it_stands_in_for(phone):
    profile = load_profile(phone)
    grid = replay_grid(load_corpus("paper-688"), profile, [profile.deployed_budget])
    tokens = grid.tokens.sum() * 1e3
    found = (
        tokens / grid.target_only_ms.sum(),
        np.mean([tokens / grid.standard_sd_ms[k][0].sum() for k in (5, 6, 7, 8)]),
        tokens / grid.standard_sd_ms[12][0].sum(),
        tokens / grid.time_ms.sum(),
    )
    assert found == pytest.approx(STAND_IN[phone], rel=0.02)


# -- parameters that cannot be ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"stop": 0.0}, "stop is 0.0"),
        ({"repeat_error": 1.5}, "repeat_error is 1.5"),
        ({"quantiles_at": (0.0, 0.5)}, "quantiles_at"),
        ({"output_cap": 1}, "output_cap is 1"),
        ({"batch_tokens": 0}, "batch_tokens is 0"),
        ({"vocabulary_offset": -1.0}, "vocabulary_offset"),
        ({"duration_s": float("nan")}, "duration_s"),
        ({"groups": ()}, "at least one group"),
        ({"groups": (GOOD.groups[0], GOOD.groups[0])}, "same name"),
        ({"groups": (replace(GOOD.groups[0], short_share=2.0),)}, "short_share is 2.0"),
        ({"groups": (replace(GOOD.groups[0], tokens={"test": 10}),)}, "10 test tokens do not fit into 165 windows"),
        ({"groups": (replace(GOOD.groups[0], tokens={}),)}, "of the same splits"),
        ({"groups": (replace(GOOD.groups[0], windows={"train": 3}),)}, "splits development, validation, test"),
        ({"groups": (replace(GOOD.groups[0], capped_windows={"test": 166}),)}, "166 of them capped"),
        ({"groups": (replace(GOOD.groups[0], error_quantiles=(0.5, 0.1)),)}, "error_quantiles"),
    ],
)
def test_parameters_that_cannot_be_are_named(changes, said):
    with pytest.raises(TrajectoryError, match="cannot be") as caught:
        replace(GOOD, **changes)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "body", [None, {}, {"format": 2}, {"format": 1}, {"format": 1, "groups": [{}]}, {"format": 1, "x": 2}]
)
def test_a_malformed_parameter_file_is_refused(body):
    with pytest.raises(TrajectoryError):
        parameters_from_json(body)
