"""How does a request written here run on a phone? What it names is brought there, and named as it lies there."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath

from as2d_core.errors import AudioError
from as2d_core.models.folder import describe_model
from as2d_core.records import AudioRef, ModelRef, Request
from datastore.locations import Folders
from device_bridge.adb import AdbPhone, PhoneEntry, configured_servers, pick_phone
from device_bridge.adb.transfer import push_file, sha256_here
from device_bridge.devices import Limits
from device_bridge.phones import PhoneDevice
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.deploy import place_model
from device_bridge.setup.layout import HASH_DIGITS, PHONE_ROOT, model_folder
from device_bridge.setup.setup import set_up

AUDIO = f"{PHONE_ROOT}/audio"
"""Audio files on a phone, by the hash of their content."""
LIMITS = Limits(silence_s=600.0)
"""A phone reads models from its storage, and tests at their first use which widths are exact."""


def find_phone(folders: Folders, device_id: str) -> PhoneDevice:
    """The phone of this id, serial or model, as something that runs requests.

    Raises:
        PhoneNotFoundError, AmbiguousPhoneError, UnauthorizedError, OfflineError, AdbServerDownError: as it says.
    """
    return phone_device(folders, pick_phone(configured_servers(), device_id))


def phone_device(folders: Folders, entry: PhoneEntry, runner: Callable[[], RunnerCommand] | None = None) -> PhoneDevice:
    """A connected phone as something that runs requests.

    Args:
        runner: starts another runner than the one that setting up places.
    """
    phone = AdbPhone(entry.server, entry.serial)

    def set_up_first() -> RunnerCommand:
        done = set_up(phone, folders.phone_bundles, [], name=entry.name, probe=False)
        return RunnerCommand(done.runner.argv, done.runner.env, done.runner.folder)

    def prepare(request: Request, cancel: threading.Event) -> Request:
        return place_request(phone, request, cancel)

    return PhoneDevice(phone, entry.name, runner or set_up_first, prepare, LIMITS)


def place_request(phone: AdbPhone, request: Request, cancel: threading.Event) -> Request:
    """Bring the models and the audio of a request to a phone, unless they are there.

    What is named by a path of the phone, and is not here, is left to the runner to find there.

    Returns:
        The request as the phone can read it. Exact widths are left open: they are those of this
        computer's processor.

    Raises:
        ModelError, AudioError: something is neither here nor named as on a phone.
        TransferError, DeviceError: it cannot be brought there.
    """
    drafter = None if request.drafter is None else _place_model(phone, request.drafter, cancel)
    target = _place_model(phone, request.target, cancel)
    return replace(request, target=target, drafter=drafter, audio=_place_audio(phone, request.audio, cancel))


def _place_model(phone: AdbPhone, ref: ModelRef, cancel: threading.Event) -> ModelRef:
    if _is_on_the_phone(ref.path):
        return replace(ref, exact_widths=None)
    info = describe_model(Path(ref.path))
    place_model(phone, info, cancel=cancel)
    name = ref.name or info.name  # the folder there is named by its content
    return replace(ref, path=model_folder(info.sha256), name=name, sha256=info.sha256, exact_widths=None)


def _place_audio(phone: AdbPhone, ref: AudioRef, cancel: threading.Event) -> AudioRef:
    if _is_on_the_phone(ref.path):
        return ref
    local = Path(ref.path)
    if not local.is_file():
        raise AudioError(f"There is no audio file {local}; check the path, or name one on the phone by its path there.")
    # Named by its content, so that nothing a user has typed becomes a name on the phone.
    digest = sha256_here(local, local.stat().st_size).hexdigest()
    remote = f"{AUDIO}/{digest[:HASH_DIGITS]}{_suffix(local)}"
    push_file(phone, local, remote, cancel=cancel)
    return replace(ref, path=remote)


def _is_on_the_phone(path: str) -> bool:
    """Whether a path names something on the phone: absolute as there, and not here."""
    return PurePosixPath(path).is_absolute() and path.startswith(("/data/", "/sdcard/", "/storage/")) and (
        not Path(path).exists()
    )  # fmt: skip


def _suffix(path: Path) -> str:
    """The kind of an audio file, if its name says one in plain letters."""
    suffix = path.suffix.lower()
    return suffix if suffix[1:].isascii() and suffix[1:].isalnum() else ""
