"""What follows from a list and from facts: each check says what was found and what to do."""

import facts_samples as samples
import pytest

from device_bridge.adb.servers import AdbServer, PhoneEntry
from device_bridge.facts import Fact, PhoneFacts, facts_from
from device_bridge.setup.checks import State
from device_bridge.setup.first_look import first_look

READY = PhoneEntry(AdbServer(), "A1", "device")


def states(readiness):
    return {check.key: check.state for check in readiness.checks}


def changed(**values):
    known = facts_from(samples.K70)
    return PhoneFacts({**known.facts, **{name: Fact(name, value, "") for name, value in values.items()}})


def test_a_good_phone_that_was_set_up_is_ready():
    assert first_look(READY, facts_from(samples.K70), ("r1",)).ready


def test_a_phone_that_was_not_set_up_lacks_only_that():
    readiness = first_look(READY, facts_from(samples.K70), ())
    assert [check.key for check in readiness.missing] == ["runtime"]


@pytest.mark.parametrize(
    ("values", "key"),
    [
        ({"api_level": 26}, "android"),
        ({"abis": ("armeabi-v7a",)}, "processor"),
        ({"storage_free_bytes": 10_000_000}, "space"),
        ({"memory_available_bytes": 10_000_000}, "memory"),
    ],
)
def test_each_lack_is_named_with_what_to_do(values, key):
    (check,) = first_look(READY, changed(**values), ("r1",)).missing
    assert check.key == key
    assert check.fix


def test_what_the_phone_does_not_say_is_neither_right_nor_wrong():
    readiness = first_look(READY, facts_from({}), ("r1",))
    assert not readiness.missing
    assert not readiness.ready


@pytest.mark.parametrize("state", ["unauthorized", "offline", "no permissions", "recovery"])
def test_a_phone_that_is_not_ready_is_asked_nothing_and_says_why(state):
    readiness = first_look(PhoneEntry(AdbServer(), "A1", state), None)
    (wrong,) = readiness.missing
    assert wrong.key == "phone"
    assert wrong.fix
    assert set(states(readiness).values()) == {State.WRONG, State.NOT_TRIED}
