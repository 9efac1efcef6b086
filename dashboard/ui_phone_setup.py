"""How is a phone set up from a page? With Python's runner or a native one, and it says what it does while it works."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from dashboard import ui
from dashboard.services.native_builds import runners_for_phones
from dashboard.services.phones import set_native_up, set_phone_up
from dashboard.services.workspace import Workspace
from datastore.locations import Folders
from device_bridge.adb import KnownPhone
from device_bridge.setup.checks import Readiness, Remedy

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


def set_up(workspace: Workspace, listed: KnownPhone, readiness: Readiness) -> bool:
    """What brings over what is missing, or another runner; whether the phone was set up just now."""
    if any(check.remedy is Remedy.SET_UP for check in readiness.missing):
        return _choose(workspace, listed, readiness, first=True)
    if readiness.ready:
        with st.expander("Use another runner"):
            return _choose(workspace, listed, readiness, first=False)
    return False


def _choose(workspace: Workspace, listed: KnownPhone, readiness: Readiness, *, first: bool) -> bool:
    options = _runners(workspace.folders, readiness)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Runner",
            list(options),
            format_func=lambda name: options[name].label,
            key=f"runner-{listed.id}",
            help="A native runner needs no Python on the phone, and can use its GPU when it was built with OpenCL.",
            width=360,
        )
        pressed = ui.pressed(
            "Set up",
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
    if not pressed:
        return False
    if name == _FILE.id and program is None:
        ui.sentence("Name the file of the native runner first.", muted=False)
        return False
    with ui.guarded():
        _carry_out(workspace, listed, name, program)
        return True
    return False


def _carry_out(workspace: Workspace, listed: KnownPhone, name: str, program: Path | None) -> None:
    with st.status("Setting the phone up", expanded=True) as status:
        said = status.empty()

        def say(sentence: str) -> None:
            said.text(sentence)

        if name == _PYTHON.id:
            set_phone_up(workspace.folders, listed, say=say)
        else:
            set_native_up(workspace.folders, listed, program, say=say)
    for device in workspace.jobs.devices():
        if device.id == listed.id and workspace.jobs.active(device.id) is None:
            device.close()  # a runner that waits there for requests is the one from before


def _runners(folders: Folders, readiness: Readiness) -> dict[str, _Runner]:
    """By id; the first is what the phone uses now."""
    native = any(check.key == "native" for check in readiness.checks)
    built = [_Runner(found.preset, f"Native, {found.title}", found.program) for found in runners_for_phones(folders)]
    return {option.id: option for option in (*([_KEPT] if native else []), _PYTHON, *built, _FILE)}
