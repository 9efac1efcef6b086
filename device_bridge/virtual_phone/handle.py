"""How is a virtual phone started, made to fail, and ended? By one object that owns its process."""

import contextlib
import hashlib
import json
import os
import platform
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import device_bridge
from device_bridge.adb.phone import AdbPhone
from device_bridge.adb.servers import AdbServer
from device_bridge.adb.wire import Deadline
from device_bridge.errors import DeviceError, VirtualPhoneError
from device_bridge.virtual_phone.emulation import find_emulator
from device_bridge.virtual_phone.faults import FAULTS
from device_bridge.virtual_phone.presets import Preset, preset

START_S = 60.0
FAULT_S = 60.0
READY_S = 60.0


class VirtualPhone:
    """A virtual phone that runs, at one adb server. Ends with this process at the latest."""

    def __init__(
        self,
        root: Path,
        server: AdbServer,
        preset_id: str = "k70",
        *,
        serial: str | None = None,
        storage_mb: int | None = None,
        visible: Sequence[Path | str] = (),
        prefix: Sequence[str] = (),
        isolation: str = "auto",
        emulator: Path | None = None,
    ) -> None:
        """Start it; it appears at the server by itself.

        Args:
            root: folder for its files; made when it is missing.
            serial: of the hardware; default: one of its own for each folder.
            storage_mb: size of the work folder, kept in memory and gone with the phone; ``None``: on disk.
            visible: folders of this computer it may read, at the same place.
            prefix: words before the phone's shell, such as an emulator.
            isolation: ``auto``, or ``mapped`` to do without namespaces.
            emulator: runs the phone's arm64 programs here, see ``emulation.find_emulator``.

        Raises:
            VirtualPhoneError: it cannot be started; the message says why.
        """
        self.root = root
        self.preset: Preset = preset(preset_id)
        self.server = server
        self.runs_arm64 = emulator is not None or platform.machine() in {"aarch64", "arm64"}
        """Whether what setting up places can run there."""
        self.own_serial = serial or own_serial(root)
        """Of the hardware, whatever its connection is called."""
        command = [sys.executable, "-m", "device_bridge.virtual_phone", "--root", str(root), "--preset", preset_id]
        command += ["--serial", self.own_serial, "--server", str(server), "--isolation", isolation]
        command += ["--storage-mb", str(storage_mb)] if storage_mb is not None else []
        for folder in visible:
            command += ["--visible", os.path.abspath(folder)]  # noqa: PTH100 - a link stays where it is
        command += ["--emulator", str(emulator)] if emulator else []
        for word in prefix:
            command += [f"--prefix={word}"]
        root.mkdir(parents=True, exist_ok=True)
        self._log = root / "phone.log"
        try:
            with self._log.open("wb") as log:
                self._process = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env=_environment(),
                    start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise VirtualPhoneError(f"The virtual phone cannot be started ({error}).") from error
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._lock = threading.Lock()
        threading.Thread(target=self._read, name="as2d-virtual-phone", daemon=True).start()
        try:
            ready = self._answer(START_S)
        except VirtualPhoneError:
            self.close()
            raise
        if "error" in ready:
            self.close()
            raise VirtualPhoneError(str(ready["error"]))
        self.serial: str = ready["address"]
        """The name it has at the adb server."""
        self.isolation: str = ready["isolation"]
        """``namespaces``, or ``mapped`` on a host that forbids them."""
        self.reason: str | None = ready["reason"]
        """Why it is not jailed, in the system's words."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def phone(self) -> AdbPhone:
        """The same phone as any other is spoken to."""
        return AdbPhone(self.server, self.serial)

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def wait_ready(self, timeout_s: float = READY_S) -> AdbPhone:
        """Wait until the adb server says that it is ready.

        Raises:
            VirtualPhoneError: it is not, within the time.
        """
        phone, waited = self.phone, threading.Event()
        deadline = Deadline(timeout_s, "The virtual phone")
        last = "it is not listed"
        while True:
            with contextlib.suppress(DeviceError):
                state = phone.state(min(2.0, timeout_s))
                if state == "device":
                    return phone
                last = f"it is {state}"
            try:
                deadline.left_s()
            except DeviceError:
                raise VirtualPhoneError(f"The virtual phone is not ready at {self.server}: {last}.") from None
            waited.wait(0.02)

    def fault(self, name: str, **values: Any) -> None:
        """Let a fault happen, see ``FAULTS``; returns when it has.

        Raises:
            VirtualPhoneError: there is no such fault, or it cannot be had on this phone.
        """
        stdin = self._process.stdin
        with self._lock:
            try:
                if stdin is not None:
                    stdin.write(json.dumps({"fault": name, **values}).encode() + b"\n")
                    stdin.flush()
            except (OSError, ValueError) as error:
                raise VirtualPhoneError(f"The virtual phone has ended ({error}).") from error
            _judge(name, self._answer(FAULT_S))

    def close(self) -> None:
        """End it and everything that runs on it."""
        with contextlib.suppress(OSError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(3.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(3.0)

    def _read(self) -> None:
        out = self._process.stdout
        if out is not None:
            with contextlib.suppress(OSError, ValueError), out:
                for line in out:
                    self._answers.put(line)
        self._answers.put(b"")

    def _answer(self, timeout_s: float) -> dict[str, Any]:
        try:
            line = self._answers.get(timeout=timeout_s)
        except queue.Empty:
            raise VirtualPhoneError(f"The virtual phone did not answer within {timeout_s:g} s.") from None
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            said = self._log.read_text("utf-8", "replace").strip().rpartition("\n")[2] if self._log.exists() else ""
            raise VirtualPhoneError(f"The virtual phone has ended ({said or 'without a word'}).") from None
        return answer


def usable_virtual_phone(root: Path, server: AdbServer, preset_id: str, storage_mb: int | None = None) -> VirtualPhone:
    """A virtual phone that can be set up, where this computer runs arm64 programs; elsewhere one that cannot.

    Raises:
        VirtualPhoneError: it cannot be started.
    """
    emulator = find_emulator()
    if emulator is not None:
        with contextlib.suppress(VirtualPhoneError):  # an older kernel, or no namespaces
            return VirtualPhone(root, server, preset_id, storage_mb=storage_mb, emulator=emulator)
    return VirtualPhone(root, server, preset_id, storage_mb=storage_mb)


def fault_from_outside(root: Path, name: str, **values: Any) -> None:
    """Let a fault happen on a virtual phone that another program has started.

    Args:
        root: the folder that phone was started with.

    Raises:
        VirtualPhoneError: no phone runs there, or the fault cannot be had.
    """
    try:
        known = json.loads((root / "control.json").read_text(encoding="utf-8"))
        with socket.create_connection(("127.0.0.1", known["port"]), FAULT_S) as link, link.makefile("rwb") as file:
            file.write(json.dumps({**values, "fault": name, "token": known["token"]}).encode() + b"\n")
            file.flush()
            _judge(name, json.loads(file.readline() or b'{"ok": false, "error": "it hung up"}'))
    except (OSError, ValueError, KeyError) as error:
        why = "" if isinstance(error, FileNotFoundError | ConnectionRefusedError) else f" ({error})"
        raise VirtualPhoneError(
            f"No virtual phone runs in {root}{why}.",
            "Start one with as2d phone virtual, and name it with the same --preset or --folder.",
        ) from error


def own_serial(root: Path) -> str:
    """The serial number of the phone whose files lie there: the same each time it is started, and nobody else's."""
    return f"VIRTUAL{hashlib.sha256(os.fsencode(root.absolute())).hexdigest()[:8].upper()}"


def _judge(name: str, answer: dict[str, Any]) -> None:
    if not answer.get("ok"):
        hint = "" if name in FAULTS else f"Known: {', '.join(FAULTS)}."
        raise VirtualPhoneError(f"The fault {name!r} did not happen: {answer.get('error')}.", hint)


def _environment() -> dict[str, str]:
    environment = dict(os.environ)
    root = str(Path(device_bridge.__file__).resolve().parent.parent)
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, [root, environment.get("PYTHONPATH", "")]))
    return environment
