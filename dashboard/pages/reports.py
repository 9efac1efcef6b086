import streamlit as st

from dashboard import ui, ui_reports

workspace = ui.open_page("reports", "Reports", "Choose runs, say what you expected and what came out, and hand it on.")
with st.expander("Take in what somebody shared", icon=":material/upload:"):
    ui_reports.take_in(workspace)

choices, shown = st.columns([4, 11], gap="medium")
with choices:
    template = ui_reports.template()
    notebook = ui_reports.filled(workspace, template, shown)
with shown:
    if notebook is not None:
        ui_reports.hand_out(workspace, notebook)
        ui_reports.preview(workspace, notebook)
