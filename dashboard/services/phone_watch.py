"""Which phones are there now, without asking? Followed in the background, so that no page waits for adb.

Whoever opened the watch is told of each phone that is ready, once for each connection, and then
again and again as long as it has something to wait for there.
"""

import threading
import time
from collections.abc import Callable

from device_bridge.adb import PhoneEntry, Seen, Tracker, configured_servers
from device_bridge.errors import DeviceError

FIRST_LOOK_S = 1.0
"""A program that has just begun to look may wait so long for a first answer; later nobody waits."""
AGAIN_S = 5.0
"""What could not be done on a connected phone is tried again after this time."""
CLOSE_S = 5.0


class PhoneWatch:
    """Follows the adb servers of this program from the first call of ``start`` on."""

    def __init__(self, came: Callable[[PhoneEntry], None], waits: Callable[[], bool] = lambda: False) -> None:
        """Nothing is looked at yet.

        Args:
            came: called in a thread for each phone that has become ready.
            waits: whether there is something that ``came`` should be called for again.
        """
        self._came, self._waits = came, waits
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

    def seen(self) -> Seen:
        """What is connected. Waits only in the first second of all, and only until something is known."""
        self.start()
        if self._problem is not None:
            return Seen(problems=(self._problem,))
        tracker = self._tracker
        if tracker is None:
            return Seen()  # it was closed
        left_s = self._began_s + FIRST_LOOK_S - time.monotonic()
        return tracker.wait(0, left_s) if left_s > 0 else tracker.seen

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
            now = {_connection(phone): phone for phone in tracker.seen.phones if phone.ready}
            for connection, phone in now.items():
                if self._closing.is_set():
                    return
                if connection not in known or self._waits():
                    self._came(phone)
            known = set(now)


def _connection(phone: PhoneEntry) -> tuple[str, str]:
    """A phone that comes back has another number at its server."""
    return phone.id, phone.details.get("transport_id", "")
