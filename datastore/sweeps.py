"""What is known of the runs of one group beside their figures? Audio preparation of each, and what sensors read."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from datastore.store import Store

MOST_READINGS = 6_000


@dataclass(frozen=True, eq=False, slots=True)
class GroupReadings:
    """Readings of all runs of a group, run by run in time order. NaN where a sensor said nothing."""

    run_id: NDArray[np.str_]
    offset_s: NDArray[np.float64]
    """Seconds since the run's request."""
    temperature_c: NDArray[np.float64]
    fastest_mhz: NDArray[np.float64]
    every: int
    """Every so many readings one was taken."""


def preparation_ms(store: Store, group_id: str) -> dict[str, float]:
    """By run: time the target spent on encoding audio and on prefill."""
    rows = store.read(
        """
        SELECT r.run_id, sum(s.end_ns - s.start_ns) / 1e6
        FROM runs r JOIN spans s ON s.run_no = r.run_no
        WHERE r.group_id = ? AND r.binned_at IS NULL AND s.lane = 'target' AND s.work IN ('encode', 'prefill')
        GROUP BY r.run_id
        """,
        [group_id],
    )
    return {str(run_id): float(spent) for run_id, spent in rows if spent is not None}


def group_readings(store: Store, group_id: str, most: int = MOST_READINGS) -> GroupReadings:
    """Temperature and frequency over all runs of a group, thinned out to at most about ``most`` readings."""
    where = "FROM runs r JOIN telemetry t ON t.run_no = r.run_no WHERE r.group_id = ? AND r.binned_at IS NULL"
    total = int(store.read(f"SELECT count(*) {where}", [group_id])[0][0])
    every = max(1, -(-total // most))
    rows = store.read(
        f"""
        SELECT r.run_id,
            (t.time_ns - (SELECT min(m.time_ns) FROM marks m WHERE m.run_no = r.run_no AND m.name = 'request')) / 1e9,
            t.battery_temperature_c, list_max(t.core_mhz)
        {where} AND t.ordinal % ? = 0
        ORDER BY r.run_no, t.time_ns
        """,  # noqa: S608
        [group_id, every],
    )
    columns = list(zip(*rows, strict=True)) or [(), (), (), ()]

    def numbers(values: tuple[object, ...]) -> NDArray[np.float64]:
        return np.array([np.nan if v is None else v for v in values], np.float64)

    return GroupReadings(
        np.array(columns[0], np.str_), numbers(columns[1]), numbers(columns[2]), numbers(columns[3]), every
    )
