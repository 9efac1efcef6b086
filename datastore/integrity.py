"""Is what the database holds what was put in? Counts and checksums on every open; everything in ``verify``."""

import duckdb

from datastore.run_row import CHECKED_COLUMNS, COUNTED_TABLES, checksum


def quick_check(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Compare every run's row with its checksum and its row counts with the rows there are.

    Reads one narrow column of each event table, no events. Returns sentences, none when all is well.
    """
    problems = []
    rows = connection.execute(f"SELECT checksum, {', '.join(CHECKED_COLUMNS)} FROM runs").fetchall()  # noqa: S608
    for found, *values in rows:
        if checksum(values) != found:
            problems.append(f"The row of run {values[1]} does not match its checksum.")
    for table, column in COUNTED_TABLES.items():
        wrong = connection.execute(
            f"SELECT coalesce(r.run_id, 'no run'), coalesce(r.{column}, 0), coalesce(e.found, 0) "  # noqa: S608
            f"FROM runs r FULL JOIN (SELECT run_no, count(*) AS found FROM {table} GROUP BY run_no) e USING (run_no) "
            f"WHERE coalesce(r.{column}, 0) <> coalesce(e.found, 0) ORDER BY 1"
        ).fetchall()
        problems += [f"{run} should have {n} rows in {table} and has {found}." for run, n, found in wrong]
    return problems
