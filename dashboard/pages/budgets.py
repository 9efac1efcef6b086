import streamlit as st

from dashboard import (
    ui,
    ui_budgets,
    ui_budgets_lists,
    ui_cache,
    ui_calibrate,
    ui_devices_compared,
    ui_export,
    ui_freeze,
)
from dashboard.services.what_if import gap_interval
from dashboard.views.budget_table import budget_table
from dashboard.views.budgets import budgets_figure, budgets_info
from dashboard.views.figure_help import HELP
from dashboard.views.theme import PICTURE_CONFIG

theme = ui.theme()
workspace = ui.open_page("budgets", "Budgets", "Which proposal budget is fastest on a device, and on how many windows?")
ui_calibrate.offer(workspace)
asked = ui_budgets.asked(workspace)


@st.fragment
def compared() -> None:
    found = ui_budgets.compared(asked)
    pair = ui_budgets.selected(found)
    report, base = found.shown, found.measured.table if found.assumed else None
    among = None if found.among is None else (found.among[0], found.among[-1])

    interval = gap_interval(report.grid, pair.drafter, pair.budget)
    info = budgets_info(report.table, (pair.drafter, pair.budget), interval, base, among, pair.called)
    st.subheader("Throughput against budget", anchor=False, help=HELP["budgets"])
    ui.sentence(info.sentence[0].upper() + info.sentence[1:], muted=False)
    drag = ui_budgets_lists.pick_by_list(report, pair, found.among)
    picks = {"on_range": ui_budgets.pick_range(report)} if drag else {"on_click": ui_budgets.pick_pair}
    said = ui_budgets_lists.said(found)
    ui.chart(budgets_figure(info, theme, drag=drag), "budgets", said=said, config=PICTURE_CONFIG, **picks)
    ui_budgets.pair_tools(found, pair)
    ui.sentence(" ".join(info.notes))
    ui_budgets.send_button(workspace, report, pair, "budgets")

    st.subheader("Deploy a choice", anchor=False, help=HELP["choice"])
    ui_freeze.steps(workspace, asked, found, pair)

    st.subheader("Where a budget loses", anchor=False, help=HELP["budget map"])
    if ui_budgets.map_follows(found):
        overview, details = ui_budgets.map_columns(report)
        with overview:
            windows, figure = ui_cache.loss_map(report, pair.drafter, pair.budget, theme, said)
            ui_budgets_lists.window_by_list(windows)
            pick = ui_budgets.pick_cell(windows, report)
            ui.chart(figure, "windows", config=PICTURE_CONFIG, on_click=pick)
            ui_budgets_lists.map_files(
                windows, report, pair, lambda: ui_budgets.send_button(workspace, report, pair, "budget map")
            )
        with details:
            ui_budgets.window_details(workspace, report, pair)

    st.subheader("All numbers", anchor=False)
    ui_budgets_lists.numbers_of(report)
    ui_export.table(
        budget_table(report.table),
        *ui_budgets.file_facts(report, pair),
        lambda: ui_budgets.send_button(workspace, report, pair, "budget table"),
    )


compared()
ui_devices_compared.section(workspace, asked)
ui_calibrate.again(workspace)
