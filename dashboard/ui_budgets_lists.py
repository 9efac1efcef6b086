"""How is a pair, a range or a window of the Budgets page chosen without a pointer? By lists and a slider."""

from collections.abc import Callable

import streamlit as st

from dashboard import ui_export, ui_state
from dashboard.services.budgets import ALL_WINDOWS, BudgetReport, splits_of
from dashboard.ui_budgets import Compared, Pair, file_facts, pick_pair, pick_range
from dashboard.views import numbers
from dashboard.views.budget_table import COLUMN_HELP, COLUMNS, MAIN, budget_styled
from dashboard.views.files import budget_map_frame
from dashboard.views.grids import column_width, grid_height
from dashboard.views.run_labels import profile_label
from dashboard.views.windows import WindowsInfo

MOST_ROWS = 16


def pick_by_list(report: BudgetReport, pair: Pair, among: tuple[int, ...] | None) -> bool:
    """What a click or a drag on the figure does, as a list and a slider.

    Returns:
        Whether a drag over the figure picks several budgets; Streamlit hears no click on a figure that waits for one.
    """
    pairs = [(row.drafter, row.budget) for row in report.table.rows]
    several, budgets = len({drafter for drafter, _ in pairs}) > 1, report.grid.budgets
    chosen = (pair.drafter, pair.budget)
    st.session_state["pair-list"] = chosen if chosen in pairs else pairs[0]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.selectbox(
            "Budget", pairs, key="pair-list", width=260 if several else 150,
            format_func=lambda item: f"{item[0]}, b = {item[1]}" if several else f"b = {item[1]}",
            on_change=lambda: pick_pair({"customdata": st.session_state["pair-list"]}),
        )  # fmt: skip
        drag = ui_state.flag("drag", "Choose among a range (drag over the figure)")
        if drag and len(budgets) > 1:
            ends = (budgets[0], budgets[-1]) if among is None else (among[0], among[-1])
            key = f"pair-range-{ends[0]}-{ends[1]}"  # a new one where a drag has moved the ends
            st.select_slider(
                "Budgets to choose among", budgets, ends, key=key, width=320,
                on_change=lambda: pick_range(report)(*st.session_state[key]),
            )  # fmt: skip
    return drag


def window_by_list(info: WindowsInfo) -> None:
    """What a click on a cell does, as a list of windows, the largest loss first."""
    windows = info.windows
    opened = ui_state.get("window")
    st.session_state["window-list"] = opened if opened in windows else None

    def open_it() -> None:
        ui_state.put(window=st.session_state["window-list"], drafter=info.drafter, cell=None)

    st.selectbox(
        "Window, the largest loss first", windows, key="window-list", width=320, placeholder="click a cell, or choose",
        on_change=open_it,
    )  # fmt: skip


def map_files(info: WindowsInfo, report: BudgetReport, pair: Pair, send: Callable[[], None]) -> None:
    """Every cell of the map as a file."""
    name, about = file_facts(report, pair)
    ui_export.table(lambda: budget_map_frame(info), f"{name}-map", about, send)


def numbers_of(report: BudgetReport) -> None:
    """Every budget and baseline in numbers."""
    everything, styled = ui_state.flag("columns", "All columns"), budget_styled(report.table)
    widths = {name: column_width([name, *styled.data[name].dropna()]) for name in ("Method", "Drafter")}
    st.dataframe(
        styled,
        hide_index=True,
        placeholder=numbers.NA,
        height=grid_height(len(styled.data), MOST_ROWS),
        column_order=COLUMNS if everything else MAIN,
        column_config={
            name: st.column_config.Column(help=COLUMN_HELP.get(name), width=widths.get(name)) for name in COLUMNS
        },
    )


def said(found: Compared) -> str:
    """What is compared, in one line, for a picture that is seen alone."""
    report = found.shown
    parts = [profile_label(report.profile), f"set {report.corpus.id}", "replayed"]
    parts.append("all windows" if report.split == ALL_WINDOWS else f"{' and '.join(splits_of(report.split))} windows")
    if found.assumed:
        parts.append(f"costs assumed: draft × {ui_state.get('draft') or '1'}, verify × {ui_state.get('verify') or '1'}")
    return " · ".join(part.replace("× ×", "×") for part in parts)
