"""Which figures of compared runs can a cell show? Paired differences, costs a token, differing settings."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from as2d_core.errors import unknown_name
from as2d_core.request import METHODS
from dashboard.notebook.outputs import Block, Drawing, Grid, Sentence
from dashboard.notebook.source import Source
from dashboard.views.aligned import BY as BY_WHAT
from dashboard.views.aligned import aligned_figure, aligned_info
from dashboard.views.cost_parts import cost_figure, cost_rows, cost_table
from dashboard.views.over_time import over_time_figure, over_time_info
from dashboard.views.paired import paired_figure, paired_info, paired_table
from dashboard.views.run_groups import BY, RunGroup, run_groups
from dashboard.views.run_settings import settings_info
from dashboard.views.theme import Theme
from dashboard.views.timeline_info import timeline_info
from datastore.queries import RunRow

Settings = Mapping[str, Any]


def paired(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    """Every setting against one of them."""
    groups = _groups(source, given)
    names = [group.name for group in groups]
    against = given.get("against", "")
    if against and against not in names:
        raise unknown_name("setting", against, names)
    info = paired_info(groups, against)
    return Drawing(paired_figure(info, theme), " ".join(info.notes), strip=True), _grid(paired_table(info))


def cost_parts(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    """T = D + V - O + H of every setting."""
    rows = cost_rows(_groups(source, given))
    return Drawing(cost_figure(rows, theme), strip=True), _grid(cost_table(rows))


def differences(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:  # noqa: ARG001 - one signature
    """In what the runs differ."""
    info = settings_info(_groups(source, given))
    return (_grid(info.table, info.sentence),) if info.rows else (Sentence(info.sentence),)


def over_time(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    """Every finished run over its date."""
    info = over_time_info(_groups(source, given))
    return (Drawing(over_time_figure(info, theme), " ".join(info.sentences)),)


def aligned(source: Source, theme: Theme, given: Settings) -> tuple[Block, ...]:
    """Two runs of the same recording under each other, and where the faster one won."""
    by = given.get("by") or BY_WHAT[0]
    if by not in BY_WHAT:
        raise unknown_name("way to align runs", by, list(BY_WHAT))
    first, second = (timeline_info(source.record(given[name])) for name in ("run", "against"))
    info = aligned_info(first, second, by)
    drawing = Drawing(aligned_figure(info, theme), " ".join([info.sentence, *info.notes]))
    return (drawing, _grid(info.table)) if info.stretches else (drawing,)


def _groups(source: Source, given: Settings) -> tuple[RunGroup, ...]:
    by = given.get("by") or "setting"
    if by not in BY:
        raise unknown_name("way to pool runs", by, list(BY))
    rows = [row for row in source.rows(given["runs"]) if row.method in METHODS]
    names = [item.name for item in fields(RunRow)]
    return run_groups([{name: getattr(row, name) for name in names} | {"virtual": row.virtual} for row in rows], by)


def _grid(table: Any, note: str = "") -> Grid:
    return Grid(tuple(table.columns), tuple(tuple(row) for row in table.itertuples(index=False)), note)
