"""Which runs are to end early? Asked by the coordinator, told by a control line or a signal."""

import threading


class Cancellations:
    """Run ids that wait or run, and those among them that somebody cancelled.

    A cancellation counts from the moment its request was read, so that one which overtakes the
    start of its run is not lost; one that comes after the end of its run changes nothing.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._expected: list[str] = []
        self._cancelled: set[str] = set()
        self._all = False

    def expect(self, run_id: str) -> None:
        """A request for this run has been read."""
        with self._lock:
            self._expected.append(run_id)

    def cancel(self, run_id: str) -> None:
        """Cancel one run; unknown and finished ones are left alone."""
        with self._lock:
            if run_id in self._expected:
                self._cancelled.add(run_id)

    def cancel_all(self) -> None:
        """Cancel the present run and every later one; safe in a signal handler."""
        self._all = True  # no lock: the handler may have interrupted its holder

    def wanted(self, run_id: str) -> bool:
        """Whether the run is to end."""
        return self._all or run_id in self._cancelled

    def forget(self, run_id: str) -> None:
        """The run has ended."""
        with self._lock:
            if run_id in self._expected:
                self._expected.remove(run_id)
            self._cancelled.discard(run_id)
