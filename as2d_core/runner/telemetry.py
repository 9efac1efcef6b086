"""Sensors of the device at 4 Hz, on the device's own clock, from the program that runs the models."""

import time

from as2d_core.records import Telemetry as Reading
from as2d_core.runner.sensors import Sensors

PERIOD_S = 0.25


class Telemetry:
    """Gives a reading when one is due; gives none on a machine that shows no sensor at all."""

    def __init__(self, sensors: Sensors) -> None:
        self._next = 0.0
        self._sensors = sensors

    def wait_s(self) -> float:
        """How long until the next reading is due, at most one period."""
        return min(PERIOD_S, max(0.0, self._next - time.monotonic())) if self._sensors.any else PERIOD_S

    def due(self) -> Reading | None:
        """A reading, or ``None`` when it is not time yet or there is nothing to read."""
        now = time.monotonic()
        if now < self._next or not self._sensors.any:
            return None
        # From the time it was due and not from now, or every delay would lower the rate; never to catch up.
        self._next = self._next + PERIOD_S if now < self._next + PERIOD_S else now + PERIOD_S
        return self._sensors.read()
