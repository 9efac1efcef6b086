"""What does a stored run say of itself, for scripts?"""

from typing import Any

from dashboard.services.runs import RunRow, load_record
from dashboard.services.workspace import Workspace


def figures(workspace: Workspace, row: RunRow) -> dict[str, Any]:
    """The figures of one stored run under the names that scripts use."""

    def ms(time_ns: int | None) -> float | None:
        return None if time_ns is None else time_ns / 1e6

    return {
        "run_id": row.run_id,
        "status": row.status,
        "text": row.text,
        "tokens": load_record(workspace, row.run_id, ("rounds", "marks")).tokens,
        "committed_tokens": row.committed_tokens,
        "elapsed_ms": row.elapsed_ms,
        "response_ms": row.response_ms,
        "tps": row.tps,
        "rounds": row.rounds,
        "proposed": row.proposed,
        "accepted": row.accepted,
        "k1_rounds": row.k1_rounds,
        "T_ms": ms(row.total_ns),
        "D_ms": ms(row.draft_ns),
        "V_ms": ms(row.verify_ns),
        "O_ms": ms(row.overlap_ns),
        "H_ms": ms(row.idle_ns),
        "matches_target_only": row.matches_target_only,
        "reference_run_id": row.reference_run_id,
        "method": row.method,
        "budget": row.budget,
        "width": row.width,
        "draft_cap": row.draft_cap,
        "drafter_pace_ms": row.drafter_pace_ms,
        "window_id": row.window_id,
        "device": row.device_name,
        "label": row.label,
        "emulated": row.emulated,
        "virtual": row.virtual,
        "group_id": row.group_id,
    }
