"""What must be on a phone before a request can run there? Runner, models and audio, named as they lie there."""

import hashlib
import posixpath
import threading
from dataclasses import replace
from pathlib import Path

from as2d_core.models.folder import describe_model
from as2d_core.reading import open_regular
from as2d_core.request import ModelRef, Request
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.transfer import push_file
from device_bridge.bundle.build import build_runtime
from device_bridge.errors import TransferError, TransferStoppedError
from device_bridge.sessions import RunnerCommand
from device_bridge.setup.chosen import chosen_runner
from device_bridge.setup.deploy import Say, place_core, place_model, place_runtime
from device_bridge.setup.layout import AUDIO, HASH_DIGITS
from device_bridge.setup.trial import native_runner, python_runner
from device_bridge.setup.wanted import wanted_now

PHONE_PLACES = ("/data/", "/sdcard/", "/storage/")
"""Where a file lies that is on the phone already."""


class Provision:
    """Brings to one phone what requests need; what is there already is not sent again."""

    def __init__(self, phone: AdbPhone, cache: Path, say: Say = lambda _: None) -> None:
        """``cache`` is the folder of the bundles on this computer."""
        self._phone, self._cache, self._say = phone, cache, say
        self._stopped = threading.Event()
        """Set when the request that was prepared last is not to be run any more."""

    def runner(self) -> RunnerCommand:
        """How the runner is started that the phone was set up with; Python's is placed when it is missing.

        Raises:
            BundleError, TransferError, DeviceError: it cannot be built or placed.
            TransferStoppedError: the request that was prepared before was cancelled.
        """
        native = chosen_runner(self._phone)
        if native is not None:
            return native_runner(native.program)
        wanted, stopped = wanted_now(self._cache, []), self._stopped
        runtime = wanted.runtime or build_runtime(self._cache, say=self._say_or_stop)
        self._say_or_stop("Placing the runner on the phone")
        there = place_runtime(self._phone, runtime, cancel=stopped).folder
        return python_runner(there, place_core(self._phone, wanted.core, cancel=stopped).folder)

    def prepare(self, request: Request, cancel: threading.Event) -> Request:
        """The request with its models and audio on the phone.

        Args:
            cancel: once set, this and the placing of the runner for it end; what has arrived is kept.

        Raises:
            ModelError: a model folder cannot be used.
            TransferError, DeviceError: something cannot be placed.
        """
        self._stopped = cancel
        drafter = None if request.drafter is None else self._model(request.drafter, cancel)
        target = self._model(request.target, cancel)
        audio = self._audio(request, cancel)
        return replace(request, target=target, drafter=drafter, audio=replace(request.audio, path=audio))

    def _model(self, model: ModelRef, cancel: threading.Event) -> ModelRef:
        if lies_on_phone(model.path):
            return model
        info = describe_model(Path(model.path))
        self._say(f"Placing {info.name} on the phone")
        placed = place_model(self._phone, info, cancel=cancel)
        return replace(model, path=placed.folder, name=model.name or info.name)

    def _say_or_stop(self, sentence: str) -> None:
        if self._stopped.is_set():
            raise TransferStoppedError("Bringing the runner to the phone was stopped.", "What has arrived is kept.")
        self._say(sentence)

    def _audio(self, request: Request, cancel: threading.Event) -> str:
        path = request.audio.path
        if lies_on_phone(path):
            return path
        local = Path(path).expanduser()
        try:
            with open_regular(local) as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise TransferError(f"The audio {path} cannot be read ({error.strerror or error}).") from error
        remote = posixpath.join(AUDIO, digest[:HASH_DIGITS])  # a name that a person chose never gets there
        push_file(self._phone, local, remote, cancel=cancel, sha256=digest)
        return remote


def lies_on_phone(path: str) -> bool:
    """Whether a path names something on the phone: it looks so, and there is no such thing here."""
    return path.startswith(PHONE_PLACES) and not Path(path).exists()
