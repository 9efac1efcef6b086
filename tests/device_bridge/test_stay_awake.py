"""Stay-awake is the one setting that is changed on a phone; it comes back whatever happens."""

import time

import pytest
from patience import wait_for

from device_bridge.stay_awake import FOLDER, SETTING, StayAwake, put_back, put_back_left


@pytest.fixture
def phone(shared_phone):
    phone = shared_phone.phone
    yield phone
    put_back(phone)
    phone.run(["settings", "delete", "global", SETTING])


def setting(phone):
    return phone.run(["settings", "get", "global", SETTING]).text.strip()


@pytest.mark.parametrize("old", ["null", "3"])
def test_the_phones_own_value_comes_back_at_the_end(phone, old):
    if old != "null":
        phone.run(["settings", "put", "global", SETTING, old])
    with StayAwake(phone):
        assert setting(phone) == "7"
    assert setting(phone) == old
    assert phone.run(["ls", FOLDER], check=False).code != 0


def test_a_session_that_crashed_does_not_make_ours_the_phones_own_value(phone):
    phone.run(["settings", "put", "global", SETTING, "1"])
    crashed = StayAwake(phone)
    crashed.__enter__()
    with StayAwake(phone):
        assert setting(phone) == "7"
    assert setting(phone) == "1"
    crashed.__exit__()


def test_the_phone_helps_itself_when_nobody_asks_for_more_time(phone, monkeypatch):
    phone.run(["settings", "put", "global", SETTING, "1"])
    monkeypatch.setattr(StayAwake, "_renew", lambda _: None)
    StayAwake(phone).__enter__()
    assert setting(phone) == "7"
    phone.run(["touch", "-d", "@1000", f"{FOLDER}/lease"])
    wait_for(lambda: setting(phone) == "1")


def test_what_an_earlier_session_left_is_put_back_at_the_next_connection(phone):
    left = StayAwake(phone)
    left.__enter__()
    put_back(phone)
    assert setting(phone) == "null"
    put_back(phone)
    left.__exit__()


def test_a_phone_that_is_only_looked_at_keeps_what_a_session_at_work_has_set(phone):
    with StayAwake(phone):
        put_back_left(phone)
        assert setting(phone) == "7"


def test_a_connection_puts_back_what_a_session_has_left_that_nobody_renews(phone, monkeypatch):
    monkeypatch.setattr(StayAwake, "_renew", lambda _: None)
    left = StayAwake(phone)
    left.__enter__()
    phone.run(["touch", "-d", "@1000", f"{FOLDER}/lease"])
    put_back_left(phone)
    assert setting(phone) == "null"


def test_a_clock_that_was_set_back_does_not_keep_a_phone_awake_for_ever(phone, monkeypatch):
    monkeypatch.setattr(StayAwake, "_renew", lambda _: None)
    StayAwake(phone).__enter__()
    phone.run(["touch", "-d", f"@{int(time.time()) + 86_400}", f"{FOLDER}/lease"])
    put_back_left(phone)
    assert setting(phone) == "null"
