"""Which part of the paper does the Published page show beside our figures?"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from as2d_core.published.comparison import ComparedTable
from as2d_core.published.tables import published_tables
from dashboard import ui, ui_cache, ui_export, ui_notebook, ui_state
from dashboard.services.measured_rates import measured_rates
from dashboard.services.published import recomputed_ledger
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from dashboard.views.boxes import sentence_html
from dashboard.views.figure_help import HELP
from dashboard.views.grids import column_width
from dashboard.views.heading import badge_html
from dashboard.views.published_ledger import LEDGER_FORMATS, LEDGER_HELP, ledger_figure, ledger_info, ledger_table
from dashboard.views.published_tables import (
    HEADLINE_FORMATS,
    HEADLINE_HELP,
    Headline,
    cells_table,
    deviations_figure,
    headline_table,
    headlines,
    overview_figure,
    reasons_of,
    summary_table,
    summary_texts,
    table_html,
    table_name,
    tables_sentence,
)
from dashboard.views.theme import PICTURE_CONFIG

OVERVIEW, LEDGER = "all", "ledger"
_MEANING = (
    "Replayed: real decisions on a virtual clock with the packaged phone profiles, on a synthetic corpus that stands "
    "in for the paper's traces, which are not public. Nothing is tuned to a row. Solved: the printed figure went into "
    "the corpus or the profile, so that it agrees by construction."
)


def part() -> str:
    """What is shown: everything in short, the ledger, or one table by its id."""
    names = {OVERVIEW: "Everything in short", LEDGER: "Figures that follow from others"}
    for item in published_tables():
        number = f"Table {item.id}" if item.id.isdecimal() else f"Section {item.id}"
        names[item.id] = f"{number}: {item.title}"
    return str(ui_state.one_of(st.selectbox, "table", "Show", list(names), OVERVIEW, format_func=names.__getitem__))


def overview(workspace: Workspace) -> None:
    """The ledger's score, every cell of every table, and devices beside phones."""
    found = ledger_info(recomputed_ledger())
    tables = ui_cache.published_comparison()
    ui.sentence(found.sentence, muted=False)
    ui.sentence(f"Of the paper's tables, {tables_sentence(tables)}", muted=False)
    _legend()
    st.subheader("Every cell of every table", anchor=False, help=HELP["published overview"])

    def open_table(point: ui.Point) -> None:
        chosen = point.get("customdata")
        if isinstance(chosen, list | tuple) and chosen:
            ui_state.put(table=str(chosen[0]))

    _figure(overview_figure(tables, ui.theme()), "overview", _corpus(tables), on_click=open_table)
    ui.sentence("Click a cell to open its table.")
    ui.small_table(summary_texts(tables))
    _hand_out(workspace, summary_table(tables), "published-tables", {"corpus": _corpus(tables)}, "published overview")
    st.subheader("Phones of the paper and devices here", anchor=False, help=HELP["headline"])
    measured = [
        Headline(
            f"{rate.device}, {rate.target}" if rate.target else rate.device,
            "measured, virtual" if rate.virtual else "measured",
            rate.windows,
            rate.tps,
        )
        for rate in measured_rates(workspace)
    ]
    rows = headline_table([*measured, *headlines(tables)])
    _frame(rows, HEADLINE_FORMATS, HEADLINE_HELP)
    if not measured:
        ui.sentence("No device here has run target-only and another method on the same recording yet.")
        ui.link(ui.REQUEST, "Run all methods on a recording", icon=":material/mic:")
    else:
        ui.sentence(
            "Measured devices run the bundled models on the bundled recordings: their gains can be held beside the "
            "paper's, their tokens per second cannot."
        )
    _hand_out(workspace, rows, "published-headline", {"corpus": _corpus(tables)})
    _figures_elsewhere()


def _figures_elsewhere() -> None:
    st.subheader("The paper's figures, drawn from data here", anchor=False)
    with st.container(key="links-figures"):
        ui.link(ui.TIMELINE, "Figure 6: one request on a time axis", icon=":material/view_timeline:")
        ui.link(ui.PROFILES, "Figure 8: savings by width, Redmi K70 Pro", icon=":material/speed:", profile="k70")
        ui.link(ui.PROFILES, "Figure 8: savings by width, Xiaomi 11 Pro", icon=":material/speed:", profile="11pro")
        ui.link(ui.BUDGETS, "Budgets of the paper's corpus on Redmi K70 Pro", icon=":material/tune:", profile="k70",
                corpus="paper-688")  # fmt: skip


def ledger(workspace: Workspace) -> None:
    """Every figure that follows from others."""
    info = ledger_info(recomputed_ledger())
    ui.sentence(info.sentence, muted=False)
    st.subheader("Recomputed against printed", anchor=False, help=HELP["ledger"])
    _figure(ledger_figure(info, ui.theme()), "ledger", "all figures of the ledger")
    only = ui_state.flag("differences", "Only what is not exact")
    rows = ledger_table(info, only)
    if rows.empty:
        ui.box("empty", "Every figure comes out as printed.")
    else:
        _frame(rows, LEDGER_FORMATS, LEDGER_HELP, tuple(LEDGER_FORMATS))
    _hand_out(workspace, rows, "published-ledger", {"only_inexact": only}, "ledger")


def table(workspace: Workspace, table_id: str) -> None:
    """One table, cell by cell."""
    compared = next(item for item in ui_cache.published_comparison() if item.table.id == table_id)
    unit = f", {compared.table.unit}" if compared.table.unit else ""
    ui.sentence(f"{table_name(compared)}: {compared.table.title} ({compared.table.where}){unit}.", muted=False)
    ui.sentence(tables_sentence([compared])[0].upper() + tables_sentence([compared])[1:])
    _legend()
    st.subheader("Ours against the paper's", anchor=False, help=HELP["deviations"])
    _figure(deviations_figure(compared, ui.theme()), "deviations", f"{table_name(compared)}, {_corpus([compared])}")
    only = ui_state.flag("differences", "Only what differs")
    st.html(table_html(compared, only))
    reasons = reasons_of(compared)
    if reasons:
        st.subheader("Why they differ", anchor=False)
        lines = (f"{i}: {sentence}." for i, sentence in enumerate(reasons, 1))
        st.html("".join(sentence_html(line, ui.theme(), muted=False) for line in lines))
    rows = cells_table([compared], only)
    about = {"table": table_id, "corpus": _corpus([compared]), "only_differing": only}
    _hand_out(workspace, rows, f"published-table-{table_id}", about, "published table", table=table_id)


def _legend() -> None:
    kinds = ("published", "replayed", "solved", "synthetic")
    badges = "".join(badge_html(numbers.badge(name), ui.theme()) for name in kinds)
    st.html(badges + sentence_html(_MEANING, ui.theme()))


def _corpus(tables: list[ComparedTable] | tuple[ComparedTable, ...]) -> str:
    return f"corpus {tables[0].corpus} [{tables[0].label}]" if tables else ""


def _figure(figure: go.Figure, key: str, said: str, on_click: object = None) -> None:
    ui.chart(figure, key, said=said, config=PICTURE_CONFIG, on_click=on_click)


def _frame(
    rows: pd.DataFrame,
    formats: Mapping[str, Callable[[Any], str]],
    helps: Mapping[str, str],
    uneven: Sequence[str] = (),
) -> None:
    """A table with numbers; columns of ``uneven`` texts are as wide as the longest, unlike by themselves."""
    widths = {name: column_width([name, *map(formats[name], rows[name])]) for name in uneven}
    st.dataframe(
        rows.style.format(dict(formats)),
        hide_index=True,
        placeholder=numbers.NA,
        column_config={
            name: st.column_config.Column(help=helps.get(name), width=widths.get(name)) for name in rows.columns
        },
    )


def _hand_out(
    workspace: Workspace, rows: pd.DataFrame, name: str, about: Mapping[str, object], view: str = "", **settings: object
) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        ui_export.table(rows, name, about)
        if view:
            ui_notebook.send_button(workspace, view, view, **settings)
