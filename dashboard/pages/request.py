import streamlit as st

from dashboard import ui, ui_live, ui_models, ui_request
from dashboard.services.running import start_comparison, start_run

workspace = ui.open_page("request", "Request", "Choose a recording and a method, and watch both models work.")
controls, live = st.columns([5, 8], gap="medium")

with controls:
    missing = st.container()  # above everything: nothing else helps
    device = ui_request.device_choice(workspace)
    form = ui_request.recording(workspace)
    compared = []
    if form is not None:
        form = ui_request.method(form)
        form, repetitions = ui_request.more(workspace, form)
        compared = ui_request.comparison(form)
    running = workspace.jobs.active(device)
    with missing:
        runnable = form is None or ui_models.usable(workspace, form)
    closed = form is None or running is not None or not runnable
    with st.container(horizontal=True):
        one = ui.pressed("Run", "run-one", type="primary", disabled=closed)
        label = "Run all methods" if form is None else ui_request.comparison_label(compared)
        every = ui.pressed(label, "run-every", disabled=closed or not compared)
    if form is not None and (one or every):
        with ui.guarded(), st.spinner("Preparing the request"):
            if one:
                job = start_run(workspace, form, device, repetitions)
            else:
                job = start_comparison(workspace, compared, device, repetitions)
            ui.go_to(ui.REQUEST, **{**st.query_params.to_dict(), "job": job.id})

with live:
    shown = ui_live.job_shown(workspace, device)
    if shown is None:
        ui.box("empty", "Nothing runs at the moment.", "Press Run: the text appears here while it is decoded.")
    else:
        ui_live.watch(workspace, shown)
