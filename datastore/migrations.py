"""Which schema does a database have, and how does it get the newest? Numbered SQL files, each applied once."""

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import duckdb

from datastore.errors import SchemaTooNewError, StoreDamagedError

_NAME = re.compile(r"(\d{3})_\w+\.sql")
_TABLE = """
CREATE TABLE IF NOT EXISTS schema_files (
    version INTEGER PRIMARY KEY, name VARCHAR NOT NULL, applied_at TIMESTAMP NOT NULL
)
"""


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """One step of the schema."""

    version: int
    name: str
    sql: str


@cache
def schema_files() -> tuple[SchemaFile, ...]:
    """All steps, oldest first, numbered 1, 2, 3 and so on."""
    found = sorted(
        (
            SchemaFile(int(match[1]), item.name, item.read_text(encoding="utf-8"))
            for item in _folder().iterdir()
            if (match := _NAME.fullmatch(item.name))
        ),
        key=lambda step: step.version,
    )
    if [step.version for step in found] != list(range(1, len(found) + 1)):
        raise RuntimeError(f"schema files are not numbered 001, 002, …: {[step.name for step in found]}")
    return tuple(found)


def migrate(connection: duckdb.DuckDBPyConnection, database: Path) -> list[str]:
    """Bring a database to the newest schema in one transaction; returns the names of the files applied.

    Raises:
        SchemaTooNewError: a newer program has written it.
        StoreDamagedError: it is a DuckDB file, but not one of this program.
    """
    steps = schema_files()
    connection.begin()
    try:
        done = _version(connection, database)
        for step in steps[done:]:
            connection.execute(step.sql)
            connection.execute("INSERT INTO schema_files VALUES (?, ?, now()::TIMESTAMP)", [step.version, step.name])
        connection.commit()
    except BaseException:
        with suppress(duckdb.Error):
            connection.rollback()
        raise
    return [step.name for step in steps[done:]]


def _version(connection: duckdb.DuckDBPyConnection, database: Path) -> int:
    tables = {row[0] for row in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()}
    if tables and "schema_files" not in tables:
        raise StoreDamagedError(
            f"{database} is a DuckDB file but holds no runs of this program; move it away and try again."
        )
    connection.execute(_TABLE)
    row = connection.execute("SELECT coalesce(max(version), 0) FROM schema_files").fetchone()
    version, known = int(row[0]) if row else 0, len(schema_files())
    if version > known:
        raise SchemaTooNewError(
            f"{database} has schema {version} and this program knows {known}: install the newest as2d, "
            "or set AS2D_STORE to another folder."
        )
    return version


def _folder() -> Path:
    return Path(str(files("datastore") / "schema"))
