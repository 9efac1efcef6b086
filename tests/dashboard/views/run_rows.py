"""Rows of a store that were never run: what views of many runs get."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 3, 1, 10, tzinfo=UTC)


def row(run_id, method="as2d", elapsed_ms=1000.0, window="w", **more):
    """One finished run of 100 tokens on a phone."""
    own = {"as2d": {"budget": 7}, "sd": {"width": 5}}.get(method, {})
    base = {
        "run_id": run_id,
        "method": method,
        "elapsed_ms": elapsed_ms,
        "committed_tokens": 100,
        "tps": 1e5 / elapsed_ms if elapsed_ms else None,
        "status": "eos",
        "label": "measured",
        "device_key": "here",
        "window_id": window,
        "created_at": START,
        "target_name": "t",
        "output_sha256": "same",
        "text": "the cat sat",
        "matches_target_only": True,
        "proposed": 0 if method == "target-only" else 50,
        "accepted": 0 if method == "target-only" else 40,
        "draft_ns": 0 if method == "target-only" else 500_000_000,
        "verify_ns": int((elapsed_ms or 0) * 0.9e6),
        "overlap_ns": 0 if method == "target-only" else 400_000_000,
        "idle_ns": 10_000_000,
        **own,
    }
    return base | more


def later(days):
    """So many days after the first run."""
    return START + timedelta(days=days)
