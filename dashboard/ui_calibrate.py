"""Is this computer calibrated? If not, a box with the button that does it; while it runs, how far it is."""

import streamlit as st

from dashboard import ui, ui_state
from dashboard.services.calibration import Calibration, expected_seconds, start_calibration
from dashboard.services.devices import find_device
from dashboard.services.profiles import measured_profile
from dashboard.services.workspace import Workspace
from dashboard.views import numbers
from dashboard.views.progress import progress_info

POLL_S = 0.5
REPETITIONS = 5


def offer(workspace: Workspace) -> None:
    """The box above the comparison; nothing once this computer's costs are known."""
    calibration = _latest(workspace)
    if calibration is not None and not calibration.over.is_set():
        st.fragment(_watch, run_every=POLL_S)(calibration)
        return
    if calibration is not None and calibration.problem is not None:
        ui.box("error", calibration.problem)
    if measured_profile(workspace, find_device(workspace).key) is not None:
        return
    busy = find_device(workspace).job
    wait = numbers.wait(expected_seconds(REPETITIONS))
    left, right = st.columns([8, 2], vertical_alignment="center")
    with left:
        ui.box(
            "note",
            "What drafting and verifying cost on this computer was not measured yet.",
            f"Calibrating takes about {wait}; until then the numbers below are for published phones."
            + ("" if busy is None else " Another job runs at the moment."),
        )
    if right.button("Calibrate", type="primary", disabled=busy is not None):
        with ui.guarded():
            _calibrations()[str(workspace.folders.root)] = start_calibration(workspace, repetitions=REPETITIONS)
            st.rerun()


def again(workspace: Workspace) -> None:
    """Measure once more, for a computer that is calibrated already."""
    if measured_profile(workspace, find_device(workspace).key) is None or find_device(workspace).job is not None:
        return
    if st.button("Calibrate again", icon=":material/restart_alt:"):
        with ui.guarded():
            _calibrations()[str(workspace.folders.root)] = start_calibration(workspace, repetitions=REPETITIONS)
            st.rerun()


def _watch(calibration: Calibration) -> None:
    if calibration.over.is_set():
        if calibration.profile is not None:
            ui_state.later(profile=calibration.profile.id)
        st.rerun()
    progress = progress_info(calibration.job)
    with st.container(border=True):
        ui.sentence(f"Calibrating this computer. {progress.sentence}", muted=False)
        left, right = st.columns([8, 1], vertical_alignment="center")
        left.progress(progress.share)
        right.button("Cancel", on_click=calibration.job.cancel, disabled=calibration.job.cancelling.is_set())


def _latest(workspace: Workspace) -> Calibration | None:
    return _calibrations().get(str(workspace.folders.root))


@st.cache_resource
def _calibrations() -> dict[str, Calibration]:
    """The last calibration of each data folder, for every page and tab of this process."""
    return {}
