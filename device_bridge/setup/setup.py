"""What does setting a phone up do? Everything that is missing is placed, tried, and said."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from as2d_core.errors import ModelError
from as2d_core.models.folder import ModelInfo
from as2d_core.models.probe import Probe
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.transfer import Progress
from device_bridge.bundle.build import build_runtime
from device_bridge.errors import DeviceError, TransferStoppedError
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.chosen import choose_python
from device_bridge.setup.deploy import place_core, place_model, place_package
from device_bridge.setup.layout import runtime_folder
from device_bridge.setup.readiness import look
from device_bridge.setup.trial import (
    RunnerDescription,
    describe_runner,
    probe_on_phone,
    python_runner,
)
from device_bridge.setup.wanted import Wanted, check_fits, wanted_now

Say = Callable[[str], None]


class Transferred(str):
    """How far a transfer is, in words; those who draw a bar ask for its share."""

    __slots__ = ("done_bytes", "share", "what")
    what: str
    """What is sent."""
    done_bytes: int
    share: float
    """0 to 1."""

    def __new__(cls, what: str, done_bytes: int, total_bytes: int) -> Self:
        made = super().__new__(cls, f"{what}, {done_bytes / 1e6:,.1f} of {total_bytes / 1e6:,.1f} MB")
        made.what, made.done_bytes = what, done_bytes
        made.share = min(1.0, done_bytes / total_bytes) if total_bytes > 0 else 1.0
        return made


@dataclass(frozen=True, slots=True)
class PlacedModel:
    """A model on a phone."""

    name: str
    sha256: str
    folder: str
    probe: Probe | None
    """How it did when Python tried it there; ``None`` when it did not."""
    rows: int | None = None
    """Up to so many rows a forward ran when a native runner tried it there; ``None`` when it did not."""


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
    """Bring everything that is missing to a phone, try it there, and let the phone use Python's runner from now on.

    Args:
        cache: folder of the bundles on this computer; the bundle is built when there is none.
        models: a target, or a target and a drafter.
        probe: whether the models are tried on the phone, too.
        cancel: once set, setting up ends; what has arrived is kept.

    Raises:
        ModelError, ModelTrialError: a model cannot be used there.
        BundleError: the bundle cannot be built.
        RunnerTrialError: what was placed does not start.
        TransferStoppedError: it was cancelled.
        TransferError, DeviceError: it cannot be placed.
    """
    stopped = cancel or threading.Event()
    say = unless(stopped, say)
    wanted = wanted_now(cache, models)
    known = look(phone, wanted)
    check_processor(known["abis"])
    check_fits(wanted, known["available_bytes"], name)
    runtime = wanted.runtime or build_runtime(cache, say=say)
    _go_on(stopped)
    where = runtime_folder(runtime.id)
    placed = place_package(phone, runtime, where, progress=told(say, "Sending Python and MNN"), cancel=stopped)
    sent = placed.sent_bytes
    _go_on(stopped)
    core = place_core(phone, wanted.core, progress=told(say, "Sending as2d_core"), cancel=stopped)
    sent += core.sent_bytes
    say("Starting the runner on the phone")
    runner = python_runner(where, core.folder)
    description = describe_runner(phone, runner, cancel=stopped)
    trial = _trial(phone, where, core.folder, say, stopped) if probe else None
    found, more = place_models(phone, wanted, say=say, stopped=stopped, trial=trial)
    choose_python(phone)
    return SetUp(phone.id, runner, description, tuple(found), sent + more)


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


def place_models(
    phone: AdbPhone,
    wanted: Wanted,
    *,
    say: Say = lambda _: None,
    stopped: threading.Event,
    trial: Callable[[ModelInfo, str], Probe | int] | None = None,
) -> tuple[list[PlacedModel], int]:
    """Bring models to a phone; with the bytes that were sent.

    Args:
        trial: tries a model in its folder on the phone.

    Raises:
        TransferError, DeviceError: one cannot be placed.
        TransferStoppedError: ``stopped`` was set.
    """
    found, sent = [], 0
    for info in wanted.models:
        _go_on(stopped)
        placed = place_model(phone, info, progress=told(say, f"Sending {info.name}"), cancel=stopped)
        sent += placed.sent_bytes
        tried = None if trial is None else trial(info, placed.folder)
        probe, rows = (None, tried) if isinstance(tried, int) else (tried, None)
        found.append(PlacedModel(info.name, info.sha256, placed.folder, probe, rows))
    return found, sent


def told(say: Say, what: str) -> Progress:
    """Says how far a transfer is."""
    return lambda done, total: say(Transferred(what, done, total))


def _trial(
    phone: AdbPhone, runtime: str, core: str, say: Say, stopped: threading.Event
) -> Callable[[ModelInfo, str], Probe]:
    def attempt(info: ModelInfo, folder: str) -> Probe:
        _go_on(stopped)
        say(f"Trying {info.name} on the phone")
        tried = probe_on_phone(phone, runtime, core, folder, info.name, cancel=stopped)
        if tried.sha256 != info.sha256:
            raise ModelError(
                f"{info.name} on the phone is not what was sent; remove it with as2d phone clean --all and set up "
                "the phone again."
            )
        return tried

    return attempt


def unless(stopped: threading.Event, say: Say) -> Say:
    """Says what it is told; where setting up was stopped, whatever is being done ends there."""

    def tell(sentence: str) -> None:
        _go_on(stopped)
        say(sentence)

    return tell


def _go_on(stopped: threading.Event) -> None:
    if stopped.is_set():
        raise TransferStoppedError("Setting up the phone was stopped.", "What has arrived is kept.")
