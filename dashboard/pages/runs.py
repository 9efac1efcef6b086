from dashboard import ui, ui_runs, ui_state

workspace = ui.open_page("runs", "Runs", "Everything that was run here: find it, compare it, take it out.")
ui_runs.said()

if ui_state.flag("bin", "Show the bin"):
    with ui.guarded():
        ui_runs.bin_view(workspace)
else:
    with ui.guarded():
        where = ui_runs.asked_for(workspace)
        rows = ui_runs.listed(workspace, where)
        chosen = ui_runs.table(rows, ui_runs.LISTED)
        ui_runs.actions(workspace, where, chosen)
        ui_runs.compare(workspace, chosen)
