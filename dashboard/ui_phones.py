"""Which phones does a page offer? Those that are known to be there; it is drawn again when one comes or goes."""

import streamlit as st

from dashboard.services.phone_looks import PhoneList, seen_phones
from dashboard.services.workspace import Workspace

WATCH_S = 2.0


def connected(workspace: Workspace) -> PhoneList:
    """The phones that are there now, without waiting for adb."""
    found = seen_phones(workspace)
    st.fragment(_watch, run_every=WATCH_S)(workspace, _states(found))
    return found


def _watch(workspace: Workspace, seen: frozenset[tuple[str, str]]) -> None:
    if _states(seen_phones(workspace)) != seen:
        st.rerun()


def _states(found: PhoneList) -> frozenset[tuple[str, str]]:
    return frozenset(
        (phone.id, f"{entry.id} {entry.state}") for phone in found.phones for entry in phone.connections
    ) | {("", text) for text in found.problems}
