"""Whatever a file is called, the sentence about it stays one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from as2d_core.errors import As2dError, RequestError, one_line, unknown_name
from as2d_core.native.errors import NativeBuildError

NAMES = ["a\nb.wav", "a\r\nb", "\x1b[2Jgone", "a\u2028b", "\u202egnp.exe", "bad \udcff byte", "bell\x07", "\x85"]
SHOWN = {chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0x61C, 0x200E, 0x200F, *range(0x2028, 0x202F))}
SHOWN |= {chr(code) for code in range(0x2066, 0x206A)}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_any_kind_leaves_a_sentence_on_one_line(name):
    said = str(RequestError(f"The file {name} is not there."))
    assert len(said.splitlines()) == 1
    assert said.isprintable()
    assert said.encode()
    assert str(As2dError(f"Nested: {RequestError(name)}")) == f"Nested: {one_line(name)}"
    assert len(str(unknown_name("model", name, ["x"])).splitlines()) == 1


@given(st.text())
def test_names_without_control_characters_are_left_alone_and_all_others_once(text):
    shown = one_line(text)
    assert one_line(shown) == shown
    assert len(shown.splitlines()) <= 1
    assert (shown == text) == (not any(ch in SHOWN for ch in text))


def test_of_many_names_a_sentence_lists_a_few():
    said = str(unknown_name("group", "zzz", [f"g{n:03}-{n * 7919 % 1000}" for n in range(500)]))
    assert said.endswith(", ….")
    assert len(said) < 300
    assert str(unknown_name("group", "zzz", ["a", "b"])) == "There is no group named 'zzz'. Known: a, b."


def test_what_a_compiler_said_keeps_its_lines():
    assert (
        str(NativeBuildError("Could not compile:\na.cpp\x1b[31m: error")) == "Could not compile:\na.cpp\\x1b[31m: error"
    )
