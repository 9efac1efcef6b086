"""What must be on a phone before a request can run there? Runner, models and audio, named as they lie there."""

import hashlib
import posixpath
import threading
from dataclasses import replace
from pathlib import Path

from as2d_core.models.folder import describe_model
from as2d_core.records import ModelRef, Request
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.transfer import push_file
from device_bridge.bundle.build import build_runtime
from device_bridge.errors import TransferError
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.deploy import Say, place_core, place_model, place_runtime
from device_bridge.setup.layout import AUDIO, HASH_DIGITS
from device_bridge.setup.trial import python_runner
from device_bridge.setup.wanted import wanted_now

PHONE_PLACES = ("/data/", "/sdcard/", "/storage/")
"""Where a file lies that is on the phone already."""


class Provision:
    """Brings to one phone what requests need; what is there already is not sent again."""

    def __init__(self, phone: AdbPhone, cache: Path, say: Say = lambda _: None) -> None:
        """``cache`` is the folder of the bundles on this computer."""
        self._phone, self._cache, self._say = phone, cache, say

    def runner(self) -> RunnerCommand:
        """How the runner of this program is started; it is placed when it is missing.

        Raises:
            BundleError, TransferError, DeviceError: it cannot be built or placed.
        """
        wanted = wanted_now(self._cache, [])
        runtime = wanted.runtime or build_runtime(self._cache, say=self._say)
        self._say("Placing the runner on the phone")
        there = place_runtime(self._phone, runtime).folder
        return python_runner(there, place_core(self._phone, wanted.core).folder)

    def prepare(self, request: Request, cancel: threading.Event) -> Request:
        """The request with its models and audio on the phone.

        Raises:
            ModelError: a model folder cannot be used.
            TransferError, DeviceError: something cannot be placed.
        """
        drafter = None if request.drafter is None else self._model(request.drafter, cancel)
        target = self._model(request.target, cancel)
        return replace(request, target=target, drafter=drafter, audio=replace(request.audio, path=self._audio(request)))

    def _model(self, model: ModelRef, cancel: threading.Event) -> ModelRef:
        if _is_there(model.path):
            return model
        info = describe_model(Path(model.path))
        self._say(f"Placing {info.name} on the phone")
        placed = place_model(self._phone, info, cancel=cancel)
        return replace(model, path=placed.folder, name=model.name or info.name)

    def _audio(self, request: Request) -> str:
        path = request.audio.path
        if _is_there(path):
            return path
        local = Path(path).expanduser()
        try:
            with local.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise TransferError(f"The audio {path} cannot be read ({error.strerror or error}).") from error
        remote = posixpath.join(AUDIO, digest[:HASH_DIGITS])  # a name that a person chose never gets there
        push_file(self._phone, local, remote)
        return remote


def _is_there(path: str) -> bool:
    """Whether a path names something on the phone: it looks so, and there is no such thing here."""
    return path.startswith(PHONE_PLACES) and not Path(path).exists()
