"""Which phones are there now? Kept up to date from what the adb servers tell, without flicker.

A phone that is gone for less than half a second (a loose plug, a restarted adb daemon) was never
gone for whoever looks here; a server that is down is asked again, ever more patiently.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from device_bridge.adb.servers import AdbServer, PhoneEntry
from device_bridge.adb.wire import Deadline
from device_bridge.errors import DeviceError

SETTLE_S = 0.5
LONGEST_SETTLE_S = 2.0
"""A list that never settles is shown after this time all the same."""
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 8.0
OPEN_S = 5.0
_TICK_S = 0.1
_LISTEN_S = 0.25


@dataclass(frozen=True, slots=True)
class Seen:
    """What is connected."""

    phones: tuple[PhoneEntry, ...] = ()
    problems: tuple[DeviceError, ...] = ()
    """One for each server that does not answer."""
    version: int = 0
    """Grows with every change, so that a page that has seen this one has nothing new to draw."""


class Tracker:
    """Follows several adb servers in threads of its own, until it is closed."""

    def __init__(
        self,
        servers: Sequence[AdbServer],
        on_change: Callable[[Seen], None] = lambda _: None,
        settle_s: float = SETTLE_S,
    ) -> None:
        """``on_change`` is called from a thread, with what has settled. Servers are not started."""
        self._servers = tuple(servers)
        self._on_change = on_change
        self._settle_s = settle_s
        self._lock = threading.Lock()
        self._raw: dict[AdbServer, tuple[PhoneEntry, ...] | DeviceError] = {}
        self._changed_at: float | None = None
        self._unsettled_since: float | None = None
        self._seen = Seen()
        self._closing = threading.Event()
        self._hurry = {server: threading.Event() for server in self._servers}
        self._threads = [self._thread(self._follow, server) for server in self._servers]
        self._threads.append(self._thread(self._settle))

    @property
    def seen(self) -> Seen:
        """What is connected now."""
        with self._lock:
            return self._seen

    def wait(self, version: int, timeout_s: float) -> Seen:
        """Wait until something newer than ``version`` is seen, or the time is over; returns what is seen then."""
        ends = time.monotonic() + timeout_s
        while (seen := self.seen).version <= version and time.monotonic() < ends:
            self._closing.wait(_TICK_S / 4)
        return seen

    def look_again(self) -> None:
        """A server that was down may be up now: ask at once. Returns at once."""
        for hurry in self._hurry.values():
            hurry.set()

    def close(self) -> None:
        """Stop following."""
        self._closing.set()
        self.look_again()
        for thread in self._threads:
            thread.join(2 * OPEN_S)

    def _thread(self, work: Callable[..., None], *arguments: object) -> threading.Thread:
        thread = threading.Thread(target=work, args=arguments, name="as2d-tracker", daemon=True)
        thread.start()
        return thread

    def _follow(self, server: AdbServer) -> None:
        pause_s = FIRST_PAUSE_S
        while not self._closing.is_set():
            try:
                for _ in self._changes(server):
                    self._put(server, tuple(server.phones()))
                    pause_s = FIRST_PAUSE_S
            except DeviceError as error:
                if not self._closing.is_set():
                    self._put(server, error)
            hurried = self._hurry[server].wait(pause_s)
            self._hurry[server].clear()
            pause_s = FIRST_PAUSE_S if hurried else min(pause_s * 2, LONGEST_PAUSE_S)

    def _changes(self, server: AdbServer) -> Iterator[None]:
        """Yields whenever the server says that its list has changed, at first at once."""
        deadline = Deadline(OPEN_S, f"The adb server at {server}")
        with server.wire(deadline) as wire:
            wire.ask("host:track-devices", deadline, "the adb server")
            while not self._closing.is_set():
                if wire.wait_readable(_LISTEN_S):
                    wire.receive_block(Deadline(OPEN_S, f"The adb server at {server}"))
                    yield

    def _put(self, server: AdbServer, found: tuple[PhoneEntry, ...] | DeviceError) -> None:
        with self._lock:
            before = self._raw.get(server)
            self._raw[server] = found
            if _same(before, found):
                return
            self._changed_at = time.monotonic()
            self._unsettled_since = self._unsettled_since or self._changed_at

    def _settle(self) -> None:
        while not self._closing.wait(_TICK_S):
            with self._lock:
                now = time.monotonic()
                first = self._seen.version == 0 and len(self._raw) == len(self._servers)
                if self._changed_at is None or self._unsettled_since is None:
                    continue
                quiet = now - self._changed_at >= self._settle_s
                if not (first or quiet or now - self._unsettled_since >= LONGEST_SETTLE_S):
                    continue
                self._changed_at = self._unsettled_since = None
                found = [self._raw[server] for server in self._servers if server in self._raw]
                phones = tuple(p for part in found if not isinstance(part, DeviceError) for p in part)
                problems = tuple(part for part in found if isinstance(part, DeviceError))
                if phones == self._seen.phones and str(problems) == str(self._seen.problems) and self._seen.version:
                    continue
                seen = self._seen = Seen(phones, problems, self._seen.version + 1)
            self._on_change(seen)


def _same(one: object, other: object) -> bool:
    """Whether two findings say the same; errors are compared by their words."""
    return str(one) == str(other) if isinstance(one, DeviceError) else one == other
