import streamlit as st

from dashboard import ui, ui_export, ui_power, ui_state, ui_timeline
from dashboard.views.account import account_figure, account_frame, account_of_work
from dashboard.views.energy import energy_info
from dashboard.views.figure_help import HELP
from dashboard.views.heading import heading_html, heading_info, heading_text
from dashboard.views.rounds_html import round_details_html
from dashboard.views.theme import PICTURE_CONFIG, STRIP_CONFIG
from dashboard.views.timeline import overview_figure, timeline_figure

theme = ui.theme()
workspace = ui.open_page("timeline", "Timeline", "Where did the time of a run go, round by round?")
shown = ui_timeline.choose(workspace)
info = shown.timeline
window, selected = ui_timeline.window(info), ui_timeline.selected_round(info)

line = heading_info(info, shown.target_only_tps)
heading, files = st.columns([7, 2], vertical_alignment="center")
heading.html(heading_html(line, theme))
with files.container(horizontal=True, horizontal_alignment="right", vertical_alignment="center"):
    st.download_button("Log", shown.log, f"{info.run_id}.ndjson", "application/x-ndjson", icon=":material/download:")
    ui_timeline.trace_button(shown.run)
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
part = ui_timeline.part(info)
seen = shown.run.part(window)
figure = timeline_figure(seen, theme, window, selected, part=part)
ui.chart(figure, "detail", said=heading_text(line), on_click=ui_timeline.clicked(seen))
ui_timeline.follow_zoom(info)
ui_timeline.part_details(info, part)
ui_timeline.hand_out(workspace, shown.run, window, selected)

if selected is None:
    ui_timeline.first_round_button(seen, window)
else:
    details = ui_timeline.round_details_of(shown, selected)
    with st.container(border=True):
        st.html("" if details is None else round_details_html(details, theme))
        ui_timeline.round_buttons(info, selected)

st.subheader("T = D + V \N{MINUS SIGN} O + H", anchor=False, help=HELP["account"])
account = account_of_work(info.work, complete=info.status in ("eos", "capped"))
ui.chart(
    account_figure(account, theme, None if part is None else part.name),
    "account",
    said=heading_text(line),
    config=PICTURE_CONFIG,
    on_click=ui_timeline.pick_part,
)
if account.empty is None:
    ui_export.table(
        account_frame(account),
        "account",
        {"run": info.run_id, "kind": info.label},
        lambda: ui_timeline.send_button(workspace, info, "account"),
    )
    ui.sentence(account.equation, muted=False)
    ui.sentence(f"{account.sentence} {account.bound_sentence}")

energy = energy_info(shown.run.outline)
if energy is not None:
    ui.sentence(energy.text)
ui_power.beside(workspace, shown.run.outline, info.run_id)

ui_timeline.words(shown.run)
ui_timeline.aligned(workspace, shown)
