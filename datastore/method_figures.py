"""How do the methods of one comparison do? The runs of a group, pooled in the database."""

from dataclasses import dataclass

from datastore.queries import check_known
from datastore.store import Store


@dataclass(frozen=True, slots=True)
class MethodFigures:
    """Runs of one group that were decoded alike, pooled. Failed and incomplete runs are counted, not pooled."""

    method: str | None
    budget: int | None
    width: int | None
    draft_cap: int | None
    threshold: float | None
    plain_step: bool | None
    target_name: str | None
    drafter_name: str | None
    drafter_pace_ms: float | None
    device_key: str
    label: str
    runs: int
    eos: int
    capped: int
    cancelled: int
    failed: int
    incomplete: int
    windows: int
    """Different windows among the pooled runs."""
    tokens: int
    elapsed_ms: float | None
    pooled_tps: float | None
    """Sum of tokens over sum of time of the runs that ended by themselves or at the cap."""
    ratio_to_target_only: float | None
    """``pooled_tps`` over the fastest target-only of the same target, device and label in the group."""
    response_ms_mean: float | None
    proposed: int
    accepted: int
    rounds: int
    k1_rounds: int
    matching: int
    """Runs with the tokens of target-only."""
    differing: int
    """Runs with other tokens than target-only."""


def compare_group(store: Store, group_id: str, warm_ups: bool = False) -> list[MethodFigures]:
    """The runs of one group by method and parameters, pooled; target-only first, then the fastest.

    Raises:
        UnknownNameError: no run has this group.
    """
    check_known(store, "group", (group_id,))
    rows = store.read(
        """
        WITH members AS (
            SELECT *, status IN ('eos', 'capped') AND total_ns > 0 AS pooled FROM compared_runs
            WHERE group_id = ? AND binned_at IS NULL AND (? OR warm_up IS NOT TRUE)
        )
        SELECT
            method, budget, width, draft_cap, threshold, plain_step, target_name, drafter_name, drafter_pace_ms,
            device_key, label,
            count(*),
            count(*) FILTER (status = 'eos'), count(*) FILTER (status = 'capped'),
            count(*) FILTER (status = 'cancelled'), count(*) FILTER (status = 'failed'),
            count(*) FILTER (status = 'incomplete'),
            count(DISTINCT coalesce(window_id, audio_sha256, audio_path)) FILTER (pooled),
            coalesce(sum(committed_tokens) FILTER (pooled), 0)::BIGINT,
            sum(total_ns) FILTER (pooled) / 1e6,
            sum(committed_tokens) FILTER (pooled) * 1e9 / sum(total_ns) FILTER (pooled) AS pooled_tps,
            pooled_tps
                / max(pooled_tps) FILTER (method = 'target-only') OVER (PARTITION BY target_name, device_key, label),
            avg(response_ms) FILTER (pooled),
            coalesce(sum(proposed) FILTER (pooled), 0)::BIGINT, coalesce(sum(accepted) FILTER (pooled), 0)::BIGINT,
            coalesce(sum(rounds) FILTER (pooled), 0)::BIGINT, coalesce(sum(k1_rounds) FILTER (pooled), 0)::BIGINT,
            count(*) FILTER (matches_target_only), count(*) FILTER (NOT matches_target_only)
        FROM members
        GROUP BY method, budget, width, draft_cap, threshold, plain_step, target_name, drafter_name, drafter_pace_ms,
            device_key, label
        ORDER BY device_key, label, target_name, method = 'target-only' DESC, pooled_tps DESC NULLS LAST
        """,
        [group_id, warm_ups],
    )
    return [MethodFigures(*row) for row in rows]
