"""How is a phone set up from a page? With Python's runner or a native one; it goes on without the page, too."""

from dataclasses import dataclass, replace
from pathlib import Path

import streamlit as st

from dashboard import ui, ui_state
from dashboard.services.native_builds import runners_for_phones
from dashboard.services.set_up_times import SetUpEstimate, expected_set_up
from dashboard.services.set_ups import SetUpNow, WantedRunner
from dashboard.services.workspace import Workspace
from dashboard.views.device_cards import set_up_text, wait_text
from datastore.locations import Folders
from device_bridge.adb import KnownPhone
from device_bridge.setup.checks import Readiness, Remedy

LIVE_S = 1.0
BUILD_HINT = "Build one with: as2d native build --preset android-arm64 --mnn FOLDER"


@dataclass(frozen=True, slots=True)
class _Runner:
    """What can be chosen; without ``program``, Python's runner, the one that is there, or a file yet to be named."""

    id: str
    label: str
    program: Path | None = None


_PYTHON = _Runner("python", "Python and MNN")
_KEPT = _Runner("kept", "The native runner that is there")
_FILE = _Runner("file", "A native runner in a file")


def set_up(workspace: Workspace, listed: KnownPhone, readiness: Readiness) -> None:
    """What brings over what is missing, or another runner."""
    if any(check.remedy is Remedy.SET_UP for check in readiness.missing):
        _choose(workspace, listed, readiness, first=True)
    elif readiness.ready:
        with st.expander("Use another runner"):
            _choose(workspace, listed, readiness, first=False)


def going_on(workspace: Workspace, phone_id: str) -> None:
    """A set-up that runs, with the way to end it; the page is drawn again when it has ended."""
    st.fragment(_going_on, run_every=LIVE_S)(workspace, phone_id)


def ended(workspace: Workspace, last: SetUpNow) -> None:
    """How the last set-up of a phone came out, until somebody has read it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        with st.container():
            ui.box("error" if last.state == "failed" else "note", last.sentence)
        if ui.pressed("Dismiss", f"dismiss-set-up-{last.phone_id}"):
            workspace.set_ups.dismiss(last.phone_id)
            st.rerun()


def _going_on(workspace: Workspace, phone_id: str) -> None:
    left, right = st.columns([3, 1], vertical_alignment="center")
    now = workspace.set_ups.of(phone_id)
    cancelling = now is not None and now.state == "cancelling"
    with right:
        if ui.pressed("Cancel", f"cancel-set-up-{phone_id}", disabled=cancelling):
            workspace.set_ups.cancel(phone_id)
    now = workspace.set_ups.of(phone_id)
    if now is None or not now.running:
        st.rerun()
    with left:
        ui.sentence(f"Setting the phone up. {now.sentence}", muted=False)
        if now.share is not None:
            st.progress(now.share, text=f"{now.share:.0%}")


def _choose(workspace: Workspace, listed: KnownPhone, readiness: Readiness, *, first: bool) -> None:
    options = _runners(workspace.folders, readiness)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = ui_state.one_of(
            st.selectbox,
            f"runner-{listed.id}",
            "Runner",
            list(options),
            next(iter(options)),
            format_func=lambda name: options[name].label,
            help="A native runner needs no Python on the phone, and can use its GPU when it was built with OpenCL.",
            width=360,
        )
        expected = _expected(workspace, listed, readiness, options[name])
        seconds = expected.seconds if name != _FILE.id else None
        pressed = ui.pressed(
            "Set up" if seconds is None else f"Set up ({wait_text(seconds)})",
            f"set-up-{listed.id}",
            type="primary" if first else "secondary",
            icon=":material/install_mobile:",
        )
    program = options[name].program
    if name == _FILE.id:
        named = st.text_input(
            "File of the runner", key=f"runner-file-{listed.id}", help="On the computer that runs this dashboard."
        )
        program = Path(named.strip()).expanduser() if named.strip() else None
        if program is None:
            ui.sentence(BUILD_HINT)
        expected = _expected(workspace, listed, readiness, replace(_FILE, program=program))
    if name != _FILE.id or program is not None:
        said = set_up_text(expected)
        ui.sentence(f"{said[0].upper()}{said[1:]}.")
    if not pressed:
        return
    if name == _FILE.id and program is None:
        ui.sentence("Name the file of the native runner first.", muted=False)
        return
    with ui.guarded():
        workspace.set_ups.start(listed, WantedRunner(native=name != _PYTHON.id, program=program))
        st.rerun()


def _expected(workspace: Workspace, listed: KnownPhone, readiness: Readiness, runner: _Runner) -> SetUpEstimate:
    native = runner.id != _PYTHON.id
    return expected_set_up(workspace.folders, listed.id, readiness, native=native, program=runner.program)


def _runners(folders: Folders, readiness: Readiness) -> dict[str, _Runner]:
    """By id; the first is what the phone uses now."""
    native = any(check.key == "native" for check in readiness.checks)
    built = [_Runner(found.preset, f"Native, {found.title}", found.program) for found in runners_for_phones(folders)]
    return {option.id: option for option in (*([_KEPT] if native else []), _PYTHON, *built, _FILE)}
