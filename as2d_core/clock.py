"""The device clock that all processes of a run share.

``CLOCK_BOOTTIME`` where there is one (it goes on during suspend, and phone telemetry uses it);
otherwise the system-wide monotonic clock.
"""

import time

if hasattr(time, "CLOCK_BOOTTIME"):
    NAME = "CLOCK_BOOTTIME"
    _CLOCK = time.CLOCK_BOOTTIME

    def now_ns() -> int:
        """Nanoseconds of the device clock."""
        return time.clock_gettime_ns(_CLOCK)

else:  # macOS and Windows: monotonic_ns is system-wide there
    NAME = "monotonic"

    def now_ns() -> int:
        """Nanoseconds of the device clock."""
        return time.monotonic_ns()
