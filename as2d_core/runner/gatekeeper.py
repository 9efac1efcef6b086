"""Waits until the device is in the condition that a measured episode asks for, and records every look at it."""

import time
from collections.abc import Callable

from as2d_core.clock import now_ns
from as2d_core.conditions import missing
from as2d_core.errors import ConditionsError
from as2d_core.gates import Gates
from as2d_core.records import Conditions
from as2d_core.runner.sensors import Sensors

TICK_S = 0.2


class Gatekeeper:
    """Stands before every episode of one run."""

    def __init__(
        self,
        gates: Gates | None,
        sensors: Sensors,
        record: Callable[[Conditions], None],
        check_cancelled: Callable[[], None],
    ) -> None:
        """Stand there.

        Args:
            gates: what to wait for; ``None`` lets everything pass at once and records nothing.
            record: takes each look at the device, and sends it on at once.
            check_cancelled: raises when the run is to be ended.
        """
        self._gates, self._sensors = gates, sensors
        self._record, self._check_cancelled = record, check_cancelled

    def wait(self, what: str) -> None:
        """Return once ``what`` may begin; nothing works in the meantime.

        Raises:
            ConditionsError: the conditions did not come about within the patience.
        """
        gates = self._gates
        if gates is None:
            return
        began = time.monotonic()
        self._sleep(gates.rest_s)
        in_a_row = 0
        while True:
            gaps = self._look(gates, time.monotonic() - began)
            in_a_row = 0 if gaps else in_a_row + 1
            if in_a_row >= gates.checks:
                return
            if gaps and time.monotonic() - began > gates.rest_s + gates.patience_s:
                raise ConditionsError(
                    f"{what[0].upper()}{what[1:]} did not begin: {'; '.join(gaps)}, and that did not change "
                    f"within {gates.patience_s:g} s. Let the device cool down and close what runs on it, then go on."
                )
            self._sleep(max(gates.check_gap_s, TICK_S))

    def _look(self, gates: Gates, rested_s: float) -> tuple[str, ...]:
        self._sensors.refresh(wait=True)
        reading = self._sensors.read()
        gaps = missing(gates, reading, self._sensors.possible())
        ceilings = reading.extra.get("ceiling_mhz")
        self._record(
            Conditions(
                time_ns=now_ns(),
                passed=not gaps,
                missing=gaps,
                rested_s=round(rested_s, 3),
                online_mask=reading.online_mask,
                ceiling_mhz=None if ceilings is None else tuple(ceilings),
                battery_temperature_c=reading.battery_temperature_c,
                thermal_status=reading.thermal_status,
                charging=reading.charging,
                plugged=reading.extra.get("plugged"),
                screen_on=self._sensors.screen_on(),
            )
        )
        return gaps

    def _sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            self._check_cancelled()
            time.sleep(min(TICK_S, left))
