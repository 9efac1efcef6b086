"""Which runs lean on a device or a profile? Counted by the database, none of them read."""

from datetime import datetime

from as2d_core.request import OPERATIONS
from datastore.store import Store


def runs_of_device(store: Store, device_key: str) -> int:
    """How many runs of a device decoded something."""
    rows = store.read(
        "SELECT count(*) FROM runs WHERE device_key = ? AND binned_at IS NULL "
        "AND NOT list_contains(?, coalesce(method, ''))",
        [device_key, list(OPERATIONS)],
    )
    return int(rows[0][0])


def calibrations(store: Store, device_key: str) -> list[tuple[str, datetime]]:
    """Group and time (UTC, without a zone) of every calibration run of a device, newest first."""
    return [
        (row[0], row[1])
        for row in store.read(
            "SELECT group_id, created_at FROM runs WHERE device_key = ? AND method = 'calibrate' AND binned_at IS NULL "
            "AND group_id IS NOT NULL AND created_at IS NOT NULL ORDER BY created_at DESC",
            [device_key],
        )
    ]


def replays_named(store: Store, part: str, limit: int = 200) -> list[str]:
    """Ids of replayed runs whose id holds a text, newest first."""
    rows = store.read(
        "SELECT run_id FROM runs WHERE label = 'replayed' AND contains(run_id, ?) AND binned_at IS NULL "
        "ORDER BY run_no DESC LIMIT ?",
        [part, limit],
    )
    return [row[0] for row in rows]
