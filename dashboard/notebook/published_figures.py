"""What do figure cells show of the paper's figures? The same views as the Published page."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from as2d_core.errors import unknown_name
from dashboard.notebook.outputs import Block, Drawing, Grid, Markup, Sentence
from dashboard.notebook.source import Source
from dashboard.services.published import compared_tables, recomputed_ledger
from dashboard.views import numbers
from dashboard.views.published_ledger import ledger_figure, ledger_info, ledger_table
from dashboard.views.published_tables import (
    deviations_figure,
    overview_figure,
    reasons_of,
    summary_table,
    table_html,
    table_name,
    tables_sentence,
)
from dashboard.views.theme import Theme


def overview(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:  # noqa: ARG001 - one signature
    """Every cell of every table, and the tables in short."""
    tables = compared_tables()
    return Drawing(overview_figure(tables, theme), tables_sentence(tables), strip=True), _grid(summary_table(tables))


def ledger(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:  # noqa: ARG001 - one signature
    """Figures that follow from others; the table holds those that are not exact."""
    info = ledger_info(recomputed_ledger())
    return Drawing(ledger_figure(info, theme), info.sentence, strip=True), _grid(ledger_table(info, only_inexact=True))


def table(source: Source, theme: Theme, given: Mapping[str, Any]) -> tuple[Block, ...]:  # noqa: ARG001 - one signature
    """One table beside replays."""
    known = {compared.table.id: compared for compared in compared_tables()}
    if given["table"] not in known:
        raise unknown_name("published table", given["table"], list(known))
    compared = known[given["table"]]
    said = f"{table_name(compared)}: {compared.table.title} ({compared.table.where}). {tables_sentence([compared])}"
    why = tuple(Sentence(f"{i}: {sentence}.") for i, sentence in enumerate(reasons_of(compared), 1))
    return Drawing(deviations_figure(compared, theme), said, strip=True), Markup(table_html(compared)), *why


def _grid(frame: pd.DataFrame) -> Grid:
    rows = tuple(
        tuple(None if isinstance(value, float) and numbers.missing(value) else value for value in row)
        for row in frame.itertuples(index=False)
    )
    return Grid(tuple(frame.columns), rows)
