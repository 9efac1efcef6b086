"""Which adb servers are asked, and which phones do they know? One on this computer, and others as ``host:port``."""

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from device_bridge.adb.commands import decoded
from device_bridge.adb.wire import LOCAL_HOSTS, UNLOCK_HINT, USUAL_PORT, Deadline, Wire, refusal
from device_bridge.errors import (
    AdbMissingError,
    AdbServerDownError,
    CommandTimeoutError,
    DeviceError,
    OfflineError,
    PhoneNotFoundError,
    UnauthorizedError,
)

DEFAULT_PORT = USUAL_PORT
SERVERS_VARIABLE = "AS2D_ADB_SERVERS"
ASK_S = 5.0
START_S = 20.0
CONNECT_S = 15.0
USUAL_PHONE_PORT = 5555
"""Where a phone listens after ``adb tcpip``."""
TOOLS_HINT = "Install Android's platform tools."
_ADDRESS = r"(?:\[([0-9A-Fa-f:.]+)\]|([^\s:\[\]@/]+))(?::(\d{1,5}))?"
_CONNECT_HINT = (
    "Check that Wireless debugging is on, that the address is the one it shows, and that both are in one network."
)
_CONNECT_HINTS = {
    "refused": "Nothing listens at this port: take the one that Wireless debugging shows now, which changes each time "
    f"it is switched on, or {USUAL_PHONE_PORT} after adb tcpip.",
    "resolve": "Check the name, or write the address in digits as Wireless debugging shows it.",
}
"""What to do, by a word of adb's."""
_PAIR_HINT = (
    "Take the code and the address that the phone shows under 'Pair device with pairing code' while it shows them."
)
_FIELD = re.compile(r"\s+([a-z_]+):(\S+)")


@dataclass(frozen=True, slots=True)
class AdbServer:
    """An adb server. Nothing is started unless ``ensure`` is called."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def is_local(self) -> bool:
        """Whether it runs, or could run, on this computer."""
        return self.host in LOCAL_HOSTS

    def phone_id(self, serial: str) -> str:
        """Name of one of its phones among the phones of all servers."""
        return serial if self == AdbServer() else f"{serial}@{self}"

    def wire(self, deadline: Deadline) -> Wire:
        """A connection.

        Raises:
            AdbServerDownError, CommandTimeoutError: there is none to be had.
        """
        return Wire(self.host, self.port, deadline)

    def version(self, timeout_s: float = ASK_S) -> int:
        """Version of its protocol, such as 41.

        Raises:
            AdbServerDownError, DeviceError: it does not answer.
        """
        return int(self.ask("host:version", timeout_s), 16)

    def ensure(self) -> None:
        """Start it when it is down and belongs on this computer.

        Raises:
            AdbMissingError: there is no adb program here.
            AdbServerDownError: it runs elsewhere and is down, or cannot be started.
        """
        try:
            self.version()
        except AdbServerDownError:
            if not self.is_local:
                raise
        else:
            return
        try:
            subprocess.run(
                [adb_program(), "-P", str(self.port), "start-server"],
                check=True, timeout=START_S, capture_output=True, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, subprocess.SubprocessError) as error:
            said = decoded(getattr(error, "stderr", None) or b"").strip().rpartition("\n")[2]
            raise AdbServerDownError(f"The adb server at {self} cannot be started ({said or error}).") from error

    def phones(self, timeout_s: float = ASK_S) -> list["PhoneEntry"]:
        """The phones it knows, ready or not.

        Raises:
            AdbServerDownError, DeviceError: it does not answer.
        """
        lines = self.ask("host:devices-l", timeout_s).splitlines()
        return [entry for line in lines if (entry := _entry(self, line)) is not None]

    def connect(self, address: str, timeout_s: float = CONNECT_S) -> str:
        """Connect a phone over the network (``host:port``); returns its serial.

        Raises:
            DeviceError: it does not answer, or the address cannot be one.
        """
        place = phone_address(address, USUAL_PHONE_PORT)
        answer = self.ask(f"host:connect:{place}", timeout_s).strip()
        if not re.match(r"(already )?connected to ", answer):
            if "authenticate" in answer:  # it is there, and waits for somebody to allow it
                raise UnauthorizedError(f"The phone at {place} does not trust this computer yet.", UNLOCK_HINT)
            with suppress(DeviceError):
                self.disconnect(place, timeout_s)  # adb would go on trying, and list it as offline
            hint = next((hint for word, hint in _CONNECT_HINTS.items() if word in answer), _CONNECT_HINT)
            raise DeviceError(f"No phone could be connected at {place} (adb: {answer}).", hint)
        return answer.rpartition(" ")[2]

    def disconnect(self, address: str, timeout_s: float = CONNECT_S) -> None:
        """Let go of a phone that was connected over the network; one that is gone already is no error.

        Raises:
            AdbServerDownError, CommandTimeoutError: the server does not answer.
        """
        try:
            self.ask(f"host:disconnect:{address}", timeout_s)
        except DeviceError as error:
            if error.retryable and not isinstance(error, PhoneNotFoundError):
                raise

    def pair(self, address: str, code: str, timeout_s: float = CONNECT_S) -> None:
        """Pair with a phone that shows ``address`` and a six-digit ``code`` (Android 11 and later).

        Raises:
            DeviceError: the phone does not answer, or the code is wrong.
        """
        if not re.fullmatch(r"\d{6}", code):
            raise DeviceError(f"{code!r} is no pairing code.", "It is the six digits that the phone shows.")
        place = phone_address(address)
        try:
            answer = self.ask(f"host:pair:{code}:{place}", timeout_s)
        except (AdbServerDownError, CommandTimeoutError):
            raise
        except DeviceError as error:
            answer = str(error)
        if not answer.startswith("Successfully paired"):
            said = answer.partition("Failed: ")[2] or answer
            raise DeviceError(f"Pairing with {place} failed (adb: {said.strip().rstrip('.')}).", _PAIR_HINT)

    def ask(self, request: str, timeout_s: float = ASK_S) -> str:
        """Send one request to the server itself and read its answer.

        Raises:
            AdbServerDownError, CommandTimeoutError, DeviceError: it does not answer, or refuses.
        """
        deadline = Deadline(timeout_s, f"The adb server at {self}")
        with self.wire(deadline) as wire:
            wire.ask(request, deadline, "the adb server")
            return decoded(wire.receive_block(deadline))


@dataclass(frozen=True, slots=True)
class PhoneEntry:
    """A phone as an adb server lists it."""

    server: AdbServer
    serial: str
    state: str
    """``device`` when it is ready; else ``offline``, ``unauthorized`` and so on."""
    details: Mapping[str, str] = field(default_factory=dict)
    """``model``, ``product``, ``device``, ``transport_id`` and what else the server says."""

    @property
    def id(self) -> str:
        """Name of the phone among the phones of all servers."""
        return self.server.phone_id(self.serial)

    @property
    def name(self) -> str:
        """What a person calls it: its model when that is known."""
        return self.details.get("model", "").replace("_", " ") or self.serial

    @property
    def way(self) -> str:
        """``USB`` or ``network``, as far as the server tells; else the server's name."""
        if "usb" in self.details:
            return "USB"
        networked = re.search(r":\d+$|\._adb-tls-connect\._tcp", self.serial)
        return "network" if networked else str(self.server)

    @property
    def ready(self) -> bool:
        return self.state == "device"

    def problem(self) -> DeviceError | None:
        """Why nothing can be run on it now, with what to do; ``None`` when it is ready."""
        if self.ready:
            return None
        if self.state in {"recovery", "sideload", "bootloader", "rescue"}:
            return DeviceError(f"Phone {self.serial} is in {self.state} mode.", "Start it normally.")
        if self.state == "offline" and self.way == "network":
            return OfflineError(
                f"Phone {self.serial} is offline (adb: device offline).",
                "Check that it is awake and that the address is a phone's; then connect it again with: as2d phone "
                f"connect {self.serial}",
            )
        return refusal(f"device {self.state}", f"Phone {self.serial}")


def phone_address(text: str, usual_port: int | None = None) -> str:
    """``host:port`` of a phone in the network, as adb takes it; some others let its server crash.

    Args:
        usual_port: for an address without one; ``None``: it must have one.

    Raises:
        DeviceError: the text is none.
    """
    found = re.fullmatch(_ADDRESS, text.strip())
    port = usual_port if found is None or found[3] is None else int(found[3])
    if found is None or port is None or not 0 < port < 65_536:
        raise DeviceError(
            f"{text.strip()!r} is no network address of a phone.", "Write it as host:port, like 10.0.0.7:5555."
        )
    return f"[{found[1]}]:{port}" if found[1] else f"{found[2]}:{port}"


def parse_server(text: str) -> AdbServer:
    """An adb server from ``host:port``, ``host`` or ``[address]:port``.

    Raises:
        DeviceError: the text is none of these.
    """
    found = re.fullmatch(f"(?:tcp:)?{_ADDRESS}", text.strip())
    if found is None or not 0 < int(found[3] or DEFAULT_PORT) < 65_536:
        raise DeviceError(f"{text!r} is no address of an adb server.", f"Write host:port, like lab-3:{DEFAULT_PORT}.")
    return AdbServer(found[1] or found[2], int(found[3] or DEFAULT_PORT))


def configured_servers(text: str | None = None) -> tuple[AdbServer, ...]:
    """The servers to ask, in order and each once.

    Args:
        text: addresses with commas between; default: ``AS2D_ADB_SERVERS``, or adb's own variables
            ``ADB_SERVER_SOCKET`` and ``ANDROID_ADB_SERVER_PORT``, or the usual port on this computer.

    Raises:
        DeviceError: an address cannot be read.
    """
    chosen = os.environ.get(SERVERS_VARIABLE, "") if text is None else text
    addresses = [part for part in re.split(r"[,\s]+", chosen) if part]
    if not addresses:
        port = os.environ.get("ANDROID_ADB_SERVER_PORT", "")
        addresses = [os.environ.get("ADB_SERVER_SOCKET", "") or f"127.0.0.1:{port or DEFAULT_PORT}"]
    return tuple(dict.fromkeys(parse_server(address) for address in addresses))


def list_phones(servers: Sequence[AdbServer]) -> tuple[list[PhoneEntry], list[DeviceError]]:
    """The phones of all servers, and an error for each server that does not answer."""
    phones: list[PhoneEntry] = []
    errors: list[DeviceError] = []
    for server in servers:
        try:
            phones += server.phones()
        except DeviceError as error:
            errors.append(error)
    return phones, errors


def adb_program() -> str:
    """Path of the adb program that came with the installation.

    Raises:
        AdbMissingError: there is none for this system.
    """
    try:
        import adbutils

        path = adbutils.adb_path()
    except (ImportError, OSError, RuntimeError) as error:
        raise AdbMissingError(
            f"There is no adb program here ({error}).", "Install Android's platform tools."
        ) from error
    if not Path(path).is_file():
        raise AdbMissingError(f"There is no adb program at {path}.", TOOLS_HINT)
    return str(path)


def _entry(server: AdbServer, line: str) -> PhoneEntry | None:
    serial, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    if not serial or not rest:
        return None
    if rest.startswith("no permissions"):
        return PhoneEntry(server, serial, "no permissions", dict(_FIELD.findall(rest.rpartition("]")[2])))
    state, _, details = rest.partition(" ")
    return PhoneEntry(server, serial, state, dict(_FIELD.findall(" " + details)))
