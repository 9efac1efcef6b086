"""How long did every window take under every setting that was run on it? Runs of a store, pooled in the database."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from datastore.queries import RunFilter, where_clause
from datastore.store import Store

WORK = (
    "window_id", "audio_path", "audio_sha256", "view_start_s", "view_end_s", "task", "instruction", "target_name",
    "target_sha256", "max_tokens",
)  # fmt: skip
"""What is decoded: runs that differ in one of these are of different windows."""
SETTINGS = (
    "method", "budget", "width", "draft_cap", "threshold", "search_window", "width_rule", "batch_tokens",
    "plain_step", "drafter_name", "drafter_pace_ms", "backend", "precision", "memory", "target_threads",
    "drafter_threads",
)  # fmt: skip
"""How it is decoded."""


@dataclass(frozen=True, slots=True)
class WindowFigures:
    """All runs of one window under one setting. Means are over finished runs; ``None`` when there is none."""

    work: Mapping[str, Any]
    """By the names of ``WORK``."""
    setting: Mapping[str, Any]
    """By the names of ``SETTINGS``."""
    audio_duration_s: float | None
    runs: int
    """Finished runs: ended by themselves or at the cap, no warm-ups."""
    left_out: int
    time_ms: float | None
    tokens: float | None
    rounds: float | None
    proposed: float | None
    accepted: float | None
    target_ms: float | None
    """V of T = D + V - O + H."""
    newest_run: str
    """Finished, where there is one."""
    text: str | None
    """What it committed."""


def window_figures(store: Store, where: RunFilter) -> list[WindowFigures]:
    """Pool runs by window and setting; the windows in the order in which they first ran.

    Raises:
        UnknownNameError: a filter value is not known.
    """
    clause, values = where_clause(store, where)
    keys = ", ".join(WORK + SETTINGS)
    rows = store.read(
        f"""
        WITH members AS (
            SELECT *, status IN ('eos', 'capped') AND total_ns > 0 AND warm_up IS NOT TRUE AS pooled
            FROM runs r WHERE {clause}
        )
        SELECT {keys},
            max(audio_duration_s), count(*) FILTER (pooled), count(*) FILTER (NOT pooled),
            avg(total_ns) FILTER (pooled) / 1e6, avg(committed_tokens) FILTER (pooled), avg(rounds) FILTER (pooled),
            avg(proposed) FILTER (pooled), avg(accepted) FILTER (pooled), avg(verify_ns) FILTER (pooled) / 1e6,
            max_by(run_id, row(pooled, coalesce(created_at, ingested_at), run_no)),
            max_by(text, row(pooled, coalesce(created_at, ingested_at), run_no))
        FROM members GROUP BY {keys} ORDER BY min(coalesce(created_at, ingested_at)), min(run_no)
        """,  # noqa: S608
        values,
    )
    out = []
    for row in rows:
        work, setting = row[: len(WORK)], row[len(WORK) : len(WORK) + len(SETTINGS)]
        figures = row[len(WORK) + len(SETTINGS) :]
        named = dict(zip(WORK, work, strict=True)), dict(zip(SETTINGS, setting, strict=True))
        out.append(WindowFigures(*named, *figures))
    return out


def devices_run_on(store: Store, where: RunFilter) -> list[tuple[str, str, str, int, int]]:
    """Device key, its name, label, runs, and those with a drafter slowed down; those with the most runs first.

    Raises:
        UnknownNameError: a filter value is not known.
    """
    clause, values = where_clause(store, where)
    return store.read(
        f"""
        SELECT device_key, coalesce(max(device_name), device_key), label, count(*), count(*) FILTER (emulated)
        FROM runs r WHERE {clause} GROUP BY device_key, label ORDER BY count(*) DESC, 1, 3
        """,  # noqa: S608
        values,
    )
