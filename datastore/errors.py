"""What can go wrong in the store, one class for each invalid state.

``retryable`` says whether the same call can succeed later without anybody changing anything else.
"""

from pathlib import Path

from as2d_core.errors import As2dError, nearest


class StoreError(As2dError):
    """Root of the store's errors."""

    retryable = False


class StoreClosedError(StoreError):
    """The store was closed, or belongs to the process this one was forked from."""


class StoreLockedError(StoreError):
    """Another process holds the data folder.

    ``pid`` and ``command`` say which one, where the system tells.
    """

    retryable = True

    def __init__(self, folder: Path, pid: int | None = None, command: str | None = None) -> None:
        self.pid = pid
        self.command = command
        holder = "another process" if pid is None else f"process {pid}"
        if command:
            holder += f" ({command})"
        super().__init__(
            f"The data folder {folder} is held by {holder}; close that program or do the same in its pages, "
            "then try again (or set AS2D_STORE to another folder)."
        )


class StoreBusyError(StoreError):
    """A call did not get its turn, or did not finish, before its deadline.

    ``begun`` is true when it is a write that goes on all the same.
    """

    retryable = True

    def __init__(self, message: str, begun: bool = False) -> None:
        super().__init__(message)
        self.begun = begun


class StoreFolderError(StoreError):
    """The data folder cannot be made, read or written."""


class StoreDamagedError(StoreError):
    """The database file is damaged. ``set_aside`` is where it lies now, ``None`` when there was no file."""

    def __init__(self, message: str, set_aside: Path | None = None) -> None:
        super().__init__(message)
        self.set_aside = set_aside


class SchemaTooNewError(StoreError):
    """The database was written by a newer version of this program, or of DuckDB."""


class DiskFullError(StoreError):
    """There was no room to write; the message says what was kept."""

    retryable = True


class RunConflictError(StoreError):
    """A run with this id is stored already, with other content."""


class RunNotFoundError(StoreError):
    """No run has this id, or more than one begins with it."""


class LogMissingError(StoreError):
    """The log of a stored run is gone or was changed after it was stored."""


class QueryError(StoreError):
    """A query was refused, or DuckDB could not answer it."""


class ParameterError(QueryError):
    """A query names a parameter that is not given; ``name`` says which."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"The query names the parameter ${name}, which has no value.")


class ExportError(StoreError):
    """What was asked for cannot be exported."""


class ForeignError(StoreError):
    """A file of another program holds nothing that can be read."""


class ArchiveError(StoreError):
    """An archive is damaged, is none of ours, or would do harm; the message says which."""


def run_not_found(run_id: str, known: list[str]) -> RunNotFoundError:
    """Build the error for a run id nobody has, or that begins several ids."""
    several = sorted(k for k in known if k.startswith(run_id)) if run_id else []
    if len(several) > 1:
        shown = ", ".join(several[:5]) + (", …" if len(several) > 5 else "")
        return RunNotFoundError(f"{len(several)} runs begin with {run_id!r} ({shown}); give more of the id.")
    near = nearest(run_id, known)
    hint = (
        f"Did you mean {near!r}?"
        if near is not None
        else ("The store is empty." if not known else "List the runs to see all.")
    )
    return RunNotFoundError(f"There is no run {run_id!r}. {hint}")
