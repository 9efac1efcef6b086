"""How does a native runner get onto a phone? It is checked here, sent, shaken hands with, and chosen."""

import json
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from as2d_core.models.folder import ModelInfo
from as2d_core.native.binaries import read_binary
from device_bridge.adb.phone import AdbPhone
from device_bridge.bundle.elf import is_arm64
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.chosen import NativeRunner, choose_native, chosen_runner
from device_bridge.setup.deploy import place_runner, program_sha256
from device_bridge.setup.layout import runner_program
from device_bridge.setup.readiness import look
from device_bridge.setup.setup import PlacedModel, Say, SetUp, check_processor, place_models, told, unless
from device_bridge.setup.trial import (
    RunnerDescription,
    RunnerTrialError,
    describe_runner,
    native_runner,
    try_native_model,
)
from device_bridge.setup.wanted import Wanted, check_fits

NATIVE = "native"


def set_up_native(
    phone: AdbPhone,
    program: Path | None,
    wanted: Wanted,
    *,
    name: str = "the phone",
    probe: bool = True,
    say: Say = lambda _: None,
    cancel: threading.Event | None = None,
) -> SetUp:
    """Bring a native runner and models to a phone, and let the phone use it from now on.

    Args:
        program: a file on this computer; ``None``: the one that the phone uses already.
        wanted: its models are brought there, if the runner has MNN.
        probe: whether the models are tried there, too.

    Raises:
        RunnerTrialError: it is no arm64 program, is for newer phones, does not start, or does not speak the protocol.
        TransferStoppedError: it was cancelled.
        ModelError, ModelTrialError: a model does not fit into the phone's memory, or does not run there.
        TransferError, DeviceError: something cannot be placed.
    """
    stopped = cancel or threading.Event()
    say = unless(stopped, say)
    known = look(phone, wanted)
    check_processor(known["abis"])
    remote, digest, file_name, sent = _placed(phone, program, say, stopped)
    say("Starting the native runner on the phone")
    runner = native_runner(remote)
    description = describe_runner(phone, runner, cancel=stopped)
    if description.runner != NATIVE:
        raise RunnerTrialError(
            f"{file_name} says that it is the runner {description.runner!r}, not a native one.",
            "Give the file as2d-runner that as2d native build made.",
        )
    models: Sequence[PlacedModel] = ()
    if description.backends:
        check_fits(wanted, known["available_bytes"], name)
        trial = _trial(phone, runner, say, stopped) if probe else None
        models, more = place_models(phone, wanted, say=say, stopped=stopped, trial=trial)
        sent += more
    _finish(phone, remote, digest, file_name, description)
    return SetUp(phone.id, runner, description, tuple(models), sent)


def _trial(
    phone: AdbPhone, runner: RunnerCommand, say: Say, stopped: threading.Event
) -> Callable[[ModelInfo, str], int]:
    def attempt(info: ModelInfo, folder: str) -> int:
        say(f"Trying {info.name} on the phone")
        return try_native_model(phone, runner, folder, info.name, cancel=stopped)

    return attempt


def _placed(phone: AdbPhone, program: Path | None, say: Say, stopped: threading.Event) -> tuple[str, str, str, int]:
    """Path there, hash, name, and bytes that were sent."""
    if program is None:
        native = chosen_runner(phone)
        if native is None:
            raise RunnerTrialError("No native runner is on this phone.", "Give its file.")
        return native.program, native.sha256, native.name, 0
    program = program.expanduser()
    digest = program_sha256(program)
    if not is_arm64(program):
        raise RunnerTrialError(
            f"{program} is no program for arm64.",
            "Build it for phones: as2d native build --preset android-arm64 --mnn FOLDER",
        )
    _check_level(phone, program)
    remote = runner_program(digest)
    folder = remote.rpartition("/")[0]
    _, sent = place_runner(phone, program, digest, folder, told(say, f"Sending {program.name}"), stopped)
    return remote, digest, program.name, sent


def _check_level(phone: AdbPhone, program: Path) -> None:
    """Android's loader would only say that a function is missing."""
    level = read_binary(program).api_level
    said = phone.run(["getprop", "ro.build.version.sdk"]).text.strip()
    if level is not None and said.isdecimal() and int(said) < level:
        raise RunnerTrialError(
            f"{program} was built for API level {level} or higher, and the phone has {said}.",
            f"Build it again with --api {said}.",
        )


def _finish(phone: AdbPhone, remote: str, digest: str, name: str, description: RunnerDescription) -> None:
    mark = json.dumps({"sha256": digest, "name": name, "runner": description.runner})
    phone.script('cat > "$1/.complete"', remote.rpartition("/")[0], stdin=mark.encode(), what="finishing")
    choose_native(phone, NativeRunner(digest, name, description.versions, description.backends))
