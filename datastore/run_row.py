"""What is known of a run as a whole? One row of the ``runs`` table, made from its record."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from as2d_core.accounting import summarise
from as2d_core.records import RunRecord
from as2d_core.request import Placement, Request
from datastore.rows import ascii_json, event_json, kept_json

_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST, _LEAST = 2**63 - 1, -(2**63)

COUNTED_TABLES = {
    "spans": "span_rows",
    "rounds": "round_rows",
    "publications": "publication_rows",
    "marks": "mark_rows",
    "pieces": "piece_rows",
    "telemetry": "telemetry_rows",
    "other_events": "other_rows",
}
"""Event tables and the column of ``runs`` that says how many rows of each belong to the run."""

CHECKED_COLUMNS = (
    "run_no",
    "run_id",
    "log_name",
    "log_sha256",
    "log_bytes",
    "method",
    "status",
    "committed_tokens",
    "output_sha256",
    "total_ns",
    "draft_ns",
    "verify_ns",
    "overlap_ns",
    "idle_ns",
    "rounds",
    "proposed",
    "accepted",
    "k1_rounds",
    "header_json",
    "end_json",
    "problems_json",
    *COUNTED_TABLES.values(),
)
"""What the checksum of a run covers: whole numbers and text, whose spelling no DuckDB version changes."""


def checksum(values: Sequence[Any]) -> str:
    """Checksum of a run's row from the values of ``CHECKED_COLUMNS``."""
    return hashlib.sha256("\x1f".join(map(repr, values)).encode()).hexdigest()


def output_sha256(tokens: Sequence[Any]) -> str | None:
    """SHA-256 of committed token ids, written as decimals with commas; ``None`` when there are none."""
    return hashlib.sha256(",".join(map(str, tokens)).encode("utf-8", "surrogatepass")).hexdigest() if tokens else None


def device_key(device: Mapping[str, Any]) -> str:
    """Which device is this, across its runs?

    ``key`` when the header gives one; otherwise the name (or model), with what tells it from others of its model,
    or else the processor. System releases are left out: an update does not make another device.
    """
    known = {k: str(v) for k, v in device.items() if v not in (None, "")}
    if "key" in known:
        return clean(known["key"])
    name = known.get("name") or known.get("model")
    parts = [p for p in (name, known.get("serial") or known.get("unit") or known.get("cpu")) if p]
    return clean(" | ".join(parts)) or "unknown device"


def run_row(record: RunRecord) -> dict[str, Any]:
    """Columns of ``runs`` that follow from the record alone. Values foreign to their column are ``None``."""
    header, request = record.header, record.request
    placement, audio, target, drafter = request.placement, request.audio, request.target, request.drafter
    engine = record.engines.get("target")
    versions = {str(k): v for k, v in header.versions.items()}
    figures = summarise(record)
    account = figures.account
    pace = _real(request.drafter_pace_ms)
    return {
        "run_id": header.run_id,
        "schema_version": header.schema_version,
        "created_at": instant(header.created_at),
        "label": clean(header.source),
        "clock": clean(header.clock),
        "device_key": device_key(header.device),
        "device_name": _text(header.device.get("name") or header.device.get("model")),
        "device_json": ascii_json(dict(header.device)),
        "versions_json": ascii_json(versions),
        "runner_version": _text(versions.get("as2d")),
        "mnn_version": _text(versions.get("mnn") or versions.get("MNN") or (engine and engine.mnn_version) or None),
        "method": _text(request.method),
        "task": _text(request.task),
        "instruction": _text(request.instruction),
        "target_name": _text(target.name),
        "target_path": _text(target.path),
        "target_sha256": _text(target.sha256),
        "drafter_name": _text(drafter.name) if drafter else None,
        "drafter_path": _text(drafter.path) if drafter else None,
        "drafter_sha256": _text(drafter.sha256) if drafter else None,
        "audio_path": _text(audio.path),
        "audio_sha256": _text(audio.sha256),
        "audio_duration_s": _real(audio.duration_s),
        "window_id": _text(audio.window_id),
        "view_start_s": _real(audio.view_start_s),
        "view_end_s": _real(audio.view_end_s),
        "budget": _whole(request.budget),
        "width": _whole(request.width),
        "draft_cap": _whole(request.draft_cap),
        "threshold": _real(request.threshold),
        "search_window": _whole(request.search_window),
        "width_rule": _text(_rule(request)),
        "batch_tokens": _whole(request.batch_tokens),
        "max_tokens": _whole(request.max_tokens),
        "plain_step": _truth(request.plain_step),
        "drafter_pace_ms": pace,
        "emulated": request.drafter_pace_ms is not None,
        "target_threads": _whole(placement.target_threads),
        "drafter_threads": _whole(placement.drafter_threads),
        "backend": _text(_backends(placement)),
        "precision": _text(request.precision),
        "memory": _text(request.memory),
        "repetition": _whole(request.repetition),
        "run_order": _whole(request.order),
        "warm_up": _truth(request.warm_up),
        "group_id": _text(request.group_id),
        "status": clean(figures.status),
        "error": _text(record.end.error) if record.end else None,
        "text": _text(record.end.text) if record.end else None,
        "committed_tokens": figures.committed_tokens,
        "output_sha256": output_sha256(record.tokens),
        "elapsed_ms": figures.elapsed_ms,
        "response_ms": figures.response_ms,
        "tps": figures.tps,
        "rounds": figures.rounds,
        "proposed": figures.proposed,
        "accepted": figures.accepted,
        "k1_rounds": figures.k1_rounds,
        "own_ms_per_round": figures.own_ms_per_round,
        "total_ns": account.total_ns if account else None,
        "draft_ns": account.draft_ns if account else None,
        "verify_ns": account.verify_ns if account else None,
        "overlap_ns": account.overlap_ns if account else None,
        "idle_ns": account.idle_ns if account else None,
        "header_json": event_json(header),
        "end_json": event_json(record.end) if record.end else None,
        "problems_json": kept_json(record.problems),
        "unknown_json": kept_json(record.unknown),
    }


def _rule(request: Request) -> str | None:
    """A width rule as it stands in a request's JSON."""
    rule = request.width_rule
    return None if rule is None else json.dumps(asdict(rule), ensure_ascii=False, separators=(",", ":"))


def instant(text: str) -> datetime | None:
    """An ISO 8601 instant as naive UTC, ``None`` when it is none. Without an offset it is taken as UTC."""
    try:
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def clean(text: str) -> str:
    """Text any database takes: bytes that were not UTF-8 become the replacement character."""
    return _SURROGATE.sub("\ufffd", text)


def _backends(placement: Placement) -> str:
    """The target's, and the drafter's where that is another one: such runs are not compared as if they were alike."""
    other = placement.drafter_backend
    return placement.backend if other in (None, placement.backend) else f"{placement.backend}, drafter {other}"


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return clean(value if isinstance(value, str) else ascii_json(value))


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and _LEAST <= value <= _MOST else None


def _real(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
    except OverflowError:
        return None


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None
