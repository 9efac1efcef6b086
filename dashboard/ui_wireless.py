"""How is a phone without a cable brought to the Devices page? By its address, paired once with its code."""

import streamlit as st

from dashboard import ui
from dashboard.services.phones import connect_phone, pair_phone
from dashboard.services.workspace import Workspace

_SHOWN = "adb's server tries for up to 10 s."


def wireless(workspace: Workspace) -> None:
    """Connect a phone over the network, or pair with it first."""
    with st.expander("Connect a phone over the network"):
        with st.container(horizontal=True, vertical_alignment="bottom"):
            address = st.text_input(
                "Address", key="wireless-address", placeholder="10.0.0.7:5555", width=240,
                help=f"As Wireless debugging shows it, or with port 5555 after adb tcpip 5555. {_SHOWN}",
            )  # fmt: skip
            connect = ui.pressed("Connect", "wireless-connect", icon=":material/wifi:")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            place = st.text_input(
                "Pairing address", key="wireless-pair-address", placeholder="10.0.0.7:37213", width=240,
                help="Android 11 and later, once: Wireless debugging, 'Pair device with pairing code' shows both.",
            )  # fmt: skip
            code = st.text_input("Pairing code", key="wireless-code", placeholder="123456", width=140)
            pair = ui.pressed("Pair", "wireless-pair")
        if connect:
            with ui.guarded(), st.spinner("Connecting"):
                serial = connect_phone(address)
                workspace.phones.look_again()
                ui.sentence(f"The phone at {serial} is connected; its card appears above.", muted=False)
        if pair:
            with ui.guarded(), st.spinner("Pairing"):
                pair_phone(place, code)
                ui.sentence("Paired. Now connect it, at the other address that Wireless debugging shows.", muted=False)
