import streamlit as st

from dashboard import ui, ui_devices, ui_models, ui_phones, ui_wireless

workspace = ui.open_page("devices", "Devices", "What can run requests, whether it is ready, and how it is now.")

ui_models.usable(workspace)
found = ui_phones.connected(workspace)
with st.container():  # what comes below keeps its place when phones come and go
    for listed in sorted(found.phones, key=lambda phone: phone.id):  # a card does not jump when its phone comes back
        ui_devices.phone(workspace, listed)
    ui_devices.away(workspace, found)
    if not found.phones:
        ui_devices.nothing_connected(found)
ui_devices.computer(workspace)
ui_wireless.wireless(workspace)

st.subheader("No phone at hand?", anchor=False)
ui_devices.virtual_phone(workspace)
