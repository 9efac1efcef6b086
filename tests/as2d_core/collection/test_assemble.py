"""Splits, and the assembly of collected windows."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.collection.assemble import SPLIT_ORDER, assemble, assign_splits, collection_request, usable
from as2d_core.errors import TrajectoryError
from as2d_core.models.window_index import RecordedWindow
from as2d_core.operation_records import Trajectory
from as2d_core.protocol import Writer
from as2d_core.records import Engine, RunHeader, RunRecord
from as2d_core.replay.trajectories import load_corpus
from as2d_core.request import ModelRef

TARGET, DRAFTER = ModelRef("t", "target", "aa"), ModelRef("d", "drafter", "bb")
EOS = 9


def window(name="w1", group="clean"):
    return RecordedWindow(name, Path(f"{name}.flac"), group, "transcribe", "transcribe the speech.", "", 1.0)


def write(path, item, target_sha="aa", status="eos", audio="cc"):
    """A whole stream of one collected window."""
    request = collection_request(item, TARGET, DRAFTER)
    request = replace(
        request,
        target=replace(TARGET, sha256=target_sha),
        audio=replace(request.audio, sha256=audio, duration_s=1.0),
    )
    lines = []
    writer = Writer(lines.append)
    writer.add(RunHeader(1, request.run_id, request, {}, {}, "virtual", created_at="2026-01-01T00:00:00+00:00"))
    for role, sha in (("target", target_sha), ("drafter", "bb")):
        writer.add(Engine(role, role, sha, "3.6.1", "cpu", 1, "high", "high"))
    writer.add(
        Trajectory(
            target_tokens=(1, 2, 3, EOS),
            target_capped=False,
            source="drafter",
            candidates=(1, 2, 4),
            confidences=(0.9, 0.8, 0.3),
            source_capped=False,
            forced=(1, 2, 4, EOS),
            forced_confidences=(0.9, 0.8, 0.3, 0.9),
            eos=EOS,
        )
    )
    writer.end(status, 4, "one two three")
    path.write_text("".join(lines), encoding="utf-8")
    return request


def test_agreement_is_the_drafters_token_after_the_true_prefix(tmp_path):
    item = window()
    request = write(tmp_path / "w.ndjson", item)
    record = usable(tmp_path / "w.ndjson", request, "aa", "bb")
    corpus = assemble({"w1": record}, [item], "mine")
    (drafter,) = corpus.windows[0].drafters
    assert drafter.agrees == (True, True, False, True)
    assert drafter.candidates == (1, 2, 4)
    assert corpus.windows[0].target_text == "one two three"


def test_windows_without_a_record_are_reported_and_left_out(tmp_path):
    item = window()
    request = write(tmp_path / "w.ndjson", item)
    record = usable(tmp_path / "w.ndjson", request, "aa", "bb")
    said = []
    corpus = assemble({"w1": record}, [item, window("w2")], "mine", report=said.append)
    assert len(corpus.windows) == 1
    assert said == ["w2 was not collected and is left out."]


def test_windows_made_for_a_split_stay_in_it(tmp_path):
    items = [replace(window(f"w{n}"), split=split) for n, split in enumerate(("validation", "validation", "test"))]
    records = {}
    for item in items:
        request = write(tmp_path / item.window_id, item, audio=item.window_id)
        records[item.window_id] = usable(tmp_path / item.window_id, request, "aa", "bb")
    assert [w.split for w in assemble(records, items, "mine").windows] == ["validation", "validation", "test"]


def test_nothing_collected_is_an_error():
    with pytest.raises(TrajectoryError, match="No window"):
        assemble({}, [window()], "mine")


def test_windows_of_other_models_are_not_mixed(tmp_path):
    records: dict[str, RunRecord] = {}
    for name, sha in (("w1", "aa"), ("w2", "ee")):
        request = write(tmp_path / f"{name}.ndjson", window(name), target_sha=sha, audio=name)
        records[name] = usable(tmp_path / f"{name}.ndjson", request, sha, "bb")
    with pytest.raises(TrajectoryError, match="differ"):
        assemble(records, [window("w1"), window("w2")], "mine")


def test_a_stream_is_used_again_only_when_it_is_whole_and_was_collected_alike(tmp_path):
    path = tmp_path / "w.ndjson"
    wanted = write(path, window())
    assert usable(path, wanted, "aa", "bb") is not None
    assert usable(path, wanted, "other", "bb") is None
    assert usable(path, replace(wanted, max_tokens=10), "aa", "bb") is None
    assert usable(path, replace(wanted, instruction="translate into german."), "aa", "bb") is None
    assert usable(tmp_path / "missing.ndjson", wanted, "aa", "bb") is None
    whole = path.read_text(encoding="utf-8")
    path.write_text(whole[: len(whole) // 2], encoding="utf-8")
    assert usable(path, wanted, "aa", "bb") is None


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 30)),
        max_size=60,
    )
)
def test_splits_are_disjoint_by_audio_whatever_the_windows(items):
    windows = [(f"w{i}", group, f"audio{audio}") for i, (group, audio) in enumerate(items)]
    splits = assign_splits(windows)
    assert set(splits) == {w for w, _, _ in windows}
    by_audio = {}
    for name, _, audio in windows:
        assert by_audio.setdefault(audio, splits[name]) == splits[name]


def test_splits_are_balanced_in_every_group():
    windows = [(f"{group}{i}", group, f"{group}{i}") for group in "ab" for i in range(12)]
    splits = assign_splits(windows)
    for group in "ab":
        counts = [sum(splits[f"{group}{i}"] == name for i in range(12)) for name in SPLIT_ORDER]
        assert counts == [4, 4, 4]


def test_the_packaged_sets_hold_every_bundled_window():
    demo, tasks = load_corpus("demo"), load_corpus("demo-tasks")
    assert (len(demo.windows), len(tasks.windows)) == (260, 156)
    assert {w.task for w in demo.windows} == {"transcribe"}
    assert {s: sum(w.split == s for w in demo.windows) for s in SPLIT_ORDER} == {
        "development": 100,
        "validation": 100,
        "test": 60,
    }
