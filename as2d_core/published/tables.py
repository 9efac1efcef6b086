"""What do the paper's tables say? Every cell with what it is a figure of."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from as2d_core.errors import unknown_name

ALL = "all"
"""All five datasets, or all four phones."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a cell is a figure of."""

    quantity: str
    """``tps``, ``gain``, ``gap``, ``slower_share``, ``faster``, ``slower``, ``median_loss``, ``max_loss``,
    ``least_tps`` or ``most_tps``."""
    phone: str
    """Id of its profile, or ``ALL``."""
    group: str = ALL
    """Dataset, or ``ALL``."""
    method: str | None = None
    """``target_only``, ``standard_sd``, ``specasr``, ``as2d``, ``without_bc`` or ``without_td``."""
    width: int | None = None
    """Fixed width K of standard SD; ``None`` = the mean over K = 5 to 8."""
    over: tuple[str, ...] = ()
    """Baselines of a gain, of which the fastest counts."""
    case: str | None = None
    """Dataset whose central window it is a figure of."""
    of: str | None = None
    """``least`` or ``most`` over the cost scenarios."""


@dataclass(frozen=True, slots=True)
class PublishedCell:
    """One printed number."""

    row: str
    column: str
    printed: str
    key: Key


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """One table of the paper, row by row."""

    id: str
    """Its number, or the section that prints the figures."""
    title: str
    where: str
    unit: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[PublishedCell, ...]


@cache
def published_tables() -> tuple[PublishedTable, ...]:
    """All tables that replays are compared with."""
    body = json.loads(files(__package__).joinpath("tables.json").read_text(encoding="utf-8"))
    return tuple(map(_table, body))


def table_ids() -> list[str]:
    """Their ids."""
    return [table.id for table in published_tables()]


def published_table(table_id: str) -> PublishedTable:
    """One table.

    Raises:
        UnknownNameError: there is none of that id.
    """
    for table in published_tables():
        if table.id == table_id:
            return table
    raise unknown_name("published table", table_id, table_ids())


def _table(body: Mapping[str, Any]) -> PublishedTable:
    columns, rows = body["columns"], body["rows"]
    return PublishedTable(
        body["id"],
        body["title"],
        body["where"],
        body["unit"],
        tuple(row["label"] for row in rows),
        tuple(column["label"] for column in columns),
        tuple(
            PublishedCell(row["label"], column["label"], printed, _key({**row["is"], **column["is"]}))
            for row in rows
            for column, printed in zip(columns, row["published"], strict=True)
        ),
    )


def _key(values: Mapping[str, Any]) -> Key:
    return Key(**{**values, "over": tuple(values.get("over", ()))})
