"""How fast was target-only on the same work? What the gain of a run is measured against."""

from as2d_core.request import Request
from dashboard.services.devices import find_device
from dashboard.services.runs import get_run
from dashboard.services.workspace import Workspace
from datastore.errors import RunNotFoundError
from datastore.queries import RunRow
from device_bridge.local import THIS_COMPUTER


def reference_tps(workspace: Workspace, row: RunRow) -> float | None:
    """TPS of the target-only run that a stored run is compared with; ``None`` when there is none."""
    if row.reference_run_id is None or row.method == "target-only":
        return None
    try:
        return get_run(workspace, row.reference_run_id).tps
    except RunNotFoundError:
        return None


def request_reference_tps(workspace: Workspace, request: Request, device_id: str = THIS_COMPUTER) -> float | None:
    """TPS of the newest complete target-only run of the same work on a device, for a run that is not stored yet."""
    if request.method == "target-only":
        return None
    rows = workspace.store.read(
        """
        SELECT tps FROM runs
        WHERE method = 'target-only' AND status IN ('eos', 'capped') AND binned_at IS NULL AND label = 'measured'
            AND device_key = ? AND target_sha256 = ? AND audio_sha256 = ?
            AND view_start_s IS NOT DISTINCT FROM ? AND view_end_s IS NOT DISTINCT FROM ?
            AND task = ? AND instruction = ? AND max_tokens = ? AND precision = ? AND memory = ?
        ORDER BY coalesce(created_at, ingested_at) DESC, run_no DESC LIMIT 1
        """,
        [
            find_device(workspace, device_id).key,
            request.target.sha256,
            request.audio.sha256,
            request.audio.view_start_s,
            request.audio.view_end_s,
            request.task,
            request.instruction,
            request.max_tokens,
            request.precision,
            request.memory,
        ],
    )
    return rows[0][0] if rows else None
