"""What must a kind of device offer, so that jobs can run on it?"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from as2d_core.request import Request


@dataclass(frozen=True, slots=True)
class Limits:
    """Deadlines of one request, in seconds."""

    silence_s: float = 180.0
    """Longest time without a line. The runner gives up on a silent model itself, earlier than this."""
    request_s: float = 3600.0
    """Longest time of one request."""
    cancel_s: float = 8.0
    """Time to follow a cancel line: the runner ends a run at its next round, and kills a model that is loading."""
    terminate_s: float = 4.0
    """Time to leave when asked to, before everything is killed."""
    idle_s: float = 600.0
    """How long models stay resident when nothing runs."""
    away_s: float = 1800.0
    """Longest time a device may be out of reach during a request; what it does there goes on."""


class Device(Protocol):
    """One device. Its job manager calls ``run`` from one thread at a time."""

    @property
    def id(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def outlives(self) -> bool:
        """Whether a run goes on when this program ends, and can be followed by a later one."""
        ...

    @property
    def notice(self) -> str:
        """A sentence about the device that whoever waits for a run should know; usually empty."""
        ...

    def run(self, request: Request, take: Callable[[bytes], bool], cancel: threading.Event) -> None:
        """Run one request and hand every line of its stream to ``take``; return after the last line.

        Args:
            take: takes one line, newline included where there is one; returns whether the stream has ended.
            cancel: once set, the run is to be ended as soon as can be.

        Raises:
            RunnerStartError, RunnerLostError, RunnerSilentError: the stream did not come to its end.
            StreamWriteError: from ``take``; the run is stopped.
        """
        ...

    def detach(self) -> None:
        """Let go of what runs, without ending it: ``run`` raises ``LeftRunningError``. Only where runs outlive us."""
        ...

    def rest(self) -> None:
        """No request follows for now: models may be let go after a while."""
        ...

    def close(self) -> None:
        """End whatever runs on the device for us; it can be used again afterwards."""
        ...
