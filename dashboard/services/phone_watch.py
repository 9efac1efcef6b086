"""Which phones are there now, without asking? Followed in the background, so that no page waits for adb.

Whoever opened the watch is told of each phone that is ready, once for each connection, and then
again and again as long as it has something to wait for there.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from device_bridge.adb import Identities, KnownPhone, Tracker, configured_servers
from device_bridge.errors import DeviceError

FIRST_LOOK_S = 1.0
"""A program that has just begun to look may wait so long for a first answer; later nobody waits."""
AGAIN_S = 5.0
"""What could not be done on a connected phone is tried again after this time."""
CLOSE_S = 5.0
_TICK_S = 0.02

IDENTITIES = Identities()
"""What this program knows of connections to phones: each is asked once which phone it leads to."""


@dataclass(frozen=True, slots=True)
class SeenPhones:
    """What is connected."""

    phones: tuple[KnownPhone, ...] = ()
    problems: tuple[DeviceError, ...] = ()
    """One for each adb server that does not answer."""
    version: int = 0
    """0 = nothing is known yet."""


class PhoneWatch:
    """Follows the adb servers of this program from the first call of ``start`` on."""

    def __init__(
        self, came: Callable[[KnownPhone], None], identities: Identities, waits: Callable[[], bool] = lambda: False
    ) -> None:
        """Nothing is looked at yet.

        Args:
            identities: says which connections lead to one phone.
            came: called in a thread for each phone that has become ready.
            waits: whether there is something that ``came`` should be called for again.
        """
        self._came, self._identities, self._waits = came, identities, waits
        self._seen = SeenPhones()
        self._lock = threading.Lock()
        self._tracker: Tracker | None = None
        self._worker: threading.Thread | None = None
        self._problem: DeviceError | None = None
        self._began_s = 0.0
        self._changed = threading.Event()
        self._closing = threading.Event()

    def start(self) -> None:
        """Begin to look, unless that was done. Returns at once."""
        with self._lock:
            if self._tracker is not None or self._problem is not None or self._closing.is_set():
                return
            self._began_s = time.monotonic()
            try:
                servers = configured_servers()
            except DeviceError as error:
                self._problem = error
                return
            self._tracker = Tracker(servers, lambda _: self._changed.set())
            self._worker = threading.Thread(target=self._work, args=(self._tracker,), name="as2d-phones", daemon=True)
            self._worker.start()

    def seen(self) -> SeenPhones:
        """What is connected. Waits only in the first second of all, and only until something is known."""
        self.start()
        if self._problem is not None:
            return SeenPhones(problems=(self._problem,))
        while not self._seen.version and time.monotonic() - self._began_s < FIRST_LOOK_S:
            if self._closing.wait(_TICK_S):
                break
        return self._seen

    def look_again(self) -> None:
        """An adb server was started: do not wait until it is asked again by itself."""
        tracker = self._tracker
        if tracker is not None:
            tracker.look_again()

    def close(self) -> None:
        """Look no more."""
        self._closing.set()
        self._changed.set()
        with self._lock:
            tracker, self._tracker = self._tracker, None
        if tracker is not None:
            tracker.close()
        if self._worker is not None:
            self._worker.join(CLOSE_S)

    def _work(self, tracker: Tracker) -> None:
        known: set[tuple[str, str]] = set()
        while not self._closing.is_set():
            self._changed.wait(AGAIN_S)
            self._changed.clear()
            found = tracker.seen
            phones = self._identities.phones(found.phones)
            self._seen = SeenPhones(phones, found.problems, found.version)
            now = {connection for phone in phones for connection in _connections(phone)}
            for phone in phones:
                if self._closing.is_set():
                    return
                if phone.ready and (_connections(phone) - known or self._waits()):
                    self._came(phone)
            known = now


def _connections(phone: KnownPhone) -> set[tuple[str, str]]:
    """A phone that comes back has another number at its server."""
    return {(entry.id, entry.details.get("transport_id", "")) for entry in phone.connections if entry.ready}
