from dashboard import ui, ui_profiles, ui_state

workspace = ui.open_page(
    "profiles", "Profiles", "What does each operation of decoding cost on a device, and how sure is that?"
)
ui_profiles.said()

if ui_state.flag("bin", "Show the bin"):
    with ui.guarded():
        ui_profiles.bin_view(workspace)
else:
    with ui.guarded():
        item, other = ui_profiles.choose(workspace)
        ui_profiles.head(workspace, item)
        ui_profiles.widths(workspace, item)
        ui_profiles.exact(item)
        ui_profiles.costs(workspace, item)
        ui_profiles.pair(workspace, item, other)
        ui_profiles.drift(workspace, item)
        ui_profiles.used(workspace, item)
