import streamlit as st

from dashboard import ui, ui_sweep

workspace = ui.open_page("sweep", "Sweep", "How does a device do along a recording, or when it works on and on?")
controls, results = st.columns([5, 8], gap="medium")

with controls:
    ui_sweep.ask(workspace)

with results:
    sweep = ui_sweep.chosen(workspace)
    if sweep is not None:
        ui_sweep.watch(workspace, sweep)
