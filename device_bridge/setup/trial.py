"""Does what was placed on a phone run there? Tried in child processes of the phone; a crash is a sentence."""

import json
import math
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from as2d_core.models.probe import ROWS, Probe
from as2d_core.protocol import request_to_json
from as2d_core.request import AudioRef, ModelRef, Request
from as2d_core.runner.kept_widths import SELF_TESTS_VARIABLE
from device_bridge.adb.commands import command
from device_bridge.adb.phone import CANCEL_S, AdbPhone, Output
from device_bridge.adb.wire import Deadline
from device_bridge.errors import DeviceError, TransferStoppedError, exit_hint, explain_exit
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.layout import PHONE_ROOT, self_tests_folder

START_S, PROBE_S = 120.0, 300.0


class RunnerTrialError(DeviceError):
    """The runner on the phone does not start, or does not say what it is."""


class ModelTrialError(DeviceError):
    """A model does not run on the phone, or not as it was asked to."""


@dataclass(frozen=True, slots=True)
class RunnerDescription:
    """What a runner says about itself (``--describe``)."""

    runner: str
    """``python``, or the name of a native one."""
    versions: Mapping[str, str]
    schema_version: int | None
    backends: tuple[str, ...]
    methods: tuple[str, ...]
    features: tuple[str, ...]


def python_runner(runtime: str, core: str) -> RunnerCommand:
    """The runner that is as2d_core itself, in a runtime; both are folders on the phone."""
    environment = {**runner_environment(core), SELF_TESTS_VARIABLE: self_tests_folder(runtime)}
    return RunnerCommand((f"{runtime}/bin/python", "-m", "as2d_core.runner"), environment)


def native_runner(program: str) -> RunnerCommand:
    """A native program."""
    kept = self_tests_folder(program.rpartition("/")[0])
    return RunnerCommand((program,), {"TMPDIR": PHONE_ROOT, "HOME": PHONE_ROOT, SELF_TESTS_VARIABLE: kept})


def runner_environment(core: str) -> dict[str, str]:
    """Variables for a Python of a runtime on the phone."""
    return {"AS2D_CORE": core, "TMPDIR": PHONE_ROOT, "HOME": PHONE_ROOT}


def describe_runner(
    phone: AdbPhone, runner: RunnerCommand, timeout_s: float = START_S, cancel: threading.Event | None = None
) -> RunnerDescription:
    """Shake hands with a runner on the phone.

    Raises:
        TransferStoppedError: it was cancelled.
        RunnerTrialError: it does not start, or its answer is none.
        DeviceError: the phone was lost.
    """
    argv = [*runner.argv, "--describe"]
    done = phone.run(argv, env=runner.env, cwd=runner.cwd, timeout_s=timeout_s, check=False, cancel=cancel)
    program = runner.argv[0].rpartition("/")[2]
    name = "runner" if program == "runner" else f"runner {program}"
    if done.code:
        raise RunnerTrialError(
            f"The {name} does not start on the phone: {explain_exit(done.code)}{_words(done)}.",
            exit_hint(done.code) or "Set the phone up again.",
        )
    body = _last_object(done)
    try:
        return RunnerDescription(
            runner=str(body["runner"]),
            versions={str(k): str(v) for k, v in dict(body["versions"]).items()},
            schema_version=body.get("schema_version"),
            backends=tuple(map(str, body["backends"])),
            methods=tuple(map(str, body["methods"])),
            features=tuple(map(str, body.get("features", ()))),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise RunnerTrialError(
            f"The {name} answers --describe with something else than its versions, backends and methods.",
            "Use a runner that speaks this protocol.",
        ) from error


def probe_on_phone(
    phone: AdbPhone,
    runtime: str,
    core: str,
    model: str,
    name: str,
    backend: str = "cpu",
    timeout_s: float = PROBE_S,
    cancel: threading.Event | None = None,
) -> Probe:
    """Let a model that is on the phone hear half a second of noise and run one forward there.

    Args:
        runtime, core, model: folders on the phone.
        name: what a person calls the model.
        backend: the one that is wanted; another one that answers in its place is an error.
        cancel: once set, the trial ends, there as well.

    Raises:
        TransferStoppedError: it was cancelled.
        ModelTrialError: it crashes, is refused, or runs on another backend.
        DeviceError: the phone was lost, or did not answer in time.
    """
    argv = [f"{runtime}/bin/python", "-m", "as2d_core.models.probe", model]
    environment = runner_environment(core)
    done = phone.run(argv, env=environment, cwd=PHONE_ROOT, timeout_s=timeout_s, check=False, cancel=cancel)
    body = _last_object(done)
    if "error" in body:
        said = str(body["error"]).replace(model.rpartition("/")[2], name)
        raise ModelTrialError(said)
    if done.code or not body:
        raise ModelTrialError(
            f"{name} does not run on the phone: {explain_exit(done.code)}{_words(done)}.",
            exit_hint(done.code) or "Export it again for MNN 3.6.1, or choose another model.",
        )
    try:
        probe = Probe(**{**body, "name": name})
    except TypeError as error:
        raise ModelTrialError(f"The trial of {name} gave no answer that can be read.", "Set the phone up.") from error
    if probe.backend != backend:
        raise ModelTrialError(
            f"{name} was to run on {backend} and ran on {probe.backend} without a word.",
            f"Ask for {probe.backend}, or use a runner that has {backend}.",
        )
    if not all(math.isfinite(value) for value in (probe.load_ms, probe.prefill_ms, probe.forward_ms)):
        raise ModelTrialError(f"The trial of {name} gave times that are no numbers.", "Try again.")
    return probe


def try_native_model(
    phone: AdbPhone,
    runner: RunnerCommand,
    model: str,
    name: str,
    timeout_s: float = PROBE_S,
    cancel: threading.Event | None = None,
) -> int:
    """Let a native runner load a model that is on the phone, in a process of its own, and run forwards of 1 to 4 rows.

    Args:
        model: folder on the phone.
        name: what a person calls the model.
        cancel: once set, the trial ends, there as well.

    Returns:
        The largest number of rows up to which every forward ran.

    Raises:
        TransferStoppedError: it was cancelled.
        ModelTrialError: it crashes, or is refused.
        DeviceError: the phone was lost, or did not answer in time.
    """
    asked = Request("trial", "target-only", ModelRef(model, name), AudioRef("none"))
    task = json.dumps({"request": request_to_json(asked), "widest": ROWS}).encode() + b"\n"
    deadline = Deadline(timeout_s, f"The trial of {name} on the phone")
    out, err = bytearray(), bytearray()
    with phone.open_shell(command([*runner.argv, "--try-widths"], runner.env, runner.cwd)) as shell:
        shell.say(task, deadline)  # and no end: it gives up when nobody is there any more
        for kind, data in shell.output(deadline, CANCEL_S):
            if cancel is not None and cancel.is_set():
                raise TransferStoppedError(f"The trial of {name} on the phone was stopped.")
            (out if kind == "out" else err).extend(data)
        done = Output(shell.exit_code or 0, bytes(out), bytes(err))
    body = _last_object(done)
    if "error" in body:
        raise ModelTrialError(str(body["error"]).replace(model.rpartition("/")[2], name))
    rows = body.get("widest")
    if done.code or not isinstance(rows, int) or rows < 1:
        last = body.get("width")
        at = f" at a forward of {last} rows" if isinstance(last, int) and last else ""
        raise ModelTrialError(
            f"{name} does not run on the phone{at}: {explain_exit(done.code)}{_words(done)}.",
            exit_hint(done.code) or "Export it again for MNN 3.6.1, or choose another model.",
        )
    return rows


def _last_object(done: Output) -> dict[str, Any]:
    lines = [line for line in done.text.splitlines() if line.strip()]
    try:
        body = json.loads(lines[-1]) if lines else {}
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _words(done: Output) -> str:
    said = done.said.rstrip(".")
    return f" (its last words: {said[:200]})" if said else ""
