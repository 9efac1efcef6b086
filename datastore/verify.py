"""Is everything still as it was taken in? Reads every event of every run and compares it with its log."""

from dataclasses import dataclass

from as2d_core.errors import RecordError
from as2d_core.protocol import read_run
from as2d_core.records import RunRecord
from datastore.errors import StoreDamagedError, StoreError
from datastore.files import digest
from datastore.integrity import quick_check
from datastore.run_row import run_row
from datastore.store import Store
from datastore.timeline import load_record

_CHECK_S = 120.0


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was compared, and what was found; no problems is the good answer."""

    runs: int
    problems: tuple[str, ...]


def verify(store: Store) -> VerifyReport:
    """Compare every kept run in the database with its log, event by event, and every figure with the events.

    Raises:
        StoreDamagedError: the database file is damaged; it was set aside.
    """
    with store.snapshot(_CHECK_S) as reader:
        problems = quick_check(reader.cursor)
        runs = reader.read("SELECT run_id, log_name, log_sha256 FROM runs WHERE binned_at IS NULL ORDER BY run_no")
    for run_id, log_name, log_sha256 in runs:
        try:
            problems += _check_run(store, run_id, log_name, log_sha256)
        except StoreDamagedError:
            raise
        except StoreError as error:
            problems.append(f"Run {run_id!r} could not be read: {error}")
    return VerifyReport(len(runs), tuple(problems))


def _check_run(store: Store, run_id: str, log_name: str, log_sha256: str) -> list[str]:
    record = load_record(store, run_id)
    problems = _check_figures(store, record)
    path = store.folders.runs / log_name
    try:
        if digest(path)[0] != log_sha256:
            problems.append(f"{path} was changed after it was taken in.")
        elif record != read_run(path):
            problems.append(f"The events of run {run_id!r} in the database are not those of {path}.")
    except (OSError, RecordError) as error:
        problems.append(f"The log {path} of run {run_id!r} cannot be read ({error}).")
    return problems


def _check_figures(store: Store, record: RunRecord) -> list[str]:
    wanted = run_row(record)
    columns = list(wanted)
    rows = store.read(f"SELECT {', '.join(columns)} FROM runs WHERE run_id = ?", [record.run_id])  # noqa: S608
    wrong = [name for name, found in zip(columns, rows[0], strict=True) if found != wanted[name]] if rows else columns
    return [f"Figures of run {record.run_id!r} do not follow from its events ({', '.join(wrong)})."] if wrong else []
