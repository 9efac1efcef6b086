"""What runs are there, and what is in one? Reading, tagging, the bin and export, for pages and commands alike."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from as2d_core.records import RunRecord
from as2d_core.request import METHODS
from dashboard.services.workspace import Workspace
from datastore import annotations, export, long_runs, queries, recycling, timeline
from datastore.annotations import Annotations
from datastore.export import Export
from datastore.queries import RunFilter, RunRow

__all__ = ["Annotations", "Export", "RunDetails", "RunFilter", "RunRow"]


@dataclass(frozen=True, slots=True)
class RunDetails:
    """One run and the runs it was started with."""

    row: RunRow
    group: tuple[RunRow, ...]
    """All runs of its group in the order they ran, itself included; empty without a group."""


def list_runs(
    workspace: Workspace,
    where: RunFilter | None = None,
    order_by: str = "created_at",
    descending: bool = True,
    limit: int | None = 200,
    offset: int = 0,
) -> list[RunRow]:
    """One page of runs.

    Raises:
        UnknownNameError: a filter value or the column is not known; suggests the nearest.
    """
    return queries.list_runs(workspace.store, where, order_by, descending, limit, offset)


def count_runs(workspace: Workspace, where: RunFilter | None = None) -> int:
    """How many runs there are.

    Raises:
        UnknownNameError: a filter value is not known.
    """
    return queries.count_runs(workspace.store, where)


def choices(workspace: Workspace, what: str) -> list[str]:
    """Values that runs can be filtered by: methods, devices, windows, statuses, groups, models, tags.

    Raises:
        UnknownNameError: runs are not told apart by that.
    """
    return queries.distinct(workspace.store, what)


def get_run(workspace: Workspace, run_id: str) -> RunRow:
    """One run; a unique beginning of its id is enough.

    Raises:
        RunNotFoundError: no such run; suggests the nearest id.
    """
    return queries.get_run(workspace.store, run_id)


def run_details(workspace: Workspace, run_id: str) -> RunDetails:
    """One run with the runs it was started with.

    Raises:
        RunNotFoundError: no such run.
    """
    row = get_run(workspace, run_id)
    if row.group_id is None:
        return RunDetails(row, ())
    where = RunFilter(groups=(row.group_id,))
    group = queries.list_runs(workspace.store, where, "run_order", descending=False, limit=None)
    return RunDetails(row, tuple(group))


def load_record(workspace: Workspace, run_id: str, parts: Collection[str] = timeline.PARTS) -> RunRecord:
    """The whole record of a run, for its timeline.

    Raises:
        RunNotFoundError: no such run.
    """
    return timeline.load_record(workspace.store, run_id, parts)


def same_work(workspace: Workspace, row: RunRow, limit: int = 200) -> list[RunRow]:
    """Other runs of the same audio and view that decode, the newest first."""
    if row.audio_sha256 is None:
        return []
    where = RunFilter(methods=METHODS, windows=() if row.window_id is None else (row.window_id,))
    view = (row.audio_sha256, row.view_start_s, row.view_end_s)
    found = queries.list_runs(workspace.store, where, limit=limit)
    return [
        other
        for other in found
        if other.run_id != row.run_id and (other.audio_sha256, other.view_start_s, other.view_end_s) == view
    ]


def load_tables(workspace: Workspace, run_id: str) -> timeline.RunTables:
    """A run with its many events as tables, for a picture of all of it.

    Raises:
        RunNotFoundError: no such run.
    """
    return timeline.load_tables(workspace.store, run_id)


def load_outline(workspace: Workspace, run_id: str) -> long_runs.RunOutline | None:
    """A run in few rows, neighbours merged; ``None`` for one that has to be read whole.

    Raises:
        RunNotFoundError: no such run.
    """
    return long_runs.load_outline(workspace.store, run_id)


def load_window(
    workspace: Workspace, run_id: str, start_ns: int, end_ns: int, most: int | None = long_runs.MOST_ROWS
) -> long_runs.WindowTables | None:
    """The events of a window of such a run; ``None`` when they are more than ``most``.

    Raises:
        RunNotFoundError: no such run.
    """
    return long_runs.load_window(workspace.store, run_id, start_ns, end_ns, most)


def load_round(workspace: Workspace, run_id: str, index: int) -> tuple[RunRecord, int] | None:
    """What one round needs to be told, and how many rounds the run has.

    Raises:
        RunNotFoundError: no such run.
    """
    return timeline.load_round(workspace.store, run_id, index)


# -- what people write ------------------------------------------------------------------------------


def add_tag(workspace: Workspace, run_id: str, tag: str) -> Annotations:
    """Tag a run; twice is once.

    Raises:
        RunNotFoundError: no such run.
        StoreError: the tag is empty, too long or has line breaks.
    """
    return annotations.add_tag(workspace.store, run_id, tag)


def remove_tag(workspace: Workspace, run_id: str, tag: str) -> Annotations:
    """Take a tag off a run.

    Raises:
        RunNotFoundError: no such run.
    """
    return annotations.remove_tag(workspace.store, run_id, tag)


def set_notes(workspace: Workspace, run_id: str, notes: str | None) -> Annotations:
    """Replace the note of a run; blank removes it.

    Raises:
        RunNotFoundError: no such run.
    """
    return annotations.set_notes(workspace.store, run_id, notes)


# -- the bin ----------------------------------------------------------------------------------------


def delete_run(workspace: Workspace, run_id: str) -> Path:
    """Move a run into the bin.

    Raises:
        RunNotFoundError: no such run.
        LogMissingError: its log is gone, so that it could not be restored.
    """
    return recycling.delete_run(workspace.store, run_id)


def list_bin(workspace: Workspace) -> list[RunRow]:
    """Runs in the bin, the last deleted first."""
    return queries.list_runs(workspace.store, RunFilter(bin="only"), "binned_at", limit=None)


def restore_run(workspace: Workspace, run_id: str) -> Path:
    """Take a run out of the bin.

    Raises:
        RunNotFoundError: no such run in the bin.
    """
    return recycling.restore_run(workspace.store, run_id)


def empty_bin(workspace: Workspace, run_ids: Sequence[str] | None = None) -> int:
    """Remove runs in the bin for good, all or those named; returns how many.

    Raises:
        RunNotFoundError: one of them is not in the bin; nothing was removed.
    """
    return recycling.empty_bin(workspace.store, run_ids)


# -- out of the store -------------------------------------------------------------------------------


def export_runs(
    workspace: Workspace, where: RunFilter | None = None, file_format: str = "csv", table: str = "runs"
) -> Export:
    """Runs as one file: ``ndjson`` (the logs, byte for byte), ``csv``, ``parquet`` or ``json``.

    Raises:
        UnknownNameError: no such format, table or filter value.
        ExportError: no run matches.
    """
    return export.export_runs(workspace.store, where, file_format, table)
