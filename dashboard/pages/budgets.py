import streamlit as st

from dashboard import ui, ui_budgets, ui_calibrate
from dashboard.services.what_if import gap_interval
from dashboard.views import numbers
from dashboard.views.budget_table import COLUMN_HELP, budget_csv, budget_styled
from dashboard.views.budgets import budgets_figure, budgets_info
from dashboard.views.theme import STRIP_CONFIG
from dashboard.views.windows import windows_figure, windows_info

theme = ui.theme()
workspace = ui.open_page("budgets", "Budgets", "Which proposal budget is fastest on a device, and on how many windows?")
ui_calibrate.offer(workspace)
report = ui_budgets.comparison(workspace)
pair = ui_budgets.selected(report)

info = budgets_info(report.table, (pair.drafter, pair.budget), gap_interval(report.grid, pair.drafter, pair.budget))
ui.sentence(info.sentence[0].upper() + info.sentence[1:], muted=False)
ui.chart(budgets_figure(info, theme), "budgets", config=STRIP_CONFIG, on_click=ui_budgets.pick_pair)
ui.sentence(" ".join((ui_budgets.choice_sentence(report), *info.notes)))
ui_budgets.send_button(workspace, report, pair, "budgets")

st.subheader("Where a budget loses", anchor=False)
overview, details = ui_budgets.map_columns(report)
with overview:
    windows = windows_info(report.grid, pair.drafter, pair.budget)
    figure = windows_figure(windows, theme, pair.budget)
    ui.chart(figure, "windows", config=STRIP_CONFIG, on_click=ui_budgets.pick_cell(windows, report))
    ui_budgets.send_button(workspace, report, pair, "budget map")
with details:
    ui_budgets.window_details(workspace, report, pair)

st.subheader("All numbers", anchor=False)
st.dataframe(
    budget_styled(report.table),
    hide_index=True,
    placeholder=numbers.NA,
    column_config={name: st.column_config.Column(help=text) for name, text in COLUMN_HELP.items()},
)
with st.container(horizontal=True):
    about = {"profile": report.profile.name, "corpus": report.corpus.id, "split": report.split}
    name = f"budgets-{report.profile.id}-{report.corpus.id}-{report.split}.csv"
    table = budget_csv(report.table, about)
    st.download_button("Table as CSV", table, name, "text/csv", icon=":material/download:")
    ui_calibrate.again(workspace)
    ui_budgets.send_button(workspace, report, pair, "budget table")
