"""Which runs are there, and how do they compare?

Runs in the bin are left out unless they are asked for. Every name that is not known gets an error
that suggests the nearest one.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, time
from functools import cache
from typing import Any, Literal

from as2d_core.errors import unknown_name
from as2d_core.records import STATUSES
from as2d_core.request import METHODS, OPERATIONS
from as2d_core.runner.device import VIRTUAL_SUFFIX
from datastore.errors import RunNotFoundError
from datastore.lookup import find_run
from datastore.rows import unpack
from datastore.store import Store

DISTINCT = {
    "method": "method",
    "device": "device_key",
    "window": "window_id",
    "status": "status",
    "label": "label",
    "group": "group_id",
    "target": "target_name",
    "drafter": "drafter_name",
    "tag": "tag",
}
"""What runs can be told apart by, and the column that says it."""

_SEARCHED = (
    "run_id", "window_id", "audio_path", "text", "notes", "error", "instruction", "device_key", "target_name",
    "drafter_name", "group_id",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs are asked for. An empty field asks nothing; several values of one field are alternatives."""

    run_ids: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    windows: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    drafters: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """All of these tags."""
    text: str = ""
    """Found in the id, window, audio path, text, note, error, instruction, device, models, group or a tag."""
    since: date | datetime | None = None
    until: date | datetime | None = None
    """Up to and including this day, or before this instant. Times without a zone are UTC."""
    warm_ups: bool = True
    operations: bool = True
    """Also calibrations and collections, which decode nothing for anybody."""
    bin: Literal["without", "with", "only"] = "without"

    def as_json(self) -> dict[str, Any]:
        """What is asked, without the empty fields; exports carry it."""
        said: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if value != item.default:
                said[item.name] = value.isoformat() if isinstance(value, date) else value
        return said


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run as a table shows it. ``None`` is "n/a". Times are UTC with a zone; ``*_ns`` are the run's clock."""

    run_id: str
    created_at: datetime | None
    ingested_at: datetime
    binned_at: datetime | None
    label: str
    """``measured``, ``replayed`` or ``synthetic``."""
    emulated: bool
    """The drafter was slowed down on purpose (``drafter_pace_ms``)."""
    clock: str
    device_key: str
    device_name: str | None
    runner_version: str | None
    mnn_version: str | None
    method: str | None
    task: str | None
    instruction: str | None
    target_name: str | None
    target_sha256: str | None
    drafter_name: str | None
    drafter_sha256: str | None
    audio_path: str | None
    audio_sha256: str | None
    audio_duration_s: float | None
    window_id: str | None
    view_start_s: float | None
    view_end_s: float | None
    budget: int | None
    width: int | None
    draft_cap: int | None
    threshold: float | None
    search_window: int | None
    width_rule: str | None
    """JSON of the rule that took the cheapest width up to the budget."""
    batch_tokens: int | None
    max_tokens: int | None
    plain_step: bool | None
    drafter_pace_ms: float | None
    target_threads: int | None
    drafter_threads: int | None
    backend: str | None
    precision: str | None
    memory: str | None
    repetition: int | None
    run_order: int | None
    warm_up: bool | None
    group_id: str | None
    status: str
    """``eos``, ``capped``, ``cancelled``, ``failed`` or ``incomplete``."""
    error: str | None
    text: str | None
    committed_tokens: int
    output_sha256: str | None
    elapsed_ms: float | None
    response_ms: float | None
    tps: float | None
    """Committed tokens per second; only of complete runs."""
    rounds: int
    proposed: int
    accepted: int
    k1_rounds: int
    own_ms_per_round: float | None
    total_ns: int | None
    draft_ns: int | None
    verify_ns: int | None
    overlap_ns: int | None
    idle_ns: int | None
    span_rows: int
    publication_rows: int
    telemetry_rows: int
    matches_target_only: bool | None
    """Same tokens as ``reference_run_id``, the newest complete target-only run of the same work that is not this
    run: same device, label, target, audio and view, task, instruction, output cap, precision and memory."""
    reference_run_id: str | None
    notes: str | None
    tags: tuple[str, ...]
    problems: tuple[str, ...]
    """Why the record is incomplete."""

    @property
    def virtual(self) -> bool:
        """Whether it ran on a virtual phone, at the speed of the computer behind it."""
        return (self.device_name or "").endswith(VIRTUAL_SUFFIX)


ROW_FIELDS = tuple(item.name for item in fields(RunRow))
"""Names of what a row holds, in order."""


def list_runs(
    store: Store,
    where: RunFilter | None = None,
    order_by: str = "created_at",
    descending: bool = True,
    limit: int | None = 200,
    offset: int = 0,
) -> list[RunRow]:
    """Runs in order, one page of them. Where the ordering column is n/a comes last.

    Raises:
        UnknownNameError: a filter value or the column is not known; suggests the nearest.
    """
    columns = orderable()
    if order_by not in columns:
        raise unknown_name("column", order_by, columns)
    clause, values = where_clause(store, where or RunFilter())
    direction = "DESC" if descending else "ASC"
    page = "" if limit is None else f" LIMIT {int(limit)}"
    rows = store.read(
        f"SELECT {_columns()} FROM compared_runs r WHERE {clause} "  # noqa: S608
        f"ORDER BY r.{order_by} {direction} NULLS LAST, r.run_no {direction}{page} OFFSET {int(offset)}",
        values,
    )
    return list(map(_row, rows))


def count_runs(store: Store, where: RunFilter | None = None) -> int:
    """How many runs there are.

    Raises:
        UnknownNameError: a filter value is not known.
    """
    clause, values = where_clause(store, where or RunFilter())
    return int(store.read(f"SELECT count(*) FROM runs r WHERE {clause}", values)[0][0])  # noqa: S608


def get_run(store: Store, run_id: str) -> RunRow:
    """One run; a unique beginning of its id is enough.

    Raises:
        RunNotFoundError: no such run; suggests the nearest id.
    """
    found = find_run(store.read, run_id)
    rows = store.read(f"SELECT {_columns()} FROM compared_runs r WHERE run_no = ?", [found.run_no])  # noqa: S608
    if not rows:
        raise RunNotFoundError(f"Run {run_id!r} was deleted a moment ago.")
    return _row(rows[0])


def distinct(store: Store, what: str) -> list[str]:
    """The values runs (kept or in the bin) have for one of ``DISTINCT``, in alphabetical order.

    Raises:
        UnknownNameError: runs are not told apart by that.
    """
    if what not in DISTINCT:
        raise unknown_name("filter", what, list(DISTINCT))
    column = DISTINCT[what]
    table = "tags" if what == "tag" else "runs"
    rows = store.read(f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY 1")  # noqa: S608
    return [str(row[0]) for row in rows]


def orderable() -> list[str]:
    """Columns runs can be put in order by."""
    return [item.name for item in fields(RunRow) if item.name not in ("tags", "problems")]


def where_clause(store: Store, where: RunFilter) -> tuple[str, list[Any]]:
    """The filter as SQL over ``runs r``, with its parameters.

    Raises:
        UnknownNameError: a value no run has; suggests the nearest.
        RunNotFoundError: a run id is not known.
    """
    parts: list[str] = []
    values: list[Any] = []

    def one_of(column: str, names: Sequence[Any]) -> None:
        if names:
            parts.append(f"r.{column} IN ({', '.join('?' * len(names))})")
            values.extend(names)

    if where.run_ids:
        one_of("run_no", [_run_no(store, name, where.bin) for name in where.run_ids])
    asked = {
        "method": where.methods, "device": where.devices, "window": where.windows, "status": where.statuses,
        "label": where.labels, "group": where.groups, "target": where.targets, "drafter": where.drafters,
    }  # fmt: skip
    for what, names in asked.items():
        check_known(store, what, names)
        one_of(DISTINCT[what], names)
    check_known(store, "tag", where.tags)
    for tag in where.tags:
        parts.append("EXISTS (SELECT 1 FROM tags t WHERE t.run_id = r.run_id AND t.tag = ?)")
        values.append(tag)
    if where.text.strip():
        text = where.text.strip().lower()
        found = [f"contains(lower(coalesce(r.{column}, '')), ?)" for column in _SEARCHED]
        found.append("EXISTS (SELECT 1 FROM tags t WHERE t.run_id = r.run_id AND contains(lower(t.tag), ?))")
        parts.append(f"({' OR '.join(found)})")
        values.extend([text] * len(found))
    if where.since is not None:
        parts.append("r.created_at >= ?")
        values.append(_instant(where.since))
    if where.until is not None:
        exact = isinstance(where.until, datetime)
        parts.append("r.created_at < ?" if exact else "r.created_at <= ?")
        values.append(_instant(where.until, last=True))
    if not where.warm_ups:
        parts.append("r.warm_up IS NOT TRUE")
    if not where.operations:
        parts.append(f"coalesce(r.method, '') NOT IN ({', '.join('?' * len(OPERATIONS))})")
        values.extend(OPERATIONS)
    if where.bin != "with":
        parts.append(f"r.binned_at IS {'NOT ' if where.bin == 'only' else ''}NULL")
    return " AND ".join(parts) or "TRUE", values


def row_as_json(row: RunRow) -> dict[str, Any]:
    """A row as plain values."""
    values = ((name, getattr(row, name)) for name in ROW_FIELDS)
    plain = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in values}
    return plain | {"virtual": row.virtual}


def _run_no(store: Store, run_id: str, where: str) -> int:
    if where == "with":
        with suppress(RunNotFoundError):
            return find_run(store.read, run_id, in_bin=True).run_no
    return find_run(store.read, run_id, in_bin=where == "only").run_no


def check_known(store: Store, what: str, names: Sequence[str]) -> None:
    """Raise unless all ``names`` are values that runs have, or can have, for one of ``DISTINCT``.

    Raises:
        UnknownNameError: one is not; suggests the nearest.
    """
    always = {"method": (*METHODS, *OPERATIONS), "status": (*STATUSES, "incomplete")}.get(what, ())
    if all(name in always for name in names):
        return
    known = sorted({*always, *distinct(store, what)})
    for name in names:
        if name not in known:
            raise unknown_name(what, name, known)


def _instant(when: date | datetime, last: bool = False) -> datetime:
    if not isinstance(when, datetime):
        when = datetime.combine(when, time.max if last else time.min, UTC)
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC).replace(tzinfo=None)


@cache
def _columns() -> str:
    special = {
        "tags": "(SELECT coalesce(list(tag ORDER BY tag), []) FROM tags t WHERE t.run_id = r.run_id)",
        "problems": "problems_json",
    }
    return ", ".join(special.get(item.name, f"r.{item.name}") for item in fields(RunRow))


def _row(values: tuple[Any, ...]) -> RunRow:
    named = dict(zip(ROW_FIELDS, values, strict=True))
    for name in ("created_at", "ingested_at", "binned_at"):
        named[name] = None if named[name] is None else named[name].replace(tzinfo=UTC)
    named["tags"] = tuple(named["tags"])
    named["problems"] = tuple(json.loads(unpack(named["problems"])))
    return RunRow(**named)
