"""An episode begins after its checks in a row, and every look at the device is recorded."""

import pytest

from as2d_core.errors import ConditionsError
from as2d_core.gates import Gates
from as2d_core.records import Telemetry
from as2d_core.runner import gatekeeper
from as2d_core.runner.gatekeeper import Gatekeeper


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self):
        self.now = 0.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


class Device:
    """Sensors whose mask of cores changes over time."""

    def __init__(self, clock, mask_at):
        self.clock, self.mask_at = clock, mask_at

    def refresh(self, *, wait):
        assert wait

    def read(self):
        return Telemetry(0, 31.0, online_mask=self.mask_at(self.clock.now), charging=True, extra={"plugged": True})

    def possible(self):
        return (0, 1, 2, 3)

    def screen_on(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(gatekeeper, "time", clock)
    return clock


def stand(clock, gates, mask_at, check=lambda: None):
    looks = []
    return Gatekeeper(gates, Device(clock, mask_at), looks.append, check), looks


def test_an_episode_begins_after_its_rest_and_two_checks_five_seconds_apart(clock):
    keeper, looks = stand(clock, Gates(), lambda _: 0b1111)
    keeper.wait("the sweep")
    assert clock.now == pytest.approx(20.0)
    assert [look.passed for look in looks] == [True, True]
    assert looks[0].rested_s == pytest.approx(15.0)
    assert (looks[0].charging, looks[0].plugged, looks[0].screen_on) == (True, True, True)


def test_a_check_that_fails_starts_the_row_again(clock):
    keeper, looks = stand(clock, Gates(), lambda now: 0b1111 if now < 19 or now > 24 else 0b0111)
    keeper.wait("the sweep")
    assert [look.passed for look in looks] == [True, False, True, True]
    assert looks[1].missing == ("core 3 is off-line",)


def test_when_patience_ends_the_episode_fails_with_what_was_missing(clock):
    keeper, looks = stand(clock, Gates(patience_s=60.0), lambda _: 0b0111)
    with pytest.raises(ConditionsError, match=r"The sweep did not begin: core 3 is off-line.*60 s"):
        keeper.wait("the sweep")
    assert not any(look.passed for look in looks)
    assert clock.now < 90


def test_without_gates_nothing_is_waited_for_or_recorded(clock):
    keeper, looks = stand(clock, None, lambda _: 0)
    keeper.wait("the sweep")
    assert (clock.now, looks) == (0.0, [])


def test_a_wait_can_be_cancelled(clock):
    def cancelled():
        if clock.now > 3:
            raise InterruptedError

    keeper, _ = stand(clock, Gates(), lambda _: 0b1111, cancelled)
    with pytest.raises(InterruptedError):
        keeper.wait("the sweep")
    assert clock.now < 4
