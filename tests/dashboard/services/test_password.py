"""A password is kept as a hash that only it matches, and guesses are limited."""

import json
import stat

import pytest

from as2d_core.errors import As2dError
from dashboard.services.password import (
    FILE,
    Guesses,
    PasswordError,
    asked_for,
    hashed,
    kept_password,
    remove_password,
    set_password,
)
from datastore.locations import Folders

WORD = "korrekt häst batteri"


@pytest.fixture
def folders(tmp_path):
    return Folders(tmp_path / "as2d")


def test_only_the_password_matches(folders):
    set_password(folders, WORD)
    kept = kept_password(folders)
    assert kept.matches(WORD)
    assert not any(kept.matches(guess) for guess in ("", WORD[:-1], WORD + " ", WORD.upper()))


def test_the_file_holds_no_password_and_is_for_its_owner_only(folders):
    set_password(folders, WORD)
    path = folders.root / FILE
    assert "batteri" not in path.read_text(encoding="utf-8")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_two_equal_passwords_are_kept_differently():
    assert hashed(WORD).key != hashed(WORD).key


def test_there_is_none_by_default_and_none_after_it_was_removed(folders):
    assert kept_password(folders) is None
    set_password(folders, WORD)
    assert (remove_password(folders), remove_password(folders)) == (True, False)
    assert kept_password(folders) is None


@pytest.mark.parametrize("word", ["", "short", "x" * 1_001])
def test_a_password_of_a_bad_length_is_refused(folders, word):
    with pytest.raises(PasswordError, match="choose one of 10 to 1,000 characters"):
        set_password(folders, word)
    assert kept_password(folders) is None


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"salt": "x", "key": "y"}', '{"salt": "00", "key": "00", "n": 3}'])
def test_a_damaged_file_is_a_sentence_and_never_an_open_door(folders, body):
    folders.create()
    (folders.root / FILE).write_text(body)
    with pytest.raises(PasswordError, match="as2d password"):
        kept_password(folders)


def test_a_cost_beyond_reason_in_the_file_is_refused(folders):
    set_password(folders, WORD)
    path = folders.root / FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {"n": 1 << 30}))
    with pytest.raises(PasswordError):
        kept_password(folders)


def test_a_password_is_typed_twice():
    words = iter([WORD, WORD])
    assert asked_for(lambda _: next(words)) == WORD
    words = iter([WORD, "another one"])
    with pytest.raises(As2dError, match="two different"):
        asked_for(lambda _: next(words))


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_after_some_wrong_guesses_an_address_waits_until_the_first_is_old_enough():
    clock = Clock()
    guesses = Guesses(most=3, most_of_all=50, span_s=60.0, clock=clock)
    for second in (0, 10, 20):
        clock.now = second
        assert guesses.wait_s("a") == 0
        guesses.wrong("a")
    assert guesses.wait_s("a") == 40.0
    assert guesses.wait_s("b") == 0
    clock.now = 60.0
    assert guesses.wait_s("a") == 0


def test_many_addresses_together_wait_too():
    guesses = Guesses(most=3, most_of_all=10, span_s=60.0, clock=Clock())
    for number in range(10):
        guesses.wrong(f"host {number}")
    assert guesses.wait_s("a new one") == 60.0


def test_the_right_password_forgives_the_slips_of_its_address_only():
    guesses = Guesses(most=1, most_of_all=10, span_s=60.0, clock=Clock())
    guesses.wrong("a")
    guesses.wrong("b")
    guesses.right("a")
    assert (guesses.wait_s("a"), guesses.wait_s("b")) == (0, 60.0)
