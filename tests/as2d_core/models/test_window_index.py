"""A folder's index says what is asked about its recordings; what it says wrong is one sentence."""

import pytest

from as2d_core.errors import AudioError
from as2d_core.models.window_index import read_index, write_index


def window(**other):
    made = {"file": "a.flac", "group": "calls", "seconds": 2.5, "task": "transcribe", "instruction": "write it down."}
    return {**made, "transcript": "hello.", **other}


def question(**other):
    return {"file": "a.flac", "task": "question", "instruction": "who?", "reference": "anna.", **other}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.flac").touch()
    return tmp_path


def test_what_is_written_is_read_with_every_item_named_once(folder):
    write_index(folder, [window(split="validation")], [question(), question(instruction="when?")], 16_000)
    listed, first, second = read_index(folder)
    assert (listed.window_id, listed.path, listed.reference) == ("a", folder / "a.flac", "hello.")
    assert [first.window_id, second.window_id] == ["a-question", "a-question-2"]
    assert (second.instruction, second.reference, second.duration_s) == ("when?", "anna.", 2.5)
    assert {item.split for item in (listed, first, second)} == {"validation"}
    assert {item.group for item in (listed, first, second)} == {"calls"}


def test_windows_of_no_split_have_none(folder):
    write_index(folder, [window()], [], 16_000)
    assert read_index(folder)[0].split is None


@pytest.mark.parametrize(
    ("windows", "tasks", "sentence"),
    [
        ([window(file="b.flac")], [], "no recording 'b.flac'"),
        ([window(file="../a.flac")], [], r"no recording '\.\./a\.flac'"),
        ([window(split="training")], [], "'training' of a.flac is no split"),
        ([window(transcript=7)], [], "'transcript' is 7, not text"),
        ([{"file": "a.flac"}], [], "'group' is missing"),
        ([window()], [question(file="c.flac")], "about 'c.flac', which is not among the windows"),
        (["a.flac"], [], "no index of recordings"),
        ([window(seconds=None)], [], "no index of recordings"),
    ],
)
def test_a_wrong_index_is_one_sentence(folder, windows, tasks, sentence):
    write_index(folder, windows, tasks, 16_000)
    with pytest.raises(AudioError, match=sentence):
        read_index(folder)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"windows": 3}', '{"windows": [], "tasks": 3}', "\0"])
def test_a_file_that_is_no_index_is_one_sentence(folder, content):
    (folder / "index.json").write_text(content)
    with pytest.raises(AudioError, match="no index of recordings"):
        read_index(folder)


def test_a_folder_without_an_index_says_so(tmp_path):
    with pytest.raises(AudioError, match="no index of recordings"):
        read_index(tmp_path)
