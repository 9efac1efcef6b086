"""From a form to a request: defaults filled in, models and audio checked, exact widths looked up."""

from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from as2d_core.alignment import DEFAULT_SEARCH_WINDOW
from as2d_core.audio import MAX_SECONDS, MIN_SECONDS, read_audio
from as2d_core.engines.padded import WidthPolicy, widest_asked
from as2d_core.errors import AudioError, RequestError, unknown_name
from as2d_core.gates import Gates
from as2d_core.models.folder import ModelInfo, check_pair
from as2d_core.request import METHODS, AudioRef, ModelRef, Placement, Request
from as2d_core.runner.check import check_numbers
from as2d_core.runner.device import cpu_name
from as2d_core.width_rule import WidthRule
from dashboard.services.audio_inputs import demo_window, keep_audio
from dashboard.services.models import mnn_version, usable_model
from dashboard.services.workspace import Workspace
from datastore.library import SelfTestKey, get_self_test, settings_text
from device_bridge.plan import new_id
from device_bridge.setup.provision import PHONE_PLACES
from device_bridge.task_profile import HIGHEST

DEFAULT_BUDGET = 7
"""As²d: seven candidates and the root make a width of 8, which is exact on every processor seen so far."""
DEFAULT_WIDTH = 8
DEFAULT_DRAFT_CAP = 7
DEFAULT_INSTRUCTION = "transcribe the speech."
CPU = "cpu"
BACKENDS = (CPU, "opencl")
"""Where a model can run; a runner that has not the one that is asked for refuses the request."""


@dataclass(frozen=True, slots=True)
class RunForm:
    """What a person fills in. ``None`` = the default: of the window, of the settings, or of the method."""

    method: str = "as2d"
    window_id: str | None = None
    """A bundled window; either this or ``audio``."""
    audio: Path | None = None
    """A file; it is copied into the uploads folder."""
    phone_audio: str | None = None
    """Path of a file that lies on the phone which is to run it; nothing is known of it here."""
    view_start_s: float = 0.0
    view_end_s: float | None = None
    target: str | None = None
    """Id or folder of a model."""
    drafter: str | None = None
    task: str | None = None
    instruction: str | None = None
    budget: int | None = None
    width: int | None = None
    draft_cap: int | None = None
    threshold: float | None = 0.4
    search_window: int = DEFAULT_SEARCH_WINDOW
    width_rule: WidthRule | None = None
    """As²d: shortens chains to the width that is cheapest per expected token."""
    batch_tokens: int = 8
    max_tokens: int = 320
    plain_step: bool = False
    drafter_pace_ms: float | None = None
    target_threads: int = 1
    drafter_threads: int = 1
    target_cores: tuple[int, ...] = ()
    drafter_cores: tuple[int, ...] = ()
    target_backend: str = CPU
    drafter_backend: str = CPU
    gates: Gates | None = None
    """What each run waits for before it begins."""
    top_profile: bool = False
    """Ask the phone for its highest task profile."""
    precision: str = "high"
    memory: str = "high"


def build_request(workspace: Workspace, form: RunForm) -> Request:
    """The request that a form asks for, with a new run id.

    Raises:
        RequestError, AudioError, ModelError, UnknownNameError: a sentence about what is wrong.
    """
    if form.method not in METHODS:
        raise unknown_name("method", form.method, list(METHODS))
    settings, folders = workspace.settings, workspace.folders
    target = usable_model(folders, form.target or settings.target)
    drafter = None
    if form.method != "target-only":
        drafter = usable_model(folders, form.drafter or settings.drafter)
        check_pair(target, drafter)
    audio, task, instruction = heard_audio(workspace, form)
    request = Request(
        run_id=new_id(),
        method=form.method,
        target=ModelRef(str(target.path), target.name, target.sha256, exact_widths(workspace, target, form)),
        audio=audio,
        drafter=None if drafter is None else ModelRef(str(drafter.path), drafter.name, drafter.sha256),
        task=form.task or task,
        instruction=instruction if form.instruction is None else form.instruction,
        budget=_parameter(form, "as2d", form.budget, DEFAULT_BUDGET),
        width=_parameter(form, "sd", form.width, DEFAULT_WIDTH),
        draft_cap=_parameter(form, "specasr", form.draft_cap, DEFAULT_DRAFT_CAP),
        threshold=form.threshold,
        search_window=form.search_window,
        width_rule=form.width_rule if form.method == "as2d" else None,
        batch_tokens=form.batch_tokens,
        max_tokens=form.max_tokens,
        plain_step=form.plain_step and form.method == "target-only",
        drafter_pace_ms=form.drafter_pace_ms if drafter is not None else None,
        placement=_placement(form, drafts=drafter is not None),
        precision=form.precision,
        memory=form.memory,
        gates=form.gates,
    )
    check_numbers(request)  # before target-only runs for a request that would be refused
    return request


def check_backends(request: Request) -> None:
    """Refuse at once what the runner of this computer would refuse when it has started.

    Raises:
        RequestError: the request asks for another backend than the CPU.
    """
    for asked in (request.placement.backend, request.placement.drafter_backend):
        if asked not in (None, CPU):
            raise RequestError(
                f"The runner of this computer has the backend cpu only, not {asked}; choose cpu, or a phone with a "
                "native runner that has it."
            )


def check_widths(request: Request) -> None:
    """Refuse at once what the runner would refuse when it has loaded the models, where the exact widths are known.

    Raises:
        RequestError: the widest verification of the request would not be exact here.
    """
    if request.target.exact_widths:
        WidthPolicy(tuple(sorted(request.target.exact_widths))).pad(widest_asked(request))


def reference_form(form: RunForm) -> RunForm:
    """Target-only with everything else as it is: what the tokens of a run are compared with."""
    return replace(
        form, method="target-only", budget=None, width=None, draft_cap=None, width_rule=None, plain_step=False
    )


def exact_widths(workspace: Workspace, target: ModelInfo, form: RunForm) -> tuple[int, ...] | None:
    """Widths known to be exact for this model, processor and setting; ``None`` = the runner tests them first."""
    if form.target_backend != CPU:
        return None  # what is known was found on the CPU
    settings = settings_text(form.target_threads, form.precision, form.memory)
    test = get_self_test(workspace.store, SelfTestKey(target.sha256, cpu_name(), settings, mnn_version()))
    return None if test is None else test.exact_widths


def _placement(form: RunForm, *, drafts: bool) -> Placement:
    other = form.drafter_backend if drafts and form.drafter_backend != form.target_backend else None
    return Placement(
        form.target_cores,
        form.drafter_cores,
        form.target_threads,
        form.drafter_threads,
        form.target_backend,
        HIGHEST if form.top_profile else None,
        other,
    )


def _parameter(form: RunForm, method: str, value: int | None, default: int) -> int | None:
    """The parameter of the form's own method; no other, so that runs of one setting are recognised as such."""
    if form.method != method:
        return None
    return default if value is None else value


def last_seconds(workspace: Workspace, form: RunForm, seconds: float) -> RunForm:
    """The same work on the last ``seconds`` of its recording, or on all of a shorter one.

    Raises:
        RequestError, AudioError, UnknownNameError: there is no recording, or its length is not known here.
    """
    if form.phone_audio is not None:
        raise RequestError("How long a recording on the phone is, is not known here; say from and to which second.")
    if not MIN_SECONDS <= seconds <= MAX_SECONDS:
        raise RequestError(f"The last {seconds:g} s cannot be heard; choose {MIN_SECONDS:g} to {MAX_SECONDS:g}.")
    if form.window_id is not None:
        duration_s = demo_window(form.window_id).duration_s
    else:
        duration_s = keep_audio(workspace.folders, form.audio or Path()).duration_s
    return replace(form, view_start_s=max(0.0, duration_s - seconds), view_end_s=None)


def heard_audio(workspace: Workspace, form: RunForm) -> tuple[AudioRef, str, str]:
    """The audio with its hash and length, and the task and instruction that come with it.

    Raises:
        RequestError, AudioError, UnknownNameError: a sentence about what is wrong.
    """
    if sum(choice is not None for choice in (form.window_id, form.audio, form.phone_audio)) != 1:
        raise RequestError("Say what to listen to: a bundled window, or an audio file (one of the two).")
    if form.phone_audio is not None:
        if not form.phone_audio.startswith(PHONE_PLACES):
            raise RequestError(
                f"{form.phone_audio!r} is no file of a phone; its path begins with {', '.join(PHONE_PLACES)}."
            )
        name = PurePosixPath(form.phone_audio).name
        there = AudioRef(form.phone_audio, None, None, name, form.view_start_s, form.view_end_s)
        return there, "transcribe", DEFAULT_INSTRUCTION
    if form.window_id is not None:
        window = demo_window(form.window_id)
        path, name, task, instruction = window.path, window.window_id, window.task, window.instruction
        shown = window.window_id
    else:
        kept = keep_audio(workspace.folders, form.audio or Path())
        path, name = workspace.folders.uploads / kept.file_name, kept.window_id
        task, instruction = "transcribe", DEFAULT_INSTRUCTION
        shown = kept.name
    try:
        heard = read_audio(path, form.view_start_s, form.view_end_s)
    except AudioError as error:  # the user knows the file by its own name, not by the one it is kept under
        raise AudioError(str(error).replace(path.name, shown)) from error
    audio = AudioRef(str(path), heard.sha256, heard.duration_s, name, form.view_start_s, heard.end_s)
    return audio, task, instruction
