import streamlit as st

from dashboard import ui, ui_state, ui_timeline
from dashboard.views.account import account_figure, account_info
from dashboard.views.energy import energy_info
from dashboard.views.heading import heading_html, heading_info
from dashboard.views.rounds import round_details
from dashboard.views.rounds_html import round_details_html
from dashboard.views.theme import STRIP_CONFIG
from dashboard.views.timeline import overview_figure, timeline_figure

theme = ui.theme()
workspace = ui.open_page("timeline", "Timeline", "Where did the time of a run go, round by round?")
shown = ui_timeline.choose(workspace)
info = shown.timeline
window, selected = ui_timeline.window(info), ui_timeline.selected_round(info)

heading, files = st.columns([7, 2], vertical_alignment="center")
heading.html(heading_html(heading_info(info, shown.target_only_tps), theme))
with files.container(horizontal=True, horizontal_alignment="right"):
    st.download_button("Log", shown.log, f"{info.run_id}.ndjson", "application/x-ndjson", icon=":material/download:")
    ui_timeline.trace_button(shown.record)
    if not ui_state.get("corpus"):
        ui.link(ui.REPORTS, "Report", icon=":material/description:", template="run", runs=info.run_id)

ui_timeline.stop_if_empty(info)
ui.chart(
    overview_figure(info, theme, window),
    "overview",
    config=STRIP_CONFIG,
    on_range=lambda low, high: ui_timeline.show_window((low, high)),
)
ui_timeline.zoom_buttons(info)
ui.chart(timeline_figure(info, theme, window, selected), "detail", on_click=ui_timeline.clicked(info))
ui_timeline.send_button(workspace, info, "timeline", window, selected)

if selected is None:
    ui.sentence("Click a round to see its candidates, what became of them, and why it was as wide as it was.")
else:
    details = round_details(shown.record, selected, shown.profile)
    with st.container(border=True):
        st.html("" if details is None else round_details_html(details, theme))
        ui_timeline.round_buttons(info, selected)

account = account_info(shown.record)
ui.chart(account_figure(account, theme), "account", config=STRIP_CONFIG)
ui_timeline.send_button(workspace, info, "account")
if account.empty is None:
    ui.sentence(account.equation, muted=False)
    ui.sentence(f"{account.sentence} {account.bound_sentence}")

energy = energy_info(shown.record)
if energy is not None:
    ui.sentence(energy.text)

ui_timeline.words(shown.record)
