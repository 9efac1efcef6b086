import threading
from types import SimpleNamespace

import pytest

from device_bridge import retrying as module
from device_bridge.errors import NoSpaceError, PhoneLostError
from device_bridge.retrying import NO_RETRY, Retry, retrying

QUICK = Retry(attempts=4, first_wait_s=0.001, longest_wait_s=0.002, total_s=600)


def failing(times, error):
    calls = []

    def call():
        calls.append(1)
        if len(calls) <= times:
            raise error
        return len(calls)

    return call


def test_what_is_retryable_is_tried_again():
    waited = []
    assert retrying(failing(3, PhoneLostError("gone")), QUICK, on_wait=waited.append) == 4
    assert len(waited) == 3


def test_what_is_not_retryable_is_raised_at_once():
    call = failing(1, NoSpaceError("full"))
    with pytest.raises(NoSpaceError):
        retrying(call, QUICK)
    assert call() == 2


@pytest.mark.parametrize("policy", [NO_RETRY, QUICK, Retry(attempts=99, first_wait_s=0.05, total_s=0.01)])
def test_a_policy_ends_with_the_last_error(policy):
    with pytest.raises(PhoneLostError, match="gone"):
        retrying(failing(1000, PhoneLostError("gone")), policy)


def test_waits_double_up_to_the_longest_one_and_end_before_the_total_time_is_over(monkeypatch):
    waited = []

    class Waiting(threading.Event):
        def wait(self, timeout=None):
            waited.append(timeout)
            return False

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: sum(waited)))
    policy = Retry(attempts=99, first_wait_s=1.0, longest_wait_s=5.0, total_s=20.0)
    with pytest.raises(PhoneLostError, match="gone"):
        retrying(failing(1000, PhoneLostError("gone")), policy, Waiting())
    assert waited == [1.0, 2.0, 4.0, 5.0, 5.0]


def test_a_cancel_ends_the_waiting():
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(PhoneLostError):
        retrying(failing(1, PhoneLostError("gone")), Retry(first_wait_s=60), cancel)
