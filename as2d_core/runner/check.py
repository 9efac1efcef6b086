"""Is a request runnable here? Everything that can be refused without loading a model is refused here."""

import os
import re
from dataclasses import replace
from pathlib import Path

from as2d_core.audio import read_audio
from as2d_core.calibration.plan import plan_from
from as2d_core.errors import RequestError, unknown_name
from as2d_core.gates import gate_faults
from as2d_core.models.folder import check_pair, describe_model
from as2d_core.request import METHODS, OPERATIONS, Request
from as2d_core.runner.job import Job
from as2d_core.runner.placement import TASK_PROFILE_VARIABLE, choose

LARGEST_WIDTH = 64
LARGEST_PACE_MS = 1000.0
"""Far above any published draft step; a slower one would outlast the deadline of a draft."""
LEVELS = ("high", "normal", "low")
"""What MNN knows for precision and memory; it passes over other words without a sound."""
MAX_OUTPUT_TOKENS = 4096
_COMMANDS = re.compile(r"<\s*(?:\||/?\s*(?:audio|img|image|video)\b)|[\x00-\x08\x0b-\x1f\x7f]", re.IGNORECASE)
"""Special tokens, media tags and control characters."""


def check_request(request: Request) -> Job:
    """Check a request, read its audio, describe its models.

    The returned job holds the request with every hash, duration and core filled in.

    Raises:
        RequestError, AudioError, ModelError, UnknownNameError: a sentence about what is wrong.
    """
    if request.method not in METHODS + OPERATIONS:
        raise unknown_name("method", request.method, [*METHODS, *OPERATIONS])
    if request.method == "calibrate":
        plan_from(request.options)
    check_numbers(request)
    _check_task_profile(request)
    target = describe_model(Path(request.target.path))
    drafter = None
    if request.method != "target-only":
        if request.drafter is None:
            raise RequestError(f"The method {request.method} needs a drafter model; name one in the request.")
        drafter = describe_model(Path(request.drafter.path))
        check_pair(target, drafter)
    view = request.audio
    audio = read_audio(Path(view.path), view.view_start_s, view.view_end_s)
    placement = choose(request.placement)
    filled = replace(
        request,
        target=replace(request.target, name=request.target.name or target.name, sha256=target.sha256),
        drafter=None
        if drafter is None or request.drafter is None
        else replace(request.drafter, name=request.drafter.name or drafter.name, sha256=drafter.sha256),
        audio=replace(
            view,
            sha256=audio.sha256,
            duration_s=audio.duration_s,
            view_end_s=audio.end_s if view.view_end_s is None else view.view_end_s,
        ),
        placement=placement,
    )
    return Job(filled, target, drafter, audio.samples, audio.sha256, placement)


def check_numbers(request: Request) -> None:
    """Check what can be checked before a model or a recording is opened, on any computer.

    Raises:
        RequestError: a sentence about what is wrong.
    """
    if not request.instruction.strip():
        raise RequestError(
            "The instruction is empty; say what to do with the audio, for example 'transcribe the speech.'"
        )
    if len(request.instruction) > 2000:
        raise RequestError(f"The instruction has {len(request.instruction)} characters; at most 2000 are taken.")
    command = _COMMANDS.search(request.instruction)
    if command is not None:
        # MNN would open the file that a tag names, and crashes on an audio position without audio.
        raise RequestError(
            f"The instruction holds {command.group()!r}, which the models take for a command; write plain text."
        )
    if not 2 <= request.max_tokens <= MAX_OUTPUT_TOKENS:
        raise RequestError(f"The output cap is {request.max_tokens} tokens; choose 2 to {MAX_OUTPUT_TOKENS}.")
    if not 1 <= request.batch_tokens <= 256:
        raise RequestError(f"The publication batch is {request.batch_tokens} tokens; choose 1 to 256.")
    if request.search_window < 0:
        raise RequestError(f"The search window is {request.search_window} candidates; choose 0 or more.")
    if request.threshold is not None and not 0.0 <= request.threshold <= 1.0:
        raise RequestError(f"The confidence threshold is {request.threshold:g}; it is a probability, 0 to 1.")
    if request.drafter_pace_ms is not None and not 0.0 <= request.drafter_pace_ms <= LARGEST_PACE_MS:
        raise RequestError(
            f"The drafter pace is {request.drafter_pace_ms:g} ms a token; choose 0 to {LARGEST_PACE_MS:g}."
        )
    for what, level in (("precision", request.precision), ("memory", request.memory)):
        if level not in LEVELS:
            raise RequestError(f"The {what} is {level!r}; choose {', '.join(LEVELS)}.")
    for model in (request.target, request.drafter):
        wrong = [w for w in (model.exact_widths or () if model else ()) if not 1 <= w <= LARGEST_WIDTH]
        if wrong:
            raise RequestError(f"The exact width {wrong[0]} cannot be; widths are 1 to {LARGEST_WIDTH}.")
    for fault in gate_faults(request.gates) if request.gates is not None else ():
        raise RequestError(fault)
    placement = request.placement
    if not (1 <= placement.target_threads <= 64 and 1 <= placement.drafter_threads <= 64):
        raise RequestError("A model runs on 1 to 64 threads; change target_threads or drafter_threads.")
    if request.method == "as2d":
        _within("proposal budget", request.budget, 1, "a budget of 0 never proposes, which is what target-only does")
    if request.method == "sd":
        _within("width K", request.width, 2, "K - 1 tokens are drafted for each verification")
    if request.method == "specasr":
        _within("draft cap", request.draft_cap, 1, "SpecASR must draft something")
    if request.method == "collect" and request.draft_cap is not None:
        _within("draft cap", request.draft_cap, 0, "0 leaves the drafter's branches out")


def _check_task_profile(request: Request) -> None:
    asked = request.placement.task_profile
    if asked is not None and asked != os.environ.get(TASK_PROFILE_VARIABLE):
        raise RequestError(
            f"The task profile {asked!r} is asked for, and this runner does not work under it; only a phone that "
            "offers one can be asked (see `as2d devices`). Leave it out here."
        )


def _within(what: str, value: int | None, least: int, why: str) -> None:
    if value is None:
        raise RequestError(f"The request names no {what}; give a whole number of at least {least}.")
    if not least <= value < LARGEST_WIDTH:
        raise RequestError(f"The {what} is {value}; choose {least} to {LARGEST_WIDTH - 1} ({why}).")
