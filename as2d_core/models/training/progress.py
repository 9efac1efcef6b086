"""One line that says how far a long job is and how long it will still take."""

import sys
import time
from typing import TextIO


class Progress:
    """Writes at most one line every ``every_s`` seconds; on a terminal it stays on one line."""

    def __init__(self, every_s: float = 30.0, out: TextIO | None = None) -> None:
        self._every_s = every_s
        self._out = out or sys.stderr
        self._start_s = self._last_s = time.monotonic()
        self._first: int | None = None

    def show(self, done: int, total: int, what: str) -> bool:
        """Report that ``done`` of ``total`` are done; true when a line was written.

        The time left follows from the pace since this object was made: work of an earlier run is not counted.
        """
        now = time.monotonic()
        if self._first is None:
            self._first, self._start_s = done, now
        if now - self._last_s < self._every_s and done < total:
            return False
        self._last_s = now
        made = done - self._first
        left = f", {duration((now - self._start_s) / made * (total - done))} left" if made and done < total else ""
        end = "\n" if done >= total or not self._out.isatty() else "\r"
        self._out.write(f"{what}: {done:,} of {total:,} ({done / total:.0%}{left}){end}")
        self._out.flush()
        return True


def duration(seconds: float) -> str:
    """``"2 h 05 min"``, ``"7 min"``, ``"40 s"``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
