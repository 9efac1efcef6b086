"""When is a call tried again? One policy for everything that talks to a phone; it reads ``retryable``."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from device_bridge.errors import DeviceError

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Retry:
    """How often, how long, and how far apart."""

    attempts: int = 8
    """Calls at most, the first one included."""
    first_wait_s: float = 0.2
    """Time before the second call; doubled before every further one."""
    longest_wait_s: float = 5.0
    """The doubling stops here."""
    total_s: float = 60.0
    """No further call is begun after this time."""


USUAL = Retry()
NO_RETRY = Retry(attempts=1)


def retrying(
    call: Callable[[], Result],
    policy: Retry = USUAL,
    cancel: threading.Event | None = None,
    on_wait: Callable[[DeviceError], None] = lambda _: None,
) -> Result:
    """Call until it works, fails for good, or the policy ends.

    Args:
        call: must be safe to repeat.
        cancel: once set, the last error is raised instead of waiting on.
        on_wait: told about each error that is waited out.

    Raises:
        DeviceError: the error of the last call; one that is not ``retryable`` at once.
    """
    cancel = cancel or threading.Event()
    ends = time.monotonic() + policy.total_s
    wait_s = policy.first_wait_s
    for attempt in range(1, policy.attempts + 1):
        try:
            return call()
        except DeviceError as error:
            last = attempt == policy.attempts or time.monotonic() + wait_s > ends
            if not error.retryable or last:
                raise
            on_wait(error)
            if cancel.wait(wait_s):
                raise
        wait_s = min(policy.longest_wait_s, wait_s * 2)
    raise AssertionError("a policy allows at least one attempt")  # pragma: no cover
