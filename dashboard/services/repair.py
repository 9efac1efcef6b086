"""How does a damaged store come back? Made anew from the run logs, in one sentence for whoever asked."""

from pathlib import Path

from dashboard.services.folders import user_folders
from datastore.rebuild import rebuild


def rebuild_store(folder: Path | str | None = None) -> str:
    """Make a new database from the logs; returns what it holds, as a sentence.

    Raises:
        StoreError: it is open here or elsewhere, or there is no room.
    """
    report = rebuild(user_folders(folder).root)
    kept = f" The old file is kept as {report.set_aside}." if report.set_aside else ""
    return f"Rebuilt with {report.runs} runs, {report.in_bin} in the bin, {report.profiles} profiles.{kept}"
