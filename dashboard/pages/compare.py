import streamlit as st

from dashboard import ui, ui_compare
from dashboard.views.figure_help import HELP
from dashboard.views.paired import paired_figure
from dashboard.views.theme import PICTURE_CONFIG

theme = ui.theme()
workspace = ui.open_page("compare", "Compare", "Any runs side by side: which is faster, in what they differ, and why.")
with ui.guarded():
    where = ui_compare.asked_for(workspace)
    found, key = ui_compare.read(workspace, where)
    compared = ui_compare.compared(workspace, found, key)
    about = ui_compare.about(found, where)
    ui_compare.labels(found, about)
    ui_compare.one_setting(compared)

    st.subheader("Which is faster", anchor=False, help=HELP["paired"])
    ui.chart(paired_figure(compared.paired, theme, about), "paired", config=PICTURE_CONFIG)
    for note in compared.paired.notes:
        ui.sentence(note)
    by, against = ui_compare.pooled(), compared.paired.reference
    ui_compare.table(
        compared, about, lambda: ui_compare.send_button(workspace, found, "paired", "paired", by=by, against=against)
    )

    st.subheader("Where the time goes", anchor=False, help=HELP["cost_parts"])
    ui_compare.costs(
        compared, about, lambda: ui_compare.send_button(workspace, found, "cost parts", "cost parts", by=by)
    )

    st.subheader("In what they differ", anchor=False, help=HELP["differences"])
    ui_compare.settings(
        compared, about, lambda: ui_compare.send_button(workspace, found, "differences", "differences", by=by)
    )

    st.subheader("What they say", anchor=False, help=HELP["outputs"])
    ui_compare.outputs(workspace, compared, about)

    ui_compare.timelines(workspace, found, about)

    st.subheader("Over time", anchor=False, help=HELP["over_time"])
    ui_compare.over_time(workspace, found, compared, about)
    ui_compare.onward(found)
