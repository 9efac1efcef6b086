"""What is on the Devices page? One card for this computer and one for each phone, live, with what can be done."""

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from as2d_core.runner.sensors import Sensors
from dashboard import ui, ui_notebook, ui_phone_setup, ui_request, ui_state
from dashboard.services.calibration import Calibration, CalibrationForm, expected_of, phone_form, start
from dashboard.services.devices import device_history, find_device, phone_key
from dashboard.services.models import model_problem
from dashboard.services.phone_looks import (
    PhoneList,
    PhoneLook,
    computer_reading,
    end_runner,
    look_at,
    orphans,
    phone_conditions,
    runner_sentence,
)
from dashboard.services.profiles import load_profile, profile_ids
from dashboard.services.requests import CPU
from dashboard.services.virtual_phones import is_ours, start_virtual_phone, stop_virtual_phone, virtual_presets
from dashboard.services.workspace import Workspace
from dashboard.ui_conditions import conditions
from dashboard.views import numbers
from dashboard.views.device_cards import (
    computer_gauges,
    computer_rows,
    facts_html,
    gauges_html,
    phone_gauges,
    phone_rows,
    readiness_html,
    run_gauges,
    run_text,
    wait_text,
)
from dashboard.views.figure_help import HELP
from dashboard.views.heading import badge_html
from dashboard.views.numbers import badge
from dashboard.views.progress import progress_info
from dashboard.views.run_labels import profile_label, short_run_label
from dashboard.views.text import label
from dashboard.views.theme import PICTURE_CONFIG
from dashboard.views.width_savings import width_savings_figure, width_savings_info
from datastore.locations import Folders
from datastore.queries import RunRow, row_as_json
from device_bridge.adb import KnownPhone
from device_bridge.errors import DeviceError
from device_bridge.jobs import Job

WATCH_S, LIVE_S = 2.0, 1.0
FACTS_S = 30.0
CONNECT_HELP = (
    "Switch on USB debugging in the phone's developer options, plug it in, and allow this computer on its screen. "
    "Without a cable: connect it over the network, below. Phones of other computers: AS2D_ADB_SERVERS=host:port."
)


def nothing_connected(found: PhoneList) -> None:
    """What to do when there is no phone."""
    ui.box("empty", "No phone is connected.", CONNECT_HELP)
    for problem in found.problems:
        ui.sentence(problem)


def virtual_phone(workspace: Workspace) -> None:
    """Start one of the published phones as a virtual one."""
    names = {preset.id: preset.name for preset in virtual_presets()}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.selectbox("Virtual phone", list(names), format_func=lambda name: names[name], width=240)
        if ui.pressed("Start it", "start-virtual-phone", icon=":material/science:"):
            with ui.guarded(), st.spinner("Starting a virtual phone"):
                start_virtual_phone(workspace, chosen)
                st.rerun()
    ui.sentence("It speaks the real protocol and runs on this computer; its figures are marked virtual.")


def computer(workspace: Workspace) -> None:
    """The card of this computer."""
    device = find_device(workspace)
    with st.container(border=True, key="card-computer"):
        st.subheader(device.name, anchor=False)
        facts, state = st.columns([5, 6], gap="medium")
        with facts:
            st.html(facts_html(computer_rows(device.facts), ui.theme()))
        with state:
            st.fragment(_computer_now, run_every=LIVE_S)()
            history = device_history(workspace, (device.key,))
            _work(workspace, device.id, CalibrationForm(), history)
        _history(history)


def phone(workspace: Workspace, listed: KnownPhone) -> None:
    """The card of one phone."""
    with st.container(border=True, key=f"card-{listed.id}".replace(":", "-").replace("@", "-")):
        with st.spinner(f"Asking {listed.name}"):
            look = _look(f"{listed.connections} {_set_up_mark(workspace, listed.id)}", workspace.folders, listed)
        name = (look.facts and (look.facts.value("name") or look.facts.value("model"))) or listed.name
        st.subheader(ui.plain(str(name)), anchor=False)
        marks = badge_html(badge("virtual"), ui.theme()) if look.virtual else ""
        st.html(f'<div>{marks} <span style="font-size:13px">{_address(listed)}</span></div>')
        with st.container():
            if look.problem is not None:
                ui.box("error", look.problem)
        facts, state = st.columns([5, 6], gap="medium")
        with facts:
            if look.facts is None:
                ui.sentence("Its facts are shown once it is ready.")
            else:
                st.html(facts_html(phone_rows(look.facts), ui.theme()))
        with state:
            history = device_history(workspace, () if look.facts is None else (phone_key(look.facts),))
            _phone_state(workspace, listed, look, history)
        _history(history)


def away(workspace: Workspace, found: PhoneList) -> None:
    """A card for each phone that is out of reach while something of ours runs on it, with the way to end that."""
    there = {listed.id for listed in found.phones}
    for job in workspace.jobs.jobs():
        device_id = job.device_id
        if job.finished or device_id in there or not workspace.jobs.device(device_id).outlives:
            continue
        with st.container(border=True, key=f"card-away-{job.id}"):
            st.subheader(ui.plain(job.device_name), anchor=False)
            ui.sentence("Not within reach now. What runs there goes on.")
            _work(workspace, device_id, phone_form(device_id), ())
    for set_up in workspace.set_ups.running():
        if set_up.phone_id in there:
            continue
        with st.container(border=True, key=f"card-set-up-{set_up.number}"):
            st.subheader(ui.plain(set_up.phone_name), anchor=False)
            ui_phone_setup.going_on(workspace, set_up.phone_id)


def _phone_state(workspace: Workspace, listed: KnownPhone, look: PhoneLook, history: Sequence[RunRow]) -> None:
    job = workspace.jobs.active(listed.id)
    set_up = workspace.set_ups.of(listed.id)
    busy = set_up is not None and set_up.running
    now, setting_up, work = st.container(), st.container(), st.container()  # a button never moves into another's place
    with now:
        if listed.ready and look.problem is None and job is None:
            # While something is measured nobody asks the phone: the runner itself sends its readings.
            st.fragment(_phone_now, run_every=WATCH_S)(workspace, listed, _set_up_mark(workspace, listed.id))
            if not busy:
                _orphans(workspace, listed, look)
        st.html(readiness_html(look.readiness, ui.theme(), setting_up=busy))
    with setting_up:
        if busy:
            ui_phone_setup.going_on(workspace, listed.id)
        else:
            if set_up is not None:
                ui_phone_setup.ended(workspace, set_up)
            if listed.ready and job is None:
                ui_phone_setup.set_up(workspace, listed, look.readiness)
    with work:
        if not busy and (look.readiness.ready or job is not None):
            placed = (CPU, CPU)
            if job is None and len(look.readiness.backends) > 1:
                with st.container(horizontal=True):
                    placed = ui_request.backends(listed.id)
            form = phone_form(listed.id, *placed)
            if job is None and look.facts is not None and look.facts.value("task_profile"):
                top = ui_state.flag(f"top-{listed.id}", "Profile it under Android's highest task profile")
                form = replace(form, top_profile=top)
            if job is None:
                with st.popover("Conditions before each episode"):
                    form = replace(form, gates=conditions(listed.id))
            _work(workspace, listed.id, form, history)
    if is_ours(listed) and ui.pressed("Stop this virtual phone", f"stop-{listed.id}"):
        stop_virtual_phone(listed)
        st.rerun()


def _orphans(workspace: Workspace, listed: KnownPhone, look: PhoneLook) -> None:
    """Runners that nobody follows; an idle one of a program that has ended makes room by itself."""
    if not look.runners:
        return
    with ui.guarded():
        for session in orphans(workspace, listed):
            ui.box("warning", runner_sentence(session), "Until it ends, or is ended, this phone runs nothing else.")
            if ui.pressed("End it", f"end-{listed.id}-{session.id}"):
                end_runner(listed, session.id)
                _look.clear()
                st.rerun()


def _work(workspace: Workspace, device_id: str, form: CalibrationForm, history: Sequence[RunRow]) -> None:
    """What runs there, or the buttons that start something."""
    calibration = _calibrations(str(workspace.folders.root)).get(device_id)
    if calibration is not None and not calibration.over.is_set():
        st.fragment(_calibrating, run_every=LIVE_S)(calibration)
        return
    job = workspace.jobs.active(device_id)
    if job is not None:
        st.fragment(_running, run_every=LIVE_S)(job)
        return
    if calibration is not None:
        _measured(calibration)
    known, kept = form.profile_id in profile_ids(workspace.folders), workspace.settings
    with st.container(horizontal=True, vertical_alignment="center"):
        verb = "Profile again" if known else "Profile"
        pressed = ui.pressed(
            f"{verb} ({wait_text(expected_of(workspace, form))})",
            f"profile-{device_id}",
            type="primary",
            disabled=model_problem(workspace.folders, kept.target, kept.drafter) is not None,
        )
        ui.link(ui.REQUEST, f"Run a request ({run_text(history)})", icon=":material/mic:", device=device_id)
        if known:
            ui.link(ui.BUDGETS, "Budgets with its profile", icon=":material/tune:", profile=form.profile_id)
    if known:
        _savings(workspace, form.profile_id)
    if pressed:
        with ui.guarded(), st.spinner("Preparing the measurement"):
            _calibrations(str(workspace.folders.root))[device_id] = start(workspace, form)
            st.rerun()


def _savings(workspace: Workspace, profile_id: str) -> None:
    """Figure 8 of the paper for this device."""
    with st.expander("What wider verifications save here"), ui.guarded():
        profile = load_profile(workspace.folders, profile_id)
        ui.sentence(
            f"Kept {numbers.moment(profile.created_at)}: {profile.stability.verdict}, "
            f"{profile.stability.reason}. Bars: one standard deviation of a call."
        )
        if profile.failed_width is not None:
            ui.sentence(f"Width {profile.failed_width} failed: {profile.failed_reason}")
        figure = width_savings_figure(width_savings_info(profile), ui.theme())
        ui.chart(figure, f"savings-{profile_id}", said=profile_label(profile), config=PICTURE_CONFIG)
        with st.container(horizontal=True, vertical_alignment="center"):
            ui.how_to_read(HELP["savings"])
            ui_notebook.send_button(workspace, "profile savings", f"savings-{profile_id}", profile=profile_id)


def _calibrating(calibration: Calibration) -> None:
    if calibration.over.is_set():
        st.rerun()
    progress = progress_info(calibration.job)
    ui.sentence(f"Measuring, {wait_text(calibration.remaining_s)} left. {progress.sentence}", muted=False)
    for note in calibration.notes:
        ui.sentence(note)
    left, right = st.columns([3, 1], vertical_alignment="center")
    left.progress(min(1.0, calibration.share), text=f"{calibration.share:.0%}")
    right.button("Cancel", key=f"cancel-{calibration.device_id}", on_click=calibration.job.cancel)
    _readings(calibration.job)


def _running(job: Job) -> None:
    if job.finished:
        st.rerun()
    progress = progress_info(job)
    ui.sentence(progress.sentence, muted=False)
    left, middle, right = st.columns([2, 1, 1], vertical_alignment="center")
    left.progress(progress.share)
    with middle:
        ui.link(ui.REQUEST, "Watch", job=job.id)
    right.button("Cancel", key=f"cancel-{job.device_id}", on_click=job.cancel, disabled=job.cancelling.is_set())
    _readings(job)


def _readings(job: Job) -> None:
    """What the runner has read last: nobody else asks the phone while something is measured."""
    current = job.current
    if gauges := run_gauges([None if current is None else current.record()]):
        st.html(gauges_html(gauges, ui.theme()))


def _measured(calibration: Calibration) -> None:
    """How the last measurement of this session came out."""
    profile = calibration.profile
    if profile is None:
        ui.box("warning", calibration.problem or "Nothing was measured.")
        return
    kind = "note" if profile.stability.verdict == "stable" else "warning"
    ui.box(kind, f"Kept as profile {profile.id}: {profile.stability.verdict}.", profile.stability.reason)


def _computer_now() -> None:
    st.html(gauges_html(computer_gauges(computer_reading(_sensors())), ui.theme()))


def _phone_now(workspace: Workspace, listed: KnownPhone, set_up_mark: str) -> None:
    if _set_up_mark(workspace, listed.id) != set_up_mark:
        st.rerun()  # it was begun in another tab, or ended or was dismissed there
    try:
        st.html(gauges_html(phone_gauges(phone_conditions(listed)), ui.theme()))
    except DeviceError as error:
        ui.sentence(str(error))


def _set_up_mark(workspace: Workspace, phone_id: str) -> str:
    """Another one whenever a set-up has begun or ended: what was seen of the phone before is out of date then."""
    found = workspace.set_ups.of(phone_id)
    return "" if found is None else f"set-up {found.number} {found.running}"


def _history(rows: Sequence[RunRow]) -> None:
    with st.expander(f"Last runs ({len(rows)})" if rows else "Last runs (none yet)"):
        if not rows:
            ui.sentence("Nothing ran on it yet.")
        for row in rows:
            ui.link(ui.TIMELINE, short_run_label(row_as_json(row) | {"created_at": row.created_at}), run=row.run_id)


def _state(state: str) -> str:
    """A state as adb calls it; of a phone that is there and trusts this computer it says "device"."""
    return "connected" if state == "device" else state


def _address(listed: KnownPhone) -> str:
    """How it is connected: each connection with its state."""
    return label(
        " · ".join(f"{entry.serial} ({entry.way}): {_state(entry.state)}" for entry in listed.connections), 160
    )


@st.cache_resource(ttl=FACTS_S, max_entries=32, show_spinner=False)
def _look(connections: str, _folders: Folders, _listed: KnownPhone) -> PhoneLook:  # noqa: ARG001
    return look_at(_folders, _listed)


@st.cache_resource(show_spinner=False)
def _sensors() -> Sensors:
    return Sensors()


@st.cache_resource(show_spinner=False)
def _calibrations(folder: str) -> dict[str, Calibration]:  # noqa: ARG001 - one for each data folder
    """The last calibration of each device, for every page and tab of this process."""
    return {}
