"""Which files of runs are made here, for pages and commands alike?"""

from collections.abc import Sequence
from pathlib import Path

from dashboard.reports.trace import trace_json
from dashboard.services.runs import RunFilter, export_runs, list_runs, load_record
from dashboard.services.workspace import Workspace
from datastore.errors import ExportError
from datastore.export import Export
from datastore.files import write_durably

MOST_TRACED = 64
"""Runs in one trace: more are slow to open in any viewer."""


def run_trace(workspace: Workspace, run_ids: Sequence[str]) -> bytes:
    """Runs as one trace for Perfetto or chrome://tracing, each as a process of its own.

    Raises:
        RunNotFoundError: no such run.
        ExportError: no runs, or too many for one trace.
    """
    if not 0 < len(run_ids) <= MOST_TRACED:
        raise ExportError(f"A trace holds 1 to {MOST_TRACED} runs, not {len(run_ids):,}; choose fewer.")
    return trace_json([load_record(workspace, run_id) for run_id in run_ids])


def write_trace(workspace: Workspace, run_ids: Sequence[str], path: Path) -> Path:
    """The same as a file, which appears complete or not at all.

    Raises:
        As ``run_trace``; StoreFolderError, DiskFullError: it cannot be written.
    """
    write_durably(path, run_trace(workspace, run_ids))
    return path


def export_matching(workspace: Workspace, where: RunFilter, file_format: str) -> Export:
    """All runs that match, in any format: ``trace``, or those of ``runs.export_runs``.

    Raises:
        As ``run_trace`` and ``runs.export_runs``.
    """
    if file_format != "trace":
        return export_runs(workspace, where, file_format)
    ids = [row.run_id for row in list_runs(workspace, where, "created_at", descending=False, limit=MOST_TRACED + 1)]
    return Export("as2d-trace.json", "application/json", run_trace(workspace, ids))
