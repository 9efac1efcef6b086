"""What does setting a phone up do? Everything that is missing is placed, tried, and said."""

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from as2d_core.errors import ModelError
from as2d_core.models.probe import Probe
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.transfer import Progress
from device_bridge.bundle.build import build_runtime
from device_bridge.bundle.elf import is_arm64
from device_bridge.errors import DeviceError, TransferStoppedError
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.deploy import place_core, place_model, place_package, place_runner, program_sha256
from device_bridge.setup.layout import runner_program, runtime_folder
from device_bridge.setup.readiness import look
from device_bridge.setup.trial import (
    RunnerDescription,
    RunnerTrialError,
    describe_runner,
    native_runner,
    probe_on_phone,
    python_runner,
)
from device_bridge.setup.wanted import Wanted, check_fits, wanted_now

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PlacedModel:
    """A model on a phone."""

    name: str
    sha256: str
    folder: str
    probe: Probe | None
    """How it did when it was tried there; ``None`` when it was not."""


@dataclass(frozen=True, slots=True)
class SetUp:
    """A phone that is ready."""

    phone_id: str
    runner: RunnerCommand
    description: RunnerDescription
    models: tuple[PlacedModel, ...]
    sent_bytes: int
    """0 when everything was there already."""


def set_up(
    phone: AdbPhone,
    cache: Path,
    models: list[Path],
    *,
    name: str = "the phone",
    probe: bool = True,
    say: Say = lambda _: None,
    cancel: threading.Event | None = None,
) -> SetUp:
    """Bring everything that is missing to a phone and try it there.

    Args:
        cache: folder of the bundles on this computer; the bundle is built when there is none.
        models: a target, or a target and a drafter.
        probe: whether the models are tried on the phone, too.
        cancel: once set, setting up ends; what has arrived is kept.

    Raises:
        ModelError, ModelTrialError: a model cannot be used there.
        BundleError: the bundle cannot be built.
        RunnerTrialError: what was placed does not start.
        TransferError, DeviceError: it cannot be placed.
    """
    stopped = cancel or threading.Event()
    wanted = wanted_now(cache, models)
    known = look(phone, wanted)
    check_processor(known["abis"])
    check_fits(wanted, known["available_bytes"], name)
    runtime = wanted.runtime or build_runtime(cache, say=say)
    _go_on(stopped)
    where = runtime_folder(runtime.id)
    placed = place_package(phone, runtime, where, progress=_told(say, "Sending Python and MNN"), cancel=stopped)
    sent = placed.sent_bytes
    _go_on(stopped)
    say("Sending as2d_core")
    core = place_core(phone, wanted.core)
    sent += core.sent_bytes
    say("Starting the runner on the phone")
    runner = python_runner(where, core.folder)
    description = describe_runner(phone, runner)
    found, more = _models(phone, wanted, where, core.folder, probe=probe, say=say, stopped=stopped)
    return SetUp(phone.id, runner, description, tuple(found), sent + more)


def set_up_native(phone: AdbPhone, program: Path, *, say: Say = lambda _: None) -> SetUp:
    """Bring a native runner to a phone and shake hands with it.

    Raises:
        RunnerTrialError: it is no arm64 program, does not start, or does not speak the protocol.
        TransferError, DeviceError: it cannot be placed.
    """
    program = program.expanduser()
    digest = program_sha256(program)
    if not is_arm64(program):
        raise RunnerTrialError(f"{program} is no program for arm64.", "Build it for arm64-v8a.")
    place = runner_program(digest)
    remote, _ = place_runner(phone, program, place.rpartition("/")[0], _told(say, f"Sending {program.name}"))
    runner = native_runner(remote)
    description = describe_runner(phone, runner)
    mark = json.dumps({"sha256": digest, "name": program.name, "runner": description.runner})
    phone.script('cat > "$1/.complete"', place.rpartition("/")[0], stdin=mark.encode(), what="finishing")
    return SetUp(phone.id, runner, description, (), program.stat().st_size)


def check_processor(abis: str) -> None:
    """Refuse a phone that cannot run arm64 programs.

    Raises:
        DeviceError: it cannot.
    """
    if "arm64-v8a" not in abis.split(","):
        raise DeviceError(
            f"The phone's processor runs {abis or 'something unknown'}, and what we have is for arm64-v8a.",
            "Use a phone with a 64-bit ARM processor.",
        )


def _models(
    phone: AdbPhone, wanted: Wanted, runtime: str, core: str, *, probe: bool, say: Say, stopped: threading.Event
) -> tuple[list[PlacedModel], int]:
    found, sent = [], 0
    for info in wanted.models:
        _go_on(stopped)
        placed = place_model(phone, info, progress=_told(say, f"Sending {info.name}"), cancel=stopped)
        sent += placed.sent_bytes
        tried = None
        if probe:
            _go_on(stopped)
            say(f"Trying {info.name} on the phone")
            tried = probe_on_phone(phone, runtime, core, placed.folder, info.name)
            if tried.sha256 != info.sha256:
                raise ModelError(
                    f"{info.name} on the phone is not what was sent; remove it with as2d phone clean --all and set up "
                    "the phone again."
                )
        found.append(PlacedModel(info.name, info.sha256, placed.folder, tried))
    return found, sent


def _told(say: Say, what: str) -> Progress:
    return lambda done, total: say(f"{what}, {done / 1e6:,.1f} of {total / 1e6:,.1f} MB")


def _go_on(stopped: threading.Event) -> None:
    if stopped.is_set():
        raise TransferStoppedError("Setting up the phone was stopped.", "What has arrived is kept.")
