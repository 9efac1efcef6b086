"""A file of others is read within bounds, or refused in a word; nothing waits for it."""

import json
import os

import pytest

from as2d_core.reading import is_file, is_folder, open_regular, parse_json, read_json, read_words


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "{", "", "9" * 5000, "\ufeff{}"])
def test_what_is_no_json_is_a_value_error(text, tmp_path):
    path = tmp_path / "odd.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"\w"):
        read_json(path)


def test_a_file_beyond_the_bound_is_a_value_error(tmp_path):
    path = tmp_path / "long.json"
    path.write_text(json.dumps("x" * 100), encoding="utf-8")
    assert read_json(path, 102) == "x" * 100
    with pytest.raises(ValueError, match="more than"):
        read_json(path, 101)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("read", [read_json, read_words, open_regular])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, read):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(OSError, match="no regular file"):
        read(tmp_path / "pipe.json")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError):
        read_json(tmp_path)


@pytest.mark.parametrize("name", ["a" * 5000, "a\0b", "/dev/null"])
def test_what_can_be_no_path_is_no_file_and_no_folder(name, tmp_path):
    assert not is_file(tmp_path / name)
    assert not is_folder(tmp_path / name)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "1" + "0" * 400, "-" + "9" * 400])
def test_a_number_that_cannot_be_calculated_with_is_refused(number):
    with pytest.raises(ValueError, match="number"):
        parse_json(f'{{"a": [{number}]}}')
