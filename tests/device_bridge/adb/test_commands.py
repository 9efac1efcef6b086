import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_bridge.adb.commands import LONGEST_BYTES, command, encoded, script
from device_bridge.errors import CommandRefusedError

words = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), max_size=30)


def by_shell(text):
    return subprocess.run(["/bin/sh", "-c", encoded(text)], capture_output=True, check=True, timeout=60).stdout


@given(st.lists(words, min_size=1, max_size=4))
def test_a_shell_reads_the_words_that_were_written(given):
    assert by_shell(command(["printf", "%s\\0", *given])) == b"".join(encoded(word) + b"\0" for word in given)


@given(words, words)
def test_a_script_finds_its_arguments_untouched(first, second):
    assert by_shell(script('printf "%s\\0" "$2" "$1"', first, second)) == encoded(f"{second}\0{first}\0")


def test_variables_and_folders_are_words_too(tmp_path):
    hostile = tmp_path / "-a $(touch x) 'b'"
    hostile.mkdir()
    text = command(["sh", "-c", 'printf %s "$A"; pwd'], {"A": "$(id)\n'"}, str(hostile))
    assert by_shell(text) == encoded(f"$(id)\n'{hostile}\n")
    assert list(hostile.iterdir()) == []


def test_bytes_that_are_no_text_stay_what_they_are():
    assert by_shell(command(["printf", "%s", "a\udcff"])) == b"a\xff"


@pytest.mark.parametrize("argv", [[], [""], ["a\0b"], ["a", "\0"], ["x" * (LONGEST_BYTES + 1)]])
def test_what_adb_cannot_carry_is_refused(argv):
    with pytest.raises(CommandRefusedError):
        command(argv)


def test_a_name_that_no_variable_can_have_is_refused():
    with pytest.raises(CommandRefusedError, match="name of a variable"):
        command(["true"], {"A;reboot": "1"})
