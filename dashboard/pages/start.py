import streamlit as st

from dashboard import ui, ui_start
from dashboard.views.figure_help import HELP
from dashboard.views.heading import heading_html, heading_info, heading_text
from dashboard.views.timeline import timeline_figure

workspace = ui.open_page("start", "As²d", ui_start.WHAT_THIS_IS)
ui_start.run_button(workspace)

shown = ui_start.picture(workspace)
st.subheader(shown.title, anchor=False, help=HELP["timeline"])
heading = heading_info(shown.run.timeline, shown.target_only_tps)
st.html(heading_html(heading, ui.theme()))
ui.chart(timeline_figure(shown.run.timeline, ui.theme(), max_bars=800), "start-timeline", said=heading_text(heading))
with st.container(horizontal=True, vertical_alignment="center"):
    ui.link(ui.TIMELINE, "Open it and look at single rounds", icon=":material/view_timeline:", **shown.state)
    ui_start.send_button(workspace, shown)

devices, runs, onward = st.columns([4, 5, 4], gap="medium")
with devices:
    st.subheader("Devices", anchor=False)
    ui_start.devices(workspace)
with runs:
    st.subheader("Last runs", anchor=False)
    with st.container(key="links-runs"):
        ui_start.last_runs(workspace)
with onward:
    st.subheader("Where to go next", anchor=False)
    with st.container(key="links-onward"):
        ui_start.onward()
