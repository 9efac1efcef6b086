import streamlit as st

from dashboard import ui, ui_windows
from dashboard.views.figure_help import HELP
from dashboard.views.window_gain import gain_figure, gain_info
from dashboard.views.window_set import summary
from dashboard.views.window_speed import speed_figure, speed_info
from dashboard.views.window_table import slower_table, window_frame, window_table

theme = ui.theme()
workspace = ui.open_page("windows", "Windows", "On which recordings is a method fast, on which is it slow, and why?")
shown = ui_windows.source(workspace)
asked = ui_windows.wanted(shown.windows)
ui_windows.labels(shown)
name = ui_windows.chosen(shown.windows)
part = ui_windows.looked_at(shown.windows, asked, name)
item = part.named(name)
about = ui_windows.about(shown, asked)
ui.sentence(summary(part, item).sentence, muted=False)

curves, gains = ui_windows.two_figures()
with curves:
    st.subheader("TPS of all windows", anchor=False, help=HELP["window_speed"])
    ui.chart(speed_figure(speed_info(part, about), theme), "speed", on_click=ui_windows.pick)
    ui_windows.send_button(workspace, shown, asked, name, "speed")
with gains:
    st.subheader("Gain over target-only", anchor=False, help=HELP["window_gain"])
    by = ui_windows.layout()
    ui.chart(
        gain_figure(gain_info(part, item, by, ui_windows.opened(), about), theme), "gain", on_click=ui_windows.pick
    )
    ui_windows.send_button(workspace, shown, asked, name, "gain")

ui_windows.details(shown, part, name)

slower = slower_table(part, item)
st.subheader("Where it is slower than target-only", anchor=False, help=HELP["window_reasons"])
ui_windows.reasons(slower, part, item)

st.subheader("All windows", anchor=False)
ui_windows.table(part, window_table(part, name, ui_windows.order()))
ui_windows.export(
    lambda: window_frame(part, name),
    about,
    name,
    lambda: ui_windows.send_button(workspace, shown, asked, name, "table"),
)
