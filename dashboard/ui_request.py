"""What can be asked for on the Request page? Controls with sensible defaults, bound to the query string."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import streamlit as st

from as2d_core.audio import MAX_SECONDS, MIN_SECONDS
from as2d_core.errors import As2dError
from as2d_core.models.window_index import RecordedWindow
from as2d_core.request import METHODS
from dashboard import ui, ui_audio, ui_phones, ui_state
from dashboard.services.audio_inputs import KeptAudio, demo_windows, keep_audio, kept_audio
from dashboard.services.devices import list_devices
from dashboard.services.models import add_model, model_problem, selectable_models
from dashboard.services.phone_looks import phone_cores, seen_phones
from dashboard.services.requests import BACKENDS, CPU, DEFAULT_BUDGET, DEFAULT_DRAFT_CAP, DEFAULT_WIDTH, RunForm
from dashboard.services.running import comparison_set
from dashboard.services.workspace import Workspace
from dashboard.ui_conditions import conditions
from dashboard.views import numbers
from dashboard.views.models import model_sentence
from dashboard.views.run_labels import window_group, window_label
from dashboard.views.theme import METHOD_NAMES
from device_bridge.adb import KnownPhone
from device_bridge.errors import DeviceError
from device_bridge.local import THIS_COMPUTER

SOURCES = {"bundled": "Bundled", "file": "My files", "microphone": "Microphone"}
FIRST_WINDOW = "long_00"
LAST_HELP = "The end of the recording, as for one who listens all the time. 0: all of it, or the part chosen above."
TOP_PROFILE = "Highest task profile"
TOP_PROFILE_HELP = "Asks the phone for the cores, and the share of them, that the app in front has."
GATED = "Rest and checks before"
GATED_HELP = (
    "Each run waits as a measured episode does: a rest, then two checks 5 s apart: all cores on-line, the battery not "
    "too warm, the thermal status at most light. After 10 minutes it fails with what was missing."
)
LEVELS = ("high", "normal", "low")
MOST = 63
"""Largest budget, cap or number of drafted tokens that a runner takes."""


def device_choice(workspace: Workspace) -> str:
    """Which device runs it."""
    devices = {device.id: device.name for device in list_devices(workspace)}
    devices |= {
        phone.id: f"{phone.sold_as or phone.name} ({phone.id})"
        for phone in ui_phones.connected(workspace).phones
        if phone.ready
    }
    ids = list(devices)
    return ui_state.one_of(st.selectbox, "device", "Device", ids, ids[0], format_func=lambda name: devices[name])


def recording(workspace: Workspace, *, whole: bool = False) -> RunForm | None:
    """What is listened to, with a player; ``None`` while nothing is chosen.

    Args:
        whole: all of a long recording, not a part that one request can take.
    """
    sources = SOURCES | {"phone": "On the phone"} if _on_phone() and not whole else SOURCES
    source = ui_state.one_of(
        st.segmented_control, "source", "Recording", list(sources), "bundled", format_func=lambda name: sources[name]
    )
    if source == "bundled":
        return _bundled(workspace, whole=whole)
    if source == "phone":
        path = ui_state.words("on-phone", "Its path on the phone", placeholder="/sdcard/Recordings/a.wav")
        return RunForm(phone_audio=path) if path else None
    with ui.guarded():
        if source == "microphone":
            _take(workspace, st.audio_input("Speak, up to 30 s", key="spoken"), "spoken.wav")
        else:
            given = st.file_uploader("WAV, FLAC, OGG or MP3", type=["wav", "flac", "ogg", "mp3"], key="given")
            _take(workspace, given, given.name if given is not None else "")
    return _kept(workspace, whole=whole)


def _on_phone() -> bool:
    """Whether a phone was chosen."""
    return ui_state.get("device") not in ("", THIS_COMPUTER)


def _bundled(workspace: Workspace, *, whole: bool) -> RunForm:
    groups: dict[str, list[RecordedWindow]] = defaultdict(list)
    for window in demo_windows():
        groups[window_group(window)].append(window)
    names = list(groups)
    first = next(name for name in names if any(w.window_id == FIRST_WINDOW for w in groups[name]))
    asked = ui_state.get("window")
    home = next((name for name in names if any(w.window_id == asked for w in groups[name])), None)
    if home is not None and not ui_state.get("group"):
        ui_state.put(group=home)
    group = ui_state.one_of(st.selectbox, "group", "Group", names, first)
    windows = {w.window_id: w for w in groups[group]}
    ids = list(windows)
    chosen = ui_state.one_of(
        st.selectbox, "window", "Window", ids, ids[0], format_func=lambda name: window_label(windows[name])
    )
    window = windows[chosen]
    start = 0.0 if whole else _last(window.duration_s) or 0.0
    ui_audio.player(workspace, window.path, "recording", (start, None))
    ui.sentence(f"{'Said' if window.task == 'transcribe' else 'Expected'}: {window.reference}")
    return RunForm(window_id=chosen, view_start_s=start)


def _take(workspace: Workspace, given: object, name: str) -> None:
    """Keep what was uploaded or spoken, once, and choose it."""
    data = None if given is None else given.getvalue()  # type: ignore[attr-defined]
    if data is None or st.session_state.get("taken") == getattr(given, "file_id", None):
        return
    kept = keep_audio(workspace.folders, data, name)
    st.session_state["taken"] = getattr(given, "file_id", None)
    ui_state.put(audio=kept.file_name)


def _kept(workspace: Workspace, *, whole: bool) -> RunForm | None:
    known: dict[str, KeptAudio] = {kept.file_name: kept for kept in kept_audio(workspace.folders)}
    if not known:
        ui.sentence("Nothing was recorded or uploaded yet.")
        return None
    names = list(known)
    chosen = ui_state.one_of(
        st.selectbox,
        "audio",
        "Chosen recording",
        names,
        names[0],
        format_func=lambda name: f"{known[name].name}  ·  {known[name].duration_s:.1f} s",
    )
    path = workspace.folders.uploads / chosen
    heard = st.container()  # above the slider that says which part of it
    start, end = (0.0, None) if whole else _view(known[chosen].duration_s)
    with heard:
        movable = None if end is None else lambda at: _move(at, known[chosen].duration_s)
        ui_audio.player(workspace, path, "recording", (start, end), movable, name=known[chosen].name)
    return RunForm(audio=Path(path), view_start_s=start, view_end_s=end)


def _move(at_s: float, duration_s: float) -> None:
    """The part that is heard begins where a drag over the recording began."""
    ui_state.put(**{"from": f"{min(round(at_s * 2) / 2, duration_s - MAX_SECONDS):g}"})


def _view(duration_s: float) -> tuple[float, float | None]:
    """Which part of a recording is heard: its end, or some of one that is too long for one request."""
    last = _last(duration_s)
    if last is not None:
        return last, None
    if duration_s <= MAX_SECONDS:
        return 0.0, None
    most = duration_s - MAX_SECONDS
    start = ui_state.number(st.slider, "from", f"Part of {MAX_SECONDS:g} s, from second", 0.0, 0.0, most, step=0.5)
    return start, start + MAX_SECONDS


def _last(duration_s: float) -> float | None:
    """Where the last seconds begin that ``more`` asks for; ``None`` when it asks for none."""
    try:
        seconds = float(ui_state.get("last"))
    except ValueError:
        return None
    return max(0.0, duration_s - seconds) if MIN_SECONDS <= seconds <= MAX_SECONDS else None


def method(form: RunForm) -> RunForm:
    """Method and the one parameter that it has."""
    name = ui_state.one_of(
        st.segmented_control, "method", "Method", list(METHODS), "as2d", format_func=lambda m: METHOD_NAMES[m]
    )
    values: dict[str, int] = {}
    if name == "as2d":
        label = "Budget b: most candidates in one verification"
        values["budget"] = ui_state.number(st.number_input, "budget", label, DEFAULT_BUDGET, 1, MOST)
    elif name == "sd":
        label = f"Width K: the root and K {numbers.MINUS} 1 drafted tokens"
        values["width"] = ui_state.number(st.number_input, "width", label, DEFAULT_WIDTH, 2, MOST + 1)
    elif name == "specasr":
        label = "Most tokens drafted for one verification"
        values["draft_cap"] = ui_state.number(st.number_input, "cap", label, DEFAULT_DRAFT_CAP, 1, MOST)
    return replace(form, method=name, **values)


def more(workspace: Workspace, form: RunForm) -> tuple[RunForm, int]:
    """Everything that has a good default, folded away; also how often the request is repeated."""
    kept = workspace.settings
    missing = model_problem(workspace.folders, kept.target, kept.drafter) is not None
    with st.expander("Models, cores and other parameters", expanded=missing):
        form = _models(workspace, form)
        left, right = st.columns(2)
        with left:
            ends = ui_state.flag("unending", "Chains do not end at low confidence") if form.method == "as2d" else False
            threshold = ui_state.number(
                st.slider, "threshold", "Confidence that ends a chain", 0.4, 0.0, 1.0, step=0.05, disabled=ends
            )
            window = ui_state.number(st.number_input, "search", "Search window (tokens)", 16, 0, 256)
            cap = ui_state.number(st.number_input, "most", "Output cap (tokens)", 320, 2, 4096)
            if form.phone_audio is None:
                ui_state.number(
                    st.number_input, "last", "Hear only the last (s)", 0.0, 0.0, MAX_SECONDS, step=0.5, help=LAST_HELP
                )
            repetitions = ui_state.number(st.number_input, "times", "Repetitions", 1, 1, 50)
        with right:
            target = ui_state.number(st.number_input, "tthreads", "Target threads", 1, 1, 64)
            drafter = ui_state.number(st.number_input, "dthreads", "Drafter threads", 1, 1, 64)
            target_cores, drafter_cores = _cores(workspace)
            target_backend = drafter_backend = CPU
            top, gates = False, None
            if _on_phone():
                target_backend, drafter_backend = backends()
                top = ui_state.flag("top", TOP_PROFILE, help=TOP_PROFILE_HELP)
                if ui_state.flag("gates", GATED, help=GATED_HELP):
                    gates = conditions()
            precision = ui_state.one_of(st.selectbox, "precision", "Precision", LEVELS, "high")
            pace = ui_state.number(
                st.number_input,
                "pace",
                "Slow the drafter down to (ms a token)",
                0.0,
                0.0,
                1000.0,
                step=1.0,
                help="Emulates a dearer drafter; such runs are labelled emulated. 0 = as fast as it is.",
            )
    form = replace(
        form,
        threshold=None if ends else threshold,
        search_window=window,
        max_tokens=cap,
        target_threads=target,
        drafter_threads=drafter,
        target_cores=target_cores,
        drafter_cores=drafter_cores,
        target_backend=target_backend,
        drafter_backend=drafter_backend,
        gates=gates,
        top_profile=top,
        precision=precision,
        drafter_pace_ms=pace or None,
    )
    return form, repetitions


def _cores(workspace: Workspace) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Cores that each model is held to; none chosen leaves it to the runner."""
    cores: tuple[int, ...] = ()
    if _on_phone():
        for phone in seen_phones(workspace).phones:
            if phone.id == ui_state.get("device"):
                with suppress(DeviceError):  # its card says what is wrong with it
                    cores = _phone_cores(str(phone.connections), phone)
    else:
        count = list_devices(workspace)[0].facts.get("logical_cores")
        cores = tuple(range(count if isinstance(count, int) else 0))
    known = [str(core) for core in cores]
    target = ui_state.several("tcores", "Target cores", known, placeholder="left to the runner")
    drafter = ui_state.several("dcores", "Drafter cores", known, placeholder="left to the runner")
    return tuple(map(int, target)), tuple(map(int, drafter))


@st.cache_data(ttl=600.0, max_entries=32, show_spinner=False)
def _phone_cores(connections: str, _phone: KnownPhone) -> tuple[int, ...]:  # noqa: ARG001
    return phone_cores(_phone)


def backends(phone_id: str = "") -> tuple[str, str]:
    """Where target and drafter run on a phone; ``phone_id`` tells it from others on the same page."""
    where = f"-{phone_id}" if phone_id else ""
    names = {CPU: "the CPU", "opencl": "the GPU, by OpenCL"}
    target, drafter = (
        ui_state.one_of(
            st.selectbox, f"{role}-on{where}", f"{role.capitalize()} runs on", BACKENDS, CPU,
            format_func=names.__getitem__,
            help="OpenCL needs a native runner that was built with it; another one refuses the request.",
        )
        for role in ("target", "drafter")
    )  # fmt: skip
    return target, drafter


def comparison(form: RunForm) -> list[RunForm]:
    """The settings that are run together; none while a budget is wrong, which is said."""
    with st.expander("Comparison set"):
        ui.sentence("Several settings on this recording, in turn, so that warmth and clock rate meet all alike.")
        methods = ui_state.several(
            "set", "Methods", METHODS, format_func=METHOD_NAMES.__getitem__, placeholder="all", called="Comparison set"
        )
        budgets = ui_state.words("set-b", "Budgets b of As²d", placeholder=str(form.budget or DEFAULT_BUDGET))
        try:
            return comparison_set(form, methods, budgets)
        except As2dError as error:
            ui.box("error", str(error))
    return []


def comparison_label(forms: Sequence[RunForm]) -> str:
    """What the button that starts them is called."""
    return (
        "Run all methods"
        if [f.method for f in forms] == list(METHODS)
        else f"Run {numbers.counted(len(forms), 'setting')}"
    )


def _models(workspace: Workspace, form: RunForm) -> RunForm:
    settings = workspace.settings
    entries = {entry.id: entry for entry in selectable_models(workspace.folders, settings)}
    names = list(entries)
    left, right = st.columns(2)
    chosen = {}
    for role, default, place in (("target", settings.target, left), ("drafter", settings.drafter, right)):
        with place:
            chosen[role] = ui_state.one_of(st.selectbox, role, role.capitalize(), names, default)
            ui.sentence(model_sentence(entries[chosen[role]]))
    folder = st.text_input("Add an MNN model folder of this computer", placeholder="/path/to/model", key="new-model")
    if st.button("Check and add", disabled=not folder.strip()):
        try:
            with st.spinner("Trying the model in a process of its own"):
                entry = add_model(workspace.folders, Path(folder.strip()))
        except (As2dError, OSError) as error:
            ui.box("error", str(error))
        else:
            ui.box("note", f"{entry.id} runs here and can be chosen.", model_sentence(entry))
    return replace(form, target=chosen["target"], drafter=chosen["drafter"])
