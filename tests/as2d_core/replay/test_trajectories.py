from dataclasses import replace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from replay_cases import EOS, corpora, corpus, window

from as2d_core.errors import TrajectoryError, UnknownNameError
from as2d_core.replay import trajectories
from as2d_core.replay.trajectories import corpus_ids, load_corpus, read_corpus, write_corpus
from as2d_core.replay.windows import DrafterTrajectory, flat_slices


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(corpora())
def test_trajectory_set_survives_its_file(tmp_path, before):
    path = tmp_path / "set.parquet"
    write_corpus(before, path)
    assert read_corpus(path) == before


def test_everything_a_file_says_about_itself_survives(tmp_path):
    before = corpus(
        window("a", drafters=()),
        window("b", drafters=(DrafterTrajectory("ctc", (5, 6), (0.5, None), 4, True, None, None),)),
        models={"big": "ab", "small": None},
        settings={"precision": "high", "seed": 3},
        created_at="2026-01-01T00:00:00Z",
        note="two windows",
    )
    write_corpus(before, tmp_path / "set.parquet")
    assert load_corpus(tmp_path / "set.parquet") == before


def drafter(**changes):
    return replace(window().drafters[0], **changes)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"target_tokens": ()}, "Window 'w0': there are no target tokens"),
        ({"target_tokens": (5, EOS, 6, EOS), "drafters": ()}, "Window 'w0', target: EOS at position 1"),
        ({"target_tokens": (5, -4, EOS), "drafters": ()}, "token -4 at position 1 is negative"),
        ({"target_tokens": (5, 6), "drafters": ()}, "ends without EOS at position 1, but is not marked"),
        ({"target_capped": True}, "marked as capped, but ends with EOS at position 5"),
        ({"split": "train"}, "Window 'w0': the split is 'train'"),
        ({"duration_s": 0.0}, "the duration is 0.0 s"),
        ({"duration_s": float("nan")}, "the duration is nan s"),
        ({"audio_sha256": None}, "the audio hash is missing"),
        ({"window_id": ""}, "A window has no id"),
        ({"drafters": (drafter(), drafter())}, "drafter 'small' appears 2 times"),
        ({"drafters": (drafter(candidates=(5, 6, EOS)),)}, "drafter 'small': EOS at position 2; EOS is never"),
        ({"drafters": (drafter(candidates=(5, -6)),)}, "token -6 at position 1"),
        ({"drafters": (drafter(confidences=(0.5,)),)}, "there are 1 confidences, but 5 are needed"),
        ({"drafters": (drafter(confidences=(0.5, 1.5, 0.5, 0.5, 0.5)),)}, "confidence at position 1 is 1.5"),
        ({"drafters": (drafter(confidences=(0.5, 0.5, 0.5, 0.5, float("nan"))),)}, "at position 4 is nan"),
        ({"drafters": (drafter(agrees=(True,)),)}, "there are 1 agreement flags, but 6 are needed"),
        ({"drafters": (drafter(prefix_confidences=(0.5,)),)}, "1 prefix confidences, but 6"),
        ({"drafters": (drafter(batch_tokens=0),)}, "batches of 0"),
    ],
)
def test_fault_is_named_with_window_and_position(changes, sentence):
    with pytest.raises(TrajectoryError) as caught:
        corpus(replace(window(), **changes))
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"id": ""}, "has no id"),
        ({"label": "real"}, "The label is 'real'"),
        ({"windows": ()}, "has no windows; there is nothing to replay"),
        ({"output_cap": 0}, "output cap is 0"),
        ({"output_cap": 3}, "the output has 6 tokens, more than the cap of 3"),
        ({"windows": (window("a"), window("a"))}, "Window 'a' appears 2 times"),
    ],
)
def test_fault_of_the_whole_set_is_a_sentence(changes, sentence):
    with pytest.raises(TrajectoryError) as caught:
        corpus(**changes)
    assert sentence in str(caught.value)


def test_splits_must_not_share_audio():
    with pytest.raises(TrajectoryError, match=r"'a' \(test\) and 'b' \(validation\) hold the same audio"):
        corpus(window("a", audio_sha256="x"), window("b", audio_sha256="x", split="validation"))


def test_same_audio_may_appear_twice_within_a_split():
    assert len(corpus(window("a", audio_sha256="x"), window("b", audio_sha256="x")).windows) == 2


def test_synthetic_windows_need_no_audio():
    assert corpus(window(audio_sha256=None), label="synthetic").windows[0].audio_sha256 is None


def test_one_token_outputs_are_valid():
    assert corpus(window("a", (EOS,), drafters=())).tokens == 1


def test_many_faults_are_counted():
    with pytest.raises(TrajectoryError, match="And 2 more"):
        corpus(*(window(f"w{i}", split="x") for i in range(12)))


def test_catalog_order_is_the_order_of_first_appearance():
    a, b = DrafterTrajectory("b", (5,)), DrafterTrajectory("a", (5,))
    assert corpus(window("1", drafters=(a,)), window("2", drafters=(b, a))).drafters == ("b", "a")


def test_confidence_at_the_threshold_is_not_low_and_a_missing_one_is_not_either():
    trajectory = DrafterTrajectory("a", (5, 6, 7), (0.39999, 0.4, None))
    assert trajectory.low_confidence(0.4) == (True, False, False)
    assert trajectory.low_confidence(None) == (False, False, False)


def test_unknown_window_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match="'w0'"):
        corpus().window("w00")


def test_unknown_set_is_named():
    with pytest.raises(UnknownNameError, match="trajectory set named 'nowhere'"):
        load_corpus("nowhere")


def test_missing_demo_set_explains_itself(monkeypatch):
    monkeypatch.setattr(trajectories, "corpus_ids", list)
    with pytest.raises(TrajectoryError, match="demo trajectories"):
        load_corpus("demo")


def test_every_packaged_set_can_be_read():
    for name in corpus_ids():
        assert load_corpus(name).windows


def test_file_that_is_no_parquet_is_named(tmp_path):
    (tmp_path / "a.parquet").write_bytes(b"no parquet")
    with pytest.raises(TrajectoryError, match=r"a\.parquet cannot be read as a Parquet file"):
        load_corpus(tmp_path / "a.parquet")
    with pytest.raises(TrajectoryError, match="There is no trajectory file"):
        load_corpus(tmp_path / "missing.parquet")


def rewritten(tmp_path, change):
    path = tmp_path / "set.parquet"
    write_corpus(corpus(), path)
    pq.write_table(change(pq.read_table(path)), path)
    return path


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda t: t.drop_columns(["split"]), "The column split is missing"),
        (lambda t: t.replace_schema_metadata({}), "no description of a trajectory set"),
        (lambda t: t.replace_schema_metadata({b"as2d": b"{"}), "description is not JSON"),
        (lambda t: t.replace_schema_metadata({b"as2d": b'{"format": 7}'}), "not of format 1"),
        (lambda t: t.replace_schema_metadata({b"as2d": b'{"format": 1}'}), "no valid id"),
        (
            lambda t: t.set_column(8, "target_tokens", pa.array([["five"]])),
            "A column has another type than a trajectory set needs",
        ),
        (lambda t: t.set_column(8, "target_tokens", pa.array([[5, None, 2]])), "target_tokens is empty at position 1"),
        (lambda t: t.set_column(6, "split", pa.array([None], pa.string())), "'w0' (row 0): split is empty"),
    ],
)
def test_damaged_file_is_refused_with_what_is_wrong(tmp_path, change, sentence):
    with pytest.raises(TrajectoryError) as caught:
        read_corpus(rewritten(tmp_path, change))
    assert sentence in str(caught.value)
    assert "set.parquet" in str(caught.value)


def test_flat_arrays_are_cut_at_their_offsets():
    assert flat_slices([1, 2, 3], [0, 2, 2, 3], "tokens") == [(1, 2), (), (3,)]


@pytest.mark.parametrize(
    ("offsets", "sentence"),
    [
        ([], "do not start at 0"),
        ([1, 3], "do not start at 0"),
        ([0, 2, 1, 3], "fall from 2 to 1 at window 1"),
        ([0, 2], "end at 2, but there are 3 values"),
    ],
)
def test_bad_offsets_are_refused(offsets, sentence):
    with pytest.raises(TrajectoryError, match=sentence):
        flat_slices([1, 2, 3], offsets, "tokens")


def test_a_small_file_that_expands_without_limit_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "set.parquet"
    one = pa.table({"window_id": pa.array(["x" * 100_000] * 400).dictionary_encode()})
    pq.write_table(one, path, compression="zstd")
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(trajectories, "MOST_BYTES", 5_000_000)
    with pytest.raises(TrajectoryError, match="expands to more than"):
        read_corpus(path)
    monkeypatch.undo()
    monkeypatch.setattr(trajectories, "MOST_VALUES", 399)
    with pytest.raises(TrajectoryError, match="expands to more than"):
        read_corpus(path)
