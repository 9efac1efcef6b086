"""What a measured episode on a phone waits for, as fields."""

import streamlit as st

from as2d_core.gates import LONGEST_REST_S, Gates
from dashboard import ui_state

_USUAL = Gates()


def conditions(phone_id: str = "") -> Gates:
    """Rest, battery and frequency ceiling; ``phone_id`` tells the fields of a phone from others on the same page."""
    where = f"-{phone_id}" if phone_id else ""
    field = st.number_input
    rest_s = ui_state.number(
        field, f"rest{where}", "Rest before (s)", _USUAL.rest_s, 0.0, LONGEST_REST_S, step=5.0, format="%.0f"
    )
    battery_c = ui_state.number(
        field, f"battery{where}", "Warmest battery (°C)", _USUAL.max_battery_c, 0.0, 80.0, step=1.0, format="%.0f"
    )
    ceiling_mhz = ui_state.number(
        field, f"ceiling{where}", "Least frequency ceiling (MHz)", None, 0.0, 10_000.0, step=100.0, format="%.1f",
        placeholder="not asked for",
    )  # fmt: skip
    core = ui_state.number(
        field, f"ceiling-core{where}", "Core of that ceiling", None, 0.0, 63.0, step=1.0, format="%.0f",
        placeholder="the fastest", disabled=ceiling_mhz is None,
    )  # fmt: skip
    return Gates(
        rest_s=rest_s,
        max_battery_c=battery_c,
        ceiling_mhz=ceiling_mhz,
        ceiling_core=None if core is None or ceiling_mhz is None else int(core),
    )
