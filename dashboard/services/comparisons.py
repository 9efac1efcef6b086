"""Which runs are compared, and what did they commit? By what they have in common, or by name."""

from dataclasses import dataclass, fields, replace
from typing import Any

from as2d_core.request import METHODS
from datastore.outputs import committed_tokens
from datastore.queries import RunFilter, RunRow, count_runs, list_runs
from datastore.store import Store

__all__ = ["MOST_COMPARED", "ComparedRuns", "committed_tokens", "compared_runs", "newest_comparison", "store_state"]

MOST_COMPARED = 2_000


@dataclass(frozen=True, eq=False, slots=True)
class ComparedRuns:
    """Runs of one comparison, the oldest first."""

    rows: tuple[dict[str, Any], ...]
    """By the names of ``RunRow``."""
    left_out: int
    """Older runs that match, too, but are beyond ``MOST_COMPARED``."""


def compared_runs(store: Store, where: RunFilter) -> ComparedRuns:
    """Runs that decode and match.

    Raises:
        UnknownNameError, RunNotFoundError: a value of the filter is not there.
    """
    asked = replace(where, methods=where.methods or METHODS, operations=False)
    found = list_runs(store, asked, limit=MOST_COMPARED)
    names = [item.name for item in fields(RunRow)]
    rows = tuple({name: getattr(row, name) for name in names} | {"virtual": row.virtual} for row in reversed(found))
    left_out = count_runs(store, asked) - len(found) if len(found) == MOST_COMPARED else 0
    return ComparedRuns(rows, left_out)


def newest_comparison(store: Store) -> RunFilter | None:
    """The runs that were started together last; else all of the window that ran last; ``None`` for an empty store."""
    marks = ", ".join("?" * len(METHODS))
    groups = store.read(
        f"SELECT group_id FROM runs WHERE binned_at IS NULL AND group_id IS NOT NULL AND method IN ({marks}) "  # noqa: S608
        "GROUP BY group_id HAVING count(*) > 1 ORDER BY max(run_no) DESC LIMIT 1",
        METHODS,
    )
    if groups:
        return RunFilter(groups=(groups[0][0],))
    newest = store.read(
        f"SELECT window_id, run_id FROM runs WHERE binned_at IS NULL AND method IN ({marks}) "  # noqa: S608
        "ORDER BY run_no DESC LIMIT 1",
        METHODS,
    )
    if not newest:
        return None
    window, run_id = newest[0]
    return RunFilter(windows=(window,)) if window is not None else RunFilter(run_ids=(run_id,))


def store_state(store: Store) -> str:
    """Changes whenever runs come, go or are tagged anew: what was worked out from the runs before is then old."""
    sql = (
        "SELECT count(*), count(binned_at), max(ingested_at), max(binned_at), "
        "(SELECT bit_xor(hash(run_id, tag)) FROM tags) FROM runs"
    )
    return repr(store.read(sql)[0])
